// The kernel of 09/19 as a text: c = a b with tiles in shared memory, whose width is TILE.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_19_NVRTC_SPECIALISE_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_19_NVRTC_SPECIALISE_SUPPORT_H_

// A name in C is the name in the module; C++ would append its parameters to it.
constexpr char kMatmulTile[] = R"cuda(
extern "C" __global__ void matmul_tile(const float* a, const float* b, float* c, int m, int n,
                                       int k) {
  __shared__ float tile_a[TILE][TILE];  // [row of c][step of k]
  __shared__ float tile_b[TILE][TILE];  // [step of k][column of c]
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += TILE) {
    const int i_a = first + tx, i_b = first + ty;
    tile_a[ty][tx] = row < m && i_a < k ? a[row * k + i_a] : 0.0f;
    tile_b[ty][tx] = i_b < k && col < n ? b[i_b * n + col] : 0.0f;
    __syncthreads();  // closes write against read: a thread reads what others have loaded
    for (int i = 0; i < TILE; ++i) {
      sum += tile_a[ty][i] * tile_b[i][tx];
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}
)cuda";

#endif  // CHAPTERS_09_CUDA_LIBRARIES_19_NVRTC_SPECIALISE_SUPPORT_H_

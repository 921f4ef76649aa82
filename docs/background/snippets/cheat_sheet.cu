// The patterns of the cheat sheet, each used once; the program checks them.
#include <cstdio>
#include <vector>

constexpr int kTile = 32;
constexpr int kBlock = 256;  // threads

// Any n with any grid; neighbouring threads take neighbouring elements.
__global__ void scale(float* x, float factor, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] *= factor;
  }
}

// 16 bytes per access, then the rest; x comes from cudaMalloc, so it is aligned.
__global__ void scale_by_four(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<float4*>(x)[i];
    v.x *= factor, v.y *= factor, v.z *= factor, v.w *= factor;
    reinterpret_cast<float4*>(x)[i] = v;
  }
  if (i < n % 4) x[n / 4 * 4 + i] *= factor;
}

// Reads and writes whole rows: the tile is turned in shared memory. x is the fast axis.
__global__ void transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];  // one column more: no bank conflicts
  int col = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && col < cols) tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
  __syncthreads();  // the tile is read by other threads than wrote it
  col = blockIdx.y * kTile + threadIdx.x, row = blockIdx.x * kTile + threadIdx.y;
  if (row < cols && col < rows) out[row * rows + col] = tile[threadIdx.x][threadIdx.y];
}

// The sum of one value per thread, for thread 0. Every thread of the block calls it.
__device__ float block_sum(float value) {
  __shared__ float sums[kBlock / 32];  // [warp]
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();  // all warps have written
  value = threadIdx.x < kBlock / 32 ? sums[threadIdx.x] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  return value;
}

// One atomic per block.
__global__ void sum(const float* x, float* total, int n) {
  float mine = 0.0f;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) mine += x[i];
  const float of_block = block_sum(mine);
  if (threadIdx.x == 0) atomicAdd(total, of_block);
}

int main() {
  constexpr int kRows = 37, kCols = 50, kCount = kRows * kCols;
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = i % 7 - 3;  // small whole numbers: sums are exact
  float *x = nullptr, *y = nullptr, *total = nullptr;
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMalloc(&y, kCount * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMemcpy(x, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof(float));
  scale<<<4, kBlock>>>(x, 2.0f, kCount);
  scale_by_four<<<(kCount + kBlock - 1) / kBlock, kBlock>>>(x, 3.0f, kCount);
  const dim3 grid((kCols + kTile - 1) / kTile, (kRows + kTile - 1) / kTile);
  transpose<<<grid, dim3(kTile, kTile)>>>(x, y, kRows, kCols);
  sum<<<4, kBlock>>>(y, total, kCount);

  std::vector<float> turned(kCount);
  float result = 0.0f, expected = 0.0f;
  cudaMemcpy(turned.data(), y, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&result, total, sizeof(float), cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < kCount; ++i) {
    expected += 6.0f * host[i];
    right = right && turned[i % kCols * kRows + i / kCols] == 6.0f * host[i];
  }
  std::printf("transposed %s, sum %g of %g\n", right ? "right" : "wrong", result, expected);
  for (float* memory : {x, y, total}) cudaFree(memory);
}

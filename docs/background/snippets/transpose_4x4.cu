// Turns a 4 x 4 matrix. One index is wrong.
#include <cassert>
#include <cstdio>

constexpr int kSide = 4;

__global__ void transpose(const int* in, int* out) {
  __shared__ int tile[kSide][kSide];  // [row of in][column of in]
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * kSide + x];
  __syncthreads();  // every element is read by another thread
  out[y * kSide + x] = tile[x][x];
}

int main() {
  int *in = nullptr, *out = nullptr;
  cudaMallocManaged(&in, kSide * kSide * sizeof(int));
  cudaMallocManaged(&out, kSide * kSide * sizeof(int));
  for (int i = 0; i < kSide * kSide; ++i) in[i] = 10 * (i / kSide) + i % kSide;
  transpose<<<1, dim3(kSide, kSide)>>>(in, out);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
  for (int row = 0; row < kSide; ++row) {
    for (int col = 0; col < kSide; ++col) printf("%3d", out[row * kSide + col]);
    printf("\n");
  }
  cudaFree(in);
  cudaFree(out);
}

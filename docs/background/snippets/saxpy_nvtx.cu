// Two phases with names: a profiler shows them beside the kernels.
#include <nvtx3/nvToolsExt.h>

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() {
  constexpr int kCount = 1 << 20;
  float *x = nullptr, *y = nullptr;
  nvtxRangePushA("set up");
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMalloc(&y, kCount * sizeof(float));
  cudaMemset(x, 0, kCount * sizeof(float));
  cudaMemset(y, 0, kCount * sizeof(float));
  nvtxRangePop();
  nvtxRangePushA("compute");
  for (int step = 0; step < 3; ++step) saxpy<<<kCount / 256, 256>>>(2.0f, x, y, kCount);
  cudaDeviceSynchronize();
  nvtxRangePop();
  cudaFree(x);
  cudaFree(y);
}

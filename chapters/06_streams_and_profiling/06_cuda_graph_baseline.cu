// 06/06 CUDA graph: the time step, and a hundred of them launched one by one.
#include "06_cuda_graph.h"

// One thread per point.
__global__ void diffusion(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const bool is_end = i == 0 || i == n - 1;
    to[i] = is_end ? from[i] : 0.5f * from[i] + 0.25f * (from[i - 1] + from[i + 1]);
  }
}

cudaError_t launch_diffusion(const float* d_from, float* d_to, int n, cudaStream_t stream) {
  constexpr int kBlock = 128;  // threads
  diffusion<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_from, d_to, n);
  return cudaGetLastError();
}

cudaError_t order_streams(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t reached = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&reached, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(reached, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, reached, 0);
  cudaEventDestroy(reached);
  return error;
}

cudaError_t launch_all_steps(const Rods& rods, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  for (int rod = 0; rod < kRods; ++rod) {
    float* from = rods.d_a + rod * rods.n;
    float* to = rods.d_b + rod * rods.n;
    for (int step = 0; step < kSteps && error == cudaSuccess; step += 2) {
      error = launch_diffusion(from, to, rods.n, stream);
      if (error == cudaSuccess) error = launch_diffusion(to, from, rods.n, stream);
    }
  }
  return error;
}

// 06/06 CUDA graph: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_06_CUDA_GRAPH_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_06_CUDA_GRAPH_H_

#include <cuda_runtime.h>

constexpr int kSteps = 100;  // time steps per replay

struct Rod {
  float* d_a;  // n temperatures in device memory, before and after a replay
  float* d_b;  // n floats in device memory, scratch
  int n;       // >= 2
  cudaGraphExec_t replay = nullptr;
};

// Given: one time step. An inner point gets half of itself and a quarter of each neighbour; the
// ends keep their temperature. Returns the error of the launch.
cudaError_t launch_diffusion(const float* d_from, float* d_to, int n, cudaStream_t stream);

// Given, to be compared with: kSteps launches.
cudaError_t launch_all_steps(const Rod& rod, cudaStream_t stream);

// Prepares rod->replay. Nothing runs: d_a and d_b are as before. `stream` is idle and is used for
// the recording only.
cudaError_t build_steps(Rod* rod, cudaStream_t stream);

// Puts kSteps time steps into `stream` and returns without waiting. Can be called again and again.
cudaError_t run_steps(const Rod& rod, cudaStream_t stream);

// Frees what build_steps() made; harmless without it.
cudaError_t release_steps(Rod* rod);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_06_CUDA_GRAPH_H_

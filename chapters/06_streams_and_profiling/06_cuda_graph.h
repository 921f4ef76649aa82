// 06/06 CUDA graph: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_06_CUDA_GRAPH_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_06_CUDA_GRAPH_H_

#include <cuda_runtime.h>

constexpr int kRods = 2;
constexpr int kSteps = 50;  // time steps per replay, a kernel for each rod and step

struct Rods {
  float* d_a;  // kRods * n temperatures in device memory, before and after a replay
  float* d_b;  // kRods * n floats in device memory, scratch
  int n;       // points of one rod, >= 2
  cudaGraphExec_t replay = nullptr;
};

// Given: one time step of one rod. An inner point gets half of itself and a quarter of each
// neighbour; the ends keep their temperature. Returns the error of the launch.
cudaError_t launch_diffusion(const float* d_from, float* d_to, int n, cudaStream_t stream);

// Given: what is put into `later` from now on begins when all that is in `earlier` now has ended.
cudaError_t order_streams(cudaStream_t earlier, cudaStream_t later);

// Given, to be compared with: kRods * kSteps launches into one stream.
cudaError_t launch_all_steps(const Rods& rods, cudaStream_t stream);

// Prepares rods->replay. Nothing runs: d_a and d_b are as before. `stream` is idle and is used for
// the recording only.
cudaError_t build_steps(Rods* rods, cudaStream_t stream);

// Puts kSteps time steps of all rods into `stream` and returns without waiting. Can be called again
// and again.
cudaError_t run_steps(const Rods& rods, cudaStream_t stream);

// Frees what build_steps() made; harmless without it.
cudaError_t release_steps(Rods* rods);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_06_CUDA_GRAPH_H_

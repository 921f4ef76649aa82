// Accepted: one event per edge, made at the beginning, and the mean computed by the right stream.
#include "03_events_order.h"

// Must keep the name by which the test finds the branches.
__global__ void power_series(const float* x, float* out, int n, float f, int terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 1.0f;
    for (int k = 1; k < terms; ++k) {
      sum = fmaf(sum, f * x[i], 1.0f);
    }
    out[i] = sum;
  }
}

__global__ void half_sum(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = (a[i] + b[i]) * 0.5f;
  }
}

cudaError_t enqueue_even_powers(const float* d_x, float* d_a, float* d_b, float* d_y, int n,
                                int terms, cudaStream_t left, cudaStream_t right) {
  const int grid = (n + 127) / 128;
  cudaEvent_t events[3] = {};  // x is there, a is there, y is there
  cudaError_t first = cudaSuccess;
  const auto keep = [&first](cudaError_t error) {
    if (first == cudaSuccess) first = error;
  };
  for (cudaEvent_t& event : events) {
    keep(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  keep(cudaEventRecord(events[0], left));
  keep(cudaStreamWaitEvent(right, events[0], 0));
  power_series<<<grid, 128, 0, right>>>(d_x, d_b, n, -1.0f, terms);
  keep(cudaGetLastError());
  power_series<<<grid, 128, 0, left>>>(d_x, d_a, n, 1.0f, terms);
  keep(cudaGetLastError());
  keep(cudaEventRecord(events[1], left));
  keep(cudaStreamWaitEvent(right, events[1], 0));
  half_sum<<<grid, 128, 0, right>>>(d_a, d_b, d_y, n);
  keep(cudaGetLastError());
  keep(cudaEventRecord(events[2], right));
  keep(cudaStreamWaitEvent(left, events[2], 0));
  for (const cudaEvent_t event : events) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  return first;
}

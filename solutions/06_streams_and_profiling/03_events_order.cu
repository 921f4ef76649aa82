// 06/03 Events order: two branches of work in two streams, joined without the host waiting.
//   x, a, b, y   n floats in device memory
//                a = 1 + x + x^2 + ...    in stream `left`
//                b = 1 - x + x^2 - ...    in stream `right`, at the same time
//                y = (a + b) / 2          in stream `left`: the even powers
//   launch_power_series() and launch_mean() are given (03_events_order.h).
//   TODOs        2
#include "03_events_order.h"

// What is put into `later` from now on begins when all that is in `earlier` now has ended. The host
// waits for neither.
static cudaError_t order_streams(cudaStream_t earlier, cudaStream_t later) {
  //~ // TODO(1): What the comment above promises. Nothing is left behind, and the first error is
  //~ // returned.
  //~ (void)earlier, (void)later;
  //~ return cudaSuccess;
  //~begin 1
  cudaEvent_t reached = nullptr;
  cudaError_t error = cudaEventCreateWithFlags(&reached, cudaEventDisableTiming);
  if (error == cudaSuccess) error = cudaEventRecord(reached, earlier);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(later, reached, 0);
  cudaEventDestroy(reached);  // its memory lives on until nobody waits for it any more
  return error;
  //~end
}

cudaError_t enqueue_even_powers(const float* d_x, float* d_a, float* d_b, float* d_y, int n,
                                int terms, cudaStream_t left, cudaStream_t right) {
  //~ // TODO(2): Both branches and the mean, each in its stream. Every kernel finds what it reads
  //~ // complete, and overwrites nothing that is still being read; the branches run side by side.
  //~ (void)d_x, (void)d_a, (void)d_b, (void)d_y, (void)n, (void)terms, (void)left, (void)right;
  //~ (void)order_streams;
  //~ return cudaSuccess;
  //~begin 2
  // Fork: `left` makes x, and the mean of an earlier call in `left` may still be reading b.
  cudaError_t error = order_streams(left, right);
  if (error == cudaSuccess) error = launch_power_series(d_x, d_a, n, 1.0f, terms, left);
  if (error == cudaSuccess) error = launch_power_series(d_x, d_b, n, -1.0f, terms, right);
  // Join: the mean needs b as well.
  if (error == cudaSuccess) error = order_streams(right, left);
  if (error == cudaSuccess) error = launch_mean(d_a, d_b, d_y, n, left);
  return error;
  //~end
}

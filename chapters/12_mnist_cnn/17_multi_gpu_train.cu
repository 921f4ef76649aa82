// 12/17 Multi-GPU training: every GPU takes its share of the batch, and the step is that of the
// whole.
//   ranks[d]   what device d has (17_multi_gpu_train.h); its kernels are those of 12/16
//   Gradients are sums over images, so they add up over the GPUs. A batch norm is no sum over
//   images: mean and variance are those of all images, so its sums must be complete before it goes
//   on, in the forward and in the backward pass. In step.total the kernels have the number of all
//   images.
//   TODOs      5
#include "17_multi_gpu_train.h"

// array_of(rank): n values on the rank's device, which become the sums over all ranks, in place.
// Work of streams.main of the ranks.
template <class Array>
static ncclResult_t add_up(const Rank* ranks, int devices, size_t n, ncclDataType_t type,
                           Array array_of) {
  // TODO(1): One all-reduce per rank, all of them in one group (about 8 lines). A group that was
  // started is ended, also after an error.
  static_cast<void>(ranks), static_cast<void>(devices), static_cast<void>(n);
  static_cast<void>(type), static_cast<void>(array_of);
  return ncclSuccess;
}

template <class Launch>
static void on_each(const Rank* ranks, int devices, Launch launch) {
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    launch(ranks[d], d);
  }
}

ncclResult_t launch_multi_gpu_step(const Rank* ranks, int devices, int slot,
                                   const unsigned char* const* h_next) {
  int before = 0;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  // TODO(2): The moments of the batch, kMoments doubles: the first batch norm is computed from them
  // (about 2 lines).
  on_each(ranks, devices, [&](const Rank& rank, int d) {
    order_streams(rank.streams.main, rank.streams.copy);
    cudaMemcpyAsync(rank.step.batch[1 - slot], h_next[d], rank.step.batch_bytes,
                    cudaMemcpyHostToDevice, rank.streams.copy);
    launch_moments(rank.step, 1 - slot, rank.streams.copy);
    launch_convolutions(rank.step, slot, rank.streams.main);
  });
  // TODO(3): What the convolutions have summed up for the second batch norm (about 4 lines).
  on_each(ranks, devices, [&](const Rank& rank, int) {
    launch_linear_pooled(rank.step, rank.streams.main);
    launch_head(rank.step, slot, rank.streams.main);
    order_streams(rank.streams.main, rank.streams.branch);
    launch_linear_weight_gradient(rank.step, rank.streams.branch);
    launch_linear_input_gradient(rank.step, rank.streams.main);
  });
  // TODO(4): Its backward pass has two sums per channel as well: step.back2 (about 4 lines).
  on_each(ranks, devices, [&](const Rank& rank, int) {
    order_streams(rank.streams.main, rank.streams.branch);
    launch_conv_weight_gradient(rank.step, rank.streams.branch);
    launch_conv_input_gradient(rank.step, slot, rank.streams.main);
    order_streams(rank.streams.branch, rank.streams.main);
    launch_sum_gradients(rank.step, slot, rank.streams.main);
  });
  // TODO(5): step.gradients: a float for each parameter, and the loss behind them; and the ten sums
  // per channel of the first block, step.back1. A group may hold groups: one for both (about 12
  // lines).
  on_each(ranks, devices, [&](const Rank& rank, int) {
    launch_apply_gradients(rank.step, slot, rank.streams.main);
    order_streams(rank.streams.copy, rank.streams.main);
  });
  cudaSetDevice(before);
  return result;
}

// Accepted: the all-reduces run in the branch stream, between two orders with the main one; two
// calls after each other for the gradients and the sums of the first block.
#include "17_multi_gpu_train.h"

template <class Launch>
static void on_each(const Rank* ranks, int devices, Launch launch) {
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    launch(ranks[d], d);
  }
}

// array_of(rank): n values on the rank's device, which become the sums over all ranks, in place.
// Work of streams.main of the ranks.
template <class Array>
static ncclResult_t add_up(const Rank* ranks, int devices, size_t n, ncclDataType_t type,
                           Array array_of) {
  on_each(ranks, devices,
          [](const Rank& rank, int) { order_streams(rank.streams.main, rank.streams.branch); });
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    void* const array = array_of(ranks[d]);
    result = ncclAllReduce(array, array, n, type, ncclSum, ranks[d].comm, ranks[d].streams.branch);
  }
  const ncclResult_t ended = ncclGroupEnd();
  on_each(ranks, devices,
          [](const Rank& rank, int) { order_streams(rank.streams.branch, rank.streams.main); });
  return result == ncclSuccess ? ended : result;
}

ncclResult_t launch_multi_gpu_step(const Rank* ranks, int devices, int slot,
                                   const unsigned char* const* h_next) {
  int before = 0;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  result = add_up(ranks, devices, kMoments, ncclDouble,
                  [&](const Rank& rank) { return rank.step.moments[slot]; });
  on_each(ranks, devices, [&](const Rank& rank, int d) {
    order_streams(rank.streams.main, rank.streams.copy);
    cudaMemcpyAsync(rank.step.batch[1 - slot], h_next[d], rank.step.batch_bytes,
                    cudaMemcpyHostToDevice, rank.streams.copy);
    launch_moments(rank.step, 1 - slot, rank.streams.copy);
    launch_convolutions(rank.step, slot, rank.streams.main);
  });
  if (result == ncclSuccess) {
    result = add_up(ranks, devices, 2 * ranks[0].step.network.channels2, ncclDouble,
                    [](const Rank& rank) { return rank.step.sums2; });
  }
  on_each(ranks, devices, [&](const Rank& rank, int) {
    launch_linear_pooled(rank.step, rank.streams.main);
    launch_head(rank.step, slot, rank.streams.main);
    order_streams(rank.streams.main, rank.streams.branch);
    launch_linear_weight_gradient(rank.step, rank.streams.branch);
    launch_linear_input_gradient(rank.step, rank.streams.main);
  });
  if (result == ncclSuccess) {
    result = add_up(ranks, devices, 2 * ranks[0].step.network.channels2, ncclDouble,
                    [](const Rank& rank) { return rank.step.back2; });
  }
  on_each(ranks, devices, [&](const Rank& rank, int) {
    order_streams(rank.streams.main, rank.streams.branch);
    launch_conv_weight_gradient(rank.step, rank.streams.branch);
    launch_conv_input_gradient(rank.step, slot, rank.streams.main);
    order_streams(rank.streams.branch, rank.streams.main);
    launch_sum_gradients(rank.step, slot, rank.streams.main);
  });
  const Network& network = ranks[0].step.network;
  if (result == ncclSuccess) {
    result = add_up(ranks, devices, parameters_of(network).total + 1, ncclFloat,
                    [](const Rank& rank) { return rank.step.gradients; });
  }
  if (result == ncclSuccess) {
    result = add_up(ranks, devices, 10 * network.channels1, ncclDouble,
                    [](const Rank& rank) { return rank.step.back1; });
  }
  on_each(ranks, devices, [&](const Rank& rank, int) {
    launch_apply_gradients(rank.step, slot, rank.streams.main);
    order_streams(rank.streams.copy, rank.streams.main);
  });
  cudaSetDevice(before);
  return result;
}

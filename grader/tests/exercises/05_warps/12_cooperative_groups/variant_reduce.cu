// Another right answer: cg::reduce, a sum by atomics after a first meeting, and the launch with a
// cooperative attribute.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "12_cooperative_groups.h"

namespace groups = cooperative_groups;

__global__ void sum_octets_reduce(const float* x, float* sums, int n) {
  const auto octet = groups::tiled_partition<kOctet>(groups::this_thread_block());
  for (int first = (blockIdx.x * octet.meta_group_size() + octet.meta_group_rank()) * kOctet;
       first < n; first += gridDim.x * blockDim.x) {
    const int i = first + octet.thread_rank();
    const float sum = groups::reduce(octet, i < n ? x[i] : 0.0f, groups::plus<float>());
    if (octet.thread_rank() == 0) sums[first / kOctet] = sum;
  }
}

__global__ void normalise_by_atomics(const float* x, float* y, float* squares, int n) {
  const auto grid = groups::this_grid();
  const auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  if (grid.thread_rank() == 0) *squares = 0.0f;
  grid.sync();
  float mine = 0.0f;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) mine += x[i] * x[i];
  mine = groups::reduce(warp, mine, groups::plus<float>());
  if (warp.thread_rank() == 0) atomicAdd(squares, mine);
  groups::sync(grid);
  const float length = sqrtf(*squares);
  for (int i = grid.thread_rank(); i < n; i += grid.size()) y[i] = x[i] / length;
}

void launch_sum_octets(const float* d_x, float* d_sums, int n) {
  sum_octets_reduce<<<3, 96>>>(d_x, d_sums, n);
}

void launch_normalise(const float* d_x, float* d_y, float* d_partials, int n) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 40;  // fit on any card
  config.blockDim = 128;
  cudaLaunchAttribute cooperative = {};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, normalise_by_atomics, d_x, d_y, d_partials, n);
}

// Clusters of blocks with cooperative groups: a sum and a histogram in distributed shared memory,
// launches with __cluster_dims__ and with the attribute, and what is refused. libcu++'s bulk copies.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cuda/barrier>
#include <numeric>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kThreads = 128;

template <class T>
struct Buffer {
  T* data = nullptr;
  int n;
  explicit Buffer(const std::vector<T>& values) : n(static_cast<int>(values.size())) {
    CHECK_CUDA(cudaMalloc(&data, n * sizeof(T)));
    CHECK_CUDA(cudaMemcpy(data, values.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Buffer() { cudaFree(data); }
  std::vector<T> read() const {
    std::vector<T> values(n);
    CHECK_CUDA(cudaMemcpy(values.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
};

// The blocks of a cluster add up their parts in the shared memory of the first of them.
__device__ void cluster_sum(const int* in, int* out) {
  __shared__ int part;
  const cg::cluster_group cluster = cg::this_cluster();
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  if (block.thread_rank() == 0) part = 0;
  cluster.sync();
  const int own = cg::reduce(warp, in[blockIdx.x * kThreads + threadIdx.x], cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(cluster.map_shared_rank(&part, 0), own);
  cluster.sync();
  if (cluster.block_rank() == 0 && block.thread_rank() == 0) {
    out[blockIdx.x / cluster.num_blocks()] = part;
  }
}

__global__ void __cluster_dims__(4, 1, 1) sum_of_four(const int* in, int* out) {
  cluster_sum(in, out);
}
__global__ void sum_of_any(const int* in, int* out) { cluster_sum(in, out); }

std::vector<int> numbers(int n) {
  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

void check_sums(const std::vector<int>& sums, int size) {
  for (size_t i = 0; i < sums.size(); ++i) {
    const int n = size * kThreads, first = static_cast<int>(i) * n + 1;
    CHECK(sums[i] == n * first + n * (n - 1) / 2);
  }
}

cudaError_t launch_sum(int size, int blocks, const int* in, int* out) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(size);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kThreads);
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t error = cudaLaunchKernelEx(&config, sum_of_any, in, out);
  int clusters = 0;
  if (error == cudaSuccess) {
    CHECK_CUDA(cudaOccupancyMaxActiveClusters(&clusters, sum_of_any, &config));
    CHECK(clusters > 0);
  }
  return error;
}

void sums() {
  const Buffer<int> in(numbers(16 * kThreads));
  {
    const Buffer<int> out{std::vector<int>(4)};
    sum_of_four<<<16, kThreads>>>(in.data, out.data);
    CHECK_CUDA(cudaDeviceSynchronize());
    check_sums(out.read(), 4);
  }
  for (const int size : {1, 2, 8}) {
    const Buffer<int> out{std::vector<int>(16 / size)};
    CHECK_CUDA(launch_sum(size, 16, in.data, out.data));
    CHECK_CUDA(cudaDeviceSynchronize());
    check_sums(out.read(), size);
  }
  const Buffer<int> out{std::vector<int>(16)};
  CHECK(launch_sum(16, 16, in.data, out.data) == cudaErrorInvalidClusterSize);
  CHECK(launch_sum(3, 16, in.data, out.data) == cudaErrorInvalidClusterSize);
  cudaGetLastError();
  CHECK_CUDA(cudaFuncSetAttribute(sum_of_any, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK_CUDA(launch_sum(16, 16, in.data, out.data));
  CHECK_CUDA(cudaDeviceSynchronize());
  check_sums({out.read()[0]}, 16);
}

// A histogram whose bins are spread over the shared memory of a cluster.
constexpr int kBins = 64;
__global__ void __cluster_dims__(2, 1, 1) histogram(const int* in, int n, int* bins) {
  __shared__ int own[kBins / 2];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kBins / 2; i += blockDim.x) own[i] = 0;
  cluster.sync();
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    const int bin = in[i] % kBins;
    int* const there = cluster.map_shared_rank(own, bin / (kBins / 2));
    atomicAdd(there + bin % (kBins / 2), 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < kBins / 2; i += blockDim.x) {
    atomicAdd(&bins[cluster.block_rank() * (kBins / 2) + i], own[i]);
  }
}

void histograms() {
  const Buffer<int> in(numbers(5000)), bins{std::vector<int>(kBins)};
  histogram<<<4, kThreads>>>(in.data, 5000, bins.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> found = bins.read();
  for (int b = 0; b < kBins; ++b) {
    int expected = 0;
    for (int i = 1; i <= 5000; ++i) expected += i % kBins == b;
    CHECK(found[b] == expected);
  }
}

// libcu++: cuda::memcpy_async becomes a bulk copy where the sizes are known to fit, and
// memcpy_async_tx is one.
using Barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int kTile = 256, kTiles = 5;

__global__ void add_one(const int* in, int* out) {
  __shared__ alignas(16) int tile[2][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier[2];
  if (threadIdx.x == 0) {
    for (Barrier& one : barrier) init(&one, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  const auto fill = [&](int t) {
    Barrier& full = barrier[t % 2];
    if (threadIdx.x == 0) {
      cuda::device::memcpy_async_tx(tile[t % 2], in + t * kTile,
                                    cuda::aligned_size_t<16>(sizeof(tile[0])), full);
      return cuda::device::barrier_arrive_tx(full, 1, sizeof(tile[0]));
    }
    return full.arrive();
  };
  Barrier::arrival_token token = fill(0);
  for (int t = 0; t < kTiles; ++t) {
    Barrier::arrival_token next{};
    if (t + 1 < kTiles) next = fill(t + 1);
    barrier[t % 2].wait(std::move(token));
    for (int i = threadIdx.x; i < kTile; i += blockDim.x) {
      out[t * kTile + i] = tile[t % 2][i] + 1;
    }
    __syncthreads();
    token = std::move(next);
  }
}

__global__ void reverse(const int* in, int* out) {
  __shared__ alignas(16) int tile[kTile];
  __shared__ Barrier barrier;
  const cg::thread_block block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
  barrier.arrive_and_wait();
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) out[i] = tile[kTile - 1 - i];
}

void bulk_copies() {
  const Buffer<int> in(numbers(kTile * kTiles)), out{std::vector<int>(kTile * kTiles)};
  add_one<<<1, 64>>>(in.data, out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> sums = out.read();
  for (int i = 0; i < kTile * kTiles; ++i) CHECK(sums[i] == i + 2);
  reverse<<<1, 64>>>(in.data, out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> reversed = out.read();
  for (int i = 0; i < kTile; ++i) CHECK(reversed[i] == kTile - i);
}

}  // namespace

int main() {
  sums();
  histograms();
  bulk_copies();
  std::printf("clusters: all as expected\n");
  return 0;
}

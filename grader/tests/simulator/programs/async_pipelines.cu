// What cuda::barrier, cuda::pipeline and cooperative_groups::memcpy_async compile to: copies that a
// barrier counts, a pipeline of stages, a thread's own pipeline, and threads that drop out.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

namespace {

constexpr int kBlock = 128;
constexpr int kTiles = 6;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Reverses each tile; the copies of all threads are awaited through a barrier.
__global__ void reverse_by_barrier(const int* in, int* out) {
  __shared__ alignas(alignof(Barrier)) char storage[sizeof(Barrier)];
  __shared__ int tile[kBlock];
  Barrier& barrier = *reinterpret_cast<Barrier*>(storage);
  if (threadIdx.x == 0) init(&barrier, kBlock);
  __syncthreads();
  for (int t = 0; t < kTiles; ++t) {
    cuda::memcpy_async(&tile[threadIdx.x], &in[t * kBlock + threadIdx.x], sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[t * kBlock + threadIdx.x] = tile[kBlock - 1 - threadIdx.x];
    barrier.wait(barrier.arrive());
  }
}

// The same through a block's pipeline of two stages, filled one tile ahead.
__global__ void reverse_by_pipeline(const int* in, int* out) {
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
  __shared__ alignas(alignof(State)) char storage[sizeof(State)];
  __shared__ alignas(16) int tile[2][kBlock];
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, reinterpret_cast<State*>(storage));
  const auto fill = [&](int t) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tile[t % 2], &in[t * kBlock],
                       cuda::aligned_size_t<16>(sizeof(tile[0])), pipeline);
    pipeline.producer_commit();
  };
  fill(0);
  for (int t = 0; t < kTiles; ++t) {
    if (t + 1 < kTiles) fill(t + 1);
    pipeline.consumer_wait();
    out[t * kBlock + threadIdx.x] = tile[t % 2][kBlock - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
}

// Each thread waits for its own copies only.
__global__ void triple_by_own_pipeline(const int* in, int* out) {
  __shared__ int tile[2][kBlock];
  auto pipeline = cuda::make_pipeline();
  const auto fill = [&](int t) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&tile[t % 2][threadIdx.x], &in[t * kBlock + threadIdx.x], sizeof(int),
                       pipeline);
    pipeline.producer_commit();
  };
  fill(0);
  for (int t = 0; t < kTiles; ++t) {
    if (t + 1 < kTiles) {
      fill(t + 1);
      cuda::pipeline_consumer_wait_prior<1>(pipeline);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipeline);
    }
    out[t * kBlock + threadIdx.x] = 3 * tile[t % 2][threadIdx.x];
    pipeline.consumer_release();
  }
}

__global__ void reverse_by_group(const int* in, int* out) {
  __shared__ int tile[kBlock];
  const cg::thread_block block = cg::this_thread_block();
  for (int t = 0; t < kTiles; ++t) {
    cg::memcpy_async(block, tile, &in[t * kBlock], sizeof(tile));
    cg::wait(block);
    out[t * kBlock + threadIdx.x] = tile[kBlock - 1 - threadIdx.x];
    block.sync();
  }
}

// Thread i takes part in i + 1 phases and then drops out.
__global__ void drop_out(int* out) {
  __shared__ alignas(alignof(Barrier)) char storage[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(storage);
  __shared__ int arrived[kBlock];
  if (threadIdx.x == 0) init(&barrier, kBlock);
  arrived[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned phase = 0; phase < threadIdx.x; ++phase) {
    atomicAdd(&arrived[phase], 1);
    barrier.arrive_and_wait();
    // Everybody who is still there has counted this phase.
    if (threadIdx.x == kBlock - 1) out[phase] = arrived[phase];
  }
  barrier.arrive_and_drop();
}

using Kernel = void (*)(const int*, int*);

void check_kernel(Kernel kernel, const std::vector<int>& in, const int* d_in, int* d_out,
                  bool reverses) {
  const size_t bytes = in.size() * sizeof(int);
  CHECK_CUDA(cudaMemset(d_out, 0, bytes));
  kernel<<<1, kBlock>>>(d_in, d_out);
  std::vector<int> out(in.size());
  CHECK_CUDA(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < static_cast<int>(in.size()); ++i) {
    const int mirrored = i / kBlock * kBlock + kBlock - 1 - i % kBlock;
    CHECK(out[i] == (reverses ? in[mirrored] : 3 * in[i]));
  }
}

}  // namespace

int main() {
  std::vector<int> in(kBlock * kTiles);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7 + 1);
  const size_t bytes = in.size() * sizeof(int);
  int *d_in = nullptr, *d_out = nullptr;
  CHECK_CUDA(cudaMalloc(&d_in, bytes));
  CHECK_CUDA(cudaMalloc(&d_out, bytes));
  CHECK_CUDA(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
  check_kernel(reverse_by_barrier, in, d_in, d_out, true);
  check_kernel(reverse_by_pipeline, in, d_in, d_out, true);
  check_kernel(triple_by_own_pipeline, in, d_in, d_out, false);
  check_kernel(reverse_by_group, in, d_in, d_out, true);
  drop_out<<<1, kBlock>>>(d_out);
  std::vector<int> arrived(kBlock - 1);
  CHECK_CUDA(cudaMemcpy(arrived.data(), d_out, arrived.size() * sizeof(int),
                        cudaMemcpyDeviceToHost));
  for (int phase = 0; phase < kBlock - 1; ++phase) CHECK(arrived[phase] == kBlock - 1 - phase);
  CHECK_CUDA(cudaFree(d_in));
  CHECK_CUDA(cudaFree(d_out));
  std::printf("PASSED\n");
  return 0;
}

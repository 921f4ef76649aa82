// Clusters of blocks that use each other's shared memory: see corpus.cu for the form.
#include <cooperative_groups.h>

#include <cstdint>
#include <cuda/ptx>

#include "corpus.h"

namespace {

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

constexpr int kThreads = 64;
constexpr int kBlocks = 2;

struct Buffer {
  int* data = nullptr;
  Buffer() {
    cudaMalloc(&data, kBlocks * kThreads * sizeof(int));
    cudaMemset(data, 0, kBlocks * kThreads * sizeof(int));
  }
  ~Buffer() {
    cudaDeviceSynchronize();
    cudaFree(data);
  }
};

// ---- the barrier of the cluster --------------------------------------------------------------------

// Half of the threads wait for the cluster, the others for the block.
template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_half(int* out) {
  const cg::cluster_group cluster = cg::this_cluster();
  if (!kPlanted || threadIdx.x < 32) {
    cluster.sync();  // planted: cluster_half synccheck/cluster-deadlock
  }
  __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}
template <bool kPlanted>
void run_cluster_half() {
  Buffer m;
  cluster_half<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// One block waits for the cluster before it sets the flag that the other one waits for.
template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_one_block(int* out) {
  __shared__ int flag;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) flag = 0;
  cluster.sync();
  const bool sets = cluster.block_rank() == 0;
  if (kPlanted && sets) cluster.sync();  // planted: cluster_one_block synccheck/cluster-deadlock
  if (sets && threadIdx.x == 0) atomicExch(cluster.map_shared_rank(&flag, 1), 1);
  while (!sets && atomicAdd(&flag, 0) == 0) {
  }
  if (!kPlanted || !sets) cluster.sync();
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}
template <bool kPlanted>
void run_cluster_one_block() {
  Buffer m;
  cluster_one_block<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// ---- before the other block is there, and after it has gone --------------------------------------------

template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_no_start(int* out) {
  __shared__ int word;
  cg::cluster_group cluster = cg::this_cluster();
  if (!kPlanted) cluster.sync();
  if (threadIdx.x == 0) {
    *cluster.map_shared_rank(&word, cluster.block_rank() ^ 1) = 7;  // planted: cluster_no_start synccheck/remote-before-start
  }
  cluster.sync();
  out[blockIdx.x * kThreads + threadIdx.x] = word;
}
template <bool kPlanted>
void run_cluster_no_start() {
  Buffer m;
  cluster_no_start<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// A barrier of the own block says nothing of another one.
template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_block_barrier(int* out) {
  __shared__ int counts[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  if (kPlanted) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  int* const other = cluster.map_shared_rank(counts, cluster.block_rank() ^ 1);
  other[threadIdx.x] = 1;  // planted: cluster_block_barrier synccheck/remote-before-start
  cluster.sync();
  out[blockIdx.x * kThreads + threadIdx.x] = counts[threadIdx.x];
}
template <bool kPlanted>
void run_cluster_block_barrier() {
  Buffer m;
  cluster_block_barrier<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_no_end(int* out) {
  __shared__ int word;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) word = static_cast<int>(cluster.block_rank());
  cluster.sync();
  const int* const other = cluster.map_shared_rank(&word, cluster.block_rank() ^ 1);
  const int value = *other;  // planted: cluster_no_end synccheck/remote-after-exit
  if (!kPlanted) cluster.sync();
  out[blockIdx.x * kThreads + threadIdx.x] = value;
}
template <bool kPlanted>
void run_cluster_no_end() {
  Buffer m;
  cluster_no_end<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// The sum is complete for block 0, which the others have left when it still reads their parts.
template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_sum(int* out) {
  __shared__ int part;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  atomicAdd(&part, 1);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    int sum = 0;
    for (int rank = 0; rank < kBlocks; ++rank) {
      sum += *cluster.map_shared_rank(&part, rank);  // planted: cluster_sum synccheck/remote-after-exit
    }
    out[0] = sum;
  }
  if (!kPlanted) cluster.sync();
}
template <bool kPlanted>
void run_cluster_sum() {
  Buffer m;
  cluster_sum<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// ---- races -------------------------------------------------------------------------------------------

// Written by a thread of the block, read by one of the other, and only the block has met.
template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_read(int* out) {
  __shared__ int tile[kThreads];
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kPlanted) {
    __syncthreads();
  } else {
    cluster.sync();
  }
  const int* const other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
  const int value = other[threadIdx.x];  // planted: cluster_read racecheck/shared-race
  cluster.sync();
  out[blockIdx.x * kThreads + threadIdx.x] = value;
}
template <bool kPlanted>
void run_cluster_read() {
  Buffer m;
  cluster_read<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// Both blocks add to one word; the clean twin with an atomic.
template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_add(int* out) {
  __shared__ int count;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) count = 0;
  cluster.sync();
  int* const first = cluster.map_shared_rank(&count, 0);
  if (threadIdx.x == 0) {
    if (kPlanted) {
      *first += 1;  // planted: cluster_add racecheck/shared-race
    } else {
      atomicAdd(first, 1);
    }
  }
  cluster.sync();
  if (cluster.block_rank() == 0) out[threadIdx.x] = count;
}
template <bool kPlanted>
void run_cluster_add() {
  Buffer m;
  cluster_add<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

// ---- an mbarrier that was initialised, and a barrier of the cluster that promises nothing ---------

template <bool kPlanted>
__global__ void __cluster_dims__(kBlocks, 1, 1) cluster_relaxed(int* out) {
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    if (!kPlanted) ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 32) {
    ptx::mbarrier_arrive(&barrier);  // planted: cluster_relaxed racecheck/shared-race
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  out[blockIdx.x * kThreads + threadIdx.x] = 1;
}
template <bool kPlanted>
void run_cluster_relaxed() {
  Buffer m;
  cluster_relaxed<kPlanted><<<kBlocks, kThreads>>>(m.data);
}

constexpr CorpusCase kCases[] = {
    CASE(cluster_half, "cluster.barrier"),
    CASE(cluster_one_block, "cluster.barrier"),
    CASE(cluster_no_start, "cluster.start"),
    CASE(cluster_block_barrier, "cluster.start"),
    CASE(cluster_no_end, "cluster.end"),
    CASE(cluster_sum, "cluster.end"),
    CASE(cluster_read, "cluster.race"),
    CASE(cluster_add, "cluster.race"),
    CASE(cluster_relaxed, "race.mbarrier"),
};

}  // namespace

extern const CorpusPart kClusterCorpus = {kCases, sizeof kCases / sizeof kCases[0]};

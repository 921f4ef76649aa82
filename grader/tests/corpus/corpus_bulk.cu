// Bulk copies and the mbarriers that count their bytes: see corpus.cu for the form.
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "corpus.h"

namespace {

namespace ptx = cuda::ptx;

constexpr int kThreads = 64;
constexpr int kBytes = kThreads * sizeof(int);
constexpr int kTiles = 4;

// Two buffers of kTiles * kThreads numbers; the first holds zeros.
struct Buffers {
  int* in = nullptr;
  int* out = nullptr;
  Buffers() {
    cudaMalloc(&in, kTiles * kBytes);
    cudaMalloc(&out, kTiles * kBytes);
    cudaMemset(in, 0, kTiles * kBytes);
  }
  ~Buffers() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};

__device__ void start_barrier(uint64_t* barrier) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
}

__device__ void expect(uint64_t* barrier, uint32_t bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 bytes);
}

__device__ void await(uint64_t* barrier, uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

// ---- into shared memory ----------------------------------------------------------------------------

// Nobody waits.
template <bool kPlanted>
__global__ void bulk_no_wait(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  tile[threadIdx.x] = 0;
  start_barrier(&barrier);
  if (threadIdx.x == 0) {
    expect(&barrier, kBytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, kBytes, &barrier);
  }
  if (!kPlanted) await(&barrier, 0);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // planted: bulk_no_wait racecheck/async-copy-race
}
template <bool kPlanted>
void run_bulk_no_wait() {
  Buffers m;
  bulk_no_wait<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// A wait for the phase before, which has always ended.
template <bool kPlanted>
__global__ void bulk_wrong_phase(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  tile[threadIdx.x] = 0;
  start_barrier(&barrier);
  if (threadIdx.x == 0) {
    expect(&barrier, kBytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, kBytes, &barrier);
  }
  await(&barrier, kPlanted ? 1 : 0);
  out[threadIdx.x] = tile[threadIdx.x];  // planted: bulk_wrong_phase racecheck/async-copy-race
}
template <bool kPlanted>
void run_bulk_wrong_phase() {
  Buffers m;
  bulk_wrong_phase<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// One warp waits, and the other reads with no barrier after that.
template <bool kPlanted>
__global__ void bulk_one_waits(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  start_barrier(&barrier);
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) {
      expect(&barrier, kBytes);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, kBytes, &barrier);
    }
    __syncwarp();
    await(&barrier, 0);
  }
  if (!kPlanted) __syncthreads();
  // planted: bulk_one_waits racecheck/shared-race
  out[threadIdx.x] = tile[threadIdx.x];
}
template <bool kPlanted>
void run_bulk_one_waits() {
  Buffers m;
  bulk_one_waits<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// ---- how many bytes --------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void bulk_expects_more(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  start_barrier(&barrier);
  if (threadIdx.x == 0) {
    expect(&barrier, kPlanted ? 2 * kBytes : kBytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, kBytes, &barrier);
  }
  // planted: bulk_expects_more synccheck/mbarrier-deadlock
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}
template <bool kPlanted>
void run_bulk_expects_more() {
  Buffers m;
  bulk_expects_more<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// The object waits for an arrival of every thread, and one arrives.
template <bool kPlanted>
__global__ void bulk_misses_arrivals(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, kPlanted ? kThreads : 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&barrier, kBytes);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, kBytes, &barrier);
  }
  // planted: bulk_misses_arrivals synccheck/mbarrier-deadlock
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}
template <bool kPlanted>
void run_bulk_misses_arrivals() {
  Buffers m;
  bulk_misses_arrivals<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

template <bool kPlanted>
__global__ void bulk_expects_less(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  start_barrier(&barrier);
  if (threadIdx.x == 0) {
    expect(&barrier, kPlanted ? kBytes / 4 : kBytes);  // elements for bytes
    // planted: bulk_expects_less synccheck/transaction-count
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, kBytes, &barrier);
  }
  await(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}
template <bool kPlanted>
void run_bulk_expects_less() {
  Buffers m;
  bulk_expects_less<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// Two copies, and the bytes of one are expected.
template <bool kPlanted>
__global__ void bulk_forgets_one(const int* in, int* out) {
  __shared__ alignas(16) int tile[2][kThreads];
  __shared__ uint64_t barrier;
  start_barrier(&barrier);
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[0], in, kBytes, &barrier);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[1], in, kBytes, &barrier);
    // planted: bulk_forgets_one synccheck/transaction-count
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   kPlanted ? kBytes : 2 * kBytes);
  }
  await(&barrier, 0);
  out[threadIdx.x] = tile[0][threadIdx.x] + tile[1][threadIdx.x];
}
template <bool kPlanted>
void run_bulk_forgets_one() {
  Buffers m;
  bulk_forgets_one<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// ---- a buffer that is filled again -----------------------------------------------------------------

template <bool kPlanted>
__global__ void bulk_refill(const int* in, int* out) {
  __shared__ alignas(16) int tile[kThreads];
  __shared__ uint64_t barrier;
  start_barrier(&barrier);
  int sum = 0;
  for (int t = 0; t < kTiles; ++t) {
    if (threadIdx.x == 0) {
      expect(&barrier, kBytes);
      // planted: bulk_refill racecheck/shared-race
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + t * kThreads, kBytes, &barrier);
    }
    await(&barrier, t % 2);
    sum += tile[kThreads - 1 - threadIdx.x];
    if (!kPlanted) __syncthreads();
  }
  out[threadIdx.x] = sum;
}
template <bool kPlanted>
void run_bulk_refill() {
  Buffers m;
  bulk_refill<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// One warp brings tiles, another one takes them; two buffers. The planted twin does not wait until
// a buffer is empty again.
template <bool kPlanted>
__global__ void bulk_ring(const int* in, int* out) {
  __shared__ alignas(16) int tile[2][32];
  __shared__ uint64_t full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], 32);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int t = 0; t < 2 * kTiles; ++t) {
      if (!kPlanted && t >= 2) await(&empty[t % 2], (t / 2 - 1) % 2);
      expect(&full[t % 2], 128);
      // planted: bulk_ring racecheck/shared-race
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[t % 2], in + t * 32, 128, &full[t % 2]);
    }
  } else if (threadIdx.x < 32) {
    int sum = 0;
    for (int t = 0; t < 2 * kTiles; ++t) {
      await(&full[t % 2], t / 2 % 2);
      sum += tile[t % 2][31 - threadIdx.x];
      ptx::mbarrier_arrive(&empty[t % 2]);
    }
    out[threadIdx.x] = sum;
  }
}
template <bool kPlanted>
void run_bulk_ring() {
  Buffers m;
  bulk_ring<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// ---- out of shared memory ----------------------------------------------------------------------------

template <bool kPlanted>
__global__ void bulk_no_fence(int* out) {
  __shared__ alignas(16) int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  if (!kPlanted) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    // planted: bulk_no_fence racecheck/missing-proxy-fence
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, kBytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
template <bool kPlanted>
void run_bulk_no_fence() {
  Buffers m;
  bulk_no_fence<kPlanted><<<1, kThreads>>>(m.out);
}

// The fence stands in front of the last stores.
template <bool kPlanted>
__global__ void bulk_early_fence(int* out) {
  __shared__ alignas(16) int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  if (kPlanted) ptx::fence_proxy_async(ptx::space_shared);
  tile[threadIdx.x] += 5;
  if (!kPlanted) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    // planted: bulk_early_fence racecheck/missing-proxy-fence
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, tile, kBytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
template <bool kPlanted>
void run_bulk_early_fence() {
  Buffers m;
  cudaMemset(m.out, 0, kBytes);
  bulk_early_fence<kPlanted><<<1, kThreads>>>(m.out);
}

template <bool kPlanted>
__global__ void bulk_source_reused(int* out) {
  __shared__ alignas(16) int tile[kThreads];
  for (int t = 0; t < kTiles; ++t) {
    tile[threadIdx.x] = t;  // planted: bulk_source_reused racecheck/async-copy-race
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + t * kThreads, tile, kBytes);
      ptx::cp_async_bulk_commit_group();
      if (!kPlanted) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
template <bool kPlanted>
void run_bulk_source_reused() {
  Buffers m;
  bulk_source_reused<kPlanted><<<1, kThreads>>>(m.out);
}

// Two buffers; the planted twin lets one group too many be pending.
template <bool kPlanted>
__global__ void bulk_waits_for_too_few(int* out) {
  __shared__ alignas(16) int tile[2][kThreads];
  for (int t = 0; t < kTiles; ++t) {
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kPlanted ? 2 : 1>());
    }
    __syncthreads();
    tile[t % 2][threadIdx.x] = t;  // planted: bulk_waits_for_too_few racecheck/async-copy-race
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + t * kThreads, tile[t % 2], kBytes);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}
template <bool kPlanted>
void run_bulk_waits_for_too_few() {
  Buffers m;
  bulk_waits_for_too_few<kPlanted><<<1, kThreads>>>(m.out);
}

template <bool kPlanted>
__global__ void bulk_leaves(int* out) {
  __shared__ alignas(16) int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    // planted: bulk_leaves synccheck/bulk-copy-at-exit
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, kBytes);
    ptx::cp_async_bulk_commit_group();
    if (!kPlanted) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
template <bool kPlanted>
void run_bulk_leaves() {
  Buffers m;
  bulk_leaves<kPlanted><<<1, kThreads>>>(m.out);
}

// A wait for groups, and the copy was put into none.
template <bool kPlanted>
__global__ void bulk_uncommitted(int* out) {
  __shared__ alignas(16) int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    // planted: bulk_uncommitted synccheck/bulk-copy-at-exit
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, kBytes);
    if (!kPlanted) ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
template <bool kPlanted>
void run_bulk_uncommitted() {
  Buffers m;
  bulk_uncommitted<kPlanted><<<1, kThreads>>>(m.out);
}

constexpr CorpusCase kCases[] = {
    CASE(bulk_no_wait, "bulk.wait"),
    CASE(bulk_wrong_phase, "bulk.wait"),
    CASE(bulk_one_waits, "bulk.wait race.mbarrier"),
    CASE(bulk_expects_more, "bulk.few"),
    CASE(bulk_misses_arrivals, "bulk.few"),
    CASE(bulk_expects_less, "bulk.many"),
    CASE(bulk_forgets_one, "bulk.many"),
    CASE(bulk_refill, "bulk.refill"),
    CASE(bulk_ring, "bulk.refill race.mbarrier"),
    CASE(bulk_no_fence, "bulk.proxy"),
    CASE(bulk_early_fence, "bulk.proxy"),
    CASE(bulk_source_reused, "bulk.source"),
    CASE(bulk_waits_for_too_few, "bulk.source"),
    CASE(bulk_leaves, "bulk.exit"),
    CASE(bulk_uncommitted, "bulk.exit"),
};

}  // namespace

extern const CorpusPart kBulkCorpus = {kCases, sizeof kCases / sizeof kCases[0]};

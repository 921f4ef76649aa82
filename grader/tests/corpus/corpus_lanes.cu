// Barriers, masks and lanes; see corpus.cu for the form.
#include "corpus.h"
#include "corpus_buffers.cuh"

namespace {

// ---- barriers ------------------------------------------------------------------------------------

// The second warp goes through the loop once more than the first.
template <bool kPlanted>
__global__ void barrier_in_loop(int*, int* b) {
  const int rounds = kPlanted && threadIdx.x >= 32 ? 3 : 2;
  for (int i = 0; i < rounds; ++i) {
    b[i * kThreads + threadIdx.x] = i;
    __syncthreads();
  }
  b[threadIdx.x] += 1;
  __syncthreads();  // planted: barrier_in_loop synccheck/divergent-barrier
  b[threadIdx.x] += 1;
}
SIMPLE_CASE(barrier_in_loop, 1, kThreads)

template <bool kPlanted>
__global__ void two_named_barriers(int*, int* b) {
  const int barrier = kPlanted && threadIdx.x >= 32 ? 2 : 1;
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");  // planted: two_named_barriers synccheck/barrier-deadlock
  b[threadIdx.x] = 1;
}
SIMPLE_CASE(two_named_barriers, 1, kThreads)

// Threads that have left do not count, threads that wait elsewhere do.
template <bool kPlanted>
__global__ void half_leaves(int*, int* b) {
  if (threadIdx.x < 32) {
    if (kPlanted) __syncthreads();  // planted: half_leaves synccheck/divergent-barrier
    return;
  }
  __syncthreads();
  b[threadIdx.x] = 1;
}
SIMPLE_CASE(half_leaves, 1, kThreads)

// A half of each warp meets twice while the other one leaves: right, unless that one does what the
// barriers were to order.
template <bool kPlanted>
__global__ void half_of_warps(int*, int* b) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x % 32 < 16) {
    __syncthreads();
    b[threadIdx.x] = tile[threadIdx.x ^ 32];
    __syncthreads();
    tile[threadIdx.x] = 0;
  } else if (kPlanted) {
    b[threadIdx.x] = tile[threadIdx.x ^ 32];  // planted: half_of_warps racecheck/shared-race
  }
}
SIMPLE_CASE(half_of_warps, 1, kThreads)

// A named barrier counts whole warps, of which a half may have left.
template <bool kPlanted>
__global__ void half_at_named_barrier(int*, int* b) {
  if (threadIdx.x % 32 >= 16) return;
  const int named = kPlanted ? 96 : 64;
  asm volatile("bar.sync 1, %0;" ::"r"(named) : "memory");  // planted: half_at_named_barrier synccheck/barrier-deadlock
  b[threadIdx.x] = 1;
}
SIMPLE_CASE(half_at_named_barrier, 1, kThreads)

// ---- masks ---------------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void shuffle_own_lane(int*, int* b) {
  const unsigned mask = kPlanted ? 0x7fffffffu : 0xffffffffu;
  b[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 3);  // planted: shuffle_own_lane synccheck/caller-not-in-mask
}
SIMPLE_CASE(shuffle_own_lane, 1, 32)

template <bool kPlanted>
__global__ void ballot_masks(int* a, int* b) {
  const unsigned rest = kPlanted ? 0xfffffff0u : 0xffffff00u;
  const unsigned mask = threadIdx.x < 8 ? 0x000000ffu : rest;
  b[threadIdx.x] = __ballot_sync(mask, a[threadIdx.x] == 0);  // planted: ballot_masks synccheck/masks-disagree
}
SIMPLE_CASE(ballot_masks, 1, 32)

// The upper lanes stand at the barrier of the block when the lower ones wait for them.
template <bool kPlanted>
__global__ void lanes_at_barrier(int*, int* b) {
  if (threadIdx.x % 32 < 16) {
    __syncwarp(kPlanted ? 0xffffffffu : 0x0000ffffu);  // planted: lanes_at_barrier synccheck/missing-lanes
    b[threadIdx.x] = 1;
  }
  __syncthreads();
  b[threadIdx.x] += 1;
}
SIMPLE_CASE(lanes_at_barrier, 1, kThreads)

// ---- shuffles ------------------------------------------------------------------------------------

// The lanes from 16 on have left: they may be named, but hold no value any more.
template <bool kPlanted>
__global__ void shuffle_from_exited(int* a, int* b) {
  if (threadIdx.x >= 16) return;
  constexpr int kWidth = kPlanted ? 32 : 16;
  const int value = a[threadIdx.x] + 1;
  b[threadIdx.x] = __shfl_down_sync(0xffffffffu, value, 8, kWidth);  // planted: shuffle_from_exited synccheck/shuffle-from-absent-lane
}
SIMPLE_CASE(shuffle_from_exited, 1, 32)

// Lanes that take part in a branch, and one that does not.
template <bool kPlanted>
__global__ void shuffle_in_branch(int* a, int* b) {
  const int value = a[threadIdx.x] + 1;
  const int source = kPlanted ? 20 : 2;
  if (threadIdx.x < 8) {
    b[threadIdx.x] = __shfl_sync(0x000000ffu, value, source);  // planted: shuffle_in_branch synccheck/shuffle-from-absent-lane
  }
}
SIMPLE_CASE(shuffle_in_branch, 1, 32)

// What an absent lane brings is as undefined as memory that nothing has written.
template <bool kPlanted>
__global__ void absent_sum(int* a, int* b) {
  if (kPlanted && threadIdx.x >= 20) return;
  int value = a[threadIdx.x] + 1;
  value += __shfl_down_sync(0xffffffffu, value, 1);  // planted: absent_sum initcheck/uninitialised-value
  b[threadIdx.x] = value;
}
SIMPLE_CASE(absent_sum, 1, 32)

template <bool kPlanted>
__global__ void absent_decides(int* a, int* b) {
  if (kPlanted && threadIdx.x >= 20) return;
  const int other = __shfl_xor_sync(0xffffffffu, a[threadIdx.x] + 1, 16);
  // planted: absent_decides initcheck/uninitialised-value
  if (other > 3) b[other] = 1;
}
SIMPLE_CASE(absent_decides, 1, 32)

// ---- loops ---------------------------------------------------------------------------------------

// A grid-stride loop whose stride is zero.
template <bool kPlanted>
__global__ void stride_of_zero(int* a, int* b) {
  const int stride = a[0] + (kPlanted ? 0 : kThreads);
  // planted: stride_of_zero launch/endless-loop
  for (int i = threadIdx.x; i < kWords; i += stride) b[i] = i;
}
SIMPLE_CASE(stride_of_zero, 1, 1)

}  // namespace

const CorpusCase kLaneCases[] = {
    CASE(barrier_in_loop, "sync.branch"),
    CASE(two_named_barriers, "sync.different"),
    CASE(half_leaves, "sync.exited sync.branch"),
    CASE(half_of_warps, "sync.exited"),
    CASE(half_at_named_barrier, "sync.exited sync.deadlock"),
    CASE(shuffle_own_lane, "sync.own-lane"),
    CASE(ballot_masks, "sync.masks"),
    CASE(lanes_at_barrier, "sync.absent"),
    CASE(shuffle_from_exited, "sync.source"),
    CASE(shuffle_in_branch, "sync.source"),
    CASE(absent_sum, "init.shuffle"),
    CASE(absent_decides, "init.shuffle"),
    CASE(stride_of_zero, "launch.endless"),
};
extern const CorpusPart kLaneCorpus = {kLaneCases, sizeof(kLaneCases) / sizeof(kLaneCases[0])};

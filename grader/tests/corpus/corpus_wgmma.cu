// Products of a warpgroup, and registers that warpgroups hand on: see corpus.cu for the form.
#include <cuda_awbarrier_primitives.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cuda/ptx>

#include "corpus.h"

namespace {

namespace ptx = cuda::ptx;

constexpr int kGroup = 128;  // threads

// A is 64 x 16, B 16 x 8: units of 16 bytes, eight rows of a unit are neighbours.
struct Tiles {
  __half a[64 * 16];
  __half b[16 * 8];
};

struct Output {
  float* sums = nullptr;
  Output() { cudaMalloc(&sums, 4 * kGroup * sizeof(float)); }
  ~Output() {
    cudaDeviceSynchronize();
    cudaFree(sums);
  }
};

__device__ uint64_t describe(const void* matrix, int leading) {
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(matrix));
  return address >> 4 | static_cast<uint64_t>(leading >> 4) << 16 | uint64_t{128 >> 4} << 32;
}

// Macros, so that a finding is on the line that uses them.
#define WGMMA(d, of_a, of_b)                                                                 \
  asm volatile(                                                                              \
      "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"                                         \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, add, 1, " \
      "1, 0, 0;\n}"                                                                          \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                       \
      : "l"(of_a), "l"(of_b))
#define WGMMA_A_IN_REGISTERS(d, a, of_b)                                                  \
  asm volatile(                                                                           \
      "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"                                      \
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, " \
      "%7}, %8, add, 1, 1, 0;\n}"                                                         \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                    \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b))
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(newest) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(newest) : "memory")

__device__ void fill(Tiles& tiles, int thread) {
  for (int i = thread; i < 64 * 16; i += kGroup) tiles.a[i] = __float2half(1.0f);
  tiles.b[thread] = __float2half(2.0f);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ uint64_t describe_a(const Tiles& tiles) { return describe(tiles.a, 1024); }
__device__ uint64_t describe_b(const Tiles& tiles) { return describe(tiles.b, 128); }

#define RUN_ONE_GROUP(name)                  \
  template <bool kPlanted>                   \
  void run_##name() {                        \
    Output out;                              \
    name<kPlanted><<<1, kGroup>>>(out.sums); \
  }

// ---- sums and parts of A in registers --------------------------------------------------------

template <bool kPlanted>
__global__ void wgmma_missing_wait(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  if (!kPlanted) WAIT(0);
  out[threadIdx.x] = d[0];  // planted: wgmma_missing_wait racecheck/wgmma-in-flight
  WAIT(0);
}
RUN_ONE_GROUP(wgmma_missing_wait)

// Two groups under way; the sums of the second are read when the first has ended.
template <bool kPlanted>
__global__ void wgmma_waits_for_too_few(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {}, e[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WGMMA(e, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(1);
  out[threadIdx.x] = d[0];
  if (!kPlanted) WAIT(0);
  out[kGroup + threadIdx.x] = e[0];  // planted: wgmma_waits_for_too_few racecheck/wgmma-in-flight
}
RUN_ONE_GROUP(wgmma_waits_for_too_few)

template <bool kPlanted>
__global__ void wgmma_missing_commit(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  if (!kPlanted) COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];  // planted: wgmma_missing_commit racecheck/wgmma-in-flight
}
RUN_ONE_GROUP(wgmma_missing_commit)

// A part of A is loaded while the product before it may still read the same registers.
template <bool kPlanted>
__global__ void wgmma_part_of_a(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  const auto* rows = reinterpret_cast<const volatile uint32_t*>(tiles.a);
  uint32_t a[4];
#pragma unroll 1
  for (int step = 0; step < 2; ++step) {
    for (int i = 0; i < 4; ++i) {
      a[i] = rows[threadIdx.x * 4 + i];  // planted: wgmma_part_of_a racecheck/wgmma-in-flight
    }
    FENCE();
    WGMMA_A_IN_REGISTERS(d, a, describe_b(tiles));
    COMMIT();
    if (!kPlanted) WAIT(0);
  }
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_part_of_a)

template <bool kPlanted>
__global__ void wgmma_missing_fence(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  if (!kPlanted) FENCE();
  // planted: wgmma_missing_fence synccheck/missing-wgmma-fence
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_missing_fence)

// Sums that other instructions change need another fence.
template <bool kPlanted>
__global__ void wgmma_scaled_sums(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  for (float& sum : d) sum *= 0.5f;
  if (!kPlanted) FENCE();
  // planted: wgmma_scaled_sums synccheck/missing-wgmma-fence
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_scaled_sums)

// ---- tiles in shared memory --------------------------------------------------------------------

template <bool kPlanted>
__global__ void wgmma_missing_barrier(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  if (!kPlanted) __syncthreads();
  float d[4] = {};
  FENCE();
  // planted: wgmma_missing_barrier racecheck/wgmma-race
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_missing_barrier)

template <bool kPlanted>
__global__ void wgmma_refill(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  if (!kPlanted) WAIT(0);
  tiles.a[threadIdx.x] = __float2half(3.0f);  // planted: wgmma_refill racecheck/wgmma-race
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_refill)

// A barrier does not wait for the tensor cores.
template <bool kPlanted>
__global__ void wgmma_barrier_only(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  if (!kPlanted) WAIT(0);
  __syncthreads();
  const int other = kGroup - 1 - threadIdx.x;
  tiles.b[other] = __float2half(3.0f);  // planted: wgmma_barrier_only racecheck/wgmma-race
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_barrier_only)

// One thread speaks for its warpgroup: it has waited, so the product of all four warps is over.
template <bool kPlanted>
__global__ void wgmma_one_speaks(float* out) {
  __shared__ Tiles tiles;
  __shared__ __mbarrier_t empty;
  if (threadIdx.x == 0) __mbarrier_init(&empty, 1);
  if (threadIdx.x < kGroup) fill(tiles, threadIdx.x);
  __syncthreads();
  if (threadIdx.x < kGroup) {
    float d[4] = {};
    FENCE();
    WGMMA(d, describe_a(tiles), describe_b(tiles));
    COMMIT();
    if (kPlanted && threadIdx.x == 0) __mbarrier_arrive(&empty);
    WAIT(0);
    if (!kPlanted && threadIdx.x == 0) __mbarrier_arrive(&empty);
    out[threadIdx.x] = d[0];
  } else {
    while (!__mbarrier_test_wait_parity(&empty, false)) {
    }
    const int i = threadIdx.x - kGroup;
    tiles.a[i] = __float2half(3.0f);  // planted: wgmma_one_speaks racecheck/wgmma-race
  }
}
template <bool kPlanted>
void run_wgmma_one_speaks() {
  Output out;
  wgmma_one_speaks<kPlanted><<<1, 2 * kGroup>>>(out.sums);
}

// Any thread may, not only the first of a warp.
template <bool kPlanted>
__global__ void wgmma_another_speaks(float* out) {
  __shared__ Tiles tiles;
  __shared__ __mbarrier_t empty;
  constexpr int kSpeaker = 37;
  if (threadIdx.x == 0) __mbarrier_init(&empty, 1);
  if (threadIdx.x < kGroup) fill(tiles, threadIdx.x);
  __syncthreads();
  if (threadIdx.x < kGroup) {
    float d[4] = {};
    FENCE();
    WGMMA(d, describe_a(tiles), describe_b(tiles));
    COMMIT();
    if (kPlanted && threadIdx.x == kSpeaker) __mbarrier_arrive(&empty);
    WAIT(0);
    if (!kPlanted && threadIdx.x == kSpeaker) __mbarrier_arrive(&empty);
    out[threadIdx.x] = d[0];
  } else {
    while (!__mbarrier_test_wait_parity(&empty, false)) {
    }
    const int i = threadIdx.x - kGroup;
    tiles.a[i] = __float2half(3.0f);  // planted: wgmma_another_speaks racecheck/wgmma-race
  }
}
template <bool kPlanted>
void run_wgmma_another_speaks() {
  Output out;
  wgmma_another_speaks<kPlanted><<<1, 2 * kGroup>>>(out.sums);
}

// A copy fills the tiles of both blocks of a cluster while the other one still multiplies.
template <bool kPlanted>
__global__ void __cluster_dims__(2, 1, 1) wgmma_multicast_refill(const __half* next, float* out) {
  __shared__ alignas(128) Tiles tiles;
  __shared__ uint64_t full;
  constexpr uint32_t kBytes = sizeof tiles.b;
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   kBytes);
  }
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  if (!kPlanted) WAIT(0);
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (kPlanted && rank == 0) WAIT(0);
  if (rank == 0 && threadIdx.x == 0) {
    // planted: wgmma_multicast_refill racecheck/wgmma-race
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tiles.b, next, kBytes, &full, 3);
  }
  WAIT(0);
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  out[blockIdx.x * kGroup + threadIdx.x] = d[0] + __half2float(tiles.b[threadIdx.x]);
}
template <bool kPlanted>
void run_wgmma_multicast_refill() {
  Output out;
  __half* next = nullptr;
  cudaMalloc(&next, sizeof(Tiles::b));
  cudaMemset(next, 0, sizeof(Tiles::b));
  wgmma_multicast_refill<kPlanted><<<2, kGroup>>>(next, out.sums);
  cudaDeviceSynchronize();
  cudaFree(next);
}

// ---- four warps
// ----------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void wgmma_three_warps(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  if (kPlanted && threadIdx.x >= 96) return;
  float d[4] = {};
  FENCE();
  // planted: wgmma_three_warps synccheck/partial-warpgroup
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_three_warps)

template <bool kPlanted>
__global__ void wgmma_small_block(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  if (blockDim.x < kGroup && threadIdx.x < 32) fill(tiles, threadIdx.x + 96);
  __syncthreads();
  float d[4] = {};
  FENCE();
  // planted: wgmma_small_block synccheck/partial-warpgroup
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
template <bool kPlanted>
void run_wgmma_small_block() {
  Output out;
  wgmma_small_block<kPlanted><<<1, kPlanted ? 96 : kGroup>>>(out.sums);
}

// The rows of each warp follow from its place in the warpgroup, not from its descriptor.
template <bool kPlanted>
__global__ void wgmma_descriptor_of_a_warp(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  const int first_row = kPlanted ? threadIdx.x / 32 * 16 : 0;
  const uint64_t of_a = describe(&tiles.a[first_row * 8], 1024);
  FENCE();
  // planted: wgmma_descriptor_of_a_warp synccheck/wgmma-descriptor
  WGMMA(d, of_a, describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_descriptor_of_a_warp)

// ---- what a descriptor names
// ---------------------------------------------------------------------

template <bool kPlanted>
__global__ void wgmma_outside(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  __syncthreads();
  float d[4] = {};
  const uint64_t of_a = describe(tiles.a, kPlanted ? 2048 : 1024);
  FENCE();
  // planted: wgmma_outside memcheck/wgmma-descriptor
  WGMMA(d, of_a, describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_outside)

template <bool kPlanted>
__global__ void wgmma_unwritten(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, kPlanted ? threadIdx.x / 2 : threadIdx.x);
  __syncthreads();
  float d[4] = {};
  FENCE();
  // planted: wgmma_unwritten initcheck/*
  WGMMA(d, describe_a(tiles), describe_b(tiles));
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_unwritten)

// ---- setmaxnreg: 384 threads are launched with 168 registers each -------------------------------

template <bool kPlanted>
__global__ void __launch_bounds__(3 * kGroup, 1) registers_of_nobody(float* out) {
  if (threadIdx.x < kGroup) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  } else if (kPlanted) {
    // planted: registers_of_nobody synccheck/register-budget
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  }
  out[threadIdx.x] = 0.0f;
}
template <bool kPlanted>
void run_registers_of_nobody() {
  Output out;
  registers_of_nobody<kPlanted><<<1, 3 * kGroup>>>(out.sums);
}

// For a card there is no such program: the assembler refuses it.
#ifdef CORPUS_FOR_A_CARD
constexpr int kTooMany = 160;
#else
constexpr int kTooMany = 176;
#endif

template <bool kPlanted>
__global__ void __launch_bounds__(3 * kGroup, 1) registers_the_wrong_way(float* out) {
  if (threadIdx.x < kGroup) {
    // planted: registers_the_wrong_way synccheck/register-budget
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kPlanted ? kTooMany : 160));
  }
  out[threadIdx.x] = 0.0f;
}
template <bool kPlanted>
void run_registers_the_wrong_way() {
  Output out;
  registers_the_wrong_way<kPlanted><<<1, 3 * kGroup>>>(out.sums);
}

// The tensor cores read through the asynchronous proxy.
template <bool kPlanted>
__global__ void wgmma_no_proxy_fence(float* out) {
  __shared__ Tiles tiles;
  fill(tiles, threadIdx.x);
  tiles.b[threadIdx.x] = __float2half(3.0f);
  if (!kPlanted) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[4] = {};
  FENCE();
  WGMMA(d, describe_a(tiles), describe_b(tiles));  // planted: wgmma_no_proxy_fence racecheck/missing-proxy-fence
  COMMIT();
  WAIT(0);
  out[threadIdx.x] = d[0];
}
RUN_ONE_GROUP(wgmma_no_proxy_fence)

}  // namespace

const CorpusCase kWgmmaCases[] = {
    CASE(wgmma_missing_wait, "wgmma.in-flight"),
    CASE(wgmma_waits_for_too_few, "wgmma.in-flight"),
    CASE(wgmma_missing_commit, "wgmma.in-flight"),
    CASE(wgmma_part_of_a, "wgmma.in-flight"),
    CASE(wgmma_missing_fence, "wgmma.fence"),
    CASE(wgmma_scaled_sums, "wgmma.fence"),
    CASE(wgmma_no_proxy_fence, "bulk.proxy"),
    CASE(wgmma_missing_barrier, "wgmma.filled race.shared"),
    CASE(wgmma_unwritten, "wgmma.filled"),
    CASE(wgmma_refill, "wgmma.refill"),
    CASE(wgmma_barrier_only, "wgmma.refill"),
    CASE(wgmma_one_speaks, "wgmma.refill race.mbarrier"),
    CASE(wgmma_another_speaks, "wgmma.refill race.mbarrier"),
    CASE(wgmma_multicast_refill, "wgmma.refill"),
    CASE(wgmma_three_warps, "wgmma.four-warps"),
    CASE(wgmma_small_block, "wgmma.four-warps"),
    CASE(wgmma_descriptor_of_a_warp, "wgmma.descriptor"),
    CASE(wgmma_outside, "wgmma.descriptor memory.shared"),
    CASE(registers_of_nobody, "sync.registers"),
    CASE(registers_the_wrong_way, "sync.registers"),
};
extern const CorpusPart kWgmmaCorpus = {kWgmmaCases, sizeof(kWgmmaCases) / sizeof(kWgmmaCases[0])};

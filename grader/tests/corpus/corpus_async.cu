// Asynchronous copies to shared memory and mbarriers: see corpus.cu for the form.
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline_primitives.h>

#include "corpus.h"

namespace {

constexpr int kThreads = 64;
constexpr int kStages = 4;

// Two buffers of kThreads * kStages numbers; the first holds zeros.
struct Buffers {
  int* in = nullptr;
  int* out = nullptr;
  Buffers() {
    cudaMalloc(&in, kThreads * kStages * sizeof(int));
    cudaMalloc(&out, kThreads * kStages * sizeof(int));
    cudaMemset(in, 0, kThreads * kStages * sizeof(int));
  }
  ~Buffers() {
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
  }
};

// ---- cp.async ------------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void async_missing_wait(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 0;
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  if (!kPlanted) __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[threadIdx.x];  // planted: async_missing_wait racecheck/async-copy-race
}
template <bool kPlanted>
void run_async_missing_wait() {
  Buffers m;
  async_missing_wait<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// A barrier does not wait for copies.
template <bool kPlanted>
__global__ void async_barrier_only(const int* in, int* out) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 0;
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  if (!kPlanted) __pipeline_wait_prior(0);
  __syncthreads();
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: async_barrier_only racecheck/async-copy-race
}
template <bool kPlanted>
void run_async_barrier_only() {
  Buffers m;
  async_barrier_only<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// A wait is for the copies of the own thread only.
template <bool kPlanted>
__global__ void async_wait_only(const int* in, int* out) {
  __shared__ int tile[kThreads];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (!kPlanted) __syncthreads();
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: async_wait_only racecheck/shared-race
}
template <bool kPlanted>
void run_async_wait_only() {
  Buffers m;
  async_wait_only<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// Two stages; the planted twin lets the one that it needs be pending.
template <bool kPlanted>
__global__ void async_wait_too_few(const int* in, int* out) {
  __shared__ int tile[2][kThreads];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[0][i], &in[i], 4);
  __pipeline_commit();
  int sum = 0;
  for (int stage = 0; stage < kStages; ++stage) {
    if (stage + 1 < kStages) {
      __pipeline_memcpy_async(&tile[(stage + 1) % 2][i], &in[(stage + 1) * kThreads + i], 4);
    }
    __pipeline_commit();
    __pipeline_wait_prior(kPlanted ? 2 : 1);
    __syncthreads();
    sum += tile[stage % 2][kThreads - 1 - i];  // planted: async_wait_too_few racecheck/async-copy-race
    __syncthreads();
  }
  out[i] = sum;
}
template <bool kPlanted>
void run_async_wait_too_few() {
  Buffers m;
  async_wait_too_few<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// The next copy into a buffer that others still read.
template <bool kPlanted>
__global__ void async_refill(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int i = threadIdx.x;
  int sum = 0;
  for (int stage = 0; stage < kStages; ++stage) {
    __pipeline_memcpy_async(  // planted: async_refill racecheck/shared-race
        &tile[i], &in[stage * kThreads + i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[kThreads - 1 - i];
    if (!kPlanted) __syncthreads();
  }
  out[i] = sum;
}
template <bool kPlanted>
void run_async_refill() {
  Buffers m;
  async_refill<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

// The bytes past the end are zeros that nobody reads from memory: `zfill` of them.
template <bool kPlanted>
__global__ void async_tail(const int4* in, int4* out, int n) {
  __shared__ int4 tile[kThreads];
  const int i = threadIdx.x;
  const int valid = min(16, max(0, (n - 4 * i) * 4));  // bytes
  __pipeline_memcpy_async(&tile[i], &in[i], 16, kPlanted ? 0 : 16 - valid);  // planted: async_tail memcheck/out-of-bounds-global-read
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[i] = tile[i];
}
template <bool kPlanted>
void run_async_tail() {
  Buffers m;
  async_tail<kPlanted><<<1, kThreads>>>(reinterpret_cast<int4*>(m.in + 6 * 4),
                                        reinterpret_cast<int4*>(m.out),
                                        kThreads * kStages - 6 * 4);
}

// ---- mbarrier ------------------------------------------------------------------------------------

__device__ void wait_for(__mbarrier_t* barrier, __mbarrier_token_t token) {
  while (!__mbarrier_test_wait(barrier, token)) {
  }
}

template <bool kPlanted>
__global__ void mbarrier_missing_wait(int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  if (!kPlanted) wait_for(&barrier, token);
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: mbarrier_missing_wait racecheck/shared-race
}
template <bool kPlanted>
void run_mbarrier_missing_wait() {
  Buffers m;
  mbarrier_missing_wait<kPlanted><<<1, kThreads>>>(m.out);
}

// What a thread writes after it has arrived is not covered by the wait of others.
template <bool kPlanted>
__global__ void mbarrier_late_write(int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads);
  __syncthreads();
  if (!kPlanted) tile[threadIdx.x] = threadIdx.x;
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  if (kPlanted) tile[threadIdx.x] = threadIdx.x;
  wait_for(&barrier, token);
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: mbarrier_late_write racecheck/shared-race
}
template <bool kPlanted>
void run_mbarrier_late_write() {
  Buffers m;
  mbarrier_late_write<kPlanted><<<1, kThreads>>>(m.out);
}

// Half of the threads fill a buffer, the other half reads it. The planted twin refills it when the
// readers have come, not when they are done.
template <bool kPlanted>
__global__ void mbarrier_producer_consumer(int* out) {
  __shared__ __mbarrier_t full, empty;
  __shared__ int tile[kThreads / 2];
  if (threadIdx.x == 0) {
    __mbarrier_init(&full, kThreads);
    __mbarrier_init(&empty, kThreads);
  }
  __syncthreads();
  const int i = threadIdx.x % 32;
  int sum = 0;
  for (int stage = 0; stage < 3; ++stage) {
    if (threadIdx.x < 32) {
      tile[i] = stage;  // planted: mbarrier_producer_consumer racecheck/shared-race
      const __mbarrier_token_t is_full = __mbarrier_arrive(&full);
      const __mbarrier_token_t is_empty = __mbarrier_arrive(&empty);
      if (kPlanted) {
        wait_for(&full, is_full);
      } else {
        wait_for(&empty, is_empty);
      }
    } else {
      wait_for(&full, __mbarrier_arrive(&full));
      sum += tile[31 - i];
      __mbarrier_arrive(&empty);
    }
  }
  out[threadIdx.x] = sum;
}
template <bool kPlanted>
void run_mbarrier_producer_consumer() {
  Buffers m;
  mbarrier_producer_consumer<kPlanted><<<1, kThreads>>>(m.out);
}

// One lane arrives for its warp, which must have come together before.
template <bool kPlanted>
__global__ void mbarrier_lane_arrives(int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads / 32);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  if (!kPlanted) __syncwarp();
  __mbarrier_token_t token = 0;
  if (threadIdx.x % 32 == 0) token = __mbarrier_arrive(&barrier);
  wait_for(&barrier, __shfl_sync(0xffffffffu, token, 0));
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: mbarrier_lane_arrives racecheck/shared-race
}
template <bool kPlanted>
void run_mbarrier_lane_arrives() {
  Buffers m;
  mbarrier_lane_arrives<kPlanted><<<1, kThreads>>>(m.out);
}

// One lane waits for its warp, which must come together after that.
template <bool kPlanted>
__global__ void mbarrier_lane_waits(int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads);
  __syncthreads();
  tile[threadIdx.x] = threadIdx.x;
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  if (threadIdx.x % 32 == 0) wait_for(&barrier, token);
  if (!kPlanted) __syncwarp();
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: mbarrier_lane_waits racecheck/shared-race
}
template <bool kPlanted>
void run_mbarrier_lane_waits() {
  Buffers m;
  mbarrier_lane_waits<kPlanted><<<1, kThreads>>>(m.out);
}

template <bool kPlanted>
__global__ void mbarrier_late_init(int* out) {
  __shared__ __mbarrier_t barrier;
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads);
  if (!kPlanted) __syncthreads();
  const __mbarrier_token_t token =
      __mbarrier_arrive(&barrier);  // planted: mbarrier_late_init racecheck/shared-race
  wait_for(&barrier, token);
  out[threadIdx.x] = 1;
}
template <bool kPlanted>
void run_mbarrier_late_init() {
  Buffers m;
  mbarrier_late_init<kPlanted><<<1, kThreads>>>(m.out);
}

template <bool kPlanted>
__global__ void mbarrier_not_initialised(int* out) {
  __shared__ __mbarrier_t barrier[2];
  if (threadIdx.x == 0) __mbarrier_init(&barrier[0], kThreads);
  __syncthreads();
  __mbarrier_t* used = &barrier[kPlanted ? 1 : 0];
  const __mbarrier_token_t token =
      __mbarrier_arrive(used);  // planted: mbarrier_not_initialised synccheck/mbarrier-not-initialised
  wait_for(used, token);
  out[threadIdx.x] = 1;
}
template <bool kPlanted>
void run_mbarrier_not_initialised() {
  Buffers m;
  mbarrier_not_initialised<kPlanted><<<1, kThreads>>>(m.out);
}

template <bool kPlanted>
__global__ void mbarrier_overwritten(int* out) {
  __shared__ struct {
    int tile[kThreads];
    __mbarrier_t barrier;
  } shared;
  if (threadIdx.x == 0) __mbarrier_init(&shared.barrier, kThreads);
  __syncthreads();
  shared.tile[threadIdx.x + (kPlanted ? 1 : 0)] = 3;
  __syncthreads();
  const __mbarrier_token_t token =
      __mbarrier_arrive(&shared.barrier);  // planted: mbarrier_overwritten synccheck/mbarrier-overwritten
  wait_for(&shared.barrier, token);
  out[threadIdx.x] = shared.tile[threadIdx.x];
}
template <bool kPlanted>
void run_mbarrier_overwritten() {
  Buffers m;
  mbarrier_overwritten<kPlanted><<<1, kThreads>>>(m.out);
}

template <bool kPlanted>
__global__ void mbarrier_overflow(int* out) {
  __shared__ __mbarrier_t barrier;
  if (threadIdx.x == 0) __mbarrier_init(&barrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int arrivals = kPlanted ? 2 : 1;
    __mbarrier_arrive_and_drop(&barrier);
    if (arrivals == 2) __mbarrier_arrive(&barrier);  // planted: mbarrier_overflow synccheck/mbarrier-overflow
  }
  out[threadIdx.x] = 1;
}
template <bool kPlanted>
void run_mbarrier_overflow() {
  Buffers m;
  mbarrier_overflow<kPlanted><<<1, kThreads>>>(m.out);
}

// One arrival more is expected than threads come.
template <bool kPlanted>
__global__ void mbarrier_deadlock(int* out) {
  __shared__ __mbarrier_t barrier;
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads + (kPlanted ? 1 : 0));
  __syncthreads();
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  while (!__mbarrier_test_wait(&barrier, token));  // planted: mbarrier_deadlock synccheck/mbarrier-deadlock
  out[threadIdx.x] = 1;
}
template <bool kPlanted>
void run_mbarrier_deadlock() {
  Buffers m;
  mbarrier_deadlock<kPlanted><<<1, kThreads>>>(m.out);
}

// Copies that the barrier counts; the planted twin reads without waiting for it.
template <bool kPlanted>
__global__ void mbarrier_copies(const int* in, int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int tile[kThreads];
  if (threadIdx.x == 0) __mbarrier_init(&barrier, kThreads);
  tile[threadIdx.x] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_arrive_on(&barrier);
  const __mbarrier_token_t token = __mbarrier_arrive(&barrier);
  if (!kPlanted) wait_for(&barrier, token);
  const int other = kThreads - 1 - threadIdx.x;
  out[threadIdx.x] = tile[other];  // planted: mbarrier_copies racecheck/*
}
template <bool kPlanted>
void run_mbarrier_copies() {
  Buffers m;
  mbarrier_copies<kPlanted><<<1, kThreads>>>(m.in, m.out);
}

}  // namespace

const CorpusCase kAsyncCases[] = {
    CASE(async_missing_wait, "race.async-copy"), CASE(async_barrier_only, "race.async-copy race.schedule"),    CASE(async_wait_only, "race.async-copy"),
    CASE(async_wait_too_few, "race.async-copy"), CASE(async_refill, "race.barrier"),          CASE(async_tail, "memory.global"),
    CASE(mbarrier_missing_wait, "race.mbarrier"), CASE(mbarrier_late_write, "race.mbarrier race.schedule"), CASE(mbarrier_producer_consumer, "race.mbarrier"),
    CASE(mbarrier_lane_arrives, "race.mbarrier race.schedule"),
    CASE(mbarrier_lane_waits, "race.mbarrier"),
    CASE(mbarrier_late_init, "race.barrier"), CASE(mbarrier_not_initialised, "sync.mbarrier"), CASE(mbarrier_overwritten, "sync.mbarrier"),
    CASE(mbarrier_overflow, "sync.mbarrier"), CASE(mbarrier_deadlock, "sync.deadlock"), CASE(mbarrier_copies, "race.mbarrier race.async-copy"),
};
extern const CorpusPart kAsyncCorpus = {kAsyncCases, sizeof(kAsyncCases) / sizeof(kAsyncCases[0])};

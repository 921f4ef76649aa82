// Blocks and warps that hand data to each other through global memory, flags, locks and tickets; see
// corpus.cu for the form.
#include <cooperative_groups.h>

#include "corpus.h"
#include "corpus_buffers.cuh"

namespace {

namespace cg = cooperative_groups;

// ---- conflicting accesses ------------------------------------------------------------------------

template <bool kPlanted>
__global__ void plain_histogram(int* bins, const int* x) {
  int* bin = &bins[x[global_index()] & 7];
  if (kPlanted) {
    *bin += 1;  // planted: plain_histogram racecheck/global-race
  } else {
    atomicAdd(bin, 1);
  }
}
SIMPLE_CASE(plain_histogram, kBlocks, kThreads)

// In place, thread i reads what thread i + 1 writes.
template <bool kPlanted>
__global__ void shift_in_place(int* a, int* b) {
  const int i = global_index();
  int* to = kPlanted ? a : b;
  const int next = a[i + 1];
  to[i] = next + 1;  // planted: shift_in_place racecheck/global-race
}
SIMPLE_CASE(shift_in_place, kBlocks, kThreads)

// The last element of a block and the first of the next.
template <bool kPlanted>
__global__ void overlapping_tiles(int* a, int*) {
  const int first = blockIdx.x * (kPlanted ? kThreads - 1 : kThreads);
  a[first + threadIdx.x] = global_index();  // planted: overlapping_tiles racecheck/global-race
}
SIMPLE_CASE(overlapping_tiles, kBlocks, kThreads)

// Bytes of one word belong to different threads and are no race; the same byte is.
template <bool kPlanted>
__global__ void bytes_of_blocks(int* a, int*) {
  const int slot = kPlanted ? global_index() / 2 : global_index();
  reinterpret_cast<char*>(a)[slot] = static_cast<char>(threadIdx.x);  // planted: bytes_of_blocks racecheck/global-race
}
SIMPLE_CASE(bytes_of_blocks, kBlocks, kThreads)

// Everybody writes the same is worth a note; everybody writes something else is not.
template <bool kPlanted>
__global__ void everybody_writes(int* a, int*) {
  // planted: everybody_writes racecheck/global-race, noted: racecheck/same-value-race
  *a = kPlanted ? global_index() : 7;
}
SIMPLE_CASE(everybody_writes, kBlocks, kThreads)

template <bool kPlanted>
__global__ void read_beside_atomic(int* a, int* b) {
  if (blockIdx.x == 0) {
    atomicAdd(a, 1);
  } else if (kPlanted) {
    b[global_index()] = *a;  // planted: read_beside_atomic racecheck/global-race
  } else {
    b[global_index()] = *static_cast<volatile int*>(a);
  }
}
SIMPLE_CASE(read_beside_atomic, kBlocks, kThreads)

// Atomics for the own block only.
template <bool kPlanted>
__global__ void block_scope(int* a, int*) {
  if (kPlanted) {
    atomicAdd_block(a, 1);  // planted: block_scope racecheck/global-race
  } else {
    atomicAdd(a, 1);
  }
}
SIMPLE_CASE(block_scope, kBlocks, kThreads)

// A strong read of half of what an atomic changes.
template <bool kPlanted>
__global__ void half_of_an_atomic(int* a, int* b) {
  if (blockIdx.x == 0) {
    atomicAdd(a, 1);
  } else if (kPlanted) {
    b[global_index()] = *reinterpret_cast<volatile short*>(a);  // planted: half_of_an_atomic racecheck/global-race
  } else {
    b[global_index()] = *static_cast<volatile int*>(a);
  }
}
SIMPLE_CASE(half_of_an_atomic, kBlocks, kThreads)

// The plain read that starts the loop only guesses; a plain write does not.
template <bool kPlanted>
__global__ void maximum_by_cas(int* a, int*) {
  const int mine = global_index();
  int guess = *a;
  while (guess < mine) {
    if (kPlanted) {
      *a = mine;  // planted: maximum_by_cas racecheck/global-race
      break;
    }
    const int found = atomicCAS(a, guess, mine);  // noted: maximum_by_cas racecheck/first-guess
    if (found == guess) break;
    guess = found;
  }
}
SIMPLE_CASE(maximum_by_cas, kBlocks, kThreads)

// The same read through the generic address of the word, past the first cache.
template <bool kPlanted>
__global__ void maximum_past_cache(int* a, int*) {
  const int mine = global_index();
  int guess = __ldcg(a);
  while (guess < mine) {
    if (kPlanted) {
      *a = mine;  // planted: maximum_past_cache racecheck/global-race
      break;
    }
    const int found = atomicCAS(a, guess, mine);  // noted: maximum_past_cache racecheck/first-guess
    if (found == guess) break;
    guess = found;
  }
}
SIMPLE_CASE(maximum_past_cache, kBlocks, kThreads)

// A read of the word that the thread itself changes, behind its atomic, guesses nothing.
template <bool kPlanted>
__global__ void read_after_own_atomic(int* a, int* b) {
  const int before = atomicAdd(a, 1);
  b[global_index()] = kPlanted ? *a : before;  // planted: read_after_own_atomic racecheck/global-race
}
SIMPLE_CASE(read_after_own_atomic, kBlocks, kThreads)

// Of the writers of a word two agree, and one does not.
template <bool kPlanted>
__global__ void two_agree(int* a, int*) {
  // planted: two_agree racecheck/global-race, noted: racecheck/same-value-race
  *a = kPlanted && threadIdx.x == 2 ? 6 : 5;
}
SIMPLE_CASE(two_agree, 1, kThreads)

template <bool kPlanted>
__global__ void two_agree_in_shared(int* a, int* b) {
  __shared__ int word;
  // planted: two_agree_in_shared racecheck/shared-race, noted: racecheck/same-value-race
  word = a[0] + (kPlanted && threadIdx.x == 2 ? 6 : 5);
  __syncthreads();
  b[threadIdx.x] = word;
}
SIMPLE_CASE(two_agree_in_shared, 1, kThreads)

// Bytes of one value, written by words and one by one.
template <bool kPlanted>
__global__ void bytes_agree(int* a, int*) {
  if (threadIdx.x == 0) *a = 0x01010101;
  // planted: bytes_agree racecheck/global-race, noted: racecheck/same-value-race
  if (threadIdx.x == 32) reinterpret_cast<char*>(a)[2] = kPlanted ? 2 : 1;
}
SIMPLE_CASE(bytes_agree, 1, kThreads)

// ---- barriers and global memory ------------------------------------------------------------------

template <bool kPlanted>
__global__ void reverse_in_block(int* a, int* b) {
  const int i = global_index();
  a[i] = i;
  if (!kPlanted) __syncthreads();
  b[i] = a[blockIdx.x * blockDim.x + kThreads - 1 - threadIdx.x];  // planted: reverse_in_block racecheck/global-race
}
SIMPLE_CASE(reverse_in_block, kBlocks, kThreads)

// A barrier is for one block.
template <bool kPlanted>
__global__ void barrier_of_one_block(int* a, int* b) {
  const int i = global_index();
  a[i] = i;
  __syncthreads();
  const int block = kPlanted ? kBlocks - 1 - blockIdx.x : blockIdx.x;
  b[i] = a[block * kThreads + kThreads - 1 - threadIdx.x];  // planted: barrier_of_one_block racecheck/global-race
}
SIMPLE_CASE(barrier_of_one_block, kBlocks, kThreads)

template <bool kPlanted>
__global__ void lanes_in_global(int* a, int* b) {
  const int i = global_index();
  a[i] = i;
  if (!kPlanted) __syncwarp();
  b[i] = a[i ^ 1];  // planted: lanes_in_global racecheck/global-race
}
SIMPLE_CASE(lanes_in_global, kBlocks, kThreads)

// A shuffle orders no memory.
template <bool kPlanted>
__global__ void shuffle_orders_nothing(int* a, int* b) {
  const int i = global_index();
  a[i] = i;
  const int other = __shfl_xor_sync(0xffffffffu, i, 1);
  b[i] = kPlanted ? a[other] : a[i] + other;  // planted: shuffle_orders_nothing racecheck/global-race
}
SIMPLE_CASE(shuffle_orders_nothing, kBlocks, kThreads)

template <bool kPlanted>
__global__ void grid_sync(int* a, int* b) {
  const auto grid = cg::this_grid();
  const int i = global_index();
  a[i] = i;
  if (!kPlanted) grid.sync();
  b[i] = a[kWords - 1 - i];  // planted: grid_sync racecheck/global-race
}
template <bool kPlanted>
void run_grid_sync() {
  Buffers m;
  void* arguments[] = {&m.a, &m.b};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_sync<kPlanted>), dim3(kBlocks),
                              dim3(kThreads), arguments, 0, nullptr);
}

__device__ void wait_at(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}
__device__ void arrive_at(int barrier) {
  asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory");
}

// Barriers "full" and "empty" for each round: the producer of the planted twin does not wait until
// its buffer is empty again.
template <bool kPlanted>
__global__ void producer_consumer(int*, int* b) {
  constexpr int kFull = 1, kEmpty = 8;
  __shared__ int buffer[32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x < 32) {
      if (!kPlanted && round > 0) wait_at(kEmpty + round);
      buffer[lane] = round;
      arrive_at(kFull + round);
    } else {
      wait_at(kFull + round);
      b[round * 32 + lane] = buffer[31 - lane];  // planted: producer_consumer racecheck/shared-race
      if (!kPlanted && round < 2) arrive_at(kEmpty + round + 1);
    }
  }
}
SIMPLE_CASE(producer_consumer, 1, 64)

// ---- flags, locks, tickets -----------------------------------------------------------------------

template <bool kPlanted>
__global__ void message(int* a, int* b) {
  volatile int* flag = b;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    if (!kPlanted) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    b[blockIdx.x] = *a;  // planted: message racecheck/global-race
  }
}
SIMPLE_CASE(message, kBlocks, kThreads)

// A fence inside the block does not reach other blocks.
template <bool kPlanted>
__global__ void message_in_block(int* a, int* b) {
  volatile int* flag = b;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    if (kPlanted) __threadfence_block();
    if (!kPlanted) __threadfence_system();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    b[blockIdx.x] = *a;  // planted: message_in_block racecheck/global-race
  }
}
SIMPLE_CASE(message_in_block, kBlocks, kThreads)

// .release on the flag is a fence; .relaxed is none.
template <bool kPlanted>
__global__ void release_store(int* a, int* b) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    if (kPlanted) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(b) : "memory");
    if (!kPlanted) asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(b) : "memory");
  } else {
    int seen = 0;
    while (seen == 0) {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(b) : "memory");
    }
    b[blockIdx.x] = *a;  // planted: release_store racecheck/global-race
  }
}
SIMPLE_CASE(release_store, kBlocks, kThreads)

// The whole block writes, a barrier, then one thread hands it over: its fence is for all of them.
template <bool kPlanted>
__global__ void fence_for_the_block(int* a, int* b) {
  volatile int* flag = b;
  if (blockIdx.x == 0) {
    a[threadIdx.x] = threadIdx.x;
    if (!kPlanted) __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      *flag = 1;
    }
  } else {
    if (threadIdx.x == 0) {
      while (*flag == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    b[global_index()] = a[threadIdx.x];  // planted: fence_for_the_block racecheck/global-race
  }
}
SIMPLE_CASE(fence_for_the_block, 2, kThreads)

template <bool kPlanted>
__global__ void last_block(int* a, int* b) {
  __shared__ bool last;
  int* finished = b + 1;
  if (threadIdx.x == 0) {
    a[blockIdx.x] = blockIdx.x;
    if (!kPlanted) __threadfence();
    last = atomicAdd(finished, 1) == static_cast<int>(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < kBlocks; ++i) {
      sum += a[i];  // planted: last_block racecheck/global-race
    }
    *b = sum;
    *finished = 0;
  }
}
SIMPLE_CASE(last_block, kBlocks, kThreads)

template <bool kPlanted>
__global__ void lock(int* a, int* b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b, 0, 1) != 0) {
  }
  __threadfence();
  *a += 1;  // planted: lock racecheck/global-race
  if (!kPlanted) __threadfence();
  atomicExch(b, 0);
}
SIMPLE_CASE(lock, kBlocks, kThreads)

// Every lane takes the lock in its turn.
template <bool kPlanted>
__global__ void lock_of_lanes(int* a, int* b) {
  bool done = false;
  while (!done) {
    if (atomicCAS(b, 0, 1) == 0) {
      __threadfence();
      *a += 1;  // planted: lock_of_lanes racecheck/global-race
      if (!kPlanted) __threadfence();
      atomicExch(b, 0);
      done = true;
    }
  }
}
SIMPLE_CASE(lock_of_lanes, 2, 32)

// A ticket lock: blocks enter in the order of their tickets.
template <bool kPlanted>
__global__ void tickets(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* serving = b + 1;
  const int ticket = atomicAdd(b, 1);
  while (*serving != ticket) {
  }
  __threadfence();
  *a = *a * 3 + ticket;  // planted: tickets racecheck/global-race
  if (!kPlanted) __threadfence();
  *serving = ticket + 1;
}
SIMPLE_CASE(tickets, kBlocks, kThreads)

// Decoupled look-back: each block waits for the sums of the blocks before it.
template <bool kPlanted>
__global__ void look_back(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* status = b;
  const int block = blockIdx.x;
  a[block] = block + 1;
  if (!kPlanted) __threadfence();
  status[block] = 1;
  int sum = 0;
  for (int before = block - 1; before >= 0; --before) {
    while (status[before] == 0) {
    }
    __threadfence();
    sum += a[before];  // planted: look_back racecheck/global-race
  }
  b[kWords + block] = sum;
}
SIMPLE_CASE(look_back, kBlocks, kThreads)

// The same between the warps of a block, in shared memory.
template <bool kPlanted>
__global__ void flag_in_shared(int*, int* b) {
  __shared__ int data;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = b[1];
    if (!kPlanted) __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
    __threadfence_block();
    *b = data;  // planted: flag_in_shared racecheck/shared-race
  }
}
SIMPLE_CASE(flag_in_shared, 1, 64)

template <bool kPlanted>
__global__ void lock_in_shared(int*, int* b) {
  __shared__ int held;
  __shared__ int sum;
  if (threadIdx.x == 0) held = sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&held, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += 1;  // planted: lock_in_shared racecheck/shared-race
    if (!kPlanted) __threadfence_block();
    atomicExch(&held, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) *b = sum;
}
SIMPLE_CASE(lock_in_shared, 1, 128)

// ---- waits that never end ------------------------------------------------------------------------

template <bool kPlanted>
__global__ void never_set(int* a, int*) {
  volatile int* flag = a;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *flag = kPlanted ? 0 : 1;
  } else {
    while (*flag == 0) {  // planted: never_set synccheck/spin-deadlock
    }
  }
}
SIMPLE_CASE(never_set, kBlocks, kThreads)

// Everybody who comes after the first finds the lock taken.
template <bool kPlanted>
__global__ void kept_lock(int* a, int* b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b, 0, 1) != 0) {  // planted: kept_lock synccheck/spin-deadlock
  }
  atomicAdd(a, 1);
  if (!kPlanted) atomicExch(b, 0);
}
SIMPLE_CASE(kept_lock, kBlocks, kThreads)

// ---- lanes ---------------------------------------------------------------------------------------

// Tiles of a warp have a mask each; a mask for all lanes beside a mask for half of them is wrong.
template <bool kPlanted>
__global__ void masks(int* a, int*) {
  const unsigned low = kPlanted ? 0xffffffffu : 0x0000ffffu;
  const unsigned mask = threadIdx.x < 16 ? low : 0xffff0000u;
  a[threadIdx.x] = __shfl_xor_sync(mask, threadIdx.x, 1);  // planted: masks synccheck/masks-disagree
}
SIMPLE_CASE(masks, 1, 32)

template <bool kPlanted>
__global__ void own_lane(int* a, int*) {
  const unsigned mask = kPlanted ? 0xfffffffeu : 0xffffffffu;
  __syncwarp(mask);  // planted: own_lane synccheck/caller-not-in-mask
  a[threadIdx.x] = threadIdx.x;
}
SIMPLE_CASE(own_lane, 1, 32)

template <bool kPlanted>
__global__ void absent_lane(int* a, int*) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) {
    constexpr int kWidth = kPlanted ? 32 : 16;
    value += __shfl_down_sync(0x0000ffffu, value, 8, kWidth);  // planted: absent_lane synccheck/shuffle-from-absent-lane
  }
  a[threadIdx.x] = value;
}
SIMPLE_CASE(absent_lane, 1, 32)

// Lanes that have left may be named.
template <bool kPlanted>
__global__ void lanes_that_left(int* a, int*) {
  if (threadIdx.x >= 24 && !kPlanted) return;
  if (threadIdx.x >= 24) {
    while (atomicAdd(a, 0) == 0) {  // planted: lanes_that_left synccheck/spin-deadlock
    }
    return;
  }
  __syncwarp();
  if (threadIdx.x == 0) atomicExch(a, 1);
}
SIMPLE_CASE(lanes_that_left, 1, 32)

// ---- values that nobody wrote --------------------------------------------------------------------

// A comparison of such a value is harmless while its outcome is thrown away.
template <bool kPlanted>
__global__ void compared(const int* a, int* b, int valid) {
  const bool inside = kPlanted || static_cast<int>(threadIdx.x) < valid;
  const bool smaller = inside & (a[threadIdx.x] < 3);
  b[threadIdx.x] = (smaller ? 1 : 2) + valid;  // planted: compared initcheck/uninitialised-value
}
template <bool kPlanted>
void run_compared() {
  Buffers m;
  int* half_written = nullptr;
  cudaMalloc(&half_written, kThreads * sizeof(int));
  cudaMemset(half_written, 0, kThreads / 2 * sizeof(int));
  compared<kPlanted><<<1, kThreads>>>(half_written, m.b, kThreads / 2);
  cudaDeviceSynchronize();
  cudaFree(half_written);
}

template <bool kPlanted>
__global__ void decides(const int* a, int* b) {
  if (a[kPlanted ? 1 : 0] == 0) {  // planted: decides initcheck/uninitialised-value
    atomicAdd(b, 1);
  }
}
template <bool kPlanted>
void run_decides() {
  Buffers m;
  int* half_written = nullptr;
  cudaMalloc(&half_written, 2 * sizeof(int));
  cudaMemset(half_written, 0, sizeof(int));
  decides<kPlanted><<<1, 1>>>(half_written, m.b);
  cudaDeviceSynchronize();
  cudaFree(half_written);
}

}  // namespace

const CorpusCase kBlockCases[] = {
    CASE(plain_histogram, "race.strong race.global"),  CASE(shift_in_place, "race.global"),   CASE(overlapping_tiles, "race.global"),
    CASE(bytes_of_blocks, "race.bytes"),  CASE(everybody_writes, "race.same-value"), CASE(read_beside_atomic, "race.strong"),
    CASE(block_scope, "race.scope"),      CASE(half_of_an_atomic, "race.size"), CASE(maximum_by_cas, "race.first-guess"),
    CASE(maximum_past_cache, "race.first-guess"), CASE(read_after_own_atomic, "race.first-guess"),
    CASE(two_agree, "race.same-value"),  CASE(two_agree_in_shared, "race.same-value"), CASE(bytes_agree, "race.same-value"),
    CASE(reverse_in_block, "race.barrier race.schedule"), CASE(barrier_of_one_block, "race.barrier"), CASE(lanes_in_global, "race.syncwarp race.schedule"),
    CASE(shuffle_orders_nothing, "race.warp-alone"), CASE(grid_sync, "race.grid race.schedule"),  CASE(producer_consumer, "race.named-barrier"),
    CASE(message, "race.fence"),          CASE(message_in_block, "race.block-fence"), CASE(release_store, "race.release"),
    CASE(fence_for_the_block, "race.other-fence"), CASE(last_block, "race.fence race.chain"),    CASE(lock, "race.fence"),
    CASE(lock_of_lanes, "race.fence"),    CASE(tickets, "race.fence"),          CASE(look_back, "race.fence"),
    CASE(flag_in_shared, "race.block-fence"),   CASE(lock_in_shared, "race.block-fence"),   CASE(never_set, "sync.deadlock"),
    CASE(kept_lock, "sync.deadlock"),        CASE(masks, "sync.masks"),            CASE(own_lane, "sync.own-lane"),
    CASE(absent_lane, "sync.source"),      CASE(lanes_that_left, "sync.exited"),  CASE(compared, "init.branch"),
    CASE(decides, "init.branch"),
};
extern const CorpusPart kBlockCorpus = {kBlockCases, sizeof(kBlockCases) / sizeof(kBlockCases[0])};

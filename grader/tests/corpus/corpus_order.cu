// What orders two accesses and what does not; see corpus.cu for the form.
#include <cooperative_groups.h>

#include "corpus.h"
#include "corpus_buffers.cuh"

namespace {

namespace cg = cooperative_groups;

// ---- what conflicts ------------------------------------------------------------------------------

// The program of a thread orders what it does itself.
template <bool kPlanted>
__global__ void own_slot_in_shared(int*, int* b) {
  __shared__ int tile[kThreads];
  const int from = kPlanted ? (threadIdx.x + 32) % kThreads : threadIdx.x;
  tile[threadIdx.x] = threadIdx.x;
  b[threadIdx.x] = tile[from];  // planted: own_slot_in_shared racecheck/shared-race
  tile[threadIdx.x] = 0;
}
SIMPLE_CASE(own_slot_in_shared, 1, kThreads)

template <bool kPlanted>
__global__ void own_slot(int* a, int* b) {
  const int i = global_index(), from = kPlanted ? (i + kThreads) % kWords : i;
  a[i] = i;
  b[i] = a[from];  // planted: own_slot racecheck/global-race
  a[i] = 0;
}
SIMPLE_CASE(own_slot, kBlocks, kThreads)

// Reads meet without harm until one thread writes.
template <bool kPlanted>
__global__ void all_read_shared(int*, int* b) {
  __shared__ int word;
  if (threadIdx.x == 0) word = 5;
  __syncthreads();
  b[threadIdx.x] = word;
  if (kPlanted && threadIdx.x == kThreads - 1) word = 6;  // planted: all_read_shared racecheck/shared-race
}
SIMPLE_CASE(all_read_shared, 1, kThreads)

template <bool kPlanted>
__global__ void all_read(int* a, int* b) {
  b[global_index()] = a[0];
  if (kPlanted && global_index() == kWords - 1) a[0] = 6;  // planted: all_read racecheck/global-race
}
SIMPLE_CASE(all_read, kBlocks, kThreads)

// A strong read of half of what an atomic changes.
template <bool kPlanted>
__global__ void half_in_shared(int*, int* b) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    atomicAdd(&count, 1);
  } else if (kPlanted) {
    b[threadIdx.x] = *reinterpret_cast<volatile short*>(&count);  // planted: half_in_shared racecheck/shared-race
  } else {
    b[threadIdx.x] = *static_cast<volatile int*>(&count);
  }
}
SIMPLE_CASE(half_in_shared, 1, kThreads)

// A store that is only for the own block, and readers in others.
template <bool kPlanted>
__global__ void narrow_store(int* a, int* b) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    if (kPlanted) asm volatile("st.relaxed.cta.global.s32 [%0], 1;" ::"l"(a) : "memory");
    if (!kPlanted) asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(a) : "memory");
  } else {
    int seen;
    asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(a) : "memory");  // planted: narrow_store racecheck/global-race
    b[blockIdx.x] = seen;
  }
}
SIMPLE_CASE(narrow_store, kBlocks, kThreads)

// ---- barriers ------------------------------------------------------------------------------------

// Barriers that count, and the object of cooperative groups, are barriers; a vote is none.
template <bool kPlanted>
__global__ void counting_barrier(int* a, int* b) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  const bool zero = a[threadIdx.x] == 0;
  const int zeros = kPlanted ? __popc(__ballot_sync(0xffffffffu, zero)) : __syncthreads_count(zero);
  b[threadIdx.x] = tile[kThreads - 1 - threadIdx.x] + zeros;  // planted: counting_barrier racecheck/shared-race
}
SIMPLE_CASE(counting_barrier, 1, kThreads)

template <bool kPlanted>
__global__ void group_barrier(int*, int* b) {
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  if (kPlanted) cg::tiled_partition<32>(cg::this_thread_block()).sync();
  if (!kPlanted) cg::this_thread_block().sync();
  b[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // planted: group_barrier racecheck/shared-race
}
SIMPLE_CASE(group_barrier, 1, kThreads)

// Two halves of a warp that wait each for itself.
template <bool kPlanted>
__global__ void half_warp_sync(int*, int* b) {
  __shared__ int tile[32];
  const unsigned half = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp(half);
  const int from = kPlanted ? 31 - threadIdx.x : threadIdx.x ^ 15;
  b[threadIdx.x] = tile[from];  // planted: half_warp_sync racecheck/shared-race
}
SIMPLE_CASE(half_warp_sync, 1, 32)

// All lanes read a word at once, and one writes it that has waited for one other.
template <bool kPlanted>
__global__ void readers_of_one_word(int* a, int* b) {
  __shared__ int word;
  if (threadIdx.x == 0) word = a[0];
  __syncthreads();
  const int seen = word;
  const bool at_an_end = threadIdx.x == 0 || threadIdx.x == 31;
  __syncwarp(!kPlanted ? 0xffffffffu : at_an_end ? 0x80000001u : 0x7ffffffeu);
  if (threadIdx.x == 0) word = 1;  // planted: readers_of_one_word racecheck/shared-race
  b[threadIdx.x] = seen;
}
SIMPLE_CASE(readers_of_one_word, 1, 32)

// Rounds over the whole grid, each with the result of the one before.
template <bool kPlanted>
__global__ void grid_rounds(int* a, int* b) {
  const int i = global_index();
  for (int round = 0; round < 3; ++round) {
    const int* now = round % 2 == 0 ? a : b;
    int* next = round % 2 == 0 ? b : a;
    next[i] = now[kWords - 1 - i] + 1;  // planted: grid_rounds racecheck/global-race
    if (kPlanted) __syncthreads();
    if (!kPlanted) cg::this_grid().sync();
  }
}
template <bool kPlanted>
void run_grid_rounds() {
  Buffers m;
  void* arguments[] = {&m.a, &m.b};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_rounds<kPlanted>), dim3(kBlocks),
                              dim3(kThreads), arguments, 0, nullptr);
}

// ---- what orders nothing -------------------------------------------------------------------------

// Each thread writes, takes part in an operation of its warp, and reads what its neighbour wrote.
#define WARP_ALONE(name, operation)                                            \
  template <bool kPlanted>                                                     \
  __global__ void name(int* a, int* b) {                                       \
    const int i = global_index();                                              \
    a[i] = i;                                                                  \
    const int result = static_cast<int>(operation);                            \
    if (!kPlanted) __syncwarp();                                               \
    b[i] = a[i ^ 1] + result;                                                  \
  }                                                                            \
  SIMPLE_CASE(name, 1, kThreads)
WARP_ALONE(vote_alone, __ballot_sync(0xffffffffu, i & 1))  // planted: vote_alone racecheck/global-race
WARP_ALONE(match_alone, __match_any_sync(0xffffffffu, i & 3))  // planted: match_alone racecheck/global-race
WARP_ALONE(redux_alone, __reduce_add_sync(0xffffffffu, i))  // planted: redux_alone racecheck/global-race
WARP_ALONE(activemask_alone, __activemask())  // planted: activemask_alone racecheck/global-race

// The two sides of a branch come together, and nothing else.
template <bool kPlanted>
__global__ void come_together(int* a, int* b) {
  __shared__ int tile[32];
  if (a[threadIdx.x] + static_cast<int>(threadIdx.x) < 16) {
    tile[threadIdx.x] = b[threadIdx.x] + 1;
  } else {
    tile[threadIdx.x] = a[threadIdx.x + 32] * 3;
  }
  if (!kPlanted) __syncwarp();
  b[threadIdx.x] = tile[31 - threadIdx.x];  // planted: come_together racecheck/shared-race
}
SIMPLE_CASE(come_together, 1, 32)

template <bool kPlanted>
__global__ void come_together_in_global(int* a, int* b) {
  int* row = a + kWords;
  if (a[threadIdx.x] + static_cast<int>(threadIdx.x) < 16) {
    row[threadIdx.x] = b[threadIdx.x] + 1;
  } else {
    row[threadIdx.x] = a[threadIdx.x + 32] * 3;
  }
  if (!kPlanted) __syncwarp();
  b[threadIdx.x] = row[31 - threadIdx.x];  // planted: come_together_in_global racecheck/global-race
}
SIMPLE_CASE(come_together_in_global, 1, 32)

// A volatile flag hands nothing over.
template <bool kPlanted>
__global__ void volatile_flag(int*, int* b) {
  __shared__ int data;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = b[1];
    if (!kPlanted) __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    if (!kPlanted) __threadfence_block();
    b[0] = data;  // planted: volatile_flag racecheck/shared-race
  }
}
SIMPLE_CASE(volatile_flag, 1, kThreads)

// Lanes of one warp and a volatile word between their plain ones.
template <bool kPlanted>
__global__ void volatile_between_lanes(int*, int* b) {
  __shared__ int tile[32];
  __shared__ volatile int count[32];
  tile[threadIdx.x] = threadIdx.x;
  count[threadIdx.x] = 1;
  if (!kPlanted) __syncwarp();
  const int counted = count[threadIdx.x ^ 1];
  b[threadIdx.x] = tile[threadIdx.x ^ 1] + counted;  // planted: volatile_between_lanes racecheck/shared-race
}
SIMPLE_CASE(volatile_between_lanes, 1, 32)

template <bool kPlanted>
__global__ void atomic_alone(int* a, int* b) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    if (!kPlanted) __threadfence();
    atomicExch(b, 1);
  } else {
    while (atomicAdd(b, 0) == 0) {
    }
    if (!kPlanted) __threadfence();
    b[blockIdx.x] = *a;  // planted: atomic_alone racecheck/global-race
  }
}
SIMPLE_CASE(atomic_alone, kBlocks, kThreads)

// ---- release and acquire -------------------------------------------------------------------------

template <bool kPlanted>
__global__ void release_add(int* a, int* b) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    if (kPlanted) asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(b) : "memory");
    if (!kPlanted) asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(b) : "memory");
  } else {
    int seen = 0;
    while (seen == 0) {
      asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(b) : "memory");
    }
    b[blockIdx.x] = *a;  // planted: release_add racecheck/global-race
  }
}
SIMPLE_CASE(release_add, kBlocks, kThreads)

// All threads of a block write; the one that takes the ticket makes the fence for them.
template <bool kPlanted>
__global__ void last_block_of_all(int* a, int* b) {
  __shared__ bool last;
  a[global_index()] = blockIdx.x;
  if (!kPlanted) __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(b, 1) == static_cast<int>(gridDim.x) - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int i = threadIdx.x; i < kWords; i += kThreads) {
    sum += a[i];  // planted: last_block_of_all racecheck/global-race
  }
  b[kWords + threadIdx.x] = sum;
}
SIMPLE_CASE(last_block_of_all, kBlocks, kThreads)

// Block 1 counts the flag of block 0 up, block 2 waits for its number: an atomic carries on what
// block 0 has released, a store does not.
template <bool kPlanted>
__global__ void chain_of_atomics(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* flag = b;
  if (blockIdx.x == 0) {
    *a = 42;
    __threadfence();
    *flag = 1;
  } else if (blockIdx.x == 1) {
    while (*flag == 0) {
    }
    if (kPlanted) *flag = 2;
    if (!kPlanted) atomicAdd(b, 1);
  } else {
    while (*flag != 2) {
    }
    __threadfence();
    b[1] = *a;  // planted: chain_of_atomics racecheck/global-race
  }
}
SIMPLE_CASE(chain_of_atomics, 3, kThreads)

// The fence of the reader is missing in the clean twin, the one of the writer in the planted one.
template <bool kPlanted>
__global__ void reader_without_fence(int* a, int* b) {
  volatile int* flag = b;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    if (!kPlanted) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    if (kPlanted) __threadfence();
    // planted: reader_without_fence racecheck/global-race, noted: racecheck/missing-acquire-fence
    b[blockIdx.x] = *a;
  }
}
SIMPLE_CASE(reader_without_fence, kBlocks, kThreads)

// Volatile accesses of what a lock guards: no fence before it is given back, then none after it was
// taken.
template <bool kPlanted>
__global__ void volatile_in_lock(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* sum = a;
  while (atomicCAS(b, 0, 1) != 0) {
  }
  __threadfence();
  *sum = *sum + 1;  // planted: volatile_in_lock racecheck/global-race
  if (!kPlanted) __threadfence();
  atomicExch(b, 0);
}
SIMPLE_CASE(volatile_in_lock, kBlocks, kThreads)

template <bool kPlanted>
__global__ void volatile_before_lock(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* sum = a;
  while (atomicCAS(b, 0, 1) != 0) {
  }
  // planted: volatile_before_lock racecheck/global-race, noted: racecheck/missing-acquire-fence
  *sum = *sum + 1;
  if (!kPlanted) __threadfence();
  atomicExch(b, 0);
}
SIMPLE_CASE(volatile_before_lock, kBlocks, kThreads)

// One word that goes from hand to hand needs no fence: who has waited for it has seen its value.
template <bool kPlanted>
__global__ void volatile_states(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* state = a;
  const int block = static_cast<int>(blockIdx.x);
  while (*state != block) {
  }
  if (kPlanted) b[0] = block;  // planted: volatile_states racecheck/global-race
  *state = *state + 1;
}
SIMPLE_CASE(volatile_states, kBlocks, kThreads)

template <bool kPlanted>
__global__ void shared_without_fence(int*, int* b) {
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
    if (kPlanted) __threadfence_block();
    // planted: shared_without_fence racecheck/shared-race, noted: racecheck/missing-acquire-fence
    b[0] = data;
  }
}
SIMPLE_CASE(shared_without_fence, 1, kThreads)

// ---- notes ---------------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void raised_by_many(int* a, int* b) {
  __shared__ int any;
  if (threadIdx.x == 0) any = 0;
  __syncthreads();
  if (a[threadIdx.x] == 0) {
    // planted: raised_by_many racecheck/shared-race, noted: racecheck/same-value-race
    any = kPlanted ? threadIdx.x : 1;
  }
  __syncthreads();
  b[threadIdx.x] = any;
}
SIMPLE_CASE(raised_by_many, 1, kThreads)

// The sum of doubles by compare-and-swap, and by a store that loses the additions of others.
template <bool kPlanted>
__global__ void add_by_cas(int* a, int*) {
  auto* sum = reinterpret_cast<unsigned long long*>(a);
  unsigned long long old = *sum, seen;  // planted: add_by_cas racecheck/global-race
  do {
    seen = old;
    const auto more = static_cast<unsigned long long>(
        __double_as_longlong(__longlong_as_double(static_cast<long long>(seen)) + 1.0));
    if (kPlanted) {
      *sum = more;
    } else {
      old = atomicCAS(sum, seen, more);  // noted: add_by_cas racecheck/first-guess
    }
  } while (old != seen);
}
SIMPLE_CASE(add_by_cas, kBlocks, 1)

// ---- other orders of the blocks ------------------------------------------------------------------

// Whoever finds that the next block has handed its number over takes it. In the order of the
// numbers nobody finds that.
template <bool kPlanted>
__global__ void peek_at_next(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* handed = b;
  const int block = blockIdx.x;
  a[block] = block;
  if (!kPlanted) __threadfence();
  handed[block] = 1;
  if (block + 1 < kBlocks && handed[block + 1] != 0) {
    __threadfence();
    b[kWords + block] = a[block + 1];  // planted: peek_at_next racecheck/global-race
  }
}
SIMPLE_CASE(peek_at_next, kBlocks, kThreads)

// Only a block that was first and meets the other one nevertheless: they must take turns for that.
template <bool kPlanted>
__global__ void first_and_not_alone(int* a, int* b) {
  if (threadIdx.x != 0) return;
  volatile int* handed = b;
  const int block = blockIdx.x, other = 1 - block;
  const bool first = handed[other] == 0;
  a[block] = block;
  if (!kPlanted) __threadfence();
  handed[block] = 1;
  int met = 0;
  for (int i = 0; i < 100; ++i) met += handed[other];
  if (first && met > 0) {
    __threadfence();
    b[kWords + block] = a[other];  // planted: first_and_not_alone racecheck/global-race
  }
}
SIMPLE_CASE(first_and_not_alone, 2, kThreads)

// ---- reads through a cache that writes do not reach ----------------------------------------------

// The compiler may move an __ldg over a store, and then another thing is wrong.
#define READ_CACHED(value, from) \
  asm volatile("ld.global.nc.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory")

// Fence, ticket, barrier, fence: everything that orders is there.
template <bool kPlanted>
__global__ void cached_partials(int* a, int* b) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    a[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicAdd(b, 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x >= kBlocks) return;
  const int* from = a + threadIdx.x;
  b[kWords + threadIdx.x] = kPlanted ? __ldg(from) : *from;  // planted: cached_partials racecheck/cached-read
}
SIMPLE_CASE(cached_partials, kBlocks, kThreads)

// What an atomic has changed, behind a barrier.
template <bool kPlanted>
__global__ void cached_count(int* a, int* b) {
  atomicAdd(a + blockIdx.x, 1);
  __syncthreads();
  int count = *static_cast<volatile int*>(a + blockIdx.x);
  if (kPlanted) READ_CACHED(count, a + blockIdx.x);  // planted: cached_count racecheck/cached-read
  b[global_index()] = count;
}
SIMPLE_CASE(cached_count, kBlocks, kThreads)

// The fence that is missing on the side of the reader as well is a note.
template <bool kPlanted>
__global__ void cached_message(int* a, int* b) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *a = 42;
    __threadfence();
    atomicExch(b, 1);
  } else {
    while (atomicAdd(b, 0) == 0) {
    }
    int message;
    if (kPlanted) READ_CACHED(message, a);  // planted: cached_message racecheck/cached-read
    if (!kPlanted) message = *a;            // noted: cached_message racecheck/missing-acquire-fence
    b[blockIdx.x] = message;
  }
}
SIMPLE_CASE(cached_message, kBlocks, kThreads)

// Nobody says nc: `in` is const and __restrict__, and may not be what `out` is.
template <bool kPlanted>
__global__ void cached_in_place(const int* __restrict__ in, int* out) {
  const int first = blockIdx.x * kThreads;
  int from = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    const int value = in[first + from];  // planted: cached_in_place racecheck/cached-read
    __syncthreads();
    out[first + threadIdx.x] = value + 1;
    __syncthreads();
    from = (from + value + 1) % kThreads;
  }
}
template <bool kPlanted>
void run_cached_in_place() {
  Buffers m;
  cached_in_place<kPlanted><<<kBlocks, kThreads>>>(m.a, kPlanted ? m.a : m.b);
  cached_in_place<kPlanted><<<kBlocks, kThreads>>>(m.b, m.a);
}

// Each thread reads its word and then replaces it.
template <bool kPlanted>
__global__ void cached_then_written(int* a, int* b) {
  const int i = global_index();
  if (kPlanted) a[i] = i;
  int value;
  READ_CACHED(value, a + i);  // planted: cached_then_written racecheck/cached-read
  if (!kPlanted) a[i] = value + 1;
  b[i] = value;
}
SIMPLE_CASE(cached_then_written, kBlocks, kThreads)

template <bool kPlanted>
__global__ void cached_byte_beside(int* a, int* b) {
  char* const bytes = reinterpret_cast<char*>(a + blockIdx.x);
  if (threadIdx.x == 0) bytes[kPlanted ? 1 : 2] = 5;
  __syncthreads();
  int value;
  asm volatile("ld.global.nc.s8 %0, [%1];" : "=r"(value) : "l"(bytes + 1) : "memory");  // planted: cached_byte_beside racecheck/cached-read
  b[global_index()] = value;
}
SIMPLE_CASE(cached_byte_beside, kBlocks, kThreads)

}  // namespace

const CorpusCase kOrderCases[] = {
    CASE(own_slot_in_shared, "race.threads race.schedule"),
    CASE(own_slot, "race.threads race.schedule"),
    CASE(all_read_shared, "race.write race.schedule"),
    CASE(all_read, "race.write race.schedule"),
    CASE(half_in_shared, "race.size"),
    CASE(narrow_store, "race.scope"),
    CASE(counting_barrier, "race.barrier race.schedule"),
    CASE(group_barrier, "race.barrier race.schedule"),
    CASE(half_warp_sync, "race.syncwarp race.schedule"),
    CASE(readers_of_one_word, "race.syncwarp"),
    CASE(grid_rounds, "race.grid race.schedule"),
    CASE(vote_alone, "race.warp-alone"),
    CASE(match_alone, "race.warp-alone"),
    CASE(redux_alone, "race.warp-alone"),
    CASE(activemask_alone, "race.warp-alone"),
    CASE(come_together, "race.reconvergence"),
    CASE(come_together_in_global, "race.reconvergence"),
    CASE(volatile_flag, "race.volatile"),
    CASE(volatile_between_lanes, "race.volatile"),
    CASE(atomic_alone, "race.atomic-alone"),
    CASE(release_add, "race.release"),
    CASE(last_block_of_all, "race.other-fence race.chain"),
    CASE(chain_of_atomics, "race.chain"),
    CASE(reader_without_fence, "race.acquire-note"),
    CASE(volatile_in_lock, "race.update"),
    CASE(volatile_before_lock, "race.update"),
    CASE(volatile_states, "race.update"),
    CASE(shared_without_fence, "race.acquire-note"),
    CASE(raised_by_many, "race.same-value"),
    CASE(add_by_cas, "race.first-guess"),
    CASE(peek_at_next, "race.repeat"),
    CASE(first_and_not_alone, "race.repeat"),
    CASE(cached_partials, "race.cached"),
    CASE(cached_count, "race.cached"),
    CASE(cached_message, "race.cached race.acquire-note"),
    CASE(cached_in_place, "race.cached race.cached-later"),
    CASE(cached_then_written, "race.cached-later"),
    CASE(cached_byte_beside, "race.cached-later"),
};
extern const CorpusPart kOrderCorpus = {kOrderCases, sizeof(kOrderCases) / sizeof(kOrderCases[0])};

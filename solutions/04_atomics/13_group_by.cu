// 04/13 Group by, the capstone: rows of a key and a value become one row for each key.
//   key, value  n rows in device memory: ints from 0 on, floats from -1 to 1
//   groups      for each key, in ascending order: how many rows, the largest value, and the sum of
//               all values in units of 2^-32, each rounded to the nearest of them
//   number      how many different keys there are, at most kMostGroups
//   work        kWorkBytes for whatever you need
//   Budget: each row is loaded once, and where keys repeat, most rows make no atomic in global
//   memory. Bar, on a GPU: 3 % of the rate at which memory can be read.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "13_group_by.h"

//~begin 1
#include <cuda/atomic>

#include "support.h"

constexpr int kBlock = 512;        // threads
constexpr int kEmpty = -1;         // no key: keys are not negative; all bytes of it are 0xFF
constexpr int kTableSlots = 4096;  // of the table in global memory: at most half of them are used
constexpr int kCacheSlots = 1024;  // of the table of a block
constexpr int kTries = 16;         // slots of it in which a key may lie
constexpr int kWarp = 32;          // lanes

// A table of open addressing: a key lies in the first free slot from its own on.
struct Table {
  unsigned long long total[kTableSlots];
  int key[kTableSlots];
  unsigned count[kTableSlots];
  unsigned largest[kTableSlots];  // ordered()
  // The rows of the result before they are in order.
  int number;
  int slot_of[kMostGroups], key_of[kMostGroups];
};
static_assert(sizeof(Table) <= kWorkBytes, "the table lies in d_work");

// Floats in the order of their numbers, as unsigned integers; 0 is below all of them.
__device__ unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
__device__ float of_ordered(unsigned order) {
  return __uint_as_float(order >> 31 ? order & 0x7FFFFFFFu : ~order);
}

// The slot of a key in a table of kSlots keys, a power of two; -1 if it does not lie in the first
// `tries` of its slots and these are taken.
template <int kSlots, cuda::thread_scope kScope>
__device__ int slot_of_key(int* keys, int key, int tries) {
  unsigned slot = __umulhi(static_cast<unsigned>(key) * 2654435769u, kSlots);  // spread evenly
  for (int k = 0; k < tries; ++k, ++slot) {
    cuda::atomic_ref<int, kScope> owner(keys[slot % kSlots]);
    int found = owner.load(cuda::memory_order_relaxed);  // in most cases somebody has been here
    if (found == kEmpty) {
      owner.compare_exchange_strong(found, key, cuda::memory_order_relaxed);
      if (found == kEmpty) return slot % kSlots;  // ours
    }
    if (found == key) return slot % kSlots;
  }
  return -1;
}

__device__ void add_to_table(Table* table, int key, unsigned count, unsigned largest,
                             unsigned long long total) {
  const int slot =
      slot_of_key<kTableSlots, cuda::thread_scope_device>(table->key, key, kTableSlots);
  atomicAdd(&table->count[slot], count);
  atomicMax(&table->largest[slot], largest);
  atomicAdd(&table->total[slot], total);
}

__global__ void __launch_bounds__(kBlock)
    group_rows(const int* key, const float* value, int n, Table* table) {
  // The table of this block, for the keys that it meets first.
  __shared__ int keys[kCacheSlots];
  __shared__ unsigned counts[kCacheSlots], largest[kCacheSlots];
  __shared__ unsigned low[kCacheSlots], high[kCacheSlots];  // of the total, modulo 2^64
  for (int i = threadIdx.x; i < kCacheSlots; i += kBlock) {
    keys[i] = kEmpty;
    counts[i] = largest[i] = low[i] = high[i] = 0;
  }
  __syncthreads();  // the table is empty before anyone counts

  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) {
    const int mine = key[i];
    const unsigned order = ordered(value[i]);
    const auto units = static_cast<unsigned long long>(__double2ll_rn(value[i] * 4294967296.0));
    const int slot = slot_of_key<kCacheSlots, cuda::thread_scope_block>(keys, mine, kTries);
    if (slot < 0) {
      add_to_table(table, mine, 1, order, units);
      continue;
    }
    atomicAdd(&counts[slot], 1u);
    atomicMax(&largest[slot], order);
    // Shared memory adds 32 bits as one step, 64 only by trying again and again.
    const unsigned part = static_cast<unsigned>(units);
    const unsigned before = atomicAdd(&low[slot], part);
    const unsigned carry = before + part < part;
    atomicAdd(&high[slot], static_cast<unsigned>(units >> 32) + carry);
  }

  __syncthreads();  // everybody has counted
  for (int i = threadIdx.x; i < kCacheSlots; i += kBlock) {
    if (keys[i] == kEmpty) continue;
    const unsigned long long total = static_cast<unsigned long long>(high[i]) << 32 | low[i];
    add_to_table(table, keys[i], counts[i], largest[i], total);
  }
}

// Lists the slots that are used, in any order.
__global__ void list_groups(Table* table) {
  const int slot = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % kWarp;
  const int key = table->key[slot];
  const bool used = key != kEmpty;
  const unsigned users = __ballot_sync(0xFFFFFFFFu, used);
  int base = 0;
  if (lane == 0 && users != 0) base = atomicAdd(&table->number, __popc(users));
  base = __shfl_sync(0xFFFFFFFFu, base, 0);
  if (!used) return;
  const int g = base + __popc(users & ((1u << lane) - 1));
  table->slot_of[g] = slot;
  table->key_of[g] = key;
}

// The place of a group is the number of keys that are smaller.
__global__ void write_groups(const Table* table, Groups groups, int* number) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g == 0) *number = table->number;
  if (g >= table->number) return;
  const int slot = table->slot_of[g], key = table->key_of[g];
  int place = 0;
  for (int other = 0; other < table->number; ++other) {
    place += table->key_of[other] < key;
  }
  groups.key[place] = key;
  groups.count[place] = static_cast<int>(table->count[slot]);
  groups.largest[place] = of_ordered(table->largest[slot]);
  groups.total[place] = static_cast<long long>(table->total[slot]);
}

//~end
void launch_group_by(const int* d_key, const float* d_value, int n, const Groups& groups,
                     int* d_number, void* d_work) {
  //~begin 1
  Table* table = static_cast<Table*>(d_work);
  cudaMemsetAsync(table, 0, sizeof(Table));
  cudaMemsetAsync(table->key, 0xFF, sizeof table->key);
  constexpr int kRows = 8;  // for each thread, at least: a block adds up its table once
  const int wanted = (n + kRows * kBlock - 1) / (kRows * kBlock);
  const int fitting = blocks_on_card(group_rows, kBlock);
  const int grid = wanted < fitting ? wanted : fitting;
  if (grid > 0) group_rows<<<grid, kBlock>>>(d_key, d_value, n, table);
  list_groups<<<kTableSlots / 256, 256>>>(table);
  write_groups<<<kMostGroups / 256, 256>>>(table, groups, d_number);
  //~end
}

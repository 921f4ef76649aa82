// Another right answer: what a block has in shared memory is a cache with one place for each key,
// to which rows of another key do not come; floats are compared by their values, and the block that
// finishes last writes the result.
#include "13_group_by.h"

constexpr int kPlaces = 512;     // of a block
constexpr int kSlots = 1 << 13;  // of the table in global memory

struct Sums {
  unsigned long long total;
  int largest;  // bits of a float
  int count;
};

__device__ void add(Sums* sums, int count, float largest, unsigned long long total) {
  atomicAdd(&sums->count, count);
  atomicAdd(&sums->total, total);
  int seen = atomicAdd(&sums->largest, 0);
  while (__int_as_float(seen) < largest) {
    const int before = atomicCAS(&sums->largest, seen, __float_as_int(largest));
    if (before == seen) break;
    seen = before;
  }
}

// keys: key + 1, so that 0 is free.
__device__ void add_to_slot(unsigned* keys, Sums* sums, unsigned key, int count, float largest,
                            unsigned long long total) {
  unsigned slot = key * 40503u % kSlots;
  while (true) {
    const unsigned owner = atomicCAS(&keys[slot], 0u, key);
    if (owner == 0 || owner == key) break;
    slot = (slot + 1) % kSlots;
  }
  add(&sums[slot], count, largest, total);
}

__global__ void start(unsigned* keys, Sums* sums, unsigned* counters) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kSlots; i += gridDim.x * blockDim.x) {
    keys[i] = 0;
    sums[i] = {0, __float_as_int(-2.0f), 0};
    if (i < 2) counters[i] = 0;
  }
}

__global__ void group(const int* key, const float* value, int n, unsigned* keys, Sums* sums,
                      unsigned* counters, unsigned* list, Groups groups, int* number) {
  __shared__ unsigned owner[kPlaces];
  __shared__ Sums mine[kPlaces];
  for (int i = threadIdx.x; i < kPlaces; i += blockDim.x) {
    owner[i] = 0;
    mine[i] = {0, __float_as_int(-2.0f), 0};
  }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned k = key[i] + 1u;
    const auto units = static_cast<unsigned long long>(llrint(value[i] * 4294967296.0));
    const unsigned place = (k * 2246822519u >> 13) % kPlaces;
    const unsigned who = atomicCAS(&owner[place], 0u, k);
    if (who == 0 || who == k) {
      add(&mine[place], 1, value[i], units);
    } else {
      add_to_slot(keys, sums, k, 1, value[i], units);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kPlaces; i += blockDim.x) {
    if (owner[i] == 0) continue;
    const Sums& sum = mine[i];
    add_to_slot(keys, sums, owner[i], sum.count, __int_as_float(sum.largest), sum.total);
  }
  // The block that comes last writes the result (04/10).
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&counters[0], 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (int slot = threadIdx.x; slot < kSlots; slot += blockDim.x) {
    if (keys[slot] != 0) list[atomicAdd(&counters[1], 1u)] = slot;
  }
  __syncthreads();
  const unsigned found = *static_cast<volatile unsigned*>(&counters[1]);
  if (threadIdx.x == 0) *number = static_cast<int>(found);
  for (unsigned g = threadIdx.x; g < found; g += blockDim.x) {
    const unsigned slot = list[g];
    int place = 0;
    for (unsigned other = 0; other < found; ++other) place += keys[list[other]] < keys[slot];
    groups.key[place] = static_cast<int>(keys[slot] - 1);
    groups.count[place] = sums[slot].count;
    groups.largest[place] = __int_as_float(sums[slot].largest);
    groups.total[place] = static_cast<long long>(sums[slot].total);
  }
}

void launch_group_by(const int* d_key, const float* d_value, int n, const Groups& groups,
                     int* d_number, void* d_work) {
  Sums* sums = static_cast<Sums*>(d_work);
  unsigned* keys = reinterpret_cast<unsigned*>(sums + kSlots);
  unsigned* list = keys + kSlots;
  unsigned* counters = list + kMostGroups;
  start<<<16, 256>>>(keys, sums, counters);
  int grid = n / 4096 + 1;
  if (grid > 264) grid = 264;
  group<<<grid, 256>>>(d_key, d_value, n, keys, sums, counters, list, groups, d_number);
}

// Another right answer: everything from atomicCAS, on one warp that loops over the visitors.
#include "05_integer_atomics.h"

// Replaces *word by change(*word) as one step; returns what it was.
template <class Change>
__device__ unsigned update(void* word, Change change) {
  unsigned* bits = static_cast<unsigned*>(word);
  unsigned seen = atomicAdd(bits, 0u);
  while (true) {
    const unsigned before = atomicCAS(bits, seen, change(seen));
    if (before == seen) return seen;
    seen = before;
  }
}

__global__ void one_day_by_cas(Visitors v, Gets gets, Museum* museum, int* lockers, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const unsigned self = i;
    update(&museum->cash, [&](unsigned x) { return x + v.spent[i]; });
    update(&museum->tickets_left, [&](unsigned x) { return x - v.tickets[i]; });
    update(&museum->youngest, [&](unsigned x) { return min(static_cast<int>(x), v.age[i]); });
    update(&museum->oldest, [&](unsigned x) { return max(static_cast<int>(x), v.age[i]); });
    update(&museum->seen_by_any, [&](unsigned x) { return x | v.rooms[i]; });
    update(&museum->seen_by_all, [&](unsigned x) { return x & v.rooms[i]; });
    update(&museum->badge, [&](unsigned x) { return x ^ v.badge[i]; });
    gets.previous[i] = update(&museum->last, [&](unsigned) { return self; });
    const unsigned nobody = kNobody;
    gets.has_locker[i] =
        update(&lockers[v.wanted[i]], [&](unsigned x) { return x == nobody ? self : x; }) == nobody;
    gets.desk[i] = update(&museum->next_desk, [](unsigned x) { return (x + 1) % kDesks; });
    gets.prize[i] = update(&museum->until_prize,
                           [](unsigned x) { return (x + kPrizeEvery - 1) % kPrizeEvery; }) == 0;
  }
}

void launch_one_day(const Visitors& visitors, const Gets& gets, Museum* d_museum, int* d_lockers,
                    int n) {
  one_day_by_cas<<<1, 32>>>(visitors, gets, d_museum, d_lockers, n);
}

// 04/05 Integer atomics: a day in a museum. Each thread is a visitor; all come at once.
//   Every atomic function changes one word as a single step and returns what it held before.
//   atomicInc(p, last) counts 0, 1, ..., last, 0, 1, ...; atomicDec(p, last) the other way round.
//   05_integer_atomics.h says what each field means and where it starts.
//   TODOs    3
#include "05_integer_atomics.h"

__global__ void one_day(Visitors visitors, Gets gets, Museum* museum, int* lockers, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;

  // TODO(1): cash, tickets_left, youngest and oldest know of this visitor (4 lines).

  // TODO(2): seen_by_any, seen_by_all and badge know of this visitor (3 lines).

  // TODO(3): previous, has_locker, desk and prize hold what this visitor gets. Each follows from
  // the value that one atomic returns (about 5 lines).
}

void launch_one_day(const Visitors& visitors, const Gets& gets, Museum* d_museum, int* d_lockers,
                    int n) {
  // Still TODO(1): A thread for every visitor (about 5 lines).
}

// Another right answer: looks before it tries, lets go in the same round of the loop in which it
// got hold, and takes the account with the larger number first.
#include "06_spin_lock.h"

__device__ bool try_lock(int* mutex) {
  if (*static_cast<volatile int*>(mutex) != 0 || atomicExch(mutex, 1) != 0) return false;
  __threadfence();
  return true;
}

__device__ void let_go(int* mutex) {
  __threadfence();
  atomicCAS(mutex, 1, 0);
}

__global__ void deposit_in_turns(const int* account, const int* amount, int* balance, int* mutex,
                                 int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    for (bool done = false; !done;) {
      if (try_lock(mutex + account[i])) {
        balance[account[i]] += amount[i];
        let_go(mutex + account[i]);
        done = true;
      }
    }
  }
}

__global__ void transfer_in_turns(const int* from, const int* to, const int* amount, int* balance,
                                  int* mutex, int* done, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int* outer = mutex + max(from[i], to[i]);
  int* inner = mutex + min(from[i], to[i]);
  for (bool decided = false; !decided;) {
    if (!try_lock(outer)) continue;
    if (try_lock(inner)) {
      done[i] = balance[from[i]] >= amount[i];
      balance[from[i]] -= done[i] * amount[i];
      balance[to[i]] += done[i] * amount[i];
      let_go(inner);
      decided = true;
    }
    let_go(outer);
  }
}

void launch_deposits(const int* d_account, const int* d_amount, int* d_balance, int* d_mutex,
                     int n) {
  deposit_in_turns<<<1, 64>>>(d_account, d_amount, d_balance, d_mutex, n);
}

void launch_transfers(const int* d_from, const int* d_to, const int* d_amount, int* d_balance,
                      int* d_mutex, int* d_done, int n) {
  const int grid = (n + 31) / 32;
  if (grid == 0) return;
  transfer_in_turns<<<grid, 32>>>(d_from, d_to, d_amount, d_balance, d_mutex, d_done, n);
}

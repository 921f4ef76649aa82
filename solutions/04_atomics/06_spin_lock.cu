// 04/06 Spin lock: when one atomic is not enough, only the owner of a lock may touch the data.
//   balance, mutex   one int each per account; mutex[k] is 0 if free, 1 if some thread owns it
//   Plain loads and stores of a balance are allowed to the owner of its mutex, to nobody else.
//   Threads of one warp fight for the same lock, too. While one of them owns it, it must not wait
//   for its warp (no __syncwarp, no barrier): the others come only when it has let go.
//   TODOs    3
#include "06_spin_lock.h"

// Returns when this thread owns the mutex.
__device__ void lock(int* mutex) {
  //~ // TODO(1): One thread at a time gets past here, and it sees what the last owner has written
  //~ // (about 3 lines).
  //~begin 1
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();  // reads below must not be older than what the last owner left
  //~end
}

// Gives the mutex back.
__device__ void unlock(int* mutex) {
  //~ // TODO(2): Whoever owns the mutex next sees what this thread has written (2 lines).
  //~begin 2
  __threadfence();  // what was written above is visible before the mutex is seen to be free
  atomicExch(mutex, 0);
  //~end
}

__global__ void deposit_locked(const int* account, const int* amount, int* balance, int* mutex,
                               int n) {
  //~ // Still TODO(2): balance[account[i]] has grown by amount[i], by its owner alone (about 7 lines).
  //~begin 2
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int k = account[i];
    lock(&mutex[k]);
    balance[k] += amount[i];  // load, add, store: safe, because only the owner does it
    unlock(&mutex[k]);
  }
  //~end
}

__global__ void transfer_locked(const int* from, const int* to, const int* amount, int* balance,
                                int* mutex, int* done, int n) {
  //~ // TODO(3): The amount has moved as one step, if there was enough, and done says whether. No two
  //~ // threads wait for each other for ever (about 15 lines).
  //~begin 3
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    // One thread moves from 1 to 2, another from 2 to 1. If each owned its first account and
    // waited for the other, both would wait forever: everybody takes the smaller number first.
    const int low = min(from[i], to[i]), high = max(from[i], to[i]);
    lock(&mutex[low]);
    lock(&mutex[high]);
    const bool enough = balance[from[i]] >= amount[i];
    if (enough) {
      balance[from[i]] -= amount[i];
      balance[to[i]] += amount[i];
    }
    unlock(&mutex[high]);
    unlock(&mutex[low]);
    done[i] = enough;
  }
  //~end
}

void launch_deposits(const int* d_account, const int* d_amount, int* d_balance, int* d_mutex,
                     int n) {
  //~ // Still TODO(2): A thread for every deposit (about 5 lines).
  //~begin 2
  constexpr int kBlock = 128;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    deposit_locked<<<grid, kBlock>>>(d_account, d_amount, d_balance, d_mutex, n);
  }
  //~end
}

void launch_transfers(const int* d_from, const int* d_to, const int* d_amount, int* d_balance,
                      int* d_mutex, int* d_done, int n) {
  //~ // Still TODO(3): A thread for every transfer (about 5 lines).
  //~begin 3
  constexpr int kBlock = 128;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    transfer_locked<<<grid, kBlock>>>(d_from, d_to, d_amount, d_balance, d_mutex, d_done, n);
  }
  //~end
}

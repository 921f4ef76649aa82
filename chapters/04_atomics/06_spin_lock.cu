// 04/06 Spin lock: when one atomic is not enough, only the owner of a lock may touch the data.
//   balance, mutex   one int each per account; mutex[k] is 0 if free, 1 if some thread owns it
//   Plain loads and stores of a balance are allowed to the owner of its mutex, to nobody else.
//   Threads of one warp fight for the same lock, too. While one of them owns it, it must not wait
//   for its warp (no __syncwarp, no barrier): the others come only when it has let go.
//   TODOs    3
#include "06_spin_lock.h"

// Returns when this thread owns the mutex.
__device__ void lock(int* mutex) {
  // TODO(1): Try to change 0 to 1 until it works, then a fence (about 3 lines).
}

// Gives the mutex back.
__device__ void unlock(int* mutex) {
  // TODO(2): A fence, then let the next owner in (2 lines).
}

__global__ void deposit_locked(const int* account, const int* amount, int* balance, int* mutex,
                               int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int k = account[i];
    lock(&mutex[k]);
    balance[k] += amount[i];  // load, add, store: safe, because only the owner does it
    unlock(&mutex[k]);
  }
}

__global__ void transfer_locked(const int* from, const int* to, const int* amount, int* balance,
                                int* mutex, int* done, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    // TODO(3): Own both accounts, then move the amount if there is enough (about 10 lines).
    done[i] = 0;
  }
}

constexpr int kBlock = 128;  // threads

void launch_deposits(const int* d_account, const int* d_amount, int* d_balance, int* d_mutex,
                     int n) {
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    deposit_locked<<<grid, kBlock>>>(d_account, d_amount, d_balance, d_mutex, n);
  }
}

void launch_transfers(const int* d_from, const int* d_to, const int* d_amount, int* d_balance,
                      int* d_mutex, int* d_done, int n) {
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    transfer_locked<<<grid, kBlock>>>(d_from, d_to, d_amount, d_balance, d_mutex, d_done, n);
  }
}

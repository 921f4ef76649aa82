// 04/06 Spin lock: when one atomic is not enough, only the owner of a lock may touch the data.
//   balance, mutex   one int each per account; mutex[k] is 0 if free, 1 if some thread owns it
//   Plain loads and stores of a balance are allowed to the owner of its mutex, to nobody else.
//   Threads of one warp fight for the same lock, too. While one of them owns it, it must not wait
//   for its warp (no __syncwarp, no barrier): the others come only when it has let go.
//   TODOs    3
#include "06_spin_lock.h"

// Returns when this thread owns the mutex.
__device__ void lock(int* mutex) {
  // TODO(1): One thread at a time gets past here, and it sees what the last owner has written
  // (about 3 lines).
}

// Gives the mutex back.
__device__ void unlock(int* mutex) {
  // TODO(2): Whoever owns the mutex next sees what this thread has written (2 lines).
}

__global__ void deposit_locked(const int* account, const int* amount, int* balance, int* mutex,
                               int n) {
  // Still TODO(2): balance[account[i]] has grown by amount[i], by its owner alone (about 7 lines).
}

__global__ void transfer_locked(const int* from, const int* to, const int* amount, int* balance,
                                int* mutex, int* done, int n) {
  // TODO(3): The amount has moved as one step, if there was enough, and done says whether. No two
  // threads wait for each other for ever (about 15 lines).
}

void launch_deposits(const int* d_account, const int* d_amount, int* d_balance, int* d_mutex,
                     int n) {
  // Still TODO(2): A thread for every deposit (about 5 lines).
}

void launch_transfers(const int* d_from, const int* d_to, const int* d_amount, int* d_balance,
                      int* d_mutex, int* d_done, int n) {
  // Still TODO(3): A thread for every transfer (about 5 lines).
}

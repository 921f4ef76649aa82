// Accepted: a flag that is acquired and released, and looked at before it is asked for.
#include <cuda/atomic>

#include "06_spin_lock.h"

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__device__ void lock(int* mutex) {
  Flag flag(*mutex);
  while (flag.exchange(1, cuda::memory_order_acquire) != 0) {
    while (flag.load(cuda::memory_order_relaxed) != 0) {
    }
  }
}

__device__ void unlock(int* mutex) { Flag(*mutex).store(0, cuda::memory_order_release); }

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
}

void launch_deposits(const int* d_account, const int* d_amount, int* d_balance, int* d_mutex,
                     int n) {
  constexpr int kBlock = 128;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    deposit_locked<<<grid, kBlock>>>(d_account, d_amount, d_balance, d_mutex, n);
  }
}

void launch_transfers(const int* d_from, const int* d_to, const int* d_amount, int* d_balance,
                      int* d_mutex, int* d_done, int n) {
  constexpr int kBlock = 128;  // threads
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    transfer_locked<<<grid, kBlock>>>(d_from, d_to, d_amount, d_balance, d_mutex, d_done, n);
  }
}

// 04/06 Spin lock: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_06_SPIN_LOCK_H_
#define CHAPTERS_04_ATOMICS_06_SPIN_LOCK_H_

// A bank in device memory: account k has balance[k], guarded by mutex[k] (0 free, 1 taken). All
// mutexes are free before and after each call.

// balance[account[i]] += amount[i] for every i in 0 .. n - 1.
void launch_deposits(const int* d_account, const int* d_amount, int* d_balance, int* d_mutex,
                     int n);

// For every i, in any order and each as one step: if balance[from[i]] >= amount[i], that amount
// goes from account from[i] to account to[i] and done[i] is 1; otherwise nothing moves and done[i]
// is 0. from[i] != to[i], amount[i] >= 0.
void launch_transfers(const int* d_from, const int* d_to, const int* d_amount, int* d_balance,
                      int* d_mutex, int* d_done, int n);

#endif  // CHAPTERS_04_ATOMICS_06_SPIN_LOCK_H_

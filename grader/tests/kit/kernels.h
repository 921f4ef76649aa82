// Small kernels, right and wrong, that the tests of the kit launch.
#ifndef WARPLINGS_TESTS_KIT_KERNELS_H_
#define WARPLINGS_TESTS_KIT_KERNELS_H_

#include <cuda_runtime_api.h>

// y[i] = 2 * x[i] for i < n.
void launch_twice(const float* d_x, float* d_y, int n);
// The same by way of d_between, from where a copy brings it to d_y.
void launch_twice_and_copy(const float* d_x, float* d_between, float* d_y, int n);
// The same, computed on the host.
void launch_twice_on_the_host(const float* d_x, float* d_y, int n);
// The same, all of it by one thread.
void launch_twice_by_one_thread(const float* d_x, float* d_y, int n);
// One thread stores value at p[offset].
void launch_store(float* d_p, int offset, float value);
// One thread loads p[offset] and branches on it: out[0] = p[offset] > 0.
void launch_branch_on(const float* d_p, int offset, float* d_out);
// A block of 0 threads.
void launch_nothing_with_zero_threads();
// Every block of 32 threads stores to y with a distance of 32 floats between threads.
void launch_scattered(float* d_y, int n);
// Each of `count` blocks takes a number from next: block[number] = which block it was.
void launch_tickets(int* d_next, int* d_block, int count);
// The same with the threads of one block.
void launch_thread_tickets(int* d_next, int* d_thread, int count);
// Row r of y, at y + r * stride, is twice that of x, in one of three ways to compute the index.
enum class Index { k64, kInt, kUnsigned };
void launch_twice_rows(const float* d_x, float* d_y, int rows, int cols, int stride, Index index);
// The same for rows that lie next to each other, by 1000 rows of blocks that walk on from row to
// row up to row `end`. Most threads have nothing to do where there are few columns.
void launch_twice_in_strides(const float* d_x, float* d_y, int rows, int cols, int end);
// Row r of y is twice the last but r of x; both sizes are multiples of 32.
void launch_twice_upside_down(const float* d_x, float* d_y, int rows, int cols);
// y is x in reversed order, by a block of n <= 64 threads that does not wait for its shared memory.
void launch_reversed_without_barrier(const float* d_x, float* d_y, int n);
// Allocates `count` buffers and frees none.
void launch_and_leak(int count);

// y[i] = 2 * x[i] for i < n, and a wait for it.
enum class Wait {
  kSynchronize,
  kQuery,
  kForResult,
  kForResultInAStream,
  kForMappedInput,
  kForManaged
};
void launch_twice_and_wait(const float* d_x, float* d_y, int n, Wait wait);

// y[i] = 2 * x[i] for i < n by way of a copy of x, which is cleared afterwards. Returns the first
// status that is no success, unless it is careless.
enum Care {
  kCareful,
  kDropsTheMemset,
  kDropsTheLaunch,
  kLeaksOnError,
  kUsesWhatIsNotThere,
  kLeavesADeviceOnError
};
cudaError_t twice_by_copy(const float* d_x, float* d_y, int n, Care care);

#endif  // WARPLINGS_TESTS_KIT_KERNELS_H_

// 02/09 One thread to grid: the same additions by 1 thread, by 1 block, by as many as there are.
//   a, b, c    n floats in device memory, n >= 1
//   Predict first (TODO 1), then write the kernel, then compare: the test prints what it counted.
//   TODOs      3
#include "09_one_thread_to_grid.h"

constexpr int kBlock = 256;  // threads per block in launch_one_block and launch_full_grid

// One warp instruction serves up to 32 threads. <<<1, 1>>> issues how many times as many warp
// instructions as <<<1, 256>>>, for the same large n?
constexpr double kInstructionRatio = 0;  // TODO(1): Your prediction, also in the function below.
double predicted_instruction_ratio() { return kInstructionRatio; }

// The fewest blocks that have a thread for each of n additions. One block runs on one
// multiprocessor: the full grid cannot be more than that many times as fast as one block.
int predicted_blocks(int n) {
  return 0;
}

// Must be right for every launch below.
__global__ void add_any_grid(const float* a, const float* b, float* c, int n) {
  // TODO(2): Every sum is computed by exactly one thread, whatever the grid (about 4 lines).
}

void launch_one_thread(const float* d_a, const float* d_b, float* d_c, int n) {
  add_any_grid<<<1, 1>>>(d_a, d_b, d_c, n);
}

void launch_one_block(const float* d_a, const float* d_b, float* d_c, int n) {
  add_any_grid<<<1, kBlock>>>(d_a, d_b, d_c, n);
}

void launch_full_grid(const float* d_a, const float* d_b, float* d_c, int n) {
  add_any_grid<<<1, kBlock>>>(d_a, d_b, d_c, n);  // TODO(3): One thread per element instead.
}

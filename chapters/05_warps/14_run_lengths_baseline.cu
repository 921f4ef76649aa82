// Given to 05/14, to be timed against: a thread goes through 1024 elements by itself, twice.
#include "14_run_lengths.h"

constexpr int kStretch = 1024;  // elements of a thread
constexpr int kThreads = 128;   // of a block

__device__ bool begins_run(const int* x, int i) { return i == 0 || x[i] != x[i - 1]; }

__global__ void count_in_stretches(const int* x, int* counts, int n) {
  const int stretch = blockIdx.x * blockDim.x + threadIdx.x;
  int runs = 0;
  for (int i = stretch * kStretch; i < n && i < (stretch + 1) * kStretch; ++i) {
    runs += begins_run(x, i);
  }
  if (stretch * kStretch < n) counts[stretch] = runs;
}

// One thread: counts[s] becomes the number of runs that begin before stretch s.
__global__ void add_up(int* counts, int* starts, int* count, int stretches, int n) {
  int runs = 0;
  for (int s = 0; s < stretches; ++s) {
    const int own = counts[s];
    counts[s] = runs;
    runs += own;
  }
  *count = runs;
  starts[runs] = n;
}

__global__ void write_stretches(const int* x, const int* counts, int* values, int* starts, int n) {
  const int stretch = blockIdx.x * blockDim.x + threadIdx.x;
  if (stretch * kStretch >= n) return;
  int place = counts[stretch];
  for (int i = stretch * kStretch; i < n && i < (stretch + 1) * kStretch; ++i) {
    if (!begins_run(x, i)) continue;
    values[place] = x[i];
    starts[place] = i;
    ++place;
  }
}

void launch_run_lengths_by_stretches(const int* d_x, int* d_values, int* d_starts, int* d_count,
                                     unsigned long long* d_workspace, int n) {
  int* counts = reinterpret_cast<int*>(d_workspace);
  const int stretches = (n + kStretch - 1) / kStretch;
  const int grid = (stretches + kThreads - 1) / kThreads;
  count_in_stretches<<<grid, kThreads>>>(d_x, counts, n);
  add_up<<<1, 1>>>(counts, d_starts, d_count, stretches, n);
  write_stretches<<<grid, kThreads>>>(d_x, counts, d_values, d_starts, n);
}

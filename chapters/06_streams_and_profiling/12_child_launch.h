// 06/12 Child launch: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_12_CHILD_LAUNCH_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_12_CHILD_LAUNCH_H_

#include <cuda_runtime.h>

constexpr int kSamplesPerSide = 16;
constexpr int kSamples = kSamplesPerSide * kSamplesPerSide;  // points per cell
constexpr int kCell = 2 * kSamplesPerSide;                   // side of a cell, in units

// A disc, in units of half the distance of two points: whole numbers, so that every machine agrees
// on every point. Cell (row, col) reaches from kCell * col to kCell * (col + 1) in x, with rows in
// y.
struct Disc {
  int x, y, radius;

  // Point `sample` of the cell, rows of kSamplesPerSide points.
  __host__ __device__ bool contains_sample(int row, int col, int sample) const {
    const long long dx = kCell * col + 2 * (sample % kSamplesPerSide) + 1 - x;
    const long long dy = kCell * row + 2 * (sample / kSamplesPerSide) + 1 - y;
    return dx * dx + dy * dy <= square(radius);
  }
  // The corner that lies farthest away is in the disc, so every point of the cell is.
  __host__ __device__ bool contains_cell(int row, int col) const {
    return square(farthest(col, x)) + square(farthest(row, y)) <= square(radius);
  }
  // The nearest place of the cell is not in the disc, so no point of the cell is.
  __host__ __device__ bool misses_cell(int row, int col) const {
    return square(nearest(col, x)) + square(nearest(row, y)) > square(radius);
  }

 private:
  __host__ __device__ static long long square(long long value) { return value * value; }
  __host__ __device__ static int farthest(int index, int centre) {
    const int low = centre - kCell * index, high = kCell * (index + 1) - centre;
    return low > high ? low : high;
  }
  __host__ __device__ static int nearest(int index, int centre) {
    const int before = kCell * index - centre, after = centre - kCell * (index + 1);
    const int outside = before > after ? before : after;
    return outside > 0 ? outside : 0;
  }
};

// coverage[row * side + col] = points of that cell in the disc. One launch by the host; launches by
// the kernel for border cells only, and none of these waits for another one.
//   d_coverage  side * side ints in device memory, side from 1 to 46,340
// At most 2048 launches by kernels may be pending, unless cudaDeviceSetLimit() allows more:
// pictures with more border cells are the caller's affair (cudaLimitDevRuntimePendingLaunchCount).
void launch_adaptive_coverage(const Disc& disc, int side, int* d_coverage);

// Given, to be compared with: a block for every cell.
void launch_flat_coverage(const Disc& disc, int side, int* d_coverage);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_12_CHILD_LAUNCH_H_

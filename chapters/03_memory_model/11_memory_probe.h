// 03/11 Memory probe: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_11_MEMORY_PROBE_H_
#define CHAPTERS_03_MEMORY_MODEL_11_MEMORY_PROBE_H_

#include <cuda_runtime.h>

constexpr int kThreads = 512;  // per block, in all probes
constexpr int kTile = 1024;    // float4 elements of shared memory per block, 16 KiB

enum Level { kRegisters, kShared, kL2, kGlobal, kLink, kLevels };

// Reads n elements `passes` times; no multiprocessor reads an element in two neighbouring passes,
// as long as blocks with neighbouring numbers run on different ones.
//   d_x      n float4 in device memory; n a multiple of blocks, otherwise any size
//   d_sums   blocks x kThreads floats: the sum of all components that a thread has read
//   blocks   >= 2
void launch_read(const float4* d_x, size_t n, int passes, int blocks, float* d_sums);

// Each thread reads `rounds` float4 from its block's tile; element i of the tile is (i, 0, 0, 0).
//   d_sums   blocks x kThreads floats: the sum of all x that a thread has read. Thread t reads
//            elements t, t + 32, t + 64, ... modulo kTile.
void launch_shared(int rounds, int blocks, float* d_sums);

// Bytes of an array that shows L2 or global memory when launch_read walks over it. The first lies
// in L2 with room to spare: at most half of it. Of the second, L2 can hold at most a quarter.
size_t l2_working_set(int device);
size_t global_working_set(int device);

// GB/s of each level on the current device. `effort` 1 is enough where time is exact; a real clock
// needs about 64.
struct Ladder {
  double gb_per_second[kLevels];
};
Ladder measure_ladder(int effort);

// Writes an SVG picture, a bar per level on a logarithmic scale. False if the file cannot be
// written.
bool draw_ladder(const Ladder& ladder, const char* title, const char* path);

#endif  // CHAPTERS_03_MEMORY_MODEL_11_MEMORY_PROBE_H_

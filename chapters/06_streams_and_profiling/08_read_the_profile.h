// 06/08 Read the profile: what the test calls, and what is given.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_08_READ_THE_PROFILE_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_08_READ_THE_PROFILE_H_

#include <cuda_runtime.h>

// What holds a kernel back.
enum class Limiter {
  kUnknown,
  kGlobalMemory,  // more sectors than the bytes it needs
  kSharedMemory,  // accesses that meet in one bank are done one after the other
  kDivergence,    // lanes that wait for others of their warp
  kRegisters,     // few warps fit, because each has many registers
};

// What shows it.
enum class Counter {
  kUnknown,
  kSectorsPerRequest,     // 32-byte sectors per load instruction of a warp; floats side by side: 4
  kWavefrontsPerRequest,  // passes per access to shared memory, loads and stores together; at best
                          // 1
  kActiveLanes,           // lanes per instruction; at best 32
};

struct Answer {
  Limiter limiter;
  Counter counter;
  double value;  // of that counter, within 5 %
};

// Your answers. `kernel` is 'a', 'b' or 'c'.
Answer answer_for(char kernel);

struct Occupancy {
  Limiter limiter_with_100_kb = Limiter::kUnknown;
  int blocks_with_96_registers = 0;  // per multiprocessor
};
Occupancy sgemm_occupancy();

// Given: the three kernels.
constexpr int kSide = 128;  // rows and columns of the matrices
// sums[row] = sum of the kSide floats of that row of m (kSide x kSide).
void launch_kernel_a(const float* d_m, float* d_sums);
// out = transposed in, both kSide x kSide.
void launch_kernel_b(const float* d_in, float* d_out);
// steps[i]: halve an even number, triple an odd one and add 1: how often, from i + 1 down to 1?
void launch_kernel_c(int* d_steps, int n);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_08_READ_THE_PROFILE_H_

// 06/08 Read the profile: what limits each of four kernels, and which counter shows it?
//   kernel_a, b, c   in 08_read_the_profile_baseline.cu; ./grade run 08_read shows their counters,
//                    ./grade profile 08_read those of each of their lines
//   sgemm            a kernel of a library: no source, only this report of Nsight Compute
//
//     compute capability 8.6, 46 multiprocessors     grid 1536 blocks, block 128 threads
//     registers per thread               122         waves per multiprocessor       8.35
//     shared memory per block           12.8 KB      block limit multiprocessor       16
//     and for the system                 1.0 KB      block limit registers             4
//     shared memory configured          65.5 KB      block limit shared memory         4
//     theoretical occupancy             33.3 %       block limit warps                12
//
//   Write down a guess first, then look.
//   TODOs      2
#include "08_read_the_profile.h"

Answer answer_for(const char kernel) {
  //~ // TODO(1): What holds each one back, the counter that shows it, and its value.
  //~ if (kernel == 'a') return {Limiter::kUnknown, Counter::kUnknown, 0};
  //~ if (kernel == 'b') return {Limiter::kUnknown, Counter::kUnknown, 0};
  //~ return {Limiter::kUnknown, Counter::kUnknown, 0};
  //~begin 1
  // Lanes read floats that lie a row apart: each of the 32 has a sector of its own, 4 would do.
  if (kernel == 'a') return {Limiter::kGlobalMemory, Counter::kSectorsPerRequest, 32};
  // A column of a tile of 32 floats width lies in one bank: 32 passes, and 1 for each store.
  if (kernel == 'b') return {Limiter::kSharedMemory, Counter::kWavefrontsPerRequest, 16.5};
  // The warp walks until its slowest lane has arrived.
  return {Limiter::kDivergence, Counter::kActiveLanes, 14.2};
  //~end
}

// Registers are given to warps, 256 at a time; a multiprocessor of this kind has 65,536 registers
// and up to 100 KB of shared memory.
Occupancy sgemm_occupancy() {
  Occupancy sgemm;
  //~ // TODO(2): Two block limits are 4. Which one stays when 100 KB are configured, and how many
  //~ // blocks would fit with 96 registers per thread and 100 KB?
  //~begin 2
  // 122 * 32 = 3904, rounded up 4096 per warp, 4 warps: 65536 / 16384 = 4, whatever shared memory
  // says.
  sgemm.limiter_with_100_kb = Limiter::kRegisters;
  sgemm.blocks_with_96_registers = 5;  // 65536 / (96 * 32 * 4) = 5.3; shared memory would allow 7
  //~end
  return sgemm;
}

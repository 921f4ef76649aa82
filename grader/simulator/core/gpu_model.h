// The cards that the simulator can stand for: limits, occupancy and the constants of the modelled
// cost. Sources of every figure are in MODEL.md.
#ifndef WARPLINGS_SIMULATOR_CORE_GPU_MODEL_H_
#define WARPLINGS_SIMULATOR_CORE_GPU_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace warplings::sim {

// Cycles from issue until the result can be used.
struct Latencies {
  int arithmetic;  // fp32 and 32-bit integer
  int fp64;
  int special;  // special-function unit, conversions
  int tensor;
  int shared;
  int l1;                // global or local load that hits in L1
  int l2;                // ... that hits in L2
  int dram;              // ... that goes to DRAM, on average (sm_timeline.cpp spreads it)
  int barrier;           // of a block of one warp
  int barrier_per_warp;  // for each further warp
  int bulk_copy;         // of the copy engine, more than that of a load
};

struct GpuModel {
  const char* key;          // value of GRADE_SIM_MODEL
  const char* name;         // in reports: "modelled (H200)"
  const char* device_name;  // cudaDeviceProp::name
  int compute_major, compute_minor;
  const char* ptxas_arch;  // nearest architecture that takes compute_80 PTX

  // ---- limits
  int multiprocessors;
  int max_threads;  // per multiprocessor
  int max_blocks;   // per multiprocessor
  int registers;    // per multiprocessor and per block
  int register_unit;
  size_t shared_per_block_opt_in;
  size_t shared_per_multiprocessor;
  size_t shared_reserved;                     // of each block, for the system
  size_t shared_unit;                         // granularity of a block's share
  std::vector<size_t> shared_configurations;  // that the driver can choose, ascending
  size_t l1_bytes;                            // L1 and shared memory together
  size_t l2_bytes;
  size_t persisting_l2_bytes;

  // ---- rates
  double clock_hz;
  double memory_clock_hz;
  int memory_bus_bits;
  double dram_bytes_per_second;       // that a copy reaches
  double dram_read_bytes_per_second;  // that a kernel reaches which only reads
  double l2_bytes_per_clock;          // read, whole card
  // What the write of a sector takes of L2, in reads of one: of a whole sector, of a part.
  double l2_write, l2_partial_write;
  double blocks_per_clock;  // that the card can start
  int wavefront_cycles;     // of the L1 data path
  int block_turnaround;     // clocks from the end of a block to the first instruction of the next
  double link_bytes_per_second;  // host link, one direction
  // Lanes per clock and multiprocessor.
  int fp32_lanes, integer_lanes, multiply_lanes, fp64_lanes, special_lanes;
  int fp16_tensor_fma;             // multiply-adds per clock and multiprocessor, mma.sync
  int wgmma_fma;                   // the same of wgmma; of a card without it that of mma.sync
  bool integer_shares_fp32_lanes;  // an integer instruction takes the place of an fp32 one
  bool ecc;
  int fp32_to_fp64;
  bool moves_managed_whole;  // at launches, as on Windows: the card faults for no single page

  Latencies latency;

  double dram_bytes_per_clock() const { return dram_bytes_per_second / clock_hz; }
};

// GRADE_SIM_MODEL: h200 (default), h100, rtx3070, t4. An unknown name ends the program with a
// message.
const GpuModel& gpu_model();
// Another card from now on, "" the one of the environment, "t4/20" a twentieth of the
// multiprocessors of one; false if there is no such model. Between launches only.
bool select_gpu_model(const std::string& key);
// The card of one device, as its attributes, occupancy and launches have it; modelled time is that
// of gpu_model() everywhere. They are alike, but for the device that make_unlike names (-1: none).
const GpuModel& gpu_model_of(int device);
void make_unlike(int device);
const GpuModel* find_gpu_model(const std::string& key);  // nullptr: unknown
const std::vector<GpuModel>& gpu_models();

// How many blocks a multiprocessor holds, and why not more. All limits in blocks.
struct Occupancy {
  int by_blocks = 0, by_registers = 0, by_shared = 0, by_warps = 0;
  int blocks = 0;  // the least of them
  int warps = 0;
  double fraction = 0;              // of the warps that a multiprocessor can hold
  size_t shared_configuration = 0;  // bytes that the driver sets aside as shared memory
};
// `shared_bytes`: static and dynamic of a block, without the reserved part.
Occupancy occupancy_of(const GpuModel& model, int threads, int registers_per_thread,
                       size_t shared_bytes);
// Waves of `blocks` blocks on the whole card; 0 if none fits.
double waves_of(const GpuModel& model, const Occupancy& occupancy, uint64_t blocks);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_GPU_MODEL_H_

#include "core/gpu_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/machine.h"

namespace warplings::sim {
namespace {

constexpr size_t kKiB = 1024, kMiB = 1024 * 1024;
constexpr int kSubPartitions = 4;  // of a multiprocessor, on every architecture here

// Figures and where they come from: MODEL.md.
GpuModel h200() {
  GpuModel m{};
  m.key = "h200";
  m.name = "H200";
  m.device_name = "Warplings simulator (models an H200)";
  m.compute_major = 9, m.compute_minor = 0;
  m.ptxas_arch = "sm_90";
  m.multiprocessors = 132;
  m.max_threads = 2048, m.max_blocks = 32;
  m.registers = 65536, m.register_unit = 256;
  m.shared_per_block_opt_in = 227 * kKiB, m.shared_per_multiprocessor = 228 * kKiB;
  m.shared_reserved = kKiB, m.shared_unit = 128;
  for (size_t k : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228}) {
    m.shared_configurations.push_back(k * kKiB);
  }
  m.l1_bytes = 256 * kKiB, m.l2_bytes = 60 * kMiB, m.persisting_l2_bytes = 39321600;
  m.clock_hz = 1.98e9, m.memory_clock_hz = 3.201e9, m.memory_bus_bits = 6016;
  m.dram_bytes_per_second = 4.2e12, m.dram_read_bytes_per_second = 4.55e12;
  m.l2_bytes_per_clock = 4389, m.l2_write = 2.05, m.l2_partial_write = 2.54;
  m.blocks_per_clock = 0.83, m.block_turnaround = 350, m.wavefront_cycles = 1;
  m.link_bytes_per_second = 55.4e9;
  m.fp32_lanes = 128, m.integer_lanes = 64, m.multiply_lanes = 64, m.fp64_lanes = 64;
  m.special_lanes = 16, m.fp16_tensor_fma = 1280, m.wgmma_fma = 2048;
  m.integer_shares_fp32_lanes = false;
  m.ecc = true, m.fp32_to_fp64 = 2;
  m.latency = {4, 8, 17, 24, 23, 33, 281, 660, 14, 2, 200};
  return m;
}

// The same multiprocessors before other memory.
GpuModel h100() {
  GpuModel m = h200();
  m.key = "h100";
  m.name = "H100";
  m.device_name = "Warplings simulator (models an H100)";
  m.l2_bytes = 50 * kMiB, m.persisting_l2_bytes = 32768000;
  m.memory_clock_hz = 2.619e9, m.memory_bus_bits = 5120;
  m.dram_bytes_per_second = 3.0e12, m.dram_read_bytes_per_second = 3.08e12;
  return m;
}

GpuModel rtx3070() {
  GpuModel m{};
  m.key = "rtx3070";
  m.name = "RTX 3070";
  m.device_name = "Warplings simulator (models an RTX 3070)";
  m.compute_major = 8, m.compute_minor = 6;
  m.ptxas_arch = "sm_86";
  m.multiprocessors = 46;
  m.max_threads = 1536, m.max_blocks = 16;
  m.registers = 65536, m.register_unit = 256;
  m.shared_per_block_opt_in = 99 * kKiB, m.shared_per_multiprocessor = 100 * kKiB;
  m.shared_reserved = kKiB, m.shared_unit = 128;
  for (size_t k : {0, 8, 16, 32, 64, 100}) m.shared_configurations.push_back(k * kKiB);
  m.l1_bytes = 128 * kKiB, m.l2_bytes = 4 * kMiB, m.persisting_l2_bytes = 3 * kMiB;
  m.clock_hz = 1.725e9, m.memory_clock_hz = 7.001e9, m.memory_bus_bits = 256;
  m.dram_bytes_per_second = m.dram_read_bytes_per_second = 0.92 * 448e9;
  m.l2_bytes_per_clock = 1024, m.l2_write = 2.05, m.l2_partial_write = 2.54;
  m.blocks_per_clock = 0.83, m.block_turnaround = 350, m.wavefront_cycles = 1;
  m.link_bytes_per_second = 25e9;
  m.fp32_lanes = 128, m.integer_lanes = 64, m.multiply_lanes = 64, m.fp64_lanes = 2;
  m.special_lanes = 16, m.fp16_tensor_fma = m.wgmma_fma = 512, m.integer_shares_fp32_lanes = true;
  m.ecc = false, m.fp32_to_fp64 = 64;
  m.latency = {4, 48, 23, 33, 23, 33, 200, 466, 14, 2, 0};
  return m;
}

GpuModel t4() {
  GpuModel m{};
  m.key = "t4";
  m.name = "T4";
  m.device_name = "Warplings simulator (models a T4)";
  m.compute_major = 7, m.compute_minor = 5;
  m.ptxas_arch = "sm_80";  // sm_75 does not take compute_80 code
  m.multiprocessors = 40;
  m.max_threads = 1024, m.max_blocks = 16;
  m.registers = 65536, m.register_unit = 256;
  m.shared_per_block_opt_in = 64 * kKiB, m.shared_per_multiprocessor = 64 * kKiB;
  m.shared_reserved = 0, m.shared_unit = 256;
  for (size_t k : {32, 64}) m.shared_configurations.push_back(k * kKiB);
  m.l1_bytes = 96 * kKiB, m.l2_bytes = 4 * kMiB, m.persisting_l2_bytes = 0;
  m.clock_hz = 1.59e9, m.memory_clock_hz = 5.001e9, m.memory_bus_bits = 256;
  m.dram_bytes_per_second = m.dram_read_bytes_per_second = 0.83 * 320e9;
  m.l2_bytes_per_clock = 800, m.l2_write = 2.05, m.l2_partial_write = 2.54;
  m.blocks_per_clock = 0.83, m.block_turnaround = 350, m.wavefront_cycles = 2;
  m.link_bytes_per_second = 12e9;
  m.fp32_lanes = 64, m.integer_lanes = 64, m.multiply_lanes = 64, m.fp64_lanes = 2;
  m.special_lanes = 16, m.fp16_tensor_fma = m.wgmma_fma = 512, m.integer_shares_fp32_lanes = false;
  m.ecc = true, m.fp32_to_fp64 = 32;
  m.latency = {4, 48, 22, 33, 19, 32, 188, 296, 14, 2, 0};
  return m;
}

size_t rounded_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const std::vector<GpuModel>& gpu_models() {
  static const auto* models = new std::vector<GpuModel>{h200(), h100(), rtx3070(), t4()};
  return *models;
}

const GpuModel* find_gpu_model(const std::string& key) {
  for (const GpuModel& model : gpu_models()) {
    if (key == model.key) return &model;
  }
  return nullptr;
}

namespace {

const GpuModel* usual_model() {
  const std::string& key = Machine::current().options().model;
  const GpuModel* found = find_gpu_model(key);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "GRADE_SIM_MODEL=%s: there is no such model; h200, h100, rtx3070 and t4 are.\n",
                 key.c_str());
    std::exit(2);
  }
  return found;
}

// A card of the same architecture that has less of everything.
GpuModel smaller(GpuModel m) {
  m.multiprocessors -= m.multiprocessors / 4;
  m.shared_per_block_opt_in -= 16 * kKiB, m.shared_per_multiprocessor -= 16 * kKiB;
  m.shared_configurations.back() -= 16 * kKiB;
  m.l2_bytes /= 2;
  m.moves_managed_whole = true;
  return m;
}

// "t4/20": a part of a card, with a twentieth of its multiprocessors, as when others have the rest.
struct PartOfCard {
  std::string key;
  int divisor = 1;  // 0: not a number
};
PartOfCard part_of_card(const std::string& key) {
  const size_t slash = key.find('/');
  if (slash == std::string::npos) return {key};
  return {key.substr(0, slash), std::atoi(key.c_str() + slash + 1)};
}

struct SelectedModel {
  const GpuModel* model = usual_model();
  GpuModel part = *model;
  GpuModel unlike = smaller(*model);
  int unlike_device = -1;
};

}  // namespace

const GpuModel& gpu_model() { return *Machine::get<SelectedModel>().model; }

const GpuModel& gpu_model_of(int device) {
  const SelectedModel& selected = Machine::get<SelectedModel>();
  return device == selected.unlike_device ? selected.unlike : *selected.model;
}

void make_unlike(int device) { Machine::get<SelectedModel>().unlike_device = device; }

bool select_gpu_model(const std::string& key) {
  const PartOfCard wanted = part_of_card(key);
  const GpuModel* const found = key.empty() ? usual_model() : find_gpu_model(wanted.key);
  if (found == nullptr || wanted.divisor < 1) return false;
  SelectedModel& selected = Machine::get<SelectedModel>();
  selected.part = *found;
  selected.part.multiprocessors = std::max(1, found->multiprocessors / wanted.divisor);
  selected.model = wanted.divisor == 1 ? found : &selected.part;
  selected.unlike = smaller(*selected.model);
  return true;
}

Occupancy occupancy_of(const GpuModel& model, int threads, int registers_per_thread,
                       size_t shared_bytes) {
  Occupancy out;
  constexpr int kMaxThreadsPerBlock = 1024;
  if (threads <= 0 || threads > kMaxThreadsPerBlock) return out;
  const int warps = (threads + 31) / 32;
  out.by_blocks = model.max_blocks;
  out.by_warps = model.max_threads / 32 / warps;
  // Registers are given to warps, in units, and each quarter of the multiprocessor has its own.
  const size_t per_warp = rounded_up(static_cast<size_t>(std::max(registers_per_thread, 1)) * 32,
                                     static_cast<size_t>(model.register_unit));
  const int warps_that_fit =
      static_cast<int>(static_cast<size_t>(model.registers / kSubPartitions) / per_warp) *
      kSubPartitions;
  out.by_registers = warps_that_fit / warps;
  const size_t shared = rounded_up(shared_bytes + model.shared_reserved, model.shared_unit);
  const int others = std::min({out.by_blocks, out.by_warps, out.by_registers});
  if (shared_bytes > model.shared_per_block_opt_in) {
    out.by_shared = 0;
  } else {
    // The driver chooses the smallest share of the L1 that costs no block.
    out.shared_configuration = model.shared_configurations.back();
    for (size_t configuration : model.shared_configurations) {
      if (configuration >= shared * static_cast<size_t>(others)) {
        out.shared_configuration = configuration;
        break;
      }
    }
    out.by_shared =
        shared == 0 ? out.by_blocks : static_cast<int>(out.shared_configuration / shared);
  }
  out.blocks = std::min(others, out.by_shared);
  out.warps = out.blocks * warps;
  out.fraction = 32.0 * out.warps / model.max_threads;
  return out;
}

double waves_of(const GpuModel& model, const Occupancy& occupancy, uint64_t blocks) {
  if (occupancy.blocks == 0) return 0;
  return static_cast<double>(blocks) /
         (static_cast<double>(occupancy.blocks) * model.multiprocessors);
}

}  // namespace warplings::sim

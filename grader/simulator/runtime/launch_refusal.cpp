#include "runtime/launch_refusal.h"

#include <utility>
#include <vector>

#include "core/error_names.h"
#include "core/finding.h"
#include "core/machine.h"
#include "profile/resources.h"
#include "runtime/device_model.h"
#include "runtime/device_state.h"

namespace warplings::sim {
namespace {

// What CUDA 13.0 returns on an H200 for every configuration that no device could run. Its
// documentation and older versions say cudaErrorInvalidConfiguration.
constexpr cudaError_t kBadConfiguration = cudaErrorInvalidValue;

struct UnseenError {
  std::string kernel;
  Position where;
  cudaError_t error;
};

std::vector<UnseenError>& unseen() {
  struct UnseenErrors {
    std::vector<UnseenError> all;
  };
  return Machine::get<UnseenErrors>().all;
}

constexpr const char kAxis[] = {'x', 'y', 'z'};

std::string check_sizes(const Dim3& grid, const Dim3& block) {
  const unsigned grid_sizes[] = {grid.x, grid.y, grid.z};
  const unsigned block_sizes[] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    const std::string axis(1, kAxis[i]);
    if (grid_sizes[i] == 0) return "0 blocks in " + axis + "; a grid has at least one";
    if (block_sizes[i] == 0) return "0 threads in " + axis + "; a block has at least one";
    if (grid_sizes[i] > DeviceModel::kMaxGrid[i]) {
      return std::to_string(grid_sizes[i]) + " blocks in " + axis + "; a grid has at most " +
             std::to_string(DeviceModel::kMaxGrid[i]);
    }
    if (block_sizes[i] > DeviceModel::kMaxBlock[i]) {
      return std::to_string(block_sizes[i]) + " threads in " + axis + "; a block has at most " +
             std::to_string(DeviceModel::kMaxBlock[i]);
    }
  }
  if (block.count() > DeviceModel::kMaxThreadsPerBlock) {
    return std::to_string(block.count()) + " threads per block; a block has at most " +
           std::to_string(DeviceModel::kMaxThreadsPerBlock);
  }
  return {};
}

std::string check_shared(const Kernel& kernel, size_t dynamic, int max_dynamic) {
  const size_t total = kernel.static_shared + dynamic;
  const bool opted_in = max_dynamic >= 0;
  const size_t default_limit = DeviceModel::kSharedPerBlock;
  const size_t most = gpu_model_of(current_device()).shared_per_block_opt_in;
  if (total <= default_limit && !opted_in) return {};
  if (opted_in && dynamic <= static_cast<size_t>(max_dynamic) && total <= most) {
    return {};
  }
  if (total <= default_limit) return {};
  std::string reason = std::to_string(total) + " bytes of shared memory per block; ";
  if (total > most) {
    return reason + "a block has at most " + std::to_string(most);
  }
  return reason + "more than " + std::to_string(default_limit) +
         " must be asked for with cudaFuncSetAttribute(kernel, "
         "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)";
}

// The size of clusters has an error of its own.
std::string check_cluster(const Kernel& kernel, const LaunchConfig& config, bool large) {
  const Dim3 c = config.cluster;
  if (c.x == 0 || (c.count() == 1 && kernel.cluster.x == 0)) return {};
  if (gpu_model().compute_major < 9) {
    return "clusters of blocks exist from compute capability 9.0 on";
  }
  const Dim3 own = kernel.cluster;
  if (own.x != 0 && (own.x != c.x || own.y != c.y || own.z != c.z)) {
    return "clusters of another size than the kernel's __cluster_dims__";
  }
  const uint64_t most = large ? 16 : 8;
  if (c.count() > most) {
    return std::to_string(c.count()) + " blocks per cluster; it has at most 8, and 16 once " +
           "cudaFuncAttributeNonPortableClusterSizeAllowed is set for the kernel";
  }
  const unsigned grid[] = {config.grid.x, config.grid.y, config.grid.z};
  const unsigned size[] = {c.x, c.y, c.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] % size[i] == 0) continue;
    return std::to_string(grid[i]) + " blocks in " + std::string(1, kAxis[i]) +
           "; a grid is a multiple of its clusters, which have " + std::to_string(size[i]);
  }
  return {};
}

}  // namespace

int resident_blocks_of(const Kernel& kernel, int threads, size_t dynamic_shared) {
  return gpu_model_of(current_device()).multiprocessors *
         resident_blocks(threads, resources_of(kernel).registers,
                         kernel.static_shared + dynamic_shared);
}

Refusal check_launch(const Kernel& kernel, const LaunchConfig& config, int max_dynamic_shared,
                     bool large_clusters) {
  if (std::string reason = check_sizes(config.grid, config.block); !reason.empty()) {
    return {kBadConfiguration, std::move(reason)};
  }
  const auto threads = static_cast<int>(config.block.count());
  if (threads > kernel.max_threads_per_block) {
    return {kBadConfiguration, std::to_string(threads) +
                                   " threads per block; the kernel's "
                                   "__launch_bounds__ allow " +
                                   std::to_string(kernel.max_threads_per_block)};
  }
  std::string reason = check_shared(kernel, config.dynamic_shared, max_dynamic_shared);
  if (!reason.empty()) return {cudaErrorInvalidValue, std::move(reason)};
  reason = check_cluster(kernel, config, large_clusters);
  if (!reason.empty()) return {cudaErrorInvalidClusterSize, std::move(reason)};
  if (config.cooperative) {
    // As the occupancy functions say it, by the registers of the machine code: programs size such
    // grids with them. Asking the assembler takes too long for every launch.
    const auto resident =
        static_cast<uint64_t>(resident_blocks_of(kernel, threads, config.dynamic_shared));
    if (config.grid.count() > resident) {
      return {
          cudaErrorCooperativeLaunchTooLarge,
          std::to_string(config.grid.count()) +
              " blocks; a cooperative launch needs all of them resident at once, and the device "
              "holds " +
              std::to_string(resident)};
    }
  }
  return {};
}

void report_refusal(const std::string& kernel, const LaunchConfig& config, const Refusal& refusal,
                    bool returned_to_program) {
  Finding finding;
  finding.check = "launch";
  finding.kind = "refused";
  finding.where = config.where;
  finding.kernel = kernel;
  finding.is_note = true;
  finding.message = "The launch of " + kernel + " at " + config.where.short_name() +
                    " was refused (" + error_text(refusal.error) + "): " + refusal.reason +
                    ". The kernel did not run.";
  FindingLog::instance().report(std::move(finding));
  if (!returned_to_program) unseen().push_back({kernel, config.where, refusal.error});
}

void launch_error_was_seen() { unseen().clear(); }

void report_unseen_launch_errors() {
  for (const UnseenError& error : unseen()) {
    Finding finding;
    finding.check = "launch";
    finding.kind = "unchecked-error";
    finding.where = error.where;
    finding.kernel = error.kernel;
    finding.message = "The launch of " + error.kernel + " at " + error.where.short_name() +
                      " failed (" + error_text(error.error) +
                      ") and the program never asked. A launch returns no error: call "
                      "cudaGetLastError() after it.";
    FindingLog::instance().report(std::move(finding));
  }
  unseen().clear();
}

}  // namespace warplings::sim

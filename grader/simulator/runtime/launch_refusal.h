// Launches that the runtime refuses: which limit they break, and whether the program ever asked.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_LAUNCH_REFUSAL_H_
#define WARPLINGS_SIMULATOR_RUNTIME_LAUNCH_REFUSAL_H_

#include <cuda_runtime_api.h>

#include <string>

#include "exec/launch.h"

namespace warplings::sim {

struct Refusal {
  cudaError_t error = cudaSuccess;
  std::string reason;  // "2048 threads per block; a block has at most 1024"
};

// `max_dynamic_shared` is the value of cudaFuncSetAttribute, -1 if it was not called.
Refusal check_launch(const Kernel& kernel, const LaunchConfig& config, int max_dynamic_shared,
                     bool large_clusters);

// Blocks of the kernel that the whole device holds at a time.
int resident_blocks_of(const Kernel& kernel, int threads, size_t dynamic_shared);

// Records the refusal as a note. It becomes a finding of its own if the program ends without having
// looked at the error (a launch with <<<>>> returns none).
void report_refusal(const std::string& kernel, const LaunchConfig& config, const Refusal& refusal,
                    bool returned_to_program);
void launch_error_was_seen();
void report_unseen_launch_errors();  // at exit

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_LAUNCH_REFUSAL_H_

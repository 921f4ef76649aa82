// Registers and spills of a kernel as machine code: from ptxas where it is at hand, else estimated.
#ifndef WARPLINGS_SIMULATOR_PROFILE_RESOURCES_H_
#define WARPLINGS_SIMULATOR_PROFILE_RESOURCES_H_

#include <map>
#include <string>

#include "exec/launch.h"

namespace warplings::sim {

struct KernelResources {
  int registers = 0;  // per thread
  int spill_store_bytes = 0, spill_load_bytes = 0;
  bool estimated = true;  // from the PTX alone: most registers that are live at once
};

// Runs ptxas for the architecture of gpu_model() on the kernel at the first question, about 0.1 s.
// GRADE_SIM_PTXAS names the program ("" for none); else $CUDA_HOME/bin, PATH and
// /usr/local/cuda/bin are searched. GRADE_SIM_CACHE names a folder that keeps the answers.
const KernelResources& resources_of(const Kernel& kernel);

// The text of a module without its other kernels, which ptxas would compile for nothing: the
// derived programs of an exercise have dozens. "" if the kernel is not there in nvcc's layout.
std::string ptx_of_kernel(const std::string& module, const std::string& kernel);

// What `ptxas -v` printed, by mangled kernel name.
std::map<std::string, KernelResources> parse_ptxas_report(const std::string& report);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_RESOURCES_H_

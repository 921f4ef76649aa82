#include "runtime/not_simulated.h"

#include "runtime/api.h"

namespace warplings::sim {

void report_not_simulated(const char* name, const void* return_address) {
  run_api(name, return_address, OnFault::kWork, [](const ApiCall& call) {
    call.report("api", "not-simulated",
                call.description() +
                    " is a part of CUDA that the simulator does not have. It returned "
                    "cudaErrorNotSupported. Run this program on a GPU.");
    return cudaErrorNotSupported;
  });
}

}  // namespace warplings::sim

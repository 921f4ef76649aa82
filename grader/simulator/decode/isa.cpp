#include "decode/isa.h"

#include <cstdlib>
#include <string>

namespace warplings::sim {

Isa host_isa() {
  static const Isa isa = [] {
    Isa best = Isa::kBaseline;
#ifdef WARPLINGS_X86_64
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) best = Isa::kAvx2;
    if (best == Isa::kAvx2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      best = Isa::kAvx512;
    }
    const char* forced = std::getenv("GRADE_SIM_ISA");
    const std::string name = forced == nullptr ? "" : forced;
    if (name == "baseline") best = Isa::kBaseline;
    if (name == "avx2" && best == Isa::kAvx512) best = Isa::kAvx2;
#endif
    return best;
  }();
  return isa;
}

}  // namespace warplings::sim

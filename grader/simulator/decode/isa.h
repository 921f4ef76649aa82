// Which build of the hot handlers this machine runs. GRADE_SIM_ISA=baseline|avx2|avx512 forces one.
#ifndef WARPLINGS_SIMULATOR_DECODE_ISA_H_
#define WARPLINGS_SIMULATOR_DECODE_ISA_H_

namespace warplings::sim {

enum class Isa { kBaseline, kAvx2, kAvx512 };
Isa host_isa();

// PICK(pick_integer)(spec, type) calls the build for this machine.
#ifdef WARPLINGS_X86_64
#define WARPLINGS_PICK(function)                 \
  (host_isa() == Isa::kAvx512 ? avx512::function \
   : host_isa() == Isa::kAvx2 ? avx2::function   \
                              : baseline::function)
#else
#define WARPLINGS_PICK(function) (baseline::function)
#endif

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_ISA_H_

#include "decode/isa.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/machine.h"
#include "decode/lane_builds.h"

namespace warplings::sim {
namespace {

bool runs_here(std::string_view isa) {
#ifdef __x86_64__
  if (isa == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == "avx512") {
    return runs_here("avx2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
#endif
  return isa == "baseline";
}

const LaneBuild& choose(std::string_view asked) {
  const LaneBuild* best = nullptr;
  for (const LaneBuild* build : lane_builds()) {
    if (!runs_here(build->isa)) continue;
    best = build;
    if (asked == build->isa) break;
  }
  if (best != nullptr) return *best;
  std::fprintf(stderr,
               "This simulator was compiled for a processor with %s, which this one has not. "
               "./grade compiles it again.\n",
               lane_builds().front()->isa);
  std::_Exit(98);
}

}  // namespace

const LaneBuild& lanes() {
  struct Chosen {
    const LaneBuild& build = choose(Machine::current().options().isa);
  };
  return Machine::get<Chosen>().build;
}

}  // namespace warplings::sim

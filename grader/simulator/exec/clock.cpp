#include "exec/clock.h"

#include <algorithm>
#include <map>

#include "core/gpu_model.h"
#include "core/machine.h"
#include "decode/instruction_class.h"

namespace warplings::sim {
namespace {

int latency_of(const Instr& in, const InstructionClass& type) {
  const Latencies& latency = gpu_model().latency;
  switch (type.unit) {
    case Unit::kFree:
      return 0;
    case Unit::kFp64:
      return latency.fp64;
    case Unit::kSpecial:
      return latency.special;
    case Unit::kTensor:
      return latency.tensor;
    case Unit::kBarrier:
      return latency.barrier;
    case Unit::kMemory:
      if (in.destinations == 0) return 1;  // nobody waits for a store
      return in.space == Space::kShared  ? latency.shared
             : in.space == Space::kLocal ? latency.l1
                                         : latency.l2;
    default:
      return latency.arithmetic;
  }
}

}  // namespace

LaunchClock& LaunchClock::instance() { return Machine::get<LaunchClock>(); }

const uint16_t* cycles_of(const LoadedModule* module) {
  struct Known {
    std::map<const LoadedModule*, std::vector<uint16_t>> cycles;
  };
  if (!module->uses_time) return nullptr;
  std::vector<uint16_t>& cycles = Machine::get<Known>().cycles[module];
  if (cycles.empty()) {
    const ModuleSchedule& schedule = ModuleSchedule::of(module);
    for (size_t pc = 0; pc < module->code.size(); ++pc) {
      const InstructionClass& what = schedule.code[pc];
      cycles.push_back(
          static_cast<uint16_t>(latency_of(module->code[pc], what) * std::max<int>(1, what.issues) +
                                gpu_model().latency.arithmetic * what.beside));
    }
  }
  return cycles.data();
}

}  // namespace warplings::sim

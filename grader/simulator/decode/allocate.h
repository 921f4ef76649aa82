// Registers: virtual PTX registers share slots when they are never live together.
#ifndef WARPLINGS_SIMULATOR_DECODE_ALLOCATE_H_
#define WARPLINGS_SIMULATOR_DECODE_ALLOCATE_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/module.h"

namespace warplings::sim {

struct RegisterAllocation {
  std::unordered_map<std::string, uint32_t> slot;  // first slot of each register
  uint32_t slots = 0;
  uint32_t peak_32 = 0;  // most 32-bit values live at once (predicates not counted)
};

RegisterAllocation allocate_registers(const ptx::Function& function);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_ALLOCATE_H_

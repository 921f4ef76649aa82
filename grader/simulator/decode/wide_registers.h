// Registers of 128 bits.
#ifndef WARPLINGS_SIMULATOR_DECODE_WIDE_REGISTERS_H_
#define WARPLINGS_SIMULATOR_DECODE_WIDE_REGISTERS_H_

#include "ptx/module.h"

namespace warplings::sim {

// Makes two registers of 64 bits of each one of 128. PTX moves, loads and stores them, and packs
// them from halves; atomics on them stay as they are, which nothing supports.
void split_wide_registers(ptx::Function& function);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_WIDE_REGISTERS_H_

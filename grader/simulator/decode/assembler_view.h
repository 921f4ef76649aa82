// What the assembler (ptxas) sees in PTX and the text does not say: accesses of one thread that it
// joins, values that are the same in all lanes. Counters would otherwise count instructions that
// the machine does not execute.
#ifndef WARPLINGS_SIMULATOR_DECODE_ASSEMBLER_VIEW_H_
#define WARPLINGS_SIMULATOR_DECODE_ASSEMBLER_VIEW_H_

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ptx/module.h"

namespace warplings::sim {

// Joins scalar loads, and scalar stores, of neighbouring words of shared memory to one access of 8
// or 16 bytes: same base register, same source line, provably aligned, nothing between them that
// could tell the difference. Offsets of shared variables are those in the block's shared memory.
void join_shared_accesses(const ptx::Module& module, ptx::Function& function,
                          const std::unordered_map<std::string, uint32_t>& shared_offsets);

// Registers that provably hold one value for the whole warp: computed once, from parameters, block
// indices and constants.
std::unordered_set<std::string> uniform_registers(const ptx::Function& function);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_ASSEMBLER_VIEW_H_

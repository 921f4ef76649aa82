// Values and places in the words of the text debugger.
#ifndef WARPLINGS_SIMULATOR_PROFILE_TRACE_VALUES_H_
#define WARPLINGS_SIMULATOR_PROFILE_TRACE_VALUES_H_

#include <cstdint>
#include <string>

#include "exec/warp.h"

namespace warplings::sim {

const ptx::Instruction& instruction_at(const LoadedModule& module, uint32_t pc);
ptx::Type type_of(const ptx::Instruction& instruction);

// "0.5", "-3", "0x1f": bits of a register as a value of `type`.
std::string value_text(uint64_t bits, ptx::Type type);
uint64_t register_bits(const Warp& warp, const Instr& in, int part, int lane);

// "lanes 0-15, 31 end", "lane 3 ends"
std::string lanes_text(uint32_t lanes, const char* one_does, const char* many_do);

// The variable in shared memory that holds the byte at `offset`; nullptr if it is none of the
// kernel's own.
const SharedVariable* shared_variable_at(const Warp& warp, uint64_t offset);
// The element there, "?" if nobody has written it.
std::string shared_value(const Block& block, uint64_t offset, uint32_t element_bytes,
                         ptx::Type type);

// "void f(float*)::tile" -> "tile"
std::string plain_name(const std::string& mangled);
// "a[12]", "allocation 3[12]", "tile[5]", "local[2]".
std::string global_place(uint64_t address, uint32_t element_bytes);
std::string shared_place(const Warp& warp, uint64_t offset, uint32_t element_bytes);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_TRACE_VALUES_H_

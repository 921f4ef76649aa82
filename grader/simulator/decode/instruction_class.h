// What a PTX instruction costs as machine code: which pipe, how many instructions, and which
// registers it waits for. Derived from the text of the module, once, when a model asks for it.
#ifndef WARPLINGS_SIMULATOR_DECODE_INSTRUCTION_CLASS_H_
#define WARPLINGS_SIMULATOR_DECODE_INSTRUCTION_CLASS_H_

#include <cstdint>
#include <vector>

#include "decode/opcodes.h"
#include "decode/program.h"

namespace warplings::sim {

// Copies and products that go on while the warp does (cp.async, cp.async.bulk out of shared memory,
// wgmma), and waiting for them.
enum class AsyncStep : uint8_t { kNone, kBegin, kCommit, kWait };

// What an instruction is to the order of memory accesses.
enum class MemoryStep : uint8_t {
  kNone,
  kLoad,
  kLoadConstant,  // ld.global.nc: of memory that no thread writes
  kOrderedLoad,   // volatile or relaxed: keeps its place among its like, and is early all the same
  kStore,
  kFence,  // atomics, volatile stores, fences, asynchronous copies, collectives: stay where they
           // are
};

struct InstructionClass {
  Unit unit = Unit::kFree;
  uint8_t issues = 0;  // machine instructions
  uint8_t beside = 0;  // and those of other pipes, in front of them or behind
  AsyncStep async = AsyncStep::kNone;
  uint8_t groups_left = 0;  // kWait: groups that may still be under way
  MemoryStep memory = MemoryStep::kNone;
  bool is_shared = false;       // kLoad, kStore: of shared memory, else of any other
  bool is_wgmma = false;        // kTensor and `async`: the part of one of its four warps
  bool is_bulk = false;         // `async`: of the copy engine
  uint16_t tensor_fma = 0;      // kTensor: multiply-adds, in units of 16
  uint32_t first_register = 0;  // in ModuleSchedule::registers: those read, then those written
  uint8_t reads = 0, writes = 0;
};

struct ModuleSchedule {
  std::vector<InstructionClass> code;  // by pc
  std::vector<uint16_t> registers;     // numbers within their function
  std::vector<uint8_t> words;          // of 32 bits, of each of `registers`; 0 for predicates
  uint32_t register_count = 0;         // most of one function

  static const ModuleSchedule& of(const LoadedModule* module);
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_INSTRUCTION_CLASS_H_

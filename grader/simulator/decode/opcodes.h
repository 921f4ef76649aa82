// What is known of an opcode whatever its modifiers are: its row in decode/opcodes.def.
#ifndef WARPLINGS_SIMULATOR_DECODE_OPCODES_H_
#define WARPLINGS_SIMULATOR_DECODE_OPCODES_H_

#include <cstdint>
#include <string_view>

#include "core/instruction.h"
#include "decode/video.h"
#include "ptx/module.h"

namespace warplings::sim {

enum Opcode : uint8_t {
#define OPCODE(mnemonic, ...) k_##mnemonic,
#include "decode/opcodes.def"
#undef OPCODE
  k_unknown
};

enum class Unit : uint8_t {
  kFree,      // no machine instruction: a copy, a cast of an address, a parameter
  kInteger,   // ALU: 32-bit integer, logic, compare, select
  kMultiply,  // integer multiply-add
  kFp32,
  kFp64,
  kSpecial,
  kTensor,
  kMemory,  // through L1: global, local, shared, atomics
  kBarrier,
  kControl,  // branches, calls, exits
};

// How types and modifiers decide about unit and number of machine instructions, beyond
// OpcodeRow::unit: a function of decode/instruction_class.cpp.
enum class CostRule : uint8_t { kOfUnit, kArithmetic, kExtremum, kDivision, kConversion, kMatrix };

// What the result is, as far as alignments, bytes and fused instructions follow from it.
enum class Computes : uint8_t {
  kOther,
  kCopy,
  kCast,
  kSum,
  kDifference,
  kProduct,
  kProductSum,
  kChoice,
  kComparison,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShiftLeft,
  kShiftRight
};

// How many leading operands are written: as many as the row says; one more if it is a reduction
// (bar.red); none where the first is an address (mbarrier.init).
enum class Results : uint8_t { kAsListed, kOfReduction, kUnlessAddress };
// kLoadUniform (ldu): as a load, but keeps its place in the model of time.
enum class AccessKind : uint8_t { kNone, kLoad, kLoadUniform, kLoadMatrix, kStore, kAtomic };
// What goes on beside the warp: cp.async, or wgmma, which reads its results too, and keeps its
// registers until somebody waits.
enum class Background : uint8_t { kNothing, kCopies, kProducts };

struct OpcodeRow {
  std::string_view name;
  Opcode opcode = k_unknown;
  int destinations = 0;
  // What follows is left out of a row where it is as here, and stands in this order.
  Results results = Results::kAsListed;
  uint8_t sources = 2;    // families arithmetic, logic, collective (without the mask)
  uint8_t types = 1;      // arithmetic
  uint8_t amounts = 0;    // logic: from this source on, 32 bits whatever the type; 0: none
  bool counts = false;    // logic: the result has 32 bits whatever the type
  bool carry_in = false;  // arithmetic: reads the condition code
  Computes computes = Computes::kOther;
  Unit unit = Unit::kInteger;
  CostRule cost = CostRule::kOfUnit;
  uint8_t flops = 0;  // of an f32 operation
  UndefinedRule undefined = UndefinedRule::kReport;
  AccessKind access = AccessKind::kNone;
  Flow flow = Flow::kNext;
  Background background = Background::kNothing;
  bool uniform = false;  // one value for the warp, where its operands are
  bool orders = false;  // accesses of a thread stay on their side of it, and are not joined over it
  bool needs_object = false;  // a texture, surface or tensor map, which only host code makes
  VideoOp::Operation video = VideoOp::Operation::kAdd;
  uint8_t parts = 1;  // video: of a register
};

// Number of leading operands that an instruction writes; 0 for an unknown opcode.
int destinations_of(const ptx::Instruction& instruction);

// Of operand `i` of an instruction: registers of an address are read, wherever it stands.
inline bool is_written(const ptx::Instruction& in, size_t i) {
  return static_cast<int>(i) < destinations_of(in) &&
         in.operands[i].kind != ptx::Operand::Kind::kAddress;
}

// Calls use(name) for each operand, and each part of one, that leads the list as a result.
template <class Use>
void for_each_result(const ptx::Instruction& in, Use use) {
  const int destinations = destinations_of(in);
  for (int i = 0; i < destinations && i < static_cast<int>(in.operands.size()); ++i) {
    if (in.operands[i].kind == ptx::Operand::Kind::kRegister) use(in.operands[i].name);
    for (const ptx::Operand& element : in.operands[i].elements) use(element.name);
  }
}

inline bool is_load(const ptx::Instruction& in) { return in.row->access == AccessKind::kLoad; }
inline bool is_store(const ptx::Instruction& in) { return in.row->access == AccessKind::kStore; }
inline bool is_product(const ptx::Instruction& in) {
  return in.row->background == Background::kProducts;
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_OPCODES_H_

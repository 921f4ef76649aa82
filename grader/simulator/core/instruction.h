// A decoded instruction: what the interpreter runs. Every operand is resolved to a place, the
// opcode to a function, a branch to an index.
#ifndef WARPLINGS_SIMULATOR_CORE_INSTRUCTION_H_
#define WARPLINGS_SIMULATOR_CORE_INSTRUCTION_H_

#include <cstdint>

namespace warplings::sim {

class Warp;
struct Instr;
// Executes one instruction for the lanes of `mask` (never 0).
using Handler = void (*)(Warp&, const Instr&, uint32_t mask);

// An operand is a place that holds 32 lanes: 32 x 4 bytes, or 32 x 8 bytes for 64-bit values.
// Two bits choose the area, the rest is the byte offset in it.
using Place = uint32_t;
enum Area : uint32_t { kAreaRegisters = 0, kAreaConstants = 1, kAreaSpecial = 2 };
inline constexpr Place kNoPlace = 0xffffffffu;
inline constexpr uint32_t kSlot = 128;  // bytes: 32 lanes of 4
inline constexpr Place place(Area area, uint32_t offset) { return (area << 30) | offset; }
inline constexpr bool is_register(Place p) { return (p >> 30) == kAreaRegisters; }
inline constexpr uint32_t slot_of(Place p) { return (p & 0x3fffffffu) / kSlot; }

// How the interpreter's loop treats an instruction.
enum class Kind : uint8_t {
  kStraight,     // call the handler, go on
  kBranch,       // target
  kBranchTable,  // brx.idx: extra -> list of targets
  kExit,
  kReturn,
  kCall,         // extra -> CallSite
  kBarrier,      // block barrier
  kWarpBarrier,  // bar.warp.sync
  kClusterWait,  // barrier.cluster.wait
  kCollective,   // shfl/vote/match/redux .sync: needs the lanes of its member mask together
  kWarpgroup,    // wgmma.mma_async, setmaxnreg: needs all four warps of a warpgroup
  kTrap,
  kUnsupported,  // message in extra -> strings
};

// What an undefined source means (checks/initcheck).
enum class UndefinedRule : uint8_t {
  kReport,      // arithmetic: an undefined source makes the result undefined
  kCompare,     // as undefined as what is compared: ops[2], ops[3], and a predicate in ops[4]
  kSelect,      // as undefined as the choice (ops[3]), else as what is chosen (ops[1] or ops[2])
  kPredicates,  // and, or, xor, not, mov of predicates
  kMove,        // copies bytes: the destination is as undefined as the source
  kCarry,  // arithmetic with the condition code of the lane. imm bit 0: reads it, bit 1: writes it
  kBitwise,  // destination undefined where a source is; and/shift by constants mask bytes
  kOwn,      // the handler does it (memory)
};

// Which threads a strong access or a fence reaches; clusters do not exist here.
enum class Scope : uint8_t { kBlock, kDevice, kSystem };

enum class BarrierMode : uint8_t { kSync, kArrive, kPopc, kAnd, kOr };

enum class Space : uint8_t { kGlobal, kShared, kLocal, kConst, kParamEntry, kParamLocal, kGeneric };

struct Instr {
  Handler fn = nullptr;
  int64_t imm = 0;  // address offset, barrier id, table index...
  Place ops[6] = {kNoPlace, kNoPlace, kNoPlace, kNoPlace, kNoPlace, kNoPlace};
  Place guard = kNoPlace;  // predicate place
  uint32_t target = 0;     // branch target, index into Program::code
  uint32_t extra = 0;      // index into a side table
  Kind kind = Kind::kStraight;
  UndefinedRule undefined_rule = UndefinedRule::kReport;
  bool guard_negated = false;
  uint8_t destinations = 1;  // ops[0 .. destinations)
  uint8_t sources = 0;       // ops[destinations .. destinations + sources)
  // Memory instructions and cvt; others use them as they like.
  uint8_t size = 0;    // bytes per element
  uint8_t vector = 1;  // elements
  Space space = Space::kGlobal;
  uint8_t register_size = 4;  // bytes of a lane in the destination or stored register: 4 or 8
  bool sign_extend = false;
  // Atomic on an address that is provably the same in all lanes: one per warp in machine code.
  bool aggregated = false;
  bool strong = false;  // volatile, relaxed, acquire, release, atom, red
  bool cached = false;  // ld.global.nc: through a cache that no write of the launch reaches
  bool address_is_32bit = false;
  bool acquires = false;         // .acquire or .acq_rel
  bool releases = false;         // .release or .acq_rel
  Scope scope = Scope::kSystem;  // of a strong access or a fence
  uint8_t flops = 0;             // fp32 operations per lane: add, mul 1; fma 2
  uint8_t source_size = 4;       // bytes of a lane of the first source register
  uint8_t mask_constant = 0;     // kBitwise: bytes of a source that reach the result; 0: all
  // kBitwise: byte k of the result depends on byte k of the sources only, moved by byte_shift.
  bool bytes_keep_place = false;
  int8_t byte_shift = 0;
};

inline constexpr uint8_t kChoiceIsPredicate = 1;  // Instr::source_size of selp

// Function "addresses" for indirect calls and function pointers in memory.
inline constexpr uint64_t kFunctionAddressBase = 0x0003000000000000ull;
// Generic windows of shared and local memory: not canonical on any host, so never a host pointer.
inline constexpr uint64_t kSharedWindow = 0x0001000000000000ull;
inline constexpr uint64_t kLocalWindow = 0x0002000000000000ull;
inline constexpr uint64_t kParamWindow = 0x0004000000000000ull;  // kernel parameters
inline constexpr uint64_t kWindowSize = 0x0000000100000000ull;

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_INSTRUCTION_H_

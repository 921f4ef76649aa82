// Decoded code: what the interpreter runs. Every operand is resolved to a place, every opcode to a
// function, every branch to an index.
#ifndef WARPLINGS_SIMULATOR_DECODE_PROGRAM_H_
#define WARPLINGS_SIMULATOR_DECODE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/finding.h"
#include "decode/image_op.h"
#include "decode/matrix.h"
#include "decode/video.h"
#include "exec/launch.h"
#include "ptx/module.h"

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
  kCollective,   // shfl/vote/match/redux .sync: needs the lanes of its member mask together
  kTrap,
  kUnsupported,  // message in extra -> strings
};

// What an undefined source means (checks/initcheck).
enum class UndefinedRule : uint8_t {
  kReport,      // arithmetic: an undefined source is a finding
  kCompare,     // as undefined as what is compared: ops[2], ops[3], and a predicate in ops[4]
  kSelect,      // as undefined as the choice (ops[3]), else as what is chosen (ops[1] or ops[2])
  kPredicates,  // and, or, xor, not, mov of predicates
  kMove,        // copies bytes: the destination is as undefined as the source
  kBitwise,     // destination undefined where a source is; and/shift by constants mask bytes
  kOwn,         // the handler does it (memory)
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
  bool address_is_32bit = false;
  bool acquires = false;  // .acquire or .acq_rel
  bool releases = false;  // .release or .acq_rel
  // A plain load from the address of an atomic that follows without a barrier: the first guess of a
  // compare-and-swap loop, which may be wrong.
  bool first_guess = false;
  Scope scope = Scope::kSystem;  // of a strong access or a fence
  uint8_t flops = 0;             // fp32 operations per lane: add, mul 1; fma 2
  uint8_t source_size = 4;       // bytes of a lane of the first source register
  uint8_t mask_constant = 0;     // kBitwise: bytes of a source that reach the result; 0: all
  // kBitwise: byte k of the result depends on byte k of the sources only, moved by byte_shift.
  bool bytes_keep_place = false;
  int8_t byte_shift = 0;
};

inline constexpr uint8_t kChoiceIsPredicate = 1;  // Instr::source_size of selp

struct CallSite {
  int function = -1;                // callee; -1: indirect through ops[0]
  int builtin = -1;                 // index into the table of built-in functions
  std::vector<uint32_t> arguments;  // offsets of the caller's param variables in the frame
  std::vector<uint32_t> argument_sizes;
  std::vector<uint32_t> results;
  std::vector<uint32_t> result_sizes;
};

struct SharedVariable {
  std::string name;  // mangled
  uint32_t offset = 0, size = 0;
};

// What may order threads of a block between two barriers of all its threads: nothing, __syncwarp()
// of whole warps, __syncwarp(mask), or anything.
enum class InnerOrder : uint8_t { kNone, kWholeWarps, kLanes, kAny };

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_defined = false;
  uint32_t entry = 0;  // index into Program::code
  uint32_t end = 0;
  uint32_t frame_bytes = 0;  // registers, then param variables
  uint32_t register_bytes = 0;
  uint32_t local_bytes = 0;        // .local variables, per thread
  uint32_t shared_static = 0;      // entries: bytes of static shared memory
  uint32_t shared_dynamic_at = 0;  // entries: where dynamic shared memory begins
  uint32_t registers_32 = 0;       // most 32-bit registers live at once
  bool has_calls = false;
  bool global_strong = false;  // strong accesses that may be to global memory
  bool orders_blocks = false;  // fences or acquiring or releasing accesses
  InnerOrder inner_order = InnerOrder::kNone;
  std::vector<SharedVariable> shared_variables;  // entries: with a size, for messages
  // Offset in the frame (device function) or the parameter buffer (entry), and size.
  std::vector<std::pair<uint32_t, uint32_t>> params;
  std::vector<std::pair<uint32_t, uint32_t>> results;
};

// Where an instruction comes from, for reports: the innermost line, and the first line outside of
// toolkit headers when it was inlined.
struct CodePosition {
  Position innermost;
  Position user;  // what a learner should look at
};

struct DecodedVariable {
  uint64_t address = 0;
  uint64_t size = 0;
  bool shared = false;  // address is an offset in the block's shared memory
};

class LoadedModule {
 public:
  int device = 0;
  std::unique_ptr<ptx::Module> source;
  std::vector<Instr> code;
  std::vector<int> locations;      // per instruction: index into source->locations, or -1
  std::vector<int> text_lines;     // per instruction: line of the PTX text
  std::vector<uint8_t> constants;  // kAreaConstants
  std::vector<Function> functions;
  std::unordered_map<std::string, int> function_index;
  std::unordered_map<std::string, DecodedVariable> variables;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels;
  std::vector<CallSite> calls;
  std::vector<std::vector<uint32_t>> branch_tables;
  std::vector<std::string> messages;  // kUnsupported
  std::vector<ImageOp> images;        // tex, suld, sust ...
  std::vector<MatrixOp> matrices;     // wmma, mma, ldmatrix, stmatrix
  std::vector<VideoOp> videos;        // vadd, vset4 ...

  bool is_constant(uint64_t address) const;  // inside a .const variable
  // Reads a clock, or sleeps: its warps count cycles (exec/clock.h).
  bool uses_time = false;

  CodePosition position_of(uint32_t pc) const;
  // The same in two steps, for many pcs: the source location of a pc (-1: none), and what it means.
  int location_of(uint32_t pc) const;
  CodePosition position_at(int location) const;
  int function_at(uint32_t pc) const;
};

// Function "addresses" for indirect calls and function pointers in memory.
inline constexpr uint64_t kFunctionAddressBase = 0x0003000000000000ull;
// Generic windows of shared and local memory: not canonical on any host, so never a host pointer.
inline constexpr uint64_t kSharedWindow = 0x0001000000000000ull;
inline constexpr uint64_t kLocalWindow = 0x0002000000000000ull;
inline constexpr uint64_t kParamWindow = 0x0004000000000000ull;  // kernel parameters
inline constexpr uint64_t kWindowSize = 0x0000000100000000ull;

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_PROGRAM_H_

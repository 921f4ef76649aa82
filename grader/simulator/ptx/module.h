// What the parser makes of PTX text: declarations and instructions as written, nothing interpreted.
// Modifiers stay strings; decode/ gives them meaning. An opcode has its row of decode/opcodes.def.
#ifndef WARPLINGS_SIMULATOR_PTX_MODULE_H_
#define WARPLINGS_SIMULATOR_PTX_MODULE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warplings::sim {

// What is known of an opcode: decode/opcodes.h, which also defines the functions.
struct OpcodeRow;
// From kBranch on: unless it is guarded, the next instruction does not follow. kLeave: ret, exit.
enum class Flow : uint8_t { kNext, kCall, kTrap, kBranch, kBranchTable, kLeave };
const OpcodeRow& opcode_row(std::string_view mnemonic);  // without a name: an unknown one
Flow flow_of(const OpcodeRow& row);

}  // namespace warplings::sim

namespace warplings::sim::ptx {

// Malformed PTX. what() holds "name:line:column: message", the line, and a caret below the column.
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Type : uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kU16x2,
  kS16x2,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kTF32,
  kF32,
  kF32x2,
  kF64,
  kE4M3,
  kE5M2,
  kE4M3x2,
  kE5M2x2,
  kTexRef,
  kSamplerRef,
  kSurfRef,
};
int size_of(Type type);                 // bytes; 0 for none and pred
Type type_from_name(std::string_view);  // "f32" -> kF32; kNone if it is no type

enum class Space : uint8_t { kGeneric, kReg, kParam, kGlobal, kShared, kLocal, kConst };

struct Operand;

// [base + offset]; base is a register, a symbol, or nothing (absolute).
struct Operand {
  enum class Kind : uint8_t {
    kRegister,  // name: "%r1" (also "%p1")
    kSpecial,   // name: "%tid.x", "%laneid", "%clock64", "%dynamic_smem_size" ...
    kInteger,   // bits: value, sign-extended to 64; is_negative says how it was written
    kFloat32,   // bits: 0f3f800000
    kFloat64,   // bits: 0d... and decimal literals such as 1.5
    kSymbol,    // name, plus `bits` as a constant offset (a+4): label, variable, function or
                // parameter
    kAddress,  // elements[0] is the base (register or symbol; absent: absolute), bits: byte offset;
               // [texture, {x, y}]: elements[1] and on are what follows the base
    kVector,   // elements: {a, b, c, d}
    kParenList,  // elements: (a, b), arguments of call
    kSink,       // "_"
  };
  Kind kind = Kind::kSink;
  bool negated = false;  // !%p1 as an operand
  bool is_negative = false;
  std::string name;
  uint64_t bits = 0;
  std::vector<Operand> elements;
  // setp and shfl write two: %p1|%p2 is a kVector with is_pair set.
  bool is_pair = false;
  std::string selector;  // part of a register in video instructions: "b0", "h1", "b3210"

  bool mentions(std::string_view register_name) const {
    return name == register_name ||
           std::any_of(elements.begin(), elements.end(),
                       [&](const Operand& element) { return element.mentions(register_name); });
  }
};

// Where an instruction comes from: a .loc line and the chain of call sites it was inlined at.
struct SourceLocation {
  int file = 0;  // index of .file; 0: none
  int line = 0;  // 0 means "no line"
  int column = 0;
  int inlined_at = -1;  // index into Module::locations of the call site, -1 if not inlined
};

struct Instruction {
  std::string opcode;                  // "ld", "mad", "bar", "call"
  const OpcodeRow* row = nullptr;      // what is known of the opcode, never null once parsed
  std::vector<std::string> modifiers;  // "global", "v4", "f32" in the order written, without dots
  std::vector<Operand> operands;
  std::string guard;  // "%p1" or empty
  bool guard_negated = false;
  int location = -1;  // index into Module::locations, -1 before the first .loc
  int text_line = 0;  // 1-based line of the PTX text

  bool has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }
};

struct Register {
  std::string name;  // "%r" expanded: one entry per register of "%r<6>"
  Type type;
};

// Who knows a name of module level: the module alone, or all that are linked with it.
enum class Linkage : uint8_t {
  kInternal,
  kVisible,
  kWeak,    // also .common: several modules may define it, and one definition is taken
  kExtern,  // defined in another module
};

// A variable: global, const, shared, local, param.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  int vector_width = 1;                  // .v2/.v4 variables
  uint64_t alignment = 0;                // 0: natural
  uint64_t size = 0;                     // bytes; 0 for extern __shared__ and unsized extern
  Linkage linkage = Linkage::kInternal;  // kExtern also for dynamic shared memory
  bool is_managed = false;               // .attribute(.managed)
  std::vector<uint8_t> initial;          // empty: zeros (global, const) or nothing (shared, local)
  // Initial values that are addresses: at byte `offset` of `initial`, address of `symbol` + addend.
  // `generic` is set for generic(symbol). `width` is 4 or 8, or 1 for mask-ed byte initialisers.
  struct Relocation {
    uint64_t offset;
    std::string symbol;
    int64_t addend;
    int width;
    bool generic;
    uint64_t mask = ~0ull;
  };
  std::vector<Relocation> relocations;
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  // no body in this module; else the one entry of its name
  Linkage linkage = Linkage::kInternal;
  bool is_noreturn = false;
  std::vector<Variable> returns;  // .func results (space kReg or kParam)
  std::vector<Variable> params;
  std::vector<Variable> variables;  // .local, .shared, .param declared in the body (any scope;
                                    // names made unique per scope by the parser)
  std::vector<Register> registers;  // all scopes; names made unique per scope by the parser
  std::vector<Instruction> body;
  std::unordered_map<std::string, int> labels;  // label -> index into body (may be body.size())
  // .branchtargets / .calltargets / .callprototype labels: name -> list of labels or functions.
  std::unordered_map<std::string, std::vector<std::string>> target_lists;
  // .callprototype: name -> parameters and returns.
  struct Prototype {
    std::vector<Variable> returns, params;
  };
  std::unordered_map<std::string, Prototype> prototypes;
  int max_threads[3] = {0, 0, 0};       // .maxntid; 0: absent
  int required_threads[3] = {0, 0, 0};  // .reqntid
  int cluster[3] = {0, 0, 0};           // .reqnctapercluster
  int min_blocks_per_sm = 0;            // .minnctapersm
  int max_registers = 0;                // .maxnreg
};

struct Module {
  std::string name;  // for messages: "kernel.ptx" or the object that held it
  std::string text;  // the PTX itself: errors quote it
  int version_major = 0, version_minor = 0;
  std::string target;  // "sm_80"
  int address_size = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::string> files;  // index by .file number; [0] is empty
  std::vector<SourceLocation> locations;
  std::unordered_map<std::string, std::string> aliases;  // .alias: function -> function it names

  std::string_view text_of_line(int text_line) const;  // without end of line; "" if out of range
};

// Parses one PTX module. Throws ParseError. `name` is used in messages only.
std::unique_ptr<Module> parse(std::string text, std::string name);

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_MODULE_H_

// A decoded module: instructions, functions, and the tables that they refer to.
#ifndef WARPLINGS_SIMULATOR_DECODE_PROGRAM_H_
#define WARPLINGS_SIMULATOR_DECODE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/instruction.h"
#include "core/kernel.h"
#include "core/position.h"
#include "decode/bulk.h"
#include "decode/image_op.h"
#include "decode/matrix.h"
#include "decode/video.h"
#include "decode/wgmma.h"
#include "ptx/module.h"

namespace warplings::sim {

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
  uint32_t launch_registers = 0;   // entries: of a thread, as its bounds fix them; 0: they do not
  bool has_calls = false;
  bool global_strong = false;   // strong accesses that may be to global memory
  bool orders_blocks = false;   // fences or acquiring or releasing accesses
  bool atomics = false;         // that return the old value
  bool shared_atomics = false;  // of these, perhaps in shared memory
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
  Position user;    // what a learner should look at
  Position caller;  // the line of a .cu file that calls it, where `user` lies in a header
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
  // What has no room in an instruction: the targets of brx.idx, the registers of long vectors.
  std::vector<std::vector<uint32_t>> lists;
  std::vector<std::string> messages;  // kUnsupported
  std::vector<ImageOp> images;        // tex, suld, sust ...
  std::vector<MatrixOp> matrices;     // wmma, mma, ldmatrix, stmatrix
  std::vector<BulkForm> bulks;        // copies of the asynchronous proxy
  std::vector<VideoOp> videos;        // vadd, vset4 ...
  std::vector<WgmmaOp> wgmmas;        // wgmma.mma_async

  bool is_constant(uint64_t address) const;  // inside a .const variable
  // Reads a clock, or sleeps: its warps count cycles (exec/clock.h).
  bool uses_time = false;
  bool uses_wgmma = false;  // or setmaxnreg: its warps know what their tensor cores do

  CodePosition position_of(uint32_t pc) const;
  // The same in two steps, for many pcs: the source location of a pc (-1: none), and what it means.
  int location_of(uint32_t pc) const;
  CodePosition position_at(int location) const;
  int function_at(uint32_t pc) const;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_PROGRAM_H_

// The lane loops, compiled once per instruction set of the processor, each build in a namespace of
// its own, so that the linker never mixes them. A program has one or more of them: decode/isa.cpp
// chooses.
#ifndef WARPLINGS_SIMULATOR_DECODE_LANE_BUILD_H_
#define WARPLINGS_SIMULATOR_DECODE_LANE_BUILD_H_

#include "decode/program.h"
#include "decode/spec.h"
#include "ptx/module.h"

#ifndef WARPLINGS_ISA
#define WARPLINGS_ISA baseline
#endif

namespace warplings::sim {

// Each function chooses the handler of an instruction, as those of decode/handlers.h.
struct LaneBuild {
  const char* isa;                                 // "avx2"
  Handler (*pick_integer)(Spec& spec, ptx::Type);  // add sub mul mad min max div rem
  Handler (*pick_float)(Spec& spec, ptx::Type);    // f32 and f64 arithmetic
  Handler (*pick_logic)(Spec& spec, ptx::Type);    // and or xor not shl shr prmt bfe
  Handler (*pick_compare)(Spec& spec, ptx::Type);  // setp set; the type of the sources
  Handler (*pick_select)(Spec& spec, ptx::Type);   // selp slct
  Handler (*pick_move)(int bytes);                 // mov of 4 or 8 bytes
  Handler (*handler_load)(Space space);
  Handler (*handler_store)(Space space);
  Handler (*handler_local_address)();  // mov of a .local variable: relative to the frame
  Handler (*handler_isspacep)(Space space);
};

namespace WARPLINGS_ISA {
Handler pick_integer(Spec& spec, ptx::Type type);
Handler pick_float(Spec& spec, ptx::Type type);
Handler pick_logic(Spec& spec, ptx::Type type);
Handler pick_compare(Spec& spec, ptx::Type type);
Handler pick_select(Spec& spec, ptx::Type type);
Handler pick_move(int bytes);
Handler handler_load(Space space);
Handler handler_store(Space space);
Handler handler_local_address();
Handler handler_isspacep(Space space);
}  // namespace WARPLINGS_ISA

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_LANE_BUILD_H_

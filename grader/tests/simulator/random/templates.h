// The instructions that random kernels are made of, as templates.
//
//   $r  a source register of kind r (kinds: program.h)      @r  a destination
//   ?r  a source register or a constant                     #r0 temporary 0 of kind r
//   =f  the destination of an .approx instruction           &$p guarded by a predicate
//   <a|b|c>  one of these                                   ;   ends an instruction
//   !n  0..31   !b  0..255   !k  0..15   !w  a special 32-bit number   !m  the member mask
//
// Only what the PTX ISA defines: divisors are made odd, lanes that are named take part, cells of
// atomics do not depend on the order. A NaN whose bits the ISA leaves open is made canonical behind
// the instruction.
#ifndef WARPLINGS_TESTS_SIMULATOR_RANDOM_TEMPLATES_H_
#define WARPLINGS_TESTS_SIMULATOR_RANDOM_TEMPLATES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace warplings::sim::random {

enum class Family : uint8_t {
  kInteger,
  kInteger64,
  kCarry,
  kLogic,
  kCompare,
  kFloat,
  kDouble,
  kHalf,
  kConvert,
  kBits,
  kMemory,
  kShared,
  kWarp,
  kAtomic,
  kApproximate,
  kCount,
};

enum class Where : uint8_t {
  kAnywhere,
  kMasked,    // warps of 32 lanes; outside of branches, or inside one with the mask of its lanes
  kFullWarp,  // warps of 32 lanes, outside of branches
  kOutside,   // outside of branches and loops
};

struct Template {
  Family family;
  std::string text;
  Where where = Where::kAnywhere;
  bool nan_is_defined = false;  // or the result cannot be a new NaN
  bool needs_sm_90 = false;
  double relative = 0, absolute = 0;  // documented error of an .approx instruction
};

const std::vector<Template>& templates();

}  // namespace warplings::sim::random

#endif  // WARPLINGS_TESTS_SIMULATOR_RANDOM_TEMPLATES_H_

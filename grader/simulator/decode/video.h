// Video instructions, decoded: parts of registers as operands, one or several lanes of a word.
#ifndef WARPLINGS_SIMULATOR_DECODE_VIDEO_H_
#define WARPLINGS_SIMULATOR_DECODE_VIDEO_H_

#include <array>
#include <cstdint>

namespace warplings::sim {

struct VideoOp {
  enum class Operation : uint8_t {
    kAdd,
    kSub,
    kAbsDiff,
    kMin,
    kMax,
    kAverage,
    kShl,
    kShr,
    kMad,
    kSet
  };
  enum class Second : uint8_t { kNone, kAdd, kMin, kMax };  // with c, on the result

  Operation operation = Operation::kAdd;
  int parts = 1;  // 1: one value of up to 32 bits; 2 or 4: lanes of a word
  bool a_signed = false, b_signed = false, result_signed = false;
  bool saturate = false;
  Second second = Second::kNone;
  // Scalar: byte offset and bytes of the part of a, b and of the result in c; 4 bytes: all of it.
  struct Part {
    uint8_t offset = 0, bytes = 4;
  };
  Part a, b, result;
  // Lanes: where part i comes from, counted over a (first) and b; which parts the result replaces.
  std::array<uint8_t, 4> select_a{}, select_b{};
  uint8_t mask = 0;
  int comparison = 0;  // vset: 0 eq, 1 ne, 2 lt, 3 le, 4 gt, 5 ge
  bool wrap = false;   // vshl, vshr: amount modulo 32
  // vmad
  int scale = 0;  // bits shifted out
  bool plus_one = false, negate_product = false, negate_c = false;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_VIDEO_H_

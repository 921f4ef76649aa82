// Video instructions, in the words of the PTX ISA: parts of a, b are widened, combined, saturated,
// and merged into c or combined with it.
#include <algorithm>

#include "decode/handlers.h"
#include "decode/video.h"
#include "exec/lanes.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build
using Operation = VideoOp::Operation;

int64_t extend(uint32_t value, int bytes, bool is_signed) {
  const int unused = 32 - 8 * bytes;
  if (is_signed) return static_cast<int32_t>(value << unused) >> unused;
  return (value << unused) >> unused;
}

int64_t saturated(int64_t value, int bytes, bool is_signed) {
  const int bits = 8 * bytes;
  const int64_t most = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  return std::clamp(value, least, most);
}

bool compare(int comparison, int64_t a, int64_t b) {
  switch (comparison) {
    case 0:
      return a == b;
    case 1:
      return a != b;
    case 2:
      return a < b;
    case 3:
      return a <= b;
    case 4:
      return a > b;
    default:
      return a >= b;
  }
}

int64_t combine(const VideoOp& op, int64_t a, int64_t b) {
  switch (op.operation) {
    case Operation::kAdd:
      return a + b;
    case Operation::kSub:
      return a - b;
    case Operation::kAbsDiff:
      return a < b ? b - a : a - b;
    case Operation::kMin:
      return std::min(a, b);
    case Operation::kMax:
      return std::max(a, b);
    case Operation::kAverage:  // to nearest, ties up; negative sums down
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Operation::kSet:
      return compare(op.comparison, a, b) ? 1 : 0;
    default: {  // shifts: the amount is unsigned
      const uint32_t given = static_cast<uint32_t>(b);
      const uint32_t amount = op.wrap ? given & 31 : std::min(given, 32u);
      if (op.operation == Operation::kShr) return a >> amount;
      // A product, because left shifts of negative numbers read badly.
      return a * (int64_t{1} << amount);
    }
  }
}

uint32_t scalar(const VideoOp& op, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t x = extend(a >> (8 * op.a.offset), op.a.bytes, op.a_signed);
  const int64_t y = extend(b >> (8 * op.b.offset), op.b.bytes, op.b_signed);
  int64_t value = combine(op, x, y);
  if (op.saturate) value = saturated(value, 4, op.result_signed);
  const uint32_t bits = static_cast<uint32_t>(value);
  const auto less = [&](uint32_t p, uint32_t q) {
    return op.result_signed ? static_cast<int32_t>(p) < static_cast<int32_t>(q) : p < q;
  };
  switch (op.second) {
    case VideoOp::Second::kAdd:
      return bits + c;
    case VideoOp::Second::kMin:
      return less(c, bits) ? c : bits;
    case VideoOp::Second::kMax:
      return less(bits, c) ? c : bits;
    default:
      return bits;
  }
}

uint32_t multiply_add(const VideoOp& op, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t x = extend(a >> (8 * op.a.offset), op.a.bytes, op.a_signed);
  const int64_t y = extend(b >> (8 * op.b.offset), op.b.bytes, op.b_signed);
  const bool is_signed = op.a_signed || op.b_signed || op.negate_product || op.negate_c;
  Int128 value = static_cast<Int128>(x) * y;
  if (op.negate_product) value = -value;
  const Int128 addend = extend(c, 4, is_signed);
  value += op.negate_c ? -addend : addend;
  if (op.plus_one) value += 1;
  value >>= op.scale;
  if (op.saturate) {
    const Int128 most = is_signed ? INT32_MAX : int64_t{UINT32_MAX};
    const Int128 least = is_signed ? INT32_MIN : 0;
    value = value > most ? most : value < least ? least : value;
  }
  return static_cast<uint32_t>(value);
}

uint32_t lanes(const VideoOp& op, uint32_t a, uint32_t b, uint32_t c) {
  const int bytes = 4 / op.parts, bits = 8 * bytes;
  const uint64_t both = uint64_t{b} << 32 | a;
  const uint32_t part_mask = (1u << bits) - 1;
  uint32_t merged = c, sum = c;
  for (int i = 0; i < op.parts; ++i) {
    if (!((op.mask >> i) & 1)) continue;
    const size_t k = static_cast<size_t>(i);
    const int64_t x =
        extend(static_cast<uint32_t>(both >> (bits * op.select_a[k])), bytes, op.a_signed);
    const int64_t y =
        extend(static_cast<uint32_t>(both >> (bits * op.select_b[k])), bytes, op.b_signed);
    int64_t value = combine(op, x, y);
    if (op.saturate) value = saturated(value, bytes, op.result_signed);
    sum += static_cast<uint32_t>(value);
    merged &= ~(part_mask << (bits * i));
    merged |= (static_cast<uint32_t>(value) & part_mask) << (bits * i);
  }
  return op.second == VideoOp::Second::kAdd ? sum : merged;
}

template <uint32_t (*kCompute)(const VideoOp&, uint32_t, uint32_t, uint32_t)>
void op_video(Warp& w, const Instr& in, uint32_t mask) {
  const VideoOp& op = w.module->videos[in.extra];
  const uint32_t* a = w.in<uint32_t>(in.ops[1]);
  const uint32_t* b = w.in<uint32_t>(in.ops[2]);
  const uint32_t* c = in.ops[3] == kNoPlace ? a : w.in<uint32_t>(in.ops[3]);
  uint32_t* d = w.out<uint32_t>(in.ops[0]);
  each_lane(mask, [&](int i) { d[i] = kCompute(op, a[i], b[i], c[i]); });
}

}  // namespace

Handler handler_video(const VideoOp& op) {
  if (op.parts > 1) return op_video<lanes>;
  return op.operation == Operation::kMad ? op_video<multiply_add> : op_video<scalar>;
}

}  // namespace warplings::sim

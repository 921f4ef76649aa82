// Conversions, packing, carry chains and testp.
#include <algorithm>
#include <cfenv>
#include <limits>

#include "decode/handlers.h"
#include "exec/half.h"
#include "exec/lanes.h"

namespace warplings::sim {
namespace {

using namespace baseline;  // NOLINT: lanes.h lives in the namespace of its build
using ptx::Type;

// A source register may be wider than the type that is read from it.
uint64_t raw(const Warp& w, const Instr& in, int operand, int lane) {
  return in.source_size == 8 ? w.in<uint64_t>(in.ops[operand])[lane]
                             : w.in<uint32_t>(in.ops[operand])[lane];
}
void put(Warp& w, const Instr& in, int lane, uint64_t bits) {
  if (in.register_size == 8) {
    w.out<uint64_t>(in.ops[0])[lane] = bits;
  } else {
    w.out<uint32_t>(in.ops[0])[lane] = static_cast<uint32_t>(bits);
  }
}

// imm of cvt: bits 0-1 Rounding, then these.
enum CvtFlags { kCvtFtz = 4, kCvtSat = 8, kCvtToInteger = 16, kCvtRelu = 32, kCvtSatFinite = 128 };

template <class T>
struct IsFloat : std::false_type {};
template <>
struct IsFloat<float> : std::true_type {};
template <>
struct IsFloat<double> : std::true_type {};
template <>
struct IsFloat<Half> : std::true_type {};
template <>
struct IsFloat<BFloat16> : std::true_type {};

template <class T>
T from_bits(uint64_t bits) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(bits);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<uint16_t>(bits));
  else
    return std::bit_cast<T>(static_cast<uint8_t>(bits));
}
// Integers are extended to the width of the destination register.
template <class T>
uint64_t to_bits(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<uint32_t>(value);
  else
    return std::bit_cast<uint16_t>(value);
}

double round_to_integer(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(x);
    case Rounding::kDown:
      return std::floor(x);
    case Rounding::kUp:
      return std::ceil(x);
    default:
      return std::nearbyint(x);
  }
}

// NaN gives zero, but the highest bit alone where either side has 64 bits (PTX ISA, cvt).
template <class To>
To clamp_to_integer(double x, bool from_double) {
  if (x != x) {
    const uint64_t high = uint64_t{1} << (8 * sizeof(To) - 1);
    return from_double || sizeof(To) == 8 ? static_cast<To>(high) : To{0};
  }
  // 2^digits is exact in double, so the comparison is exact too.
  const double limit = std::ldexp(1.0, std::numeric_limits<To>::digits);
  if (x >= limit) return std::numeric_limits<To>::max();
  if (x < (std::is_signed_v<To> ? -limit : 0.0)) return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  ~RoundingScope() { std::fesetround(before_); }

 private:
  int before_;
};

template <class To, class From>
To narrow(From value, Rounding rounding) {
  if constexpr (std::is_same_v<To, Half>) {
    return half_from_double(static_cast<double>(value), rounding);
  } else if constexpr (std::is_same_v<To, BFloat16>) {
    return bfloat16_from_double(static_cast<double>(value), rounding);
  } else {
    if (rounding == Rounding::kNearest) return static_cast<To>(value);
    const RoundingScope scope(rounding);
    const volatile From input = value;
    const volatile To output = static_cast<To>(input);
    return output;
  }
}

// An integer as a double, rounded to odd: rounding that once more to a short format is exact.
template <class T>
double integer_to_odd(T value) {
  constexpr int kDigits = 53;
  const bool negative = std::is_signed_v<T> && value < 0;
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  const int excess = std::max(0, 64 - kDigits - std::countl_zero(magnitude));
  const uint64_t lost = magnitude & ((uint64_t{1} << excess) - 1);
  magnitude = (magnitude >> excess | (lost != 0 ? 1 : 0)) << excess;
  const double result = static_cast<double>(magnitude);
  return negative ? -result : result;
}

template <class To, class From>
To convert(From value, int64_t flags) {
  const auto rounding = static_cast<Rounding>(flags & 3);
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    if (flags & kCvtSat) {
      using Wide = Int128;
      return static_cast<To>(
          std::clamp<Wide>(value, std::numeric_limits<To>::min(), std::numeric_limits<To>::max()));
    }
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<From>) {
    if (flags & kCvtSat) return narrow<To, double>(value > 0 ? 1.0 : 0.0, rounding);
    if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
      return narrow<To, double>(integer_to_odd(value), rounding);
    } else {
      return narrow<To, From>(value, rounding);
    }
  } else if constexpr (std::is_integral_v<To>) {
    double x = to_double(value);
    if constexpr (std::is_same_v<From, float>) {
      if (flags & kCvtFtz) x = flush(value);
    }
    return clamp_to_integer<To>(round_to_integer(x, rounding), std::is_same_v<From, double>);
  } else {
    double x = to_double(value);
    // On an H200 .ftz does not reach the source of a conversion to half.
    if constexpr (std::is_same_v<From, float> && sizeof(To) != 2) {
      if (flags & kCvtFtz) x = flush(value);
    }
    if (flags & kCvtToInteger) x = round_to_integer(x, rounding);
    To result = narrow<To, double>(x, (flags & kCvtToInteger) ? Rounding::kNearest : rounding);
    if constexpr (std::is_same_v<To, float>) {
      if (x != x) result = std::bit_cast<float>(kNanF32);
      if (flags & kCvtFtz) result = flush(result);
      if (flags & kCvtSat) result = saturate(result);
    } else {
      if ((flags & kCvtSat)) result = narrow<To, double>(x > 0 ? std::min(x, 1.0) : 0.0, rounding);
    }
    if constexpr (sizeof(To) == 2) {
      const uint16_t most = std::is_same_v<To, Half> ? 0x7bff : 0x7f7f;  // largest finite
      const bool is_finite_number = x == x && (result.bits & 0x7fff) <= most;
      if ((flags & kCvtSatFinite) && x == x && !is_finite_number) {
        result.bits = static_cast<uint16_t>((result.bits & 0x8000) | most);
      }
    }
    if ((flags & kCvtRelu) && !(x > 0)) result = narrow<To, double>(x != x ? x : 0.0, rounding);
    return result;
  }
}

template <class To, class From>
void op_cvt(Warp& w, const Instr& in, uint32_t m) {
  each_lane(m, [&](int lane) {
    put(w, in, lane, to_bits<To>(convert<To, From>(from_bits<From>(raw(w, in, 1, lane)), in.imm)));
  });
}
// Two f32 into one register of two halves: the first source goes to the upper half.
template <class To>
void op_cvt_pair(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<uint32_t>(in.ops[1]);
  const auto* b = w.in<uint32_t>(in.ops[2]);
  auto* d = w.out<uint32_t>(in.ops[0]);
  each_lane(m, [&](int i) {
    const auto high = to_bits(convert<To, float>(std::bit_cast<float>(a[i]), in.imm));
    const auto low = to_bits(convert<To, float>(std::bit_cast<float>(b[i]), in.imm));
    d[i] = static_cast<uint32_t>(high << 16 | low);
  });
}
// f32 to tf32: 10 bits of mantissa. rna rounds ties away from zero, rn to even, rz cuts.
template <int kMode>
void op_cvt_tf32(Warp& w, const Instr& in, uint32_t m) {
  constexpr uint32_t kLargest = 0x7f7fe000u;
  const auto* a = w.in<uint32_t>(in.ops[1]);
  const int64_t flags = in.imm;
  for_lanes(w.out<uint32_t>(in.ops[0]), m, [=](int i) {
    const uint32_t x = a[i];
    const bool is_nan = (x & 0x7fffffffu) > 0x7f800000u;
    if (is_nan) return kNanF32 & 0xffffe000u;
    if ((flags & kCvtRelu) && (x >> 31)) return 0u;
    const uint32_t add = kMode == 0 ? 0x1000u : kMode == 1 ? 0xfffu + ((x >> 13) & 1) : 0u;
    const bool is_infinite = (x & 0x7fffffffu) == 0x7f800000u;
    const uint32_t rounded = is_infinite ? x : (x + add) & 0xffffe000u;
    if ((flags & kCvtSatFinite) && (rounded & 0x7fffffffu) == 0x7f800000u) {
      return (x & 0x80000000u) | kLargest;
    }
    return rounded;
  });
}

// ---- 8-bit floats, two in 16 bits

// To nearest even; what is too large becomes the largest finite number (.satfinite is mandatory).
template <bool kE5M2>
uint32_t small_float(double x) {
  constexpr int kMantissa = kE5M2 ? 2 : 3;
  constexpr int kMinExponent = kE5M2 ? -14 : -6;
  constexpr uint32_t kLargest = kE5M2 ? 0x7b : 0x7e;
  if (x != x) return 0x7f;
  const uint32_t sign = std::signbit(x) ? 0x80 : 0;
  const double magnitude = std::fabs(x);
  if (magnitude == 0) return sign;
  if (std::isinf(x)) return sign | kLargest;
  const int exponent = std::max(std::ilogb(magnitude), kMinExponent);
  const double scaled = std::nearbyint(std::ldexp(magnitude, kMantissa - exponent));
  const int64_t bits = (static_cast<int64_t>(exponent) - kMinExponent) * (1 << kMantissa) +
                       static_cast<int64_t>(scaled);
  return sign | static_cast<uint32_t>(std::min<int64_t>(bits, kLargest));
}

template <bool kE5M2>
uint32_t small_pair(double high, double low, int64_t flags) {
  if (flags & kCvtRelu) {
    if (!(high > 0)) high = high != high ? high : 0;
    if (!(low > 0)) low = low != low ? low : 0;
  }
  return small_float<kE5M2>(high) << 8 | small_float<kE5M2>(low);
}
// From two f32 (the first goes to the upper byte) or one f16x2.
template <bool kE5M2>
void op_cvt_to_small(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<uint32_t>(in.ops[1]);
  const auto* b = in.sources > 1 ? w.in<uint32_t>(in.ops[2]) : nullptr;
  auto* d = w.out<uint32_t>(in.ops[0]);
  each_lane(m, [&](int i) {
    const double high = b != nullptr ? std::bit_cast<float>(a[i]) : f16_to_float(a[i] >> 16);
    const double low = b != nullptr ? std::bit_cast<float>(b[i]) : f16_to_float(a[i] & 0xffff);
    d[i] = small_pair<kE5M2>(high, low, in.imm);
  });
}
template <bool kE5M2>
void op_cvt_from_small(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<uint32_t>(in.ops[1]);
  auto* d = w.out<uint32_t>(in.ops[0]);
  each_lane(m, [&](int i) {
    uint32_t result = 0;
    for (int k = 0; k < 2; ++k) {
      const uint32_t bits = (a[i] >> (8 * k)) & 0xff;
      const float value = kE5M2 ? e5m2_to_float(bits) : e4m3_to_float(bits);
      Half half = half_from_double(value, Rounding::kNearest);  // exact
      if ((in.imm & kCvtRelu) && !(value > 0)) half.bits = value != value ? half.bits : 0;
      result |= static_cast<uint32_t>(half.bits) << (16 * k);
    }
    d[i] = result;
  });
}

// cvt.pack.sat: a and b, clamped to `in.size` bits each, below the low bits of c.
void op_cvt_pack(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<uint32_t>(in.ops[1]);
  const auto* b = w.in<uint32_t>(in.ops[2]);
  const auto* c = in.sources > 2 ? w.in<uint32_t>(in.ops[3]) : nullptr;
  auto* d = w.out<uint32_t>(in.ops[0]);
  const int bits = in.size;
  const int32_t most = static_cast<int32_t>((1u << (in.sign_extend ? bits - 1 : bits)) - 1);
  const int32_t least = in.sign_extend ? -most - 1 : 0;
  const uint32_t mask = (1u << bits) - 1;
  each_lane(m, [&](int i) {
    const auto part = [&](uint32_t x) {
      return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(x), least, most)) & mask;
    };
    const uint32_t above = c != nullptr && bits < 16 ? c[i] << (2 * bits) : 0;
    d[i] = above | part(a[i]) << bits | part(b[i]);
  });
}

// Calls f with a value of the C++ type of a PTX type.
template <class F>
Handler with_type(Type type, F f) {
  switch (type) {
    case Type::kU8:
    case Type::kB8:
      return f(uint8_t{});
    case Type::kS8:
      return f(int8_t{});
    case Type::kU16:
    case Type::kB16:
      return f(uint16_t{});
    case Type::kS16:
      return f(int16_t{});
    case Type::kU32:
    case Type::kB32:
      return f(uint32_t{});
    case Type::kS32:
      return f(int32_t{});
    case Type::kU64:
    case Type::kB64:
      return f(uint64_t{});
    case Type::kS64:
      return f(int64_t{});
    case Type::kF16:
      return f(Half{});
    case Type::kBF16:
      return f(BFloat16{});
    case Type::kF32:
      return f(float{});
    case Type::kF64:
      return f(double{});
    default:
      return nullptr;
  }
}

// ---- packing
// ---------------------------------------------------------------------------------------

// mov of a vector into one register or back: imm is the number of parts, size the bytes of a part.
void op_pack(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t bits = 8u * in.size;
  each_lane(m, [&](int lane) {
    uint64_t value = 0;
    for (int k = 0; k < in.imm; ++k) {
      const uint64_t part =
          in.size == 8 ? w.in<uint64_t>(in.ops[1 + k])[lane] : w.in<uint32_t>(in.ops[1 + k])[lane];
      value |= (part & ((uint64_t{1} << (bits & 63)) - 1)) << (bits * k);
    }
    put(w, in, lane, value);
  });
}
void op_unpack(Warp& w, const Instr& in, uint32_t m) {
  const uint32_t bits = 8u * in.size;
  const Place source = in.ops[in.destinations];
  each_lane(m, [&](int lane) {
    const uint64_t value =
        in.source_size == 8 ? w.in<uint64_t>(source)[lane] : w.in<uint32_t>(source)[lane];
    for (int k = 0; k < in.imm; ++k) {
      if (in.ops[k] == kNoPlace) continue;
      const uint64_t part = value >> (bits * k);
      w.out<uint32_t>(in.ops[k])[lane] =
          static_cast<uint32_t>(bits == 32 ? part : part & ((uint64_t{1} << bits) - 1));
    }
  });
}

// ---- carry
// -------------------------------------------------------------------------------------------

// Extended-precision chains: Warp::carry holds one bit per lane. imm bit 0: read, bit 1: write.
template <class T, bool kSubtract, int kProduct>  // kProduct: 0 none, 1 low, 2 high
void op_carry(Warp& w, const Instr& in, uint32_t m) {
  using Wide = UInt128;
  using U = std::make_unsigned_t<T>;
  auto* d = w.out<Store<T>>(in.ops[0]);
  uint32_t carry = w.carry;
  each_lane(m, [&](int i) {
    U x = static_cast<U>(load_lane<T>(w.in<Store<T>>(in.ops[1])[i]));
    U y = static_cast<U>(load_lane<T>(w.in<Store<T>>(in.ops[2])[i]));
    if constexpr (kProduct != 0) {
      using P = std::conditional_t<std::is_signed_v<T>, Int128, UInt128>;
      const P product = static_cast<P>(static_cast<T>(x)) * static_cast<P>(static_cast<T>(y));
      x = static_cast<U>(kProduct == 1 ? product : product >> (8 * sizeof(T)));
      y = static_cast<U>(load_lane<T>(w.in<Store<T>>(in.ops[3])[i]));
    }
    const uint32_t in_bit = (in.imm & 1) ? (w.carry >> i) & 1 : 0;
    const Wide total = kSubtract ? Wide{x} - Wide{y} - in_bit : Wide{x} + Wide{y} + in_bit;
    d[i] = store_lane<T>(static_cast<T>(total));
    const uint32_t out_bit = static_cast<uint32_t>(total >> (8 * sizeof(T))) & 1;
    carry = (carry & ~(1u << i)) | (out_bit << i);
  });
  if (in.imm & 2) w.carry = carry;
}

template <class T>
Handler carry_form(Opcode op, bool high) {
  if (op == k_add || op == k_addc) return op_carry<T, false, 0>;
  if (op == k_sub || op == k_subc) return op_carry<T, true, 0>;
  return high ? op_carry<T, false, 2> : op_carry<T, false, 1>;
}

// testp.op: one property of a number.
template <class T, int kTest>
void op_testp(Warp& w, const Instr& in, uint32_t m) {
  const auto* a = w.in<Store<T>>(in.ops[1]);
  write_predicate(w, in.ops[0], m, lane_mask([=](int i) {
                    const int kind = std::fpclassify(load_lane<T>(a[i]));
                    switch (kTest) {
                      case 0:
                        return kind != FP_NAN && kind != FP_INFINITE;
                      case 1:
                        return kind == FP_INFINITE;
                      case 2:
                        return kind != FP_NAN;
                      case 3:
                        return kind == FP_NAN;
                      case 4:
                        return kind == FP_NORMAL || kind == FP_ZERO;
                      default:
                        return kind == FP_SUBNORMAL;
                    }
                  }));
}

}  // namespace

Handler pick_convert(Spec& spec, Type to, Type from) {
  if (to == Type::kTF32) {
    switch (spec.take_one_of({"rna", "rn", "rz"})) {
      case 1:
        return op_cvt_tf32<1>;
      case 2:
        return op_cvt_tf32<2>;
      default:
        return op_cvt_tf32<0>;
    }
  }
  const bool from_wide = from == Type::kF32 || from == Type::kF16x2;
  if (to == Type::kE4M3x2) return from_wide ? op_cvt_to_small<false> : nullptr;
  if (to == Type::kE5M2x2) return from_wide ? op_cvt_to_small<true> : nullptr;
  if (from == Type::kE4M3x2) return to == Type::kF16x2 ? op_cvt_from_small<false> : nullptr;
  if (from == Type::kE5M2x2) return to == Type::kF16x2 ? op_cvt_from_small<true> : nullptr;
  if (to == Type::kF16x2 && from == Type::kF32) return op_cvt_pair<Half>;
  if (to == Type::kBF16x2 && from == Type::kF32) return op_cvt_pair<BFloat16>;
  return with_type(to, [&]<class To>(To) -> Handler {
    return with_type(from, []<class From>(From) -> Handler { return op_cvt<To, From>; });
  });
}

Handler handler_cvt_pack() { return op_cvt_pack; }
Handler handler_pack() { return op_pack; }
Handler handler_unpack() { return op_unpack; }

Handler pick_carry(Spec& spec, Type type) {
  const bool high = spec.take("hi");
  spec.take("lo");
  switch (type) {
    case Type::kU32:
    case Type::kB32:
      return carry_form<uint32_t>(spec.op, high);
    case Type::kS32:
      return carry_form<int32_t>(spec.op, high);
    case Type::kU64:
    case Type::kB64:
      return carry_form<uint64_t>(spec.op, high);
    case Type::kS64:
      return carry_form<int64_t>(spec.op, high);
    default:
      return nullptr;
  }
}

Handler pick_testp(Spec& spec, Type type) {
  const int test =
      spec.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const auto form = [&]<class T>(T) -> Handler {
    switch (test) {
      case 0:
        return op_testp<T, 0>;
      case 1:
        return op_testp<T, 1>;
      case 2:
        return op_testp<T, 2>;
      case 3:
        return op_testp<T, 3>;
      case 4:
        return op_testp<T, 4>;
      case 5:
        return op_testp<T, 5>;
      default:
        return nullptr;
    }
  };
  if (type == Type::kF32) return form(float{});
  return type == Type::kF64 ? form(double{}) : nullptr;
}

}  // namespace warplings::sim

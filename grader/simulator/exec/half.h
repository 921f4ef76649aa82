// Half precision in software: f16 (IEEE binary16) and bf16, every rounding exact.
#ifndef WARPLINGS_SIMULATOR_EXEC_HALF_H_
#define WARPLINGS_SIMULATOR_EXEC_HALF_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "decode/spec.h"

namespace warplings::sim {

struct Half {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

// A format of 16 bits: kMantissa bits after the point, exponents from kMinExponent (normal).
template <int kMantissa, int kMinExponent>
inline double small_to_double(uint16_t bits) {
  constexpr int kExponentBits = 15 - kMantissa;
  const int exponent = (bits >> kMantissa) & ((1 << kExponentBits) - 1);
  const int mantissa = bits & ((1 << kMantissa) - 1);
  double value;
  if (exponent == (1 << kExponentBits) - 1) {
    value = mantissa != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), kMinExponent - kMantissa);
  } else {
    value = std::ldexp(static_cast<double>(mantissa + (1 << kMantissa)),
                       exponent - 1 + kMinExponent - kMantissa);
  }
  return (bits & 0x8000) ? -value : value;
}

template <int kMantissa, int kMinExponent>
inline uint16_t small_from_double(double x, Rounding rounding) {
  constexpr int kExponentBits = 15 - kMantissa;
  constexpr uint16_t kInfinity = ((1 << kExponentBits) - 1) << kMantissa;
  if (x != x) return 0x7fff;
  const bool negative = std::signbit(x);
  const uint16_t sign = negative ? 0x8000 : 0;
  const double magnitude = std::fabs(x);
  if (std::isinf(x)) return sign | kInfinity;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < kMinExponent) exponent = kMinExponent;
  const double scaled = std::ldexp(magnitude, kMantissa - exponent);  // exact
  const double below = std::floor(scaled);
  bool up = false;
  const double rest = scaled - below;
  switch (rounding) {
    case Rounding::kNearest:
      up = rest > 0.5 || (rest == 0.5 && (static_cast<uint32_t>(below) & 1));
      break;
    case Rounding::kZero:
      break;
    case Rounding::kDown:
      up = negative && rest > 0;
      break;
    case Rounding::kUp:
      up = !negative && rest > 0;
      break;
  }
  const uint32_t mantissa = static_cast<uint32_t>(below) + (up ? 1 : 0);
  // A carry out of the mantissa moves into the exponent by itself.
  const int32_t bits =
      (exponent - kMinExponent) * (1 << kMantissa) + static_cast<int32_t>(mantissa);
  if (bits >= kInfinity) {
    const bool to_infinity = rounding == Rounding::kNearest ||
                             (rounding == Rounding::kUp && !negative) ||
                             (rounding == Rounding::kDown && negative);
    return sign | static_cast<uint16_t>(to_infinity ? kInfinity : kInfinity - 1);
  }
  return sign | static_cast<uint16_t>(bits);
}

inline Half half_from_double(double x, Rounding r) { return {small_from_double<10, -14>(x, r)}; }
inline BFloat16 bfloat16_from_double(double x, Rounding r) {
  return {small_from_double<7, -126>(x, r)};
}
inline double to_double(Half x) { return small_to_double<10, -14>(x.bits); }
inline double to_double(BFloat16 x) { return small_to_double<7, -126>(x.bits); }
inline double to_double(float x) { return x; }
inline double to_double(double x) { return x; }

inline Half negate(Half x) { return {static_cast<uint16_t>(x.bits ^ 0x8000)}; }
inline BFloat16 negate(BFloat16 x) { return {static_cast<uint16_t>(x.bits ^ 0x8000)}; }
inline Half absolute(Half x) { return {static_cast<uint16_t>(x.bits & 0x7fff)}; }
inline BFloat16 absolute(BFloat16 x) { return {static_cast<uint16_t>(x.bits & 0x7fff)}; }
template <class T>
T canonical_nan() {
  return T{0x7fff};
}

// Quick and exact, without branches on the value: for loops over whole matrices.
inline float f16_to_float(uint32_t bits) {
  const uint32_t magnitude = (bits & 0x7fffu) << 13;
  // 2^112 moves the exponent from the bias of f16 to that of f32, also for subnormals.
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t special = (bits & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | (bits & 0x8000u) << 16);
}
inline float bf16_to_float(uint32_t bits) { return std::bit_cast<float>(bits << 16); }

// The 8-bit formats: e5m2 is the upper half of an f16; e4m3 has no infinity, and one NaN of each
// sign.
inline float e5m2_to_float(uint32_t bits) { return f16_to_float((bits & 0xffu) << 8); }
inline float e4m3_to_float(uint32_t bits) {
  const uint32_t sign = (bits & 0x80u) << 24;
  if ((bits & 0x7fu) == 0x7fu) return std::bit_cast<float>(0x7fffffffu);
  // As an f32 with 2^-120 times the value.
  const float scaled = std::bit_cast<float>((bits & 0x7fu) << 20) * 0x1p120f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

// x + y, rounded to odd: rounding that once more to a short format gives the correctly rounded sum
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
inline double sum_to_odd(double x, double y) {
  const double sum = x + y;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - x;
  const double error = (x - (sum - part)) + (y - part);
  if (error == 0 || (std::bit_cast<uint64_t>(sum) & 1)) return sum;
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_HALF_H_

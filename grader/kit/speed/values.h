// Values of the arrays that speed is measured with: a function of seed, content and position, so
// that a GPU can fill an array in place and the CPU can name any element of it later.
#ifndef WARPLINGS_KIT_SPEED_VALUES_H_
#define WARPLINGS_KIT_SPEED_VALUES_H_

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define KIT_HOST_DEVICE __host__ __device__
#else
#define KIT_HOST_DEVICE
#endif

namespace kit {

// What an array holds: values between low and high (included for integers), or one value all over.
struct Values {
  enum class Kind : uint8_t { kUniform, kIntegers, kEqual };
  Kind kind = Kind::kUniform;
  double low = -1, high = 1;

  static Values uniform(double low, double high) { return {Kind::kUniform, low, high}; }
  static Values integers(int low, int high) {
    return {Kind::kIntegers, static_cast<double>(low), static_cast<double>(high)};
  }
  static Values equal(double value) { return {Kind::kEqual, value, value}; }
};

namespace internal {

// splitmix64's finaliser: https://prng.di.unimi.it/splitmix64.c
KIT_HOST_DEVICE inline uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Element `i` of the content `key`. The sum is rounded once, by both the host and the device: a
// product of a power of two and an integer below 2^24 is exact.
KIT_HOST_DEVICE inline double value_at(const Values& values, uint64_t key, uint64_t i) {
  const uint64_t bits = mix64(key + (i + 1) * 0x9E3779B97F4A7C15u);
  if (values.kind == Values::Kind::kEqual) return values.low;
  if (values.kind == Values::Kind::kIntegers) {
    const uint64_t span = static_cast<uint64_t>(values.high - values.low) + 1;
    return values.low + static_cast<double>((bits >> 32) * span >> 32);
  }
  const float span = static_cast<float>(values.high - values.low);
  const float unit = static_cast<float>(bits >> 40) * 0x1p-24f;  // [0, 1)
  // In double: no contraction can change the one rounding to float that follows.
  return static_cast<float>(values.low + static_cast<double>(span * unit));
}

}  // namespace internal
}  // namespace kit

#endif  // WARPLINGS_KIT_SPEED_VALUES_H_

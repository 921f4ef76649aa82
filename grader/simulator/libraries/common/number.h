// The types of numbers that arrays of the program hold.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_COMMON_NUMBER_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_COMMON_NUMBER_H_

#include <library_types.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "exec/half.h"

namespace warplings::libraries {

enum class Number : uint8_t { kHalf, kBfloat16, kFloat, kDouble, kInt8, kInt32, kNone };

inline Number number_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_16F:
      return Number::kHalf;
    case CUDA_R_16BF:
      return Number::kBfloat16;
    case CUDA_R_32F:
      return Number::kFloat;
    case CUDA_R_64F:
      return Number::kDouble;
    case CUDA_R_8I:
      return Number::kInt8;
    case CUDA_R_32I:
      return Number::kInt32;
    default:
      return Number::kNone;
  }
}

inline size_t size_of(Number type) {
  constexpr size_t kSizes[] = {2, 2, 4, 8, 1, 4, 0};
  return kSizes[static_cast<int>(type)];
}

inline uint16_t half_bits(double value) {
  return sim::half_from_double(value, sim::Rounding::kNearest).bits;
}
inline uint16_t bfloat16_bits(double value) {
  return sim::bfloat16_from_double(value, sim::Rounding::kNearest).bits;
}
inline float round_to_half(float value) { return sim::f16_to_float(half_bits(value)); }
inline float round_to_bfloat16(float value) { return sim::bf16_to_float(bfloat16_bits(value)); }
// 10 bits of fraction; halves away from zero, as cvt.rna does.
inline float round_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000U) & 0xffffe000U);
}

inline double load(Number type, const void* array, int64_t at) {
  switch (type) {
    case Number::kHalf:
      return sim::f16_to_float(static_cast<const uint16_t*>(array)[at]);
    case Number::kBfloat16:
      return sim::bf16_to_float(static_cast<const uint16_t*>(array)[at]);
    case Number::kFloat:
      return static_cast<const float*>(array)[at];
    case Number::kDouble:
      return static_cast<const double*>(array)[at];
    case Number::kInt8:
      return static_cast<const int8_t*>(array)[at];
    case Number::kInt32:
      return static_cast<const int32_t*>(array)[at];
    case Number::kNone:
      break;
  }
  return 0;
}

inline void store(Number type, void* array, int64_t at, double value) {
  switch (type) {
    case Number::kHalf:
      static_cast<uint16_t*>(array)[at] = half_bits(value);
      break;
    case Number::kBfloat16:
      static_cast<uint16_t*>(array)[at] = bfloat16_bits(value);
      break;
    case Number::kFloat:
      static_cast<float*>(array)[at] = static_cast<float>(value);
      break;
    case Number::kDouble:
      static_cast<double*>(array)[at] = value;
      break;
    case Number::kInt8:
      static_cast<int8_t*>(array)[at] = static_cast<int8_t>(std::fmin(127, std::fmax(-128, value)));
      break;
    case Number::kInt32:
      static_cast<int32_t*>(array)[at] = static_cast<int32_t>(static_cast<int64_t>(value));
      break;
    case Number::kNone:
      break;
  }
}

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_COMMON_NUMBER_H_

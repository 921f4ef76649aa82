// Matrix products in every precision.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUBLAS_GEMM_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUBLAS_GEMM_H_

#include <cstdint>

#include "common/number.h"

namespace warplings::libraries {

// How products are summed. Single precision may round its inputs first, as tensor cores do.
enum class Arithmetic : uint8_t {
  kFloat,
  kFloatOfTf32,
  kFloatOfBfloat16,
  kFloatOfHalf,
  kHalf,          // the sum is rounded to half after every 16 products, as by one mma
  kHalfPedantic,  // ... after every product
  kDouble,        // also integers: their sums are exact
};

struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  Number a = Number::kFloat, b = Number::kFloat, c = Number::kFloat;
  Arithmetic arithmetic = Arithmetic::kFloat;
};

// C = alpha op(A) op(B) + beta C, column-major; C is not read if beta is zero. The arrays are
// those that the simulator sees. `bias`, one value for each row of C, and ReLU come last.
struct Epilogue {
  const void* bias = nullptr;
  Number bias_type = Number::kFloat;
  bool relu = false;
};
void gemm(const GemmShape& shape, double alpha, const void* a, const void* b, double beta,
          const void* c, void* d, int64_t ldd, const Epilogue& epilogue);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUBLAS_GEMM_H_

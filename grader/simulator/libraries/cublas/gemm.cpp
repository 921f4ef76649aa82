#include "cublas/gemm.h"

#include <algorithm>
#include <vector>

namespace warplings::libraries {
namespace {

// A tile of C that stays in the first-level cache.
constexpr int64_t kTileRows = 64, kTileColumns = 4;

template <class T>
using Rounding = T (*)(T);

Rounding<float> input_rounding(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kFloatOfTf32:
      return round_to_tf32;
    case Arithmetic::kFloatOfBfloat16:
      return round_to_bfloat16;
    case Arithmetic::kFloatOfHalf:
      return round_to_half;
    default:
      return nullptr;
  }
}

int64_t products_per_rounding(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kHalf ? 16 : arithmetic == Arithmetic::kHalfPedantic ? 1 : 0;
}

// op(X) as [k][rows]: the loop over rows then runs over neighbours.
template <class T>
std::vector<T> packed(const void* x, Number type, int64_t ld, int64_t rows, int64_t k,
                      bool by_columns, Rounding<T> round) {
  std::vector<T> out(static_cast<size_t>(rows * k));
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t i = 0; i < rows; ++i) {
      const auto value = static_cast<T>(load(type, x, by_columns ? i + p * ld : p + i * ld));
      out[static_cast<size_t>(p * rows + i)] = round == nullptr ? value : round(value);
    }
  }
  return out;
}

template <class T>
struct Tile {
  T sums[kTileColumns][kTileRows] = {};

  // `rows` and `columns` of the tile, of a[k][m] and b[k][n] from these places on.
  void multiply(const T* a, int64_t m, int64_t rows, const T* b, int64_t n, int64_t columns,
                int64_t k) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < columns; ++j) {
        const T factor = b[p * n + j];
        for (int64_t i = 0; i < rows; ++i) sums[j][i] += a[p * m + i] * factor;
      }
    }
  }
  void round_to_halves() {
    for (auto& column : sums) {
      for (T& sum : column) sum = static_cast<T>(round_to_half(static_cast<float>(sum)));
    }
  }
};

template <class T>
void multiply(const GemmShape& s, const std::vector<T>& a, const std::vector<T>& b,
              std::vector<T>* c) {
  const int64_t per_rounding = products_per_rounding(s.arithmetic);
  const int64_t step = per_rounding == 0 ? std::max<int64_t>(s.k, 1) : per_rounding;
  for (int64_t j0 = 0; j0 < s.n; j0 += kTileColumns) {
    const int64_t columns = std::min(kTileColumns, s.n - j0);
    for (int64_t i0 = 0; i0 < s.m; i0 += kTileRows) {
      const int64_t rows = std::min(kTileRows, s.m - i0);
      Tile<T> tile;
      for (int64_t p = 0; p < s.k; p += step) {
        tile.multiply(a.data() + p * s.m + i0, s.m, rows, b.data() + p * s.n + j0, s.n, columns,
                      std::min(step, s.k - p));
        if (per_rounding > 0) tile.round_to_halves();
      }
      for (int64_t j = 0; j < columns; ++j) {
        std::copy_n(tile.sums[j], rows, c->begin() + (j0 + j) * s.m + i0);
      }
    }
  }
}

template <class T>
void run(const GemmShape& s, double alpha, const void* a, const void* b, double beta, const void* c,
         void* d, int64_t ldd, const Epilogue& epilogue, Rounding<T> round) {
  std::vector<T> product(static_cast<size_t>(s.m * s.n));
  if (alpha != 0 && s.k > 0) {
    multiply(s, packed<T>(a, s.a, s.lda, s.m, s.k, !s.transpose_a, round),
             packed<T>(b, s.b, s.ldb, s.n, s.k, s.transpose_b, round), &product);
  }
  for (int64_t j = 0; j < s.n; ++j) {
    for (int64_t i = 0; i < s.m; ++i) {
      T value = static_cast<T>(alpha) * product[static_cast<size_t>(j * s.m + i)];
      if (beta != 0) value += static_cast<T>(beta) * static_cast<T>(load(s.c, c, i + j * s.ldc));
      if (epilogue.bias != nullptr) {
        value += static_cast<T>(load(epilogue.bias_type, epilogue.bias, i));
      }
      if (epilogue.relu && value < 0) value = 0;
      store(s.c, d, i + j * ldd, static_cast<double>(value));
    }
  }
}

}  // namespace

void gemm(const GemmShape& shape, double alpha, const void* a, const void* b, double beta,
          const void* c, void* d, int64_t ldd, const Epilogue& epilogue) {
  if (shape.arithmetic == Arithmetic::kDouble) {
    run<double>(shape, alpha, a, b, beta, c, d, ldd, epilogue, nullptr);
  } else {
    run<float>(shape, alpha, a, b, beta, c, d, ldd, epilogue, input_rounding(shape.arithmetic));
  }
}

}  // namespace warplings::libraries

// What the tests of matrix products share: c (m, n) = a (m, k) times b (k, n), all row-major.
//
//   TEST(MatmulNaive, AddsUpTheProducts) {
//     RecordProperty("todo", 1);
//     kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
//       kit::check_matmul(launch_matmul_naive, s);
//     });
//   }
#ifndef WARPLINGS_TILED_MATMUL_TEST_MATMUL_H_
#define WARPLINGS_TILED_MATMUL_TEST_MATMUL_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kit/kit.h"
#include "kit/mistake.h"
#include "kit/speed/speed.h"

namespace kit {

struct MatmulSizes {
  int m, n, k;  // c is m x n, sums have k products
};
inline std::ostream& operator<<(std::ostream& out, const MatmulSizes& s) {
  return out << s.m << " x " << s.n << ", k = " << s.k;
}

using MatmulLauncher =
    std::function<void(const float* a, const float* b, float* c, int m, int n, int k)>;

// Reference in double: a is m x k, b is k x n. `scale` is |a| |b|, which the rounding errors of c
// are proportional to.
struct MatmulReference {
  std::vector<double> c, scale;  // m x n
};
inline MatmulReference matmul_on_cpu(const std::vector<float>& a, const std::vector<float>& b,
                                     const MatmulSizes& s) {
  const size_t size = static_cast<size_t>(s.m) * s.n;
  MatmulReference reference{std::vector<double>(size), std::vector<double>(size)};
  for (int row = 0; row < s.m; ++row) {
    for (int i = 0; i < s.k; ++i) {
      for (int col = 0; col < s.n; ++col) {
        const double term = static_cast<double>(a[row * s.k + i]) * b[i * s.n + col];
        reference.c[row * s.n + col] += term;
        reference.scale[row * s.n + col] += std::fabs(term);
      }
    }
  }
  return reference;
}

namespace internal {

// What comes out when a matrix is read column by column, as if it were its transposed.
inline std::vector<double> matmul_read_wrongly(const std::vector<float>& a,
                                               const std::vector<float>& b, const MatmulSizes& s,
                                               bool turns_a) {
  std::vector<float> turned(turns_a ? a.size() : b.size());
  const int rows = turns_a ? s.m : s.k, cols = turns_a ? s.k : s.n;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      turned[row * cols + col] = (turns_a ? a : b)[col * rows + row];
    }
  }
  return turns_a ? matmul_on_cpu(turned, b, s).c : matmul_on_cpu(a, turned, s).c;
}

inline Run run_matmul(const MatmulLauncher& launch, const MatmulSizes& s,
                      const std::vector<float>& a, const std::vector<float>& b, bool exact,
                      Placement placement) {
  const auto d_a = DeviceBuffer<float>::input(a, "a", placement);
  const auto d_b = DeviceBuffer<float>::input(b, "b", placement);
  const auto d_c = DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "c", placement);
  const Run run = kit::run([&] { launch(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k); });
  const MatmulReference reference = matmul_on_cpu(a, b, s);
  const Shape shape(s.m, s.n);
  const Mistake a_turned(
      "they are what comes out when a is read down its columns, as its transposed",
      [&] { return matmul_read_wrongly(a, b, s, true); });
  const Mistake b_turned(
      "they are what comes out when b is read down its columns, as its transposed",
      [&] { return matmul_read_wrongly(a, b, s, false); });
  if (exact) {
    expect_near(d_c, reference.c, Tolerance::absolute(0), shape);
  } else if (expect_near(d_c, reference.c, Tolerance::units(16, reference.scale), shape)) {
    const double limit = std::max(1e-6, 4 * std::sqrt(static_cast<double>(s.k)) / (1 << 24));
    expect_norm_near("c", d_c.download(), reference.c, limit);
  }
  return run;
}

}  // namespace internal

// Random values. Every element within 16 units of |a| |b|, the whole matrix within 4 sqrt(k) units.
inline Run check_matmul(const MatmulLauncher& launch, const MatmulSizes& s) {
  const std::vector<float> a = random_floats(static_cast<size_t>(s.m) * s.k);
  const std::vector<float> b = random_floats(static_cast<size_t>(s.k) * s.n);
  return internal::run_matmul(launch, s, a, b, false, Placement::kMiddle);
}

// Small integers: sums are exact in every order, so one wrong index shows. The matrices end where
// their allocations end.
inline Run check_matmul_exact(const MatmulLauncher& launch, const MatmulSizes& s) {
  const std::vector<float> a = random_integer_floats(static_cast<size_t>(s.m) * s.k);
  const std::vector<float> b = random_integer_floats(static_cast<size_t>(s.k) * s.n);
  return internal::run_matmul(launch, s, a, b, true, Placement::kAtEnd);
}

// Odd integers of twelve bits times 1 or -1: exact in float up to k = 4096, in nothing narrower.
inline Run check_matmul_precision(const MatmulLauncher& launch, const MatmulSizes& s) {
  const std::vector<float> a = precision_tripwire_floats(static_cast<size_t>(s.m) * s.k);
  std::vector<float> b = random_integer_floats(static_cast<size_t>(s.k) * s.n, 0, 1);
  for (float& value : b) value = 2 * value - 1;
  return internal::run_matmul(launch, s, a, b, true, Placement::kMiddle);
}

// Shapes around warps and tiles; never square only, never multiples only.
inline const std::vector<MatmulSizes>& awkward_matmuls() {
  static const std::vector<MatmulSizes> all = {
      {33, 65, 17},  {1, 1, 1},  {31, 33, 32}, {40, 3, 65}, {5, 129, 31},
      {127, 36, 33}, {1, 70, 5}, {67, 1, 40},  {34, 63, 9}, {130, 127, 17}};
  return all;
}

// The three kinds of nothing: no rows, no columns, and sums of no products, which are zeros.
inline const std::vector<MatmulSizes>& empty_matmuls() {
  static const std::vector<MatmulSizes> all = {{0, 5, 7}, {5, 0, 7}, {5, 7, 0}};
  return all;
}

// 32-bit words that were loaded for each multiply-add.
inline double words_per_fma(uint64_t bytes, const Run& run) {
  return ratio(static_cast<double>(bytes) / 4, static_cast<double>(run.counters().fp32_fma));
}

// A speed test of a product. The same arrays serve every launcher:
//   kit::MatmulSpeed work(sizes, 33);
//   work.speed.launch(work.call(launch_matmul_shared));
//   work.speed.against(kit::stage("one row per warp", work.call(launch_other)), kit::Bars(1.15));
//   work.speed.grade();
class MatmulSpeed {
 public:
  // `slice` as in Speed::slice.
  MatmulSpeed(const MatmulSizes& sizes, double slice, Site site = Site::here())
      : speed(site),
        sizes_(sizes),
        a_(speed.input<float>(static_cast<size_t>(sizes.m) * sizes.k, "a")),
        b_(speed.input<float>(static_cast<size_t>(sizes.k) * sizes.n, "b")),
        c_(speed.output<float>(static_cast<size_t>(sizes.m) * sizes.n, "c")) {
    const double m = sizes.m, n = sizes.n, k = sizes.k;
    speed.bytes(4.0 * (m * k + k * n + m * n)).flops(2.0 * m * n * k).slice(slice);
    speed.expect(
        c_, [this](size_t i) { return element(i); }, Tolerance::units(16));
  }
  MatmulSpeed(const MatmulSpeed&) = delete;
  MatmulSpeed& operator=(const MatmulSpeed&) = delete;

  // The call of a launcher on the arrays of this work.
  std::function<void()> call(const MatmulLauncher& launch) const {
    return [this, launch] { launch(a_.get(), b_.get(), c_.get(), sizes_.m, sizes_.n, sizes_.k); };
  }
  Baseline against_cublas() const { return library("cuBLAS", cublas(), call(cublas_sgemm)); }

  Speed speed;

 private:
  Expected element(size_t i) const {
    const size_t row = i / sizes_.n, col = i % sizes_.n;
    double sum = 0, scale = 0;
    for (int j = 0; j < sizes_.k; ++j) {
      const double term =
          static_cast<double>(a_.at(row * sizes_.k + j)) * b_.at(j * sizes_.n + col);
      sum += term;
      scale += std::fabs(term);
    }
    return {sum, scale};
  }

  MatmulSizes sizes_;
  SpeedBuffer<float> a_, b_, c_;
};

}  // namespace kit

#endif  // WARPLINGS_TILED_MATMUL_TEST_MATMUL_H_

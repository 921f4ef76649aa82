// What the tests of products on tensor cores share: c (m, n) in float = a (m, k) times b (k, n) in
// bfloat16, all row-major.
#ifndef WARPLINGS_TILED_MATMUL_TEST_MATMUL_BF16_H_
#define WARPLINGS_TILED_MATMUL_TEST_MATMUL_BF16_H_

#include <cuda_bf16.h>

#include <cmath>
#include <functional>
#include <vector>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace kit {

using Bf16MatmulLauncher = std::function<void(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                              float* c, int m, int n, int k)>;

// The nearest bfloat16 of each value: 8 bits of the 24 are left.
inline std::vector<__nv_bfloat16> to_bf16(const std::vector<float>& values) {
  std::vector<__nv_bfloat16> rounded;
  for (float value : values) rounded.push_back(__float2bfloat16(value));
  return rounded;
}
inline std::vector<float> to_floats(const std::vector<__nv_bfloat16>& values) {
  std::vector<float> floats;
  for (__nv_bfloat16 value : values) floats.push_back(__bfloat162float(value));
  return floats;
}

namespace internal {

struct Bf16Product {
  Run run;
  DeviceBuffer<float> c;
};
inline Bf16Product run_bf16_matmul(const Bf16MatmulLauncher& launch, const MatmulSizes& s,
                                   const std::vector<__nv_bfloat16>& a,
                                   const std::vector<__nv_bfloat16>& b, Placement placement) {
  const auto d_a = DeviceBuffer<__nv_bfloat16>::input(a, "a", placement);
  const auto d_b = DeviceBuffer<__nv_bfloat16>::input(b, "b", placement);
  const auto d_c = DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "c", placement);
  return {kit::run([&] { launch(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k); }), d_c};
}

}  // namespace internal

// Small integers: bfloat16 holds them, and their sums in float are exact, so one wrong index shows.
// The matrices end where their allocations end.
inline Run check_bf16_matmul_exact(const Bf16MatmulLauncher& launch, const MatmulSizes& s) {
  const std::vector<float> a = random_integer_floats(static_cast<size_t>(s.m) * s.k);
  const std::vector<float> b = random_integer_floats(static_cast<size_t>(s.k) * s.n);
  const internal::Bf16Product product =
      internal::run_bf16_matmul(launch, s, to_bf16(a), to_bf16(b), Placement::kAtEnd);
  expect_near(product.c, matmul_on_cpu(a, b, s).c, Tolerance::absolute(0), Shape(s.m, s.n));
  return product.run;
}

// Random values against the product of the same bfloat16 values in double. Sums must be made in
// float: tensor cores cut bits off where a float add would round, hence 64 units of |a| |b| (a sum
// in bfloat16 is off by thousands).
inline Run check_bf16_matmul(const Bf16MatmulLauncher& launch, const MatmulSizes& s) {
  const auto a = to_bf16(random_floats(static_cast<size_t>(s.m) * s.k));
  const auto b = to_bf16(random_floats(static_cast<size_t>(s.k) * s.n));
  const internal::Bf16Product product =
      internal::run_bf16_matmul(launch, s, a, b, Placement::kMiddle);
  const MatmulReference reference = matmul_on_cpu(to_floats(a), to_floats(b), s);
  expect_near(product.c, reference.c, Tolerance::units(64, reference.scale), Shape(s.m, s.n));
  return product.run;
}

// |c - a b| / |a b| (Frobenius) for random floats a and b that were rounded to bfloat16 for c.
inline double bf16_matmul_error(const Bf16MatmulLauncher& launch, const MatmulSizes& s) {
  const std::vector<float> a = random_floats(static_cast<size_t>(s.m) * s.k);
  const std::vector<float> b = random_floats(static_cast<size_t>(s.k) * s.n);
  const internal::Bf16Product product =
      internal::run_bf16_matmul(launch, s, to_bf16(a), to_bf16(b), Placement::kMiddle);
  const std::vector<double> expected = matmul_on_cpu(a, b, s).c;
  const std::vector<float> got = product.c.download();
  double error = 0, length = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    length += expected[i] * expected[i];
  }
  return std::sqrt(error / length);
}

// A speed test of such a product, which can be compared with products of floats of the same sizes.
class Bf16MatmulSpeed {
 public:
  // `slice` as in Speed::slice.
  Bf16MatmulSpeed(const MatmulSizes& sizes, double slice, Site site = Site::here())
      : speed(site),
        sizes_(sizes),
        a_(speed.input<__nv_bfloat16>(static_cast<size_t>(sizes.m) * sizes.k, "a")),
        b_(speed.input<__nv_bfloat16>(static_cast<size_t>(sizes.k) * sizes.n, "b")),
        float_a_(speed.input<float>(static_cast<size_t>(sizes.m) * sizes.k, "a in float")),
        float_b_(speed.input<float>(static_cast<size_t>(sizes.k) * sizes.n, "b in float")),
        c_(speed.output<float>(static_cast<size_t>(sizes.m) * sizes.n, "c")) {
    const double m = sizes.m, n = sizes.n, k = sizes.k;
    speed.bytes(2.0 * (m * k + k * n) + 4.0 * m * n).tensor_flops(2.0 * m * n * k).slice(slice);
    speed.expect(
        c_, [this](size_t i) { return element(i); }, Tolerance::units(64));
  }
  Bf16MatmulSpeed(const Bf16MatmulSpeed&) = delete;
  Bf16MatmulSpeed& operator=(const Bf16MatmulSpeed&) = delete;

  std::function<void()> call(const Bf16MatmulLauncher& launch) const {
    return [this, launch] { launch(a_.get(), b_.get(), c_.get(), sizes_.m, sizes_.n, sizes_.k); };
  }
  std::function<void()> call_on_floats(const MatmulLauncher& launch) const {
    return [this, launch] {
      launch(float_a_.get(), float_b_.get(), c_.get(), sizes_.m, sizes_.n, sizes_.k);
    };
  }
  Baseline against_cublas() const {
    return library("cuBLAS in bfloat16", cublas(), [this] {
      cublas_bf16(reinterpret_cast<const uint16_t*>(a_.get()),
                  reinterpret_cast<const uint16_t*>(b_.get()), c_.get(), sizes_.m, sizes_.n,
                  sizes_.k);
    });
  }
  Baseline against_cublas_on_floats() const {
    return library("cuBLAS in fp32", cublas(), call_on_floats(cublas_sgemm));
  }

  Speed speed;

 private:
  Expected element(size_t i) const {
    const size_t row = i / sizes_.n, col = i % sizes_.n;
    double sum = 0, scale = 0;
    for (int j = 0; j < sizes_.k; ++j) {
      const double term = static_cast<double>(__bfloat162float(a_.at(row * sizes_.k + j))) *
                          __bfloat162float(b_.at(j * sizes_.n + col));
      sum += term;
      scale += std::fabs(term);
    }
    return {sum, scale};
  }

  MatmulSizes sizes_;
  SpeedBuffer<__nv_bfloat16> a_, b_;
  SpeedBuffer<float> float_a_, float_b_, c_;
};

}  // namespace kit

#endif  // WARPLINGS_TILED_MATMUL_TEST_MATMUL_BF16_H_

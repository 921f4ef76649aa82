// Tests of 09/04 cuBLAS, halves.
#include "04_cublas_half.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/stream.h"
#include "support.h"

namespace {

using kit::MatmulSizes;

// References: a half as a number, and the half that is nearest to a number (ties to even).
double value_of(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? std::numeric_limits<double>::infinity()
                                                       : std::numeric_limits<double>::quiet_NaN())
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return half >> 15 == 0 ? size : -size;
}
uint16_t nearest_half(double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));  // between two halves
  const double size = std::fabs(std::nearbyint(x / unit) * unit);
  const unsigned sign = std::signbit(x) ? 0x8000 : 0;
  if (size >= 65536) return static_cast<uint16_t>(sign | 0x7C00);
  if (size < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<unsigned>(size * 0x1p24));
  std::frexp(size, &exponent);
  const auto fraction = static_cast<unsigned>(std::ldexp(size, 11 - exponent)) - 1024;
  return static_cast<uint16_t>(sign | static_cast<unsigned>(exponent + 14) << 10 | fraction);
}

std::vector<uint16_t> halves(const std::vector<float>& x) {
  std::vector<uint16_t> out;
  for (const float value : x) out.push_back(nearest_half(value));
  return out;
}
std::vector<float> floats(const std::vector<uint16_t>& h) {
  std::vector<float> out;
  for (const uint16_t value : h) out.push_back(static_cast<float>(value_of(value)));
  return out;
}

__half* as_half(const kit::DeviceBuffer<uint16_t>& buffer) {
  return reinterpret_cast<__half*>(buffer.get());
}

void check_rounding(const std::vector<float>& x) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_h = kit::DeviceBuffer<uint16_t>::output(x.size(), "h", kit::Placement::kAtEnd);
  const kit::Stream stream;
  kit::run([&] { launch_to_half(d_x.get(), as_half(d_h), x.size(), stream.get()); });
  const std::vector<uint16_t> got = d_h.download(), expected = halves(x);
  std::vector<double> nearest;
  for (const uint16_t half : expected) nearest.push_back(value_of(half));
  kit::expect_near("h", floats(got), nearest, kit::Tolerance::absolute(0));
  kit::expect_equal(d_h, expected);  // the sign of a zero, too
}

// Matrices of halves on the host; `right` is their product in double.
struct Matrices {
  std::vector<uint16_t> a, b;
  std::vector<double> right;
};
Matrices matrices(const MatmulSizes& s, const std::vector<float>& a, const std::vector<float>& b) {
  const Matrices out = {halves(a), halves(b), {}};
  return {out.a, out.b, kit::matmul_on_cpu(floats(out.a), floats(out.b), s).c};
}
Matrices integers(const MatmulSizes& s) {
  return matrices(s, kit::random_integer_floats(static_cast<size_t>(s.m) * s.k, -4, 4),
                  kit::random_integer_floats(static_cast<size_t>(s.k) * s.n, -4, 4));
}
Matrices reals(const MatmulSizes& s) {
  return matrices(s, kit::random_floats(static_cast<size_t>(s.m) * s.k),
                  kit::random_floats(static_cast<size_t>(s.k) * s.n));
}

// The product by cublasHgemm.
std::vector<float> by_hgemm(const MatmulSizes& s, const Matrices& in) {
  const auto d_a = kit::DeviceBuffer<uint16_t>::input(in.a, "a", kit::Placement::kAtEnd);
  const auto d_b = kit::DeviceBuffer<uint16_t>::input(in.b, "b", kit::Placement::kAtEnd);
  const auto d_c =
      kit::DeviceBuffer<uint16_t>::output(in.right.size(), "c", kit::Placement::kAtEnd);
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status =
               launch_hgemm(handle.get(), s.m, s.n, s.k, as_half(d_a), as_half(d_b), as_half(d_c));
  });
  expect_success("launch_hgemm", status);
  return floats(d_c.download());
}

kit::Run by_gemm_ex(const MatmulSizes& s, const Matrices& in, const kit::DeviceBuffer<float>& d_c) {
  const auto d_a = kit::DeviceBuffer<uint16_t>::input(in.a, "a", kit::Placement::kAtEnd);
  const auto d_b = kit::DeviceBuffer<uint16_t>::input(in.b, "b", kit::Placement::kAtEnd);
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] {
    return status =
               launch_gemm_ex(handle.get(), s.m, s.n, s.k, as_half(d_a), as_half(d_b), d_c.get());
  });
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) {
    kit::fail(
        "launch_gemm_ex returned CUBLAS_STATUS_NOT_SUPPORTED: the documentation of cublasGemmEx "
        "lists which types of a, b and c go with which type of the sums. One row has halves for a "
        "and b and floats for c.");
  }
  expect_success("launch_gemm_ex", status);
  return run;
}

kit::DeviceBuffer<float> output(const Matrices& in) {
  return kit::DeviceBuffer<float>::output(in.right.size(), "c", kit::Placement::kAtEnd);
}

const std::vector<MatmulSizes>& shapes() {
  static const std::vector<MatmulSizes> all = {{2, 3, 4},   {33, 65, 17}, {1, 1, 1},  {31, 33, 32},
                                               {40, 3, 65}, {1, 70, 5},   {67, 1, 40}};
  return all;
}

// What relative_error says about c.
void check_error(std::vector<float> c, const std::vector<float>& right) {
  double error = 0, length = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    const double difference = static_cast<double>(c[i]) - right[i];
    error += difference * difference;
    length += static_cast<double>(right[i]) * right[i];
  }
  const double expected = std::sqrt(error / length);
  const auto d_c = kit::DeviceBuffer<float>::inout(c, "c", kit::Placement::kAtEnd);
  const auto d_right = kit::DeviceBuffer<float>::input(right, "right", kit::Placement::kAtEnd);
  const Handle handle;
  float got = -1;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status = relative_error(handle.get(), static_cast<int>(c.size()), d_c.get(),
                                   d_right.get(), &got);
  });
  expect_success("relative_error", status);
  kit::expect_near("the relative error", {got}, {expected}, kit::Tolerance::relative(1e-4));
}

}  // namespace

TEST(CublasHalf, RoundsToTheNearestHalf) {
  RecordProperty("todo", 1);
  const float unit = 0x1p-10f;  // between 1 and the next half
  check_rounding({0.0f, -0.0f, 1.0f, 1 + unit / 2, 1 + 1.5f * unit, 1 + 0.75f * unit,
                  -1 - 0.75f * unit, 2047.5f, 65504.0f, 65519.0f, 65520.0f, -1e6f, 0x1p-14f,
                  0x1p-24f, 0x1.8p-24f, 0x1p-25f, -0x1.8p-25f, 0x1p-30f, 3.14159265f});
  kit::for_each("n", std::vector<int>{0, 1, 31, 33, 257, 1025},
                [](int n) { check_rounding(kit::random_floats(n, -100.0f, 100.0f)); });
}

TEST(CublasHalf, RoundsMoreThan32BitsCount) {
  RecordProperty("todo", 1);
  const size_t n = (size_t{1} << 32) + 77;
  kit::at_largest("n = 2^32 + 77", [&] {
    const auto x = kit::large_integers(n, "x");
    const auto h = kit::LargeArray<uint16_t>::output(n, "h");
    kit::run([&] { launch_to_half(x.get(), reinterpret_cast<__half*>(h.get()), n, nullptr); });
    kit::expect_at_ends(h, [&](size_t i) { return nearest_half(x.at(i)); });
  });
}

TEST(CublasHalf, HgemmOfEveryShape) {
  RecordProperty("todo", 2);
  kit::for_each("c", shapes(), [](const MatmulSizes& s) {
    const Matrices in = integers(s);  // sums stay below 2048: exact
    kit::expect_near("c", by_hgemm(s, in), in.right, kit::Tolerance::absolute(0),
                     kit::Shape(s.m, s.n));
  });
}

TEST(CublasHalf, HgemmHasTheErrorOfAHalf) {
  RecordProperty("todo", 2);
  const MatmulSizes s = {33, 20, 200};
  const Matrices in = reals(s);
  kit::expect_norm_near("c", by_hgemm(s, in), in.right, 2e-3);
}

// 40,960 twice is more than a half holds, whatever comes after it: sums of floats come back to 0.
TEST(CublasHalf, HgemmAddsUpInHalves) {
  RecordProperty("todo", 2);
  const MatmulSizes s = {3, 5, 64};
  std::vector<float> b;
  for (int i = 0; i < s.k; ++i) b.insert(b.end(), s.n, i < s.k / 2 ? 160.0f : -160.0f);
  const Matrices in = matrices(s, std::vector<float>(s.m * s.k, 256), b);
  for (const float sum : by_hgemm(s, in)) {
    if (sum != 0.0f) continue;
    kit::fail(
        "32 products of 40,960 and 32 of -40,960 add up to 0: only sums in floats come back from "
        "1,310,720. The header wants sums in halves here, of which the largest is 65,504.");
    return;
  }
}

TEST(CublasHalf, GemmExOfEveryShape) {
  RecordProperty("todo", 3);
  kit::for_each("c", shapes(), [](const MatmulSizes& s) {
    const Matrices in = integers(s);
    const auto d_c = output(in);
    by_gemm_ex(s, in, d_c);
    kit::expect_near(d_c, in.right, kit::Tolerance::absolute(0), kit::Shape(s.m, s.n));
  });
}

TEST(CublasHalf, GemmExAddsUpInFloats) {
  RecordProperty("todo", 3);
  const MatmulSizes s = {17, 20, 200};
  std::vector<float> a = kit::random_integer_floats(s.m * s.k, 512, 1023);
  for (float& value : a) value = 2 * value + 1;  // odd, 11 bits: a half holds them, and no bfloat16
  std::vector<float> b = kit::random_integer_floats(s.k * s.n, 0, 1);
  for (float& value : b) value = 2 * value - 1;
  const Matrices in = matrices(s, a, b);
  const auto d_c = output(in);
  by_gemm_ex(s, in, d_c);
  kit::expect_near(d_c, in.right, kit::Tolerance::absolute(0), kit::Shape(s.m, s.n));
  const MatmulSizes large = {33, 20, 200};
  const Matrices more = reals(large);
  const auto d_more = output(more);
  by_gemm_ex(large, more, d_more);
  kit::expect_norm_near("c", d_more.download(), more.right, 4e-6);
}

TEST(CublasHalf, OnlyFloatsHoldSumsAbove65504) {
  RecordProperty("todo", 3);
  const MatmulSizes s = {3, 5, 64};  // 64 products of 64 and 64 are 262144
  const Matrices in =
      matrices(s, std::vector<float>(s.m * s.k, 64), std::vector<float>(s.k * s.n, 64));
  const auto d_c = output(in);
  by_gemm_ex(s, in, d_c);
  kit::expect_near(d_c, in.right, kit::Tolerance::absolute(0), kit::Shape(s.m, s.n));
  const double infinity = std::numeric_limits<double>::infinity();
  kit::expect_near("c of launch_hgemm", by_hgemm(s, in),
                   std::vector<double>(in.right.size(), infinity), kit::Tolerance::absolute(0),
                   kit::Shape(s.m, s.n));
}

TEST(CublasHalf, GemmExReadsHalvesOnce) {
  RecordProperty("todo", 3);
  const MatmulSizes s = {40, 48, 64};
  const Matrices in = integers(s);
  const auto d_c = output(in);
  const kit::Run run = by_gemm_ex(s, in, d_c);
  kit::expect_near(d_c, in.right, kit::Tolerance::absolute(0), kit::Shape(s.m, s.n));
  kit::budget("bytes loaded per element of a and b",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes),
                         static_cast<double>(in.a.size() + in.b.size())),
              kit::at_most(2),
              "cublasGemmEx reads halves as they are and widens them on the way; "
              "no float copy of a and b is needed");
}

TEST(CublasHalf, ReturnsWhatWasRefused) {
  RecordProperty("todo", 3);
  const auto d_halves = kit::DeviceBuffer<uint16_t>::inout(std::vector<uint16_t>(50, 0), "halves");
  const auto d_c = kit::DeviceBuffer<float>::inout(std::vector<float>(50, 0.5f), "c");
  __half* const d_all = as_half(d_halves);
  const Handle handle;
  cublasStatus_t of_halves = CUBLAS_STATUS_SUCCESS, of_floats = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    of_halves = launch_hgemm(handle.get(), 4, 4, -1, d_all, d_all, d_all);
    of_floats = launch_gemm_ex(handle.get(), 4, 4, -1, d_all, d_all, d_c.get());
  });
  expect_refusal("launch_hgemm", of_halves);
  expect_refusal("launch_gemm_ex", of_floats);
}

TEST(CublasHalf, ReadsTheStatusesOfAnError) {
  RecordProperty("todo", 4);
  const auto d_floats = kit::DeviceBuffer<float>::inout(std::vector<float>(8, 0.5f), "c and right");
  float error = -1;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {  // no handle: cuBLAS refuses each call
    return status = relative_error(nullptr, 4, d_floats.get(), d_floats.get() + 4, &error);
  });
  expect_refusal("relative_error", status);
}

TEST(CublasHalf, MeasuresTheErrorAgainstFloats) {
  RecordProperty("todo", 4);
  kit::for_each("n", std::vector<int>{1, 33, 1000}, [](int n) {
    const std::vector<float> right = kit::random_floats(n, 1.0f, 2.0f);
    check_error(floats(halves(right)), right);
    check_error(kit::random_floats(n), right);
  });
}

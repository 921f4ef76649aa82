// Tests of 09/01 cuBLAS, products.
#include "01_cublas_sgemm.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "support.h"

namespace {

// A product c = alpha a b + beta c; the pads are what lies between two rows of a, b and c.
struct Product {
  int m, n, k;
  float alpha = 1, beta = 0;
  int pad_a = 0, pad_b = 0, pad_c = 0;
  int lda() const { return std::max(k + pad_a, 1); }
  int ldb() const { return std::max(n + pad_b, 1); }
  int ldc() const { return std::max(n + pad_c, 1); }
};
std::ostream& operator<<(std::ostream& out, const Product& p) {
  out << p.m << " x " << p.n << ", k = " << p.k << ", alpha = " << p.alpha << ", beta = " << p.beta;
  if (p.pad_a + p.pad_b + p.pad_c > 0) {
    out << ", lda = " << p.lda() << ", ldb = " << p.ldb() << ", ldc = " << p.ldc();
  }
  return out;
}

// An element of a column-major matrix, and how many come before it.
struct Place {
  int row, col, ld;
  size_t expected;
};
std::ostream& operator<<(std::ostream& out, const Place& p) {
  return out << "(" << p.row << ", " << p.col << "), ld = " << p.ld;
}

// From the first element of a row-major matrix to its last: no padding behind the last row.
size_t span(int rows, int cols, int ld) {
  return rows == 0 || cols == 0 ? 0 : static_cast<size_t>(rows - 1) * ld + cols;
}

// a, b and c with their padding, row-major; c as it is before the call.
struct Matrices {
  std::vector<float> a, b, c;
};

// Reference in double, element by element; between the rows c stays what it was. `scale` is what
// the rounding errors are proportional to.
struct Reference {
  std::vector<double> c, scale;
};
Reference product_on_cpu(const Product& p, const Matrices& in) {
  Reference out{{in.c.begin(), in.c.end()}, std::vector<double>(in.c.size(), 0)};
  for (int row = 0; row < p.m; ++row) {
    for (int col = 0; col < p.n; ++col) {
      double sum = 0, scale = 0;
      for (int i = 0; i < p.k; ++i) {
        const double term = static_cast<double>(in.a[row * p.lda() + i]) * in.b[i * p.ldb() + col];
        sum += term;
        scale += std::fabs(term);
      }
      const int at = row * p.ldc() + col;
      const double old = p.beta == 0 ? 0 : static_cast<double>(p.beta) * in.c[at];
      out.c[at] = p.alpha * sum + old;
      out.scale[at] = std::fabs(p.alpha) * scale + std::fabs(old);
    }
  }
  return out;
}

using Values = std::vector<float> (*)(size_t n);
std::vector<float> integers(size_t n) { return kit::random_integer_floats(n); }
std::vector<float> reals(size_t n) { return kit::random_floats(n); }
std::vector<float> signs(size_t n) {
  std::vector<float> values = kit::random_integer_floats(n, 0, 1);
  for (float& value : values) value = 2 * value - 1;
  return values;
}

Matrices random_matrices(const Product& p, Values of_a, Values of_b) {
  return {of_a(span(p.m, p.k, p.lda())), of_b(span(p.k, p.n, p.ldb())),
          integers(span(p.m, p.n, p.ldc()))};
}

kit::Run check(const Product& p, Values of_a = integers, Values of_b = integers) {
  const Matrices in = random_matrices(p, of_a, of_b);
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_a = kit::DeviceBuffer<float>::input(in.a, "a", at_end);
  const auto d_b = kit::DeviceBuffer<float>::input(in.b, "b", at_end);
  const bool overwritten = p.beta == 0 && p.pad_c == 0;  // then reading c is a mistake
  const auto d_c = overwritten ? kit::DeviceBuffer<float>::output(in.c.size(), "c", at_end)
                               : kit::DeviceBuffer<float>::inout(in.c, "c", at_end);
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] {
    return status = launch_sgemm(handle.get(), p.m, p.n, p.k, p.alpha, d_a.get(), p.lda(),
                                 d_b.get(), p.ldb(), p.beta, d_c.get(), p.ldc());
  });
  expect_success("launch_sgemm", status);
  const Reference expected = product_on_cpu(p, in);
  const bool exact = of_a != reals;
  kit::expect_near(d_c, expected.c,
                   exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, expected.scale),
                   p.pad_c == 0 ? kit::Shape(p.m, p.n) : kit::Shape());
  return run;
}

std::vector<float> transposed(const std::vector<double>& c, int n) {
  std::vector<float> t(c.size());
  for (int row = 0; row < n; ++row) {
    for (int col = 0; col < n; ++col) t[col * n + row] = static_cast<float>(c[row * n + col]);
  }
  return t;
}

// All sizes are the same, so cuBLAS takes every order of operands: what came out tells which.
void check_square(int n) {
  const Product p = {n, n, n};
  const Matrices in = random_matrices(p, integers, integers);
  const auto d_a = kit::DeviceBuffer<float>::input(in.a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(in.b, "b");
  const auto d_c = kit::DeviceBuffer<float>::output(in.c.size(), "c");
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status =
               launch_sgemm(handle.get(), n, n, n, 1, d_a.get(), n, d_b.get(), n, 0, d_c.get(), n);
  });
  expect_success("launch_sgemm", status);
  const Reference expected = product_on_cpu(p, in);
  const Reference swapped = product_on_cpu(p, {in.b, in.a, in.c});
  const std::vector<float> got = d_c.download();
  if (std::equal(got.begin(), got.end(), swapped.c.begin())) {
    kit::fail(
        "c is b a, not a b: cuBLAS multiplies the transposes that it sees in the order in "
        "which they are passed, and the transpose of a b is that of b times that of a.");
  } else if (got == transposed(expected.c, n)) {
    kit::fail(
        "c is the transpose of a b: cuBLAS writes its result column by column. Let it "
        "compute the transpose, whose columns are the rows of c.");
  }
  kit::expect_near(d_c, expected.c, kit::Tolerance::absolute(0), kit::Shape(n, n));
}

}  // namespace

TEST(CublasSgemm, FindsAnElementOfAColumnMajorMatrix) {
  RecordProperty("todo", 1);
  kit::for_each("element",
                std::vector<Place>{{0, 0, 4, 0},
                                   {2, 0, 4, 2},
                                   {0, 1, 4, 4},
                                   {2, 1, 4, 6},
                                   {3, 7, 5, 38},
                                   {1, 50000, 50000, 2500000001}},
                [](const Place& p) {
                  const size_t got = column_major(p.row, p.col, p.ld);
                  if (got == p.expected) return;
                  kit::fail("column_major returned " + std::to_string(got) + ", expected " +
                            std::to_string(p.expected) + ": " + std::to_string(p.col) +
                            " whole columns of " + std::to_string(p.ld) + " come first, then " +
                            std::to_string(p.row) + " elements of its own.");
                });
}

TEST(CublasSgemm, TheHandleWorksInItsStream) {
  RecordProperty("todo", 2);
  cudaStream_t stream = nullptr, used = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cublasHandle_t handle = nullptr;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  bool was_there = true;
  kit::run([&] {
    status = create_handle(stream, &handle);
    if (status != CUBLAS_STATUS_SUCCESS) was_there = give_back(cublasDestroy, &handle) && was_there;
    return status;
  });
  expect_was_there("create_handle", was_there);
  expect_success("create_handle", status);
  if (handle == nullptr) {
    kit::fail("create_handle left no handle in *handle.");
  } else {
    expect_success("cublasGetStream", cublasGetStream(handle, &used));
    if (used != stream) {
      kit::fail(
          "The handle does not use the stream that create_handle was given. Without "
          "cublasSetStream its work goes to the default stream, and does not wait for ours.");
    }
    cublasMath_t mode = CUBLAS_DEFAULT_MATH;
    expect_success("cublasGetMathMode", cublasGetMathMode(handle, &mode));
    if (mode != CUBLAS_DEFAULT_MATH && mode != CUBLAS_PEDANTIC_MATH) {
      kit::fail(
          "The handle's math mode allows products with fewer digits than floats have. Nobody has "
          "asked for that.");
    }
    cublasDestroy(handle);
  }
  cudaStreamDestroy(stream);
}

TEST(CublasSgemm, SquareMatricesShowTheOrder) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{2, 33, 64}, check_square);
}

TEST(CublasSgemm, MultipliesEveryShape) {
  RecordProperty("todo", 3);
  kit::for_each("c",
                std::vector<Product>{{2, 3, 4},
                                     {33, 65, 17},
                                     {1, 1, 1},
                                     {31, 33, 32},
                                     {40, 3, 65},
                                     {5, 129, 31},
                                     {1, 70, 5},
                                     {67, 1, 40}},
                [](const Product& p) { check(p); });
}

TEST(CublasSgemm, LeavesPaddingBetweenRowsAlone) {
  RecordProperty("todo", 3);
  kit::for_each("c",
                std::vector<Product>{{20, 33, 17, 1, 0, 3, 0, 0},
                                     {20, 33, 17, 1, 0, 0, 5, 0},
                                     {20, 33, 17, 1, 0, 0, 0, 7},
                                     {33, 20, 64, 2, -3, 1, 2, 4}},
                [](const Product& p) { check(p); });
}

TEST(CublasSgemm, AddsToWhatIsThere) {
  RecordProperty("todo", 3);
  kit::for_each(
      "c",
      std::vector<Product>{
          {17, 31, 40, 2, 1}, {17, 31, 40, -1, 0.5f}, {17, 31, 40, 0, 3}, {17, 31, 40, -2, 0}},
      [](const Product& p) { check(p); });
}

TEST(CublasSgemm, AcceptsEmptyMatricesAndSums) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<Product>{{0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {5, 7, 0, 1, 2}},
                [](const Product& p) { check(p); });
  check({5, 7, 3});  // the same launcher must work here
}

TEST(CublasSgemm, KeepsFullPrecision) {
  RecordProperty("todo", 3);
  check({33, 20, 200}, reals, reals);
  check(
      {33, 20, 200}, [](size_t n) { return kit::precision_tripwire_floats(n); }, signs);
}

TEST(CublasSgemm, WorksInTheStreamOfTheHandle) {
  RecordProperty("todo", 3);
  const Product p = {20, 33, 17};
  const Matrices in = random_matrices(p, integers, integers);
  const auto d_from = kit::DeviceBuffer<float>::input(in.a, "a copy of a");
  const auto d_a = kit::DeviceBuffer<float>::output(in.a.size(), "a");
  const auto d_b = kit::DeviceBuffer<float>::input(in.b, "b");
  const auto d_c = kit::DeviceBuffer<float>::output(in.c.size(), "c");
  const StreamHandle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {  // a arrives in the stream, right before the call
    cudaMemcpyAsync(d_a.get(), d_from.get(), in.a.size() * sizeof(float), cudaMemcpyDeviceToDevice,
                    handle.stream());
    return status = launch_sgemm(handle.get(), p.m, p.n, p.k, 1, d_a.get(), p.lda(), d_b.get(),
                                 p.ldb(), 0, d_c.get(), p.ldc());
  });
  expect_success("launch_sgemm", status);
  handle.expect_unchanged();
  kit::expect_near(d_c, product_on_cpu(p, in).c, kit::Tolerance::absolute(0), kit::Shape(p.m, p.n));
}

TEST(CublasSgemm, ReturnsWhatWasRefused) {
  RecordProperty("todo", 3);
  const auto d_all = kit::DeviceBuffer<float>::inout(std::vector<float>(100, 0.5f), "a, b and c");
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {  // rows of a and b that overlap: 3 and 4 floats from one to the next
    return status = launch_sgemm(handle.get(), 5, 5, 5, 1, d_all.get(), 3, d_all.get(), 4, 0,
                                 d_all.get(), 5);
  });
  expect_refusal("launch_sgemm", status);
}

TEST(CublasSgemm, ReadsEachMatrixOnce) {
  RecordProperty("todo", 3);
  const Product p = {40, 48, 64};
  const kit::Run run = check(p);
  const double words = 1.0 * p.m * p.k + 1.0 * p.k * p.n;
  kit::budget("words loaded per element of a and b",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes) / 4, words),
              kit::at_most(1),
              "One call gets all of a and b, as they are; copies that are transposed first cost "
              "another pass, and a call per row reads b again for each");
}

// Tests of 09/02 cuBLAS, vectors.
#include "02_cublas_vectors.h"

#include <cmath>

#include "kit/kit.h"
#include "support.h"

namespace {

constexpr cublasPointerMode_t kHost = CUBLAS_POINTER_MODE_HOST;
constexpr cublasPointerMode_t kDevice = CUBLAS_POINTER_MODE_DEVICE;

// A result in double; `scale` is what its rounding errors are proportional to.
struct Reference {
  std::vector<double> values, scale;
};

// r - a x; a: m rows of n floats, lda apart.
Reference residual_on_cpu(const std::vector<float>& a, int lda, const std::vector<float>& x,
                          const std::vector<float>& r) {
  Reference out{{r.begin(), r.end()}, {}};
  for (size_t row = 0; row < r.size(); ++row) {
    out.scale.push_back(std::fabs(r[row]));
    for (size_t col = 0; col < x.size(); ++col) {
      const double term = static_cast<double>(a[row * lda + col]) * x[col];
      out.values[row] -= term;
      out.scale[row] += std::fabs(term);
    }
  }
  return out;
}

// n elements of x, incx apart, times n of y.
double product_on_cpu(int n, const std::vector<float>& x, int incx, const std::vector<float>& y,
                      int incy) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(x[i * incx]) * y[i * incy];
  return sum;
}

// y - (x y) x.
Reference removed_on_cpu(const std::vector<float>& x, const std::vector<float>& y) {
  const int n = static_cast<int>(x.size());
  const double along = product_on_cpu(n, x, 1, y, 1);
  Reference out;
  for (int i = 0; i < n; ++i) {
    out.values.push_back(y[i] - along * x[i]);
    out.scale.push_back(std::fabs(y[i]) + std::fabs(x[i]) * std::sqrt(1.0 * n));
  }
  return out;
}

// Of length 1, to within the rounding of its elements.
std::vector<float> unit_vector(int n) {
  std::vector<float> x = kit::random_floats(n);
  const double length = std::sqrt(product_on_cpu(n, x, 1, x, 1));
  for (float& value : x) value = static_cast<float>(value / length);
  return x;
}

// A learner's function called with a handle in `mode`: it has to succeed, and to leave the mode.
kit::Run run_with(const Handle& handle, cublasPointerMode_t mode, const std::string& function,
                  const std::function<cublasStatus_t()>& call) {
  cublasSetPointerMode(handle.get(), mode);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] { return status = call(); });
  expect_success(function, status);
  cublasPointerMode_t after = mode;
  cublasGetPointerMode(handle.get(), &after);
  if (after != mode) {
    kit::fail(function +
              " has changed the pointer mode of the handle, and left it so. The next "
              "code that uses the handle passes its scalars in the old mode.");
  }
  return run;
}

struct System {
  int m, n, lda;
};
std::ostream& operator<<(std::ostream& out, const System& s) {
  return out << s.m << " x " << s.n << ", lda = " << s.lda;
}

void check_residual(const System& s, bool exact, cublasPointerMode_t mode = kHost) {
  const auto values = [&](size_t count) {
    return exact ? kit::random_integer_floats(count) : kit::random_floats(count);
  };
  const size_t size = s.m == 0 || s.n == 0 ? 0 : static_cast<size_t>(s.m - 1) * s.lda + s.n;
  const std::vector<float> a = values(size), x = values(s.n), r = values(s.m);
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a", at_end);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", at_end);
  const auto d_r = kit::DeviceBuffer<float>::inout(r, "r", at_end);
  const Handle handle;
  run_with(handle, mode, "launch_residual", [&] {
    return launch_residual(handle.get(), s.m, s.n, d_a.get(), s.lda, d_x.get(), d_r.get());
  });
  const Reference expected = residual_on_cpu(a, s.lda, x, r);
  kit::expect_near(d_r, expected.values,
                   exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, expected.scale));
}

struct Strides {
  int n, incx, incy;
};
std::ostream& operator<<(std::ostream& out, const Strides& s) {
  return out << s.n << ", incx = " << s.incx << ", incy = " << s.incy;
}

// From the first element of a vector to its last.
size_t span(int n, int step) { return n == 0 ? 0 : static_cast<size_t>(n - 1) * step + 1; }

void check_cosine(const Strides& s, float factor_x = 1, float factor_y = 1,
                  cublasPointerMode_t mode = kHost) {
  std::vector<float> x = kit::random_floats(span(s.n, s.incx));
  std::vector<float> y = kit::random_floats(span(s.n, s.incy));
  for (float& value : x) value *= factor_x;
  for (float& value : y) value *= factor_y;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::input(y, "y", kit::Placement::kAtEnd);
  const Handle handle;
  float got = std::nanf("");
  run_with(handle, mode, "cosine",
           [&] { return cosine(handle.get(), s.n, d_x.get(), s.incx, d_y.get(), s.incy, &got); });
  const double lengths = std::sqrt(product_on_cpu(s.n, x, s.incx, x, s.incx)) *
                         std::sqrt(product_on_cpu(s.n, y, s.incy, y, s.incy));
  const double expected = lengths == 0 ? 0 : product_on_cpu(s.n, x, s.incx, y, s.incy) / lengths;
  kit::expect_near("the cosine", {got}, {expected}, kit::Tolerance::units(16, {1}));
}

// The product of x and y is a float, that of their lengths is not: 2.7e38 and 9e38.
void check_lengths_whose_product_is_no_float() {
  const auto d_x = kit::DeviceBuffer<float>::input({3e19f, 0.0f}, "x");
  const auto d_y = kit::DeviceBuffer<float>::input({0.9e19f, 2.862e19f}, "y");
  const Handle handle;
  float result = std::nanf("");
  run_with(handle, kHost, "cosine",
           [&] { return cosine(handle.get(), 2, d_x.get(), 1, d_y.get(), 1, &result); });
  if (std::abs(result - 0.3f) < 1e-4f) return;
  kit::fail(
      "*result is " + std::to_string(result) +
      ", expected 0.3. |x| and |y| are 3e19 each, and x y is 2.7e38: all of these are floats. "
      "Which number on the way to the result is none?");
}

kit::Run check_remove(int n, cublasPointerMode_t mode = kHost) {
  const std::vector<float> x = unit_vector(n), y = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::inout(y, "y", kit::Placement::kAtEnd);
  const auto d_scalar = kit::DeviceBuffer<float>::output(1, "scalar", kit::Placement::kAtEnd);
  const Handle handle;
  const kit::Run run = run_with(handle, mode, "launch_remove", [&] {
    return launch_remove(handle.get(), n, d_x.get(), d_y.get(), d_scalar.get());
  });
  const Reference expected = removed_on_cpu(x, y);
  kit::expect_near(d_y, expected.values, kit::Tolerance::units(16, expected.scale));
  return run;
}

// Without a handle cuBLAS refuses every call: the learner's function has to say so.
void check_refusal(const std::string& function,
                   const std::function<cublasStatus_t(float* d_floats)>& call) {
  const auto d_floats = kit::DeviceBuffer<float>::inout(std::vector<float>(16, 0.5f), "x and y");
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] { return status = call(d_floats.get()); });
  expect_refusal(function, status);
}

}  // namespace

TEST(CublasVectors, ResidualsOfRowMajorMatrices) {
  RecordProperty("todo", 1);
  kit::for_each(
      "a",
      std::vector<System>{
          {2, 2, 2}, {3, 2, 2}, {33, 65, 65}, {65, 33, 40}, {1, 100, 100}, {100, 1, 3}, {1, 1, 1}},
      [](const System& s) { check_residual(s, true); });
}

TEST(CublasVectors, ResidualsOfEmptySystems) {
  RecordProperty("todo", 1);
  kit::for_each("a", std::vector<System>{{0, 5, 5}, {5, 0, 1}},
                [](const System& s) { check_residual(s, true); });
  check_residual({5, 4, 4}, true);  // the same launcher must work here
}

TEST(CublasVectors, ResidualsRoundAsFloatsDo) {
  RecordProperty("todo", 1);
  check_residual({40, 300, 300}, false);
}

TEST(CublasVectors, ResidualsReturnWhatWasRefused) {
  RecordProperty("todo", 1);
  check_refusal("launch_residual", [](float* d_floats) {
    return launch_residual(nullptr, 2, 2, d_floats, 2, d_floats + 4, d_floats + 8);
  });
}

TEST(CublasVectors, CosinesOfEveryStep) {
  RecordProperty("todo", 2);
  kit::for_each(
      "n",
      std::vector<Strides>{{1, 1, 1}, {33, 1, 1}, {1000, 1, 1}, {33, 3, 1}, {33, 1, 7}, {64, 5, 2}},
      [](const Strides& s) { check_cosine(s); });
}

TEST(CublasVectors, CosinesOfVectorsWithoutALength) {
  RecordProperty("todo", 2);
  check_cosine({20, 1, 1}, 1, 0);
  check_cosine({20, 1, 1}, 0, 1);
  check_cosine({0, 1, 1});
  check_cosine({20, 1, 1});
}

TEST(CublasVectors, CosinesOfVeryLongVectors) {
  RecordProperty("todo", 2);
  check_cosine({100, 1, 1}, 1e25f, 1e-10f);  // the square of x is no float
  check_cosine({100, 1, 1}, 1e-10f, 1e25f);
  check_cosine({100, 1, 1}, 1e-33f, 1e30f);  // x is short, and has a length
  check_lengths_whose_product_is_no_float();
}

TEST(CublasVectors, CosinesReturnWhatWasRefused) {
  RecordProperty("todo", 2);
  float result = 0;
  check_refusal("cosine", [&](float* d_floats) {
    return cosine(nullptr, 4, d_floats, 1, d_floats + 4, 1, &result);
  });
}

TEST(CublasVectors, RemovesWhatPointsAlongX) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{1, 2, 33, 1000}, [](int n) { check_remove(n); });
}

TEST(CublasVectors, RemovingReturnsWhatWasRefused) {
  RecordProperty("todo", 3);
  check_refusal("launch_remove", [](float* d_floats) {
    return launch_remove(nullptr, 4, d_floats, d_floats + 4, d_floats + 8);
  });
}

TEST(CublasVectors, EveryCallTakesAHandleInAnyMode) {
  RecordProperty("todo", 3);
  check_residual({9, 33, 33}, true, kDevice);
  check_cosine({33, 1, 1}, 1, 1, kDevice);
  check_remove(33, kDevice);
}

TEST(CublasVectors, RemovingNeverWaits) {
  RecordProperty("todo", 3);
  constexpr int kSize = 100;
  const std::vector<float> x = unit_vector(kSize), y = kit::random_floats(kSize);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::inout(y, "y");
  const auto d_scalar = kit::DeviceBuffer<float>::output(1, "scalar");
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  {
    const Handle handle(stream);
    bool replayed = false;
    kit::run([&] {
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t replay = nullptr;
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
      const cublasStatus_t status =
          launch_remove(handle.get(), kSize, d_x.get(), d_y.get(), d_scalar.get());
      const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
      const cudaError_t refused = cudaGetLastError();  // a call in between, status unread
      if (status == CUBLAS_STATUS_SUCCESS && ended == cudaSuccess && refused == cudaSuccess &&
          cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess) {
        replayed = cudaGraphLaunch(replay, stream) == cudaSuccess;
        cudaStreamSynchronize(stream);
        cudaGraphExecDestroy(replay);
      }
      if (graph != nullptr) cudaGraphDestroy(graph);
    });
    if (!replayed) {
      kit::fail(
          "launch_remove cannot be captured into a graph. A sum that goes to the host has to "
          "be waited for, and a graph waits for nothing. With the device pointer mode it "
          "stays in d_scalar, for the calls behind it.");
    }
  }
  const Reference expected = removed_on_cpu(x, y);
  kit::expect_near(d_y, expected.values, kit::Tolerance::units(16, expected.scale));
  cudaStreamDestroy(stream);
}

TEST(CublasVectors, ReadsVectorsOnceForEachSum) {
  RecordProperty("todo", 3);
  constexpr int kSize = 1000;
  const kit::Run run = check_remove(kSize);
  kit::budget("words loaded per element when removing",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes) / 4, kSize),
              kit::at_most(4.1),
              "The sum reads x and y once, and so does the update of y; the scalar is one word");
}

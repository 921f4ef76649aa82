// Tests of 09/17 cuSOLVER, least squares.
#include "17_cusolver_least_squares.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/on_return.h"
#include "kit/stream.h"
#include "support.h"

namespace {

void expect_success(const std::string& function, cusolverStatus_t status) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  kit::fail(function + " returned the cusolverStatus_t " +
            std::to_string(static_cast<int>(status)) +
            (status == CUSOLVER_STATUS_INVALID_VALUE
                 ? ", CUSOLVER_STATUS_INVALID_VALUE: a size, a leading dimension or the work space "
                   "is too small."
                 : ". cusolver_common.h lists them."));
}

struct Sizes {
  int m, n;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.m << " equations, " << s.n << " unknowns";
}

// Reference in double: Gram-Schmidt, twice, column by column. a: m x n, column-major.
struct Fit {
  std::vector<double> x;
  double residual;
};
Fit fit_on_cpu(const Sizes& s, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> q(a.begin(), a.end()), r(static_cast<size_t>(s.n) * s.n, 0);
  std::vector<double> rest(b.begin(), b.end()), turned(s.n);
  // Takes the part along column j of q out of v, and returns its length.
  const auto remove = [&](double* v, int j) {
    double along = 0;
    for (int i = 0; i < s.m; ++i) along += q[j * s.m + i] * v[i];
    for (int i = 0; i < s.m; ++i) v[i] -= along * q[j * s.m + i];
    return along;
  };
  for (int col = 0; col < s.n; ++col) {
    double* const v = &q[static_cast<size_t>(col) * s.m];
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < col; ++j) r[j + col * s.n] += remove(v, j);
    }
    double square = 0;
    for (int i = 0; i < s.m; ++i) square += v[i] * v[i];
    r[col + col * s.n] = std::sqrt(square);
    for (int i = 0; i < s.m; ++i) v[i] /= std::sqrt(square);
    turned[col] = remove(rest.data(), col);
  }
  Fit fit = {turned, 0};
  for (int row = s.n - 1; row >= 0; --row) {
    for (int col = row + 1; col < s.n; ++col) fit.x[row] -= r[row + col * s.n] * fit.x[col];
    fit.x[row] /= r[row + row * s.n];
  }
  for (const double value : rest) fit.residual += value * value;
  fit.residual = std::sqrt(fit.residual);
  return fit;
}

// Handles in a stream that waits for no other, and the work space of one problem.
class Setting {
 public:
  Setting() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    expect_success("cusolverDnCreate", cusolverDnCreate(&solver_));
    expect_success("cusolverDnSetStream", cusolverDnSetStream(solver_, stream_));
  }
  ~Setting() {
    cusolverDnDestroy(solver_);
    cudaStreamDestroy(stream_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  cusolverDnHandle_t solver() const { return solver_; }
  cudaStream_t stream() const { return stream_; }

 private:
  cusolverDnHandle_t solver_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

int work_size_of(const Setting& setting, const Sizes& s, float* d_a, float* d_tau, float* d_b) {
  int floats = -1;
  expect_success("work_size", work_size(setting.solver(), s.m, s.n, d_a, d_tau, d_b, &floats));
  int least = 0;
  cusolverDnSgeqrf_bufferSize(setting.solver(), s.m, s.n, d_a, s.m, &least);
  if (floats < least) {
    kit::fail("work_size says " + std::to_string(floats) + " floats, and cusolverDnSgeqrf alone " +
              "needs " + std::to_string(least) + ": take the larger of the two answers.");
  }
  return std::max(floats, least);
}

// What the three functions make of a and b.
struct Got {
  std::vector<float> x;
  float residual;
};
Got fit(const Sizes& s, const std::vector<float>& a, const std::vector<float>& b) {
  const auto d_a = kit::DeviceBuffer<float>::inout(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::inout(b, "b");
  const auto d_tau = kit::DeviceBuffer<float>::output(s.n, "tau");
  const auto d_info = kit::DeviceBuffer<int>::output(1, "info");
  const Setting setting;
  const Handle blas(setting.stream());
  const int floats = work_size_of(setting, s, d_a.get(), d_tau.get(), d_b.get());
  const auto d_work = kit::DeviceBuffer<float>::output(floats, "work");
  Got got = {{}, -1};
  kit::OnReturn back;
  kit::run([&] {
    expect_success("factorise", factorise(setting.solver(), s.m, s.n, d_a.get(), d_b.get(),
                                          {d_work.get(), floats, d_tau.get(), d_info.get()}));
    expect_success("solve", solve(blas.get(), s.m, s.n, d_a.get(), d_b.get(), &got.residual));
    back.now();
    cudaStreamSynchronize(setting.stream());
  });
  back.expect_done("solve");
  const std::vector<int> info = d_info.download();
  if (info[0] != 0) {
    kit::fail("info is " + std::to_string(info[0]) + ": parameter " + std::to_string(-info[0]) +
              " of the last step is not as it must be.");
  }
  const std::vector<float> all = d_b.download();
  got.x.assign(all.begin(), all.begin() + s.n);
  return got;
}

std::vector<float> sample_places(int m) {
  std::vector<float> t;
  for (int i = 0; i < m; ++i) t.push_back(static_cast<float>(i) / static_cast<float>(m - 1));
  return t;
}

std::vector<float> powers_of(const std::vector<float>& t, int n) {
  const auto d_t = kit::DeviceBuffer<float>::input(t, "t");
  const auto d_a = kit::DeviceBuffer<float>::output(t.size() * n, "a");
  const kit::Stream stream;
  kit::run([&] {
    launch_powers(d_t.get(), d_a.get(), static_cast<int>(t.size()), n, stream.get());
    cudaStreamSynchronize(stream.get());
  });
  return d_a.download();
}

}  // namespace

TEST(CusolverLeastSquares, PowersOfEveryPlace) {
  RecordProperty("todo", 1);
  const std::vector<float> t = {0, 1, -1, 2, -2, 0.5f, -0.25f};
  for (const int n : {1, 6}) {
    std::vector<double> expected;
    for (int col = 0; col < n; ++col) {
      for (const float place : t) expected.push_back(std::pow(place, col));
    }
    kit::expect_near("a", powers_of(t, n), expected, kit::Tolerance::units(8));
  }
}

TEST(CusolverLeastSquares, PowersOfManyPlaces) {
  RecordProperty("todo", 1);
  const int m = 1 << 28, n = 9;
  kit::at_largest("m = 2^28, n = 9", [&] {
    const auto d_t = kit::LargeArray<float>::input(m, "t", {1, -1, 0, 1, 1, -1, 1});
    const auto d_a = kit::LargeArray<float>::output(static_cast<size_t>(m) * n, "a");
    kit::run([&] { launch_powers(d_t.get(), d_a.get(), m, n, nullptr); });
    kit::expect_at_ends(d_a, [&](size_t i) { return std::pow(d_t.at(i % m), i / m); });
  });
}

TEST(CusolverLeastSquares, AsksForEnoughSpace) {
  RecordProperty("todo", 1);
  kit::for_each(
      "problem", std::vector<Sizes>{{100, 4}, {1000, 33}, {2, 1}, {300, 200}}, [](const Sizes& s) {
        const auto d_a = kit::DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "a");
        const auto d_b = kit::DeviceBuffer<float>::output(s.m, "b");
        const auto d_tau = kit::DeviceBuffer<float>::output(s.n, "tau");
        const Setting setting;
        work_size_of(setting, s, d_a.get(), d_tau.get(), d_b.get());
      });
}

TEST(CusolverLeastSquares, TurnsBWithoutStretchingIt) {
  RecordProperty("todo", 2);
  const Sizes s = {200, 5};
  const std::vector<float> a = kit::random_floats(static_cast<size_t>(s.m) * s.n);
  const std::vector<float> b = kit::random_floats(s.m);
  const auto d_a = kit::DeviceBuffer<float>::inout(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::inout(b, "b");
  const auto d_tau = kit::DeviceBuffer<float>::output(s.n, "tau");
  const auto d_info = kit::DeviceBuffer<int>::output(1, "info");
  const Setting setting;
  const int floats = work_size_of(setting, s, d_a.get(), d_tau.get(), d_b.get());
  const auto d_work = kit::DeviceBuffer<float>::output(floats, "work");
  kit::run([&] {
    expect_success("factorise", factorise(setting.solver(), s.m, s.n, d_a.get(), d_b.get(),
                                          {d_work.get(), floats, d_tau.get(), d_info.get()}));
    cudaStreamSynchronize(setting.stream());
  });
  const std::vector<float> turned = d_b.download();
  if (turned == b) kit::fail("b is as it was: cusolverDnSormqr multiplies it by Q^T.");
  double before = 0, after = 0, behind = 0;
  for (int i = 0; i < s.m; ++i) {
    before += static_cast<double>(b[i]) * b[i];
    after += static_cast<double>(turned[i]) * turned[i];
    if (i >= s.n) behind += static_cast<double>(turned[i]) * turned[i];
  }
  kit::expect_near("the length of Q^T b", {static_cast<float>(std::sqrt(after))},
                   {std::sqrt(before)}, kit::Tolerance::relative(1e-5));
  kit::expect_near("the length of what stands behind the triangle",
                   {static_cast<float>(std::sqrt(behind))}, {fit_on_cpu(s, a, b).residual},
                   kit::Tolerance::relative(1e-4));
}

TEST(CusolverLeastSquares, FindsTheClosestSolution) {
  RecordProperty("todo", 3);
  kit::for_each("problem", std::vector<Sizes>{{2, 1}, {33, 5}, {100, 31}, {1000, 8}},
                [](const Sizes& s) {
                  const std::vector<float> a = kit::random_floats(static_cast<size_t>(s.m) * s.n);
                  const std::vector<float> b = kit::random_floats(s.m);
                  const Got got = fit(s, a, b);
                  const Fit expected = fit_on_cpu(s, a, b);
                  kit::expect_norm_near("x", got.x, expected.x, 1e-4);
                  kit::expect_near("the residual", {got.residual}, {expected.residual},
                                   kit::Tolerance::relative(1e-4));
                });
}

TEST(CusolverLeastSquares, ReturnsWhatWasRefused) {
  RecordProperty("todo", 3);
  const Sizes s = {33, 5};
  const auto d_a = kit::DeviceBuffer<float>::inout(
      kit::random_floats(static_cast<size_t>(s.m) * s.n, 0.5f, 2), "a");
  const auto d_b = kit::DeviceBuffer<float>::inout(kit::random_floats(s.m), "b");
  const auto d_tau = kit::DeviceBuffer<float>::output(s.n, "tau");
  const auto d_info = kit::DeviceBuffer<int>::output(1, "info");
  const Setting setting;
  const Handle blas(setting.stream());
  int floats = 0;
  kit::run([&] {
    return work_size(setting.solver(), s.m, s.n, d_a.get(), d_tau.get(), d_b.get(), &floats);
  });
  const auto d_work = kit::DeviceBuffer<float>::output(floats, "work");
  kit::run([&] {
    return factorise(setting.solver(), s.m, s.n, d_a.get(), d_b.get(),
                     {d_work.get(), floats, d_tau.get(), d_info.get()});
  });
  float residual = 0;
  kit::run([&] { return solve(blas.get(), s.m, s.n, d_a.get(), d_b.get(), &residual); });
}

TEST(CusolverLeastSquares, FitsAPolynomialOfWhichLittleIsLeftInFloats) {
  RecordProperty("todo", 3);
  // Powers 0 to 5 over [0, 1] are nearly dependent: a^T a has lost its last digits.
  const Sizes s = {101, 6};
  const std::vector<float> t = sample_places(s.m), a = powers_of(t, s.n);
  const std::vector<double> coefficients = {1, -2, 3, 0.5, -1, 2};
  std::vector<float> b;
  for (int row = 0; row < s.m; ++row) {
    double sum = 0;
    for (int col = 0; col < s.n; ++col) sum += coefficients[col] * a[row + col * s.m];
    b.push_back(static_cast<float>(sum));
  }
  kit::expect_norm_near("the coefficients", fit(s, a, b).x, fit_on_cpu(s, a, b).x, 2e-3);
}

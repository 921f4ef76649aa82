// Tests of 09/20 Fit twice. The reference is in double, by normal equations and Cholesky's factors.
#include "20_fit_twice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <random>
#include <vector>

#include "kit/kit.h"
#include "support.h"

namespace {

struct Sizes {
  int m, n, keep;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.m << " equations, " << s.n << " unknowns, " << s.keep << " kept";
}

struct Problem {
  std::vector<float> a, b;
};

// m - keep of the equations are wrong, by 4 to 8 in either direction; the others by 2^-6 at most.
Problem problem_of(const Sizes& s) {
  std::mt19937 random(static_cast<unsigned>(s.m * 41 + s.n));
  std::uniform_real_distribution<float> any(-1.0f, 1.0f);
  Problem p;
  std::vector<float> x(s.n);
  for (float& value : x) value = any(random);
  for (int i = 0; i < s.m * s.n; ++i) p.a.push_back(any(random));
  std::vector<int> order(s.m);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  p.b.resize(s.m);
  for (int place = 0; place < s.m; ++place) {
    const int row = order[place];
    float side = 0.015625f * any(random);
    for (int col = 0; col < s.n; ++col) side += p.a[row * s.n + col] * x[col];
    const float wrong = 4.0f + 4.0f * std::fabs(any(random));
    if (place >= s.keep) side += place % 2 == 0 ? wrong : -wrong;
    p.b[row] = side;
  }
  return p;
}

// The x that minimises |a x - b| over these rows.
std::vector<double> fit_on_cpu(const Problem& p, const std::vector<int>& rows, int n) {
  std::vector<double> g(n * n), x(n);
  for (const int row : rows) {
    const float* const a = &p.a[static_cast<size_t>(row) * n];
    for (int i = 0; i < n; ++i) {
      x[i] += static_cast<double>(a[i]) * p.b[row];
      for (int j = 0; j <= i; ++j) g[i * n + j] += static_cast<double>(a[i]) * a[j];
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) g[j * n + j] -= g[j * n + k] * g[j * n + k];
    g[j * n + j] = std::sqrt(g[j * n + j]);
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) g[i * n + j] -= g[i * n + k] * g[j * n + k];
      g[i * n + j] /= g[j * n + j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= g[i * n + k] * x[k];
    x[i] /= g[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) x[i] -= g[k * n + i] * x[k];
    x[i] /= g[i * n + i];
  }
  return x;
}

struct Answer {
  std::vector<double> x;
  std::vector<int> kept;
};
Answer answer_on_cpu(const Problem& p, const Sizes& s) {
  std::vector<int> rows(s.m);
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<double> first = fit_on_cpu(p, rows, s.n);
  std::vector<double> far(s.m);
  for (int row = 0; row < s.m; ++row) {
    double value = -static_cast<double>(p.b[row]);
    for (int col = 0; col < s.n; ++col) value += p.a[row * s.n + col] * first[col];
    far[row] = std::fabs(value);
  }
  std::sort(rows.begin(), rows.end(), [&](int l, int r) { return far[l] < far[r]; });
  double largest = 0;
  for (const float side : p.b) largest = std::max(largest, std::fabs(static_cast<double>(side)));
  // What the header promises: who is kept does not hang on the last digits.
  if (s.keep < s.m) {
    EXPECT_GT(far[rows[s.keep]] - far[rows[s.keep - 1]], std::ldexp(largest, -10)) << s;
  }
  Answer answer;
  answer.kept.assign(rows.begin(), rows.begin() + s.keep);
  std::sort(answer.kept.begin(), answer.kept.end());
  answer.x = fit_on_cpu(p, answer.kept, s.n);
  return answer;
}

// A stream that waits for no other, and both handles in it.
class Setting {
 public:
  Setting() {
    cusolverDnCreate(&solver_);
    cusolverDnSetStream(solver_, blas_.stream());
  }
  ~Setting() { cusolverDnDestroy(solver_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  cublasHandle_t blas() const { return blas_.get(); }
  cusolverDnHandle_t solver() const { return solver_; }
  cudaStream_t stream() const { return blas_.stream(); }
  void expect_unchanged() const {
    blas_.expect_unchanged();
    cudaStream_t stream = nullptr;
    cusolverDnGetStream(solver_, &stream);
    if (stream != this->stream()) kit::fail("The handle of cuSOLVER has another stream.");
  }

 private:
  StreamHandle blas_;
  cusolverDnHandle_t solver_ = nullptr;
};

kit::Run check(const Problem& p, const Sizes& s) {
  const auto d_a = kit::DeviceBuffer<float>::input(p.a, "a", kit::Placement::kAtEnd);
  const auto d_b = kit::DeviceBuffer<float>::input(p.b, "b", kit::Placement::kAtEnd);
  const auto d_x = kit::DeviceBuffer<float>::output(s.n, "x");
  const auto d_kept = kit::DeviceBuffer<int>::output(s.keep, "kept");
  const Setting setting;
  const kit::Run run = kit::run([&] {
    return fit_twice(setting.blas(), setting.solver(), d_a.get(), d_b.get(), d_x.get(),
                     d_kept.get(), s.m, s.n, s.keep, setting.stream());
  });
  setting.expect_unchanged();
  const Answer answer = answer_on_cpu(p, s);
  kit::expect_equal(d_kept, answer.kept);
  double largest = 0;
  for (const double value : answer.x) largest = std::max(largest, std::fabs(value));
  kit::expect_near(d_x, answer.x, kit::Tolerance::absolute(std::ldexp(largest, -13)));
  return run;
}

void check_all(const std::vector<Sizes>& all) {
  kit::for_each("problem", all, [](const Sizes& s) { check(problem_of(s), s); });
}

}  // namespace

TEST(FitTwice, LeavesTheWrongEquationsOut) {
  RecordProperty("todo", 1);
  check_all({{40, 3, 36}, {300, 8, 270}, {700, 1, 650}});
}

TEST(FitTwice, ByHand) {
  RecordProperty("todo", 1);
  // x = 1, 1, 1, 1 and 9: the mean is 2.6, the last is furthest from it, the mean of the others 1.
  check({{1, 1, 1, 1, 1}, {1, 1.25f, 0.75f, 1, 9}}, {5, 1, 4});
}

TEST(FitTwice, KeepsAllRows) {
  RecordProperty("todo", 1);
  check_all({{100, 4, 100}, {33, 2, 33}});
}

TEST(FitTwice, SolvesAsManyEquationsAsUnknowns) {
  RecordProperty("todo", 1);
  // Nothing is over: x meets every equation. Turned by a little, so that the condition is small.
  Problem p = {std::vector<float>(36), {1, -2, 3, 0.5f, 0, 4}};
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) p.a[i * 6 + j] = i == j ? 1.0f : (i < j ? 0.125f : -0.125f);
  }
  check(p, {6, 6, 6});
  check({{2}, {3}}, {1, 1, 1});
}

TEST(FitTwice, TakesThirtyTwoUnknowns) {
  RecordProperty("todo", 1);
  check_all({{1000, 32, 900}});
}

TEST(FitTwice, TakesManyEquations) {
  RecordProperty("todo", 1);
  check_all({{70'001, 2, 69'000}});
}

TEST(FitTwice, ReadsAFewTimes) {
  RecordProperty("todo", 1);
  const Sizes s = {2000, 24, 1900};
  const kit::Counters c = check(problem_of(s), s).counters();
  const double elements = static_cast<double>(s.m) * s.n;
  kit::budget("bytes loaded for each element of a",
              kit::ratio(static_cast<double>(c.global_load_bytes), elements), kit::at_most(40),
              "Copying the rows twice, factorising them twice and asking once how far each is off "
              "reads each element eight times or so; a sort needs the distances, not a",
              &kit::Counters::global_load_bytes);
  kit::budget("bytes stored for each element of a",
              kit::ratio(static_cast<double>(c.global_store_bytes), elements), kit::at_most(24),
              "Rows are copied once for each of both fits, and factorised in place",
              &kit::Counters::global_store_bytes);
}

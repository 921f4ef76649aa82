// Tests of 12/10 ReLU and max pool.
#include "10_relu_pool.h"

#include <cmath>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// x is n x c x h x w.
struct Sizes {
  int n, c, h, w;
  size_t input() const { return static_cast<size_t>(n) * c * h * w; }
  size_t output() const { return static_cast<size_t>(n) * c * (h / 2) * (w / 2); }
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w;
}

// Reference: both directions at once. Values are moved and not changed, so they are compared bit by
// bit.
struct Result {
  std::vector<float> y, dx;
};
Result relu_pool_on_cpu(const std::vector<float>& x, const std::vector<float>& dy, const Sizes& s) {
  Result result{{}, std::vector<float>(x.size())};
  for (int plane = 0; plane < s.n * s.c; ++plane) {
    for (int row = 0; row + 1 < s.h; row += 2) {
      for (int col = 0; col + 1 < s.w; col += 2) {
        const size_t corner = (static_cast<size_t>(plane) * s.h + row) * s.w + col;
        float greatest = 0;
        size_t from = x.size();  // none
        for (const size_t i : {corner, corner + 1, corner + s.w, corner + s.w + 1}) {
          if (x[i] > greatest) {
            greatest = x[i];
            from = i;
          }
        }
        if (from < x.size()) result.dx[from] = dy[result.y.size()];
        result.y.push_back(greatest);
      }
    }
  }
  return result;
}

constexpr auto kAtEnd = kit::Placement::kAtEnd;

void check_forward(const std::vector<float>& x, const Sizes& s) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(s.output(), "y", kAtEnd);
  kit::run([&] { launch_relu_pool_forward(d_x.get(), d_y.get(), s.n, s.c, s.h, s.w); });
  const std::vector<float> any(s.output());
  kit::expect_equal(d_y, relu_pool_on_cpu(x, any, s).y, kit::Shape(s.n * s.c, s.h / 2, s.w / 2));
}

kit::Run check_backward(const std::vector<float>& x, const Sizes& s, std::vector<float> dy = {}) {
  if (dy.empty()) dy = kit::random_floats(s.output());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kAtEnd);
  const auto d_dy = kit::DeviceBuffer<float>::input(dy, "dy", kAtEnd);
  const auto d_dx = kit::DeviceBuffer<float>::output(x.size(), "dx", kAtEnd);
  const kit::Run run = kit::run(
      [&] { launch_relu_pool_backward(d_x.get(), d_dy.get(), d_dx.get(), s.n, s.c, s.h, s.w); });
  kit::expect_equal(d_dx, relu_pool_on_cpu(x, dy, s).dx, kit::Shape(s.n * s.c, s.h, s.w));
  return run;
}

// One window; both layers of both networks; many planes.
const std::vector<Sizes> kEven = {
    {1, 1, 2, 2}, {2, 3, 28, 28}, {2, 5, 14, 14}, {3, 4, 12, 12}, {70, 5, 2, 4}};
const std::vector<Sizes> kOdd = {{1, 2, 3, 2}, {2, 1, 2, 3}, {2, 3, 7, 9}, {1, 1, 33, 65}};

}  // namespace

TEST(ReluPool, TakesTheGreatestOfEachWindow) {
  RecordProperty("todo", 1);
  const auto check = [](const Sizes& s) { check_forward(kit::random_floats(s.input()), s); };
  kit::for_each("x", kEven, check);
  kit::for_each("x", kOdd, check);
}

TEST(ReluPool, NegativeWindowsBecomeZero) {
  RecordProperty("todo", 1);
  const Sizes s = {2, 2, 6, 6};
  check_forward(kit::random_floats(s.input(), -2, -1), s);
}

TEST(ReluPool, HandsDyToTheValueThatBecameY) {
  RecordProperty("todo", 2);
  kit::for_each("x", kEven,
                [](const Sizes& s) { check_backward(kit::random_floats(s.input()), s); });
}

TEST(ReluPool, OfEqualValuesTheFirstGetsDy) {
  RecordProperty("todo", 2);
  const Sizes s = {3, 2, 8, 6};
  // Values from -1 to 2: most windows have their greatest more than once, some have no positive
  // one.
  check_backward(kit::random_integer_floats(s.input(), -1, 2), s);
}

TEST(ReluPool, ZeroAndBelowGetNothing) {
  RecordProperty("todo", 2);
  const Sizes s = {1, 3, 6, 8};
  check_backward(kit::random_floats(s.input(), -2, -1), s);
  check_backward(std::vector<float>(s.input(), 0.0f), s);
}

TEST(ReluPool, AnInfiniteDyReachesOneValueOnly) {
  RecordProperty("todo", 2);
  const Sizes s = {1, 2, 4, 6};
  std::vector<float> dy = kit::random_floats(s.output());
  dy[1] = std::numeric_limits<float>::infinity();
  dy[7] = -std::numeric_limits<float>::infinity();
  check_backward(kit::random_floats(s.input()), s, dy);
}

TEST(ReluPool, WritesRowsAndColumnsThatAreInNoWindow) {
  RecordProperty("todo", 3);
  kit::for_each("x", kOdd,
                [](const Sizes& s) { check_backward(kit::random_floats(s.input()), s); });
}

TEST(ReluPool, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("x",
                std::vector<Sizes>{
                    {65'537, 1, 2, 2}, {1, 65'537, 2, 2}, {1, 1, 131'074, 2}, {1, 1, 2, 131'074}},
                [](const Sizes& s) {
                  check_forward(kit::random_floats(s.input()), s);
                  check_backward(kit::random_floats(s.input()), s);
                });
}

TEST(ReluPool, TakesAsManyPlanesAsAnIntCounts) {
  RecordProperty("todo", 1);
  kit::at_largest("2^29 - 1 planes of 2 x 2", [] {
    const int planes = (1 << 29) - 1;
    const size_t size = static_cast<size_t>(planes) * 4;
    const auto x = kit::large_floats(size, "x"), dy = kit::large_floats(planes, "dy");
    const auto y = kit::LargeArray<float>::output(planes, "y");
    const auto dx = kit::LargeArray<float>::output(size, "dx");
    // The first of the greatest of a window, or 4.
    const auto place = [&](size_t window) {
      int greatest = 4;
      for (int k = 0; k < 4; ++k) {
        const float than = greatest == 4 ? 0.0f : x.at(4 * window + greatest);
        if (x.at(4 * window + k) > than) greatest = k;
      }
      return greatest;
    };
    kit::run([&] { launch_relu_pool_forward(x.get(), y.get(), 1, planes, 2, 2); });
    kit::expect_at_ends(y, [&](size_t i) { return place(i) == 4 ? 0.0f : x.at(4 * i + place(i)); });
    kit::run([&] { launch_relu_pool_backward(x.get(), dy.get(), dx.get(), planes, 1, 2, 2); });
    kit::expect_at_ends(dx, [&](size_t i) {
      return place(i / 4) == static_cast<int>(i % 4) ? dy.at(i / 4) : 0.0f;
    });
  });
}

TEST(ReluPool, TakesTheEndsOfTheRange) {
  RecordProperty("todo", 1);
  // Infinities, the greatest and the least floats, and both zeros, in every place of a window.
  const std::vector<float> ends = {INFINITY, -INFINITY, 3.4028235e38f, -3.4028235e38f,
                                   1e-45f,   -1e-45f,   0.0f,          -0.0f};
  const Sizes s = {16, 3, 6, 8};
  std::vector<float> x;
  for (const int i : kit::random_ints(s.input(), 0, 7)) x.push_back(ends[i]);
  check_forward(x, s);
  check_backward(x, s);
}

TEST(ReluPool, AcceptsNoImages) {
  RecordProperty("todo", 3);
  for (const Sizes& s : {Sizes{0, 2, 4, 4}, Sizes{1, 2, 4, 4}}) {
    check_forward(kit::random_floats(s.input()), s);
    check_backward(kit::random_floats(s.input()), s);
  }
}

TEST(ReluPool, ReadsEachValueOnce) {
  RecordProperty("todo", 2);
  const Sizes s = {4, 4, 28, 28};
  const kit::Counters c = check_backward(kit::random_floats(s.input()), s).counters();
  kit::budget("bytes loaded per window",
              kit::ratio(static_cast<double>(c.global_load_bytes), static_cast<double>(s.output())),
              kit::at_most(20), "Four values of x and one of dy: each lies in one window",
              &kit::Counters::global_load_bytes);
}

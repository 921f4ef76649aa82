// Tests of 12/02 Linear.
#include "02_linear.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

struct Layer {
  int n, in, out;
};
std::ostream& operator<<(std::ostream& out, const Layer& s) {
  return out << s.n << " x " << s.in << " to " << s.n << " x " << s.out;
}

// Host arrays of a layer: x is n x in, w out x in, b out, dy n x out.
struct Inputs {
  std::vector<float> x, w, b, dy;
};

// References in double from the definition; each scale is the same with absolute values, which
// rounding errors are proportional to.
struct Sums {
  std::vector<double> value, scale;
  explicit Sums(size_t size) : value(size), scale(size) {}
  void add(size_t i, double term) {
    value[i] += term;
    scale[i] += std::fabs(term);
  }
};

Sums forward_on_cpu(const Inputs& a, const Layer& s) {
  Sums y(static_cast<size_t>(s.n) * s.out);
  for (int i = 0; i < s.n; ++i) {
    for (int o = 0; o < s.out; ++o) {
      y.add(i * s.out + o, a.b[o]);
      for (int j = 0; j < s.in; ++j) {
        y.add(i * s.out + o, static_cast<double>(a.x[i * s.in + j]) * a.w[o * s.in + j]);
      }
    }
  }
  return y;
}

// Each term x w of the sums above hands dy to both factors; the term b hands it on as it is.
struct Gradients {
  Sums dx, dw, db;
};
Gradients backward_on_cpu(const Inputs& a, const Layer& s) {
  Gradients g{Sums(a.x.size()), Sums(a.w.size()), Sums(a.b.size())};
  for (int i = 0; i < s.n; ++i) {
    for (int o = 0; o < s.out; ++o) {
      const double dy = a.dy[i * s.out + o];
      g.db.add(o, dy);
      for (int j = 0; j < s.in; ++j) {
        g.dx.add(i * s.in + j, dy * a.w[o * s.in + j]);
        g.dw.add(o * s.in + j, dy * a.x[i * s.in + j]);
      }
    }
  }
  return g;
}

using Values = std::vector<float> (*)(size_t n);
std::vector<float> integers(size_t n) { return kit::random_integer_floats(n); }
std::vector<float> reals(size_t n) { return kit::random_floats(n); }
std::vector<float> infinite_at_the_ends(size_t n) {
  return kit::with_specials(reals(n), {{0, INFINITY}, {n - 1, -INFINITY}}).values;
}
std::vector<float> one_nan(size_t n) {
  return kit::with_specials(reals(n), {{n / 2, std::nanf("")}}).values;
}

Inputs inputs_of(const Layer& s, Values values) {
  const size_t x = static_cast<size_t>(s.n) * s.in, w = static_cast<size_t>(s.out) * s.in;
  const size_t y = static_cast<size_t>(s.n) * s.out;
  return {values(x), values(w), values(s.out), values(y)};
}

// Integers are summed without rounding, in any order.
kit::Tolerance tolerance(Values values, const Sums& sums) {
  return values == integers ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, sums.scale);
}

constexpr auto kAtEnd = kit::Placement::kAtEnd;

kit::Run check_forward(const Layer& s, Values values) {
  const Inputs in = inputs_of(s, values);
  const auto d_x = kit::DeviceBuffer<float>::input(in.x, "x", kAtEnd);
  const auto d_w = kit::DeviceBuffer<float>::input(in.w, "w", kAtEnd);
  const auto d_b = kit::DeviceBuffer<float>::input(in.b, "b", kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(in.dy.size(), "y", kAtEnd);
  const kit::Run run = kit::run(
      [&] { launch_linear_forward(d_x.get(), d_w.get(), d_b.get(), d_y.get(), s.n, s.in, s.out); });
  const Sums y = forward_on_cpu(in, s);
  kit::expect_near_or_nan(d_y, y.value, tolerance(values, y), kit::Shape(s.n, s.out));
  return run;
}

enum class Check { kProducts, kBias, kAll };

kit::Run check_backward(const Layer& s, Values values, Check what, bool wants_dx = true) {
  const Inputs in = inputs_of(s, values);
  const auto d_x = kit::DeviceBuffer<float>::input(in.x, "x", kAtEnd);
  const auto d_w = kit::DeviceBuffer<float>::input(in.w, "w", kAtEnd);
  const auto d_dy = kit::DeviceBuffer<float>::input(in.dy, "dy", kAtEnd);
  const auto d_dx = kit::DeviceBuffer<float>::output(wants_dx ? in.x.size() : 0, "dx", kAtEnd);
  const auto d_dw = kit::DeviceBuffer<float>::output(in.w.size(), "dw", kAtEnd);
  const auto d_db = kit::DeviceBuffer<float>::output(in.b.size(), "db", kAtEnd);
  const kit::Run run = kit::run([&] {
    launch_linear_backward(d_x.get(), d_w.get(), d_dy.get(), wants_dx ? d_dx.get() : nullptr,
                           d_dw.get(), d_db.get(), s.n, s.in, s.out);
  });
  const Gradients g = backward_on_cpu(in, s);
  if (what != Check::kBias) {
    if (wants_dx) {
      kit::expect_near_or_nan(d_dx, g.dx.value, tolerance(values, g.dx), kit::Shape(s.n, s.in));
    }
    kit::expect_near_or_nan(d_dw, g.dw.value, tolerance(values, g.dw), kit::Shape(s.out, s.in));
  }
  if (what != Check::kProducts) kit::expect_near_or_nan(d_db, g.db.value, tolerance(values, g.db));
  return run;
}

// One tile, then parts of tiles in every direction.
std::vector<Layer> small_layers() { return {{16, 16, 16}, {2, 3, 4}, {1, 1, 1}, {5, 40, 3}}; }
std::vector<Layer> awkward_layers() {
  return {{17, 33, 31}, {33, 100, 10}, {3, 65, 129}, {64, 72, 32}, {1, 127, 10}};
}

double sectors_per_load(const kit::Run& run) {
  return kit::ratio(static_cast<double>(run.counters().global_load_sectors),
                    static_cast<double>(run.counters().global_load_requests));
}

}  // namespace

TEST(Linear, MultipliesWithTheTransposeOfW) {
  RecordProperty("todo", 2);
  kit::for_each("x to y", small_layers(), [](const Layer& s) { check_forward(s, integers); });
}

TEST(Linear, ForwardCoversSizesThatAreNotTileMultiples) {
  RecordProperty("todo", 1);
  kit::for_each("x to y", awkward_layers(), [](const Layer& s) { check_forward(s, integers); });
}

// Special elements: kit::kSpecialSums says what sums of products make of them.
TEST(Linear, SpecialElementsReachTheirSumsAlone) {
  RecordProperty("todo", 1);
  kit::Cases cases;
  for (const Layer& s : {Layer{17, 33, 31}, Layer{2, 3, 4}}) {
    const auto check_both = [&](Values values) {
      check_forward(s, values);
      check_backward(s, values, Check::kAll);
    };
    cases.run("infinite first and last elements", [&] { check_both(infinite_at_the_ends); });
    cases.run("a NaN in each array", [&] { check_both(one_nan); });
  }
}

TEST(Linear, BackwardIsTwoMoreProducts) {
  RecordProperty("todo", 3);
  kit::for_each("x to y", small_layers(),
                [](const Layer& s) { check_backward(s, integers, Check::kProducts); });
}

TEST(Linear, BackwardCoversSizesThatAreNotTileMultiples) {
  RecordProperty("todo", 3);
  kit::for_each("x to y", awkward_layers(),
                [](const Layer& s) { check_backward(s, integers, Check::kProducts); });
}

TEST(Linear, TheBiasAddsUpTheBatch) {
  RecordProperty("todo", 4);
  kit::for_each("x to y",
                std::vector<Layer>{{8, 1, 32}, {1, 2, 3}, {100, 2, 10}, {33, 3, 65}, {0, 2, 5}},
                [](const Layer& s) { check_backward(s, integers, Check::kBias); });
}

TEST(Linear, LeavesOutDxIfNobodyWantsIt) {
  RecordProperty("todo", 3);
  check_backward({20, 18, 9}, integers, Check::kAll, false);
}

TEST(Linear, TakesEmptyBatchesAndLayers) {
  RecordProperty("todo", 3);
  kit::for_each("x to y", std::vector<Layer>{{0, 5, 7}, {5, 0, 7}, {5, 7, 0}}, [](const Layer& s) {
    check_forward(s, integers);
    check_backward(s, integers, Check::kAll);
  });
}

TEST(Linear, CoversEveryExtent) {
  RecordProperty("todo", 3);
  // More than 16 bits can count with a sign.
  kit::for_each("x to y", std::vector<Layer>{{33'001, 1, 2}, {2, 33'001, 1}, {1, 2, 33'001}},
                [](const Layer& s) {
                  check_forward(s, integers);
                  check_backward(s, integers, Check::kAll);
                });
}

TEST(Linear, ForwardTakesTheLargestLayers) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t n, size_t out) {
    const size_t in = 3;
    const auto x = kit::large_integers(n * in, "x"), w = kit::large_integers(out * in, "w");
    const auto b = kit::large_integers(out, "b");
    const auto y = kit::LargeArray<float>::output(n * out, "y");
    kit::run([&] {
      launch_linear_forward(x.get(), w.get(), b.get(), y.get(), static_cast<int>(n),
                            static_cast<int>(in), static_cast<int>(out));
    });
    kit::expect_at_ends(y, [&](size_t e) {
      float sum = b.at(e % out);
      for (size_t i = 0; i < in; ++i) sum += x.at(e / out * in + i) * w.at(e % out * in + i);
      return sum;
    });
  };
  kit::at_largest("2^19 x 4095", [&] { check_large(1 << 19, 4095); });
  kit::at_largest("4095 x 2^19", [&] { check_large(4095, 1 << 19); });
}

TEST(Linear, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::for_each("x to y", std::vector<Layer>{{40, 300, 24}}, [](const Layer& s) {
    check_forward(s, reals);
    check_backward(s, reals, Check::kAll);
  });
}

TEST(Linear, ReadsWholeSectors) {
  RecordProperty("todo", 1);
  const Layer s = {64, 160, 64};
  const kit::Run forward = check_forward(s, integers);
  const kit::Run backward = check_backward(s, integers, Check::kAll);
  const char* reason =
      "A half-warp loads 16 neighbouring floats, two sectors of 32 bytes, from a matrix and from a "
      "transposed one";
  kit::budget("sectors per load request, forward", sectors_per_load(forward), kit::at_most(4.1),
              reason, &kit::Counters::global_load_sectors);
  kit::budget("sectors per load request, backward", sectors_per_load(backward), kit::at_most(4.1),
              reason, &kit::Counters::global_load_sectors);
}

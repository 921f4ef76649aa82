// Tests of 08/12 conv2d, backward. The loss is sum of dy * y, so dy is its derivative by y.
#include "12_conv2d_backward.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "08_fft_convolution/test/conv_extents.h"
#include "08_fft_convolution/test/convolution.h"
#include "kit/kit.h"
#include "kit/special_values.h"

namespace {

ConvLayer layer_of(const kit::ConvSizes& s) { return {s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.pad}; }

// The loss in double, from the definition of the layer: no derivative was taken to write it.
double loss_on_cpu(const std::vector<double>& x, const std::vector<double>& f,
                   const std::vector<float>& dy, const kit::ConvSizes& s) {
  double loss = 0;
  for (size_t i = 0; i < dy.size(); ++i) {
    kit::for_each_product(s, i, [&](size_t in_x, size_t in_f) {
      loss += static_cast<double>(dy[i]) * x[in_x] * f[in_f];
    });
  }
  return loss;
}

// Gradients in double: every product f x of an output hands dy to both factors. The scales are the
// same with absolute values.
struct Gradients {
  std::vector<double> dx, df, dx_scale, df_scale;
};
Gradients gradients_on_cpu(const std::vector<float>& x, const std::vector<float>& f,
                           const std::vector<float>& dy, const kit::ConvSizes& s) {
  Gradients g{std::vector<double>(x.size()), std::vector<double>(f.size()),
              std::vector<double>(x.size()), std::vector<double>(f.size())};
  for (size_t i = 0; i < dy.size(); ++i) {
    kit::for_each_product(s, i, [&](size_t in_x, size_t in_f) {
      const double to_x = static_cast<double>(dy[i]) * f[in_f];
      const double to_f = static_cast<double>(dy[i]) * x[in_x];
      g.dx[in_x] += to_x;
      g.dx_scale[in_x] += std::fabs(to_x);
      g.df[in_f] += to_f;
      g.df_scale[in_f] += std::fabs(to_f);
    });
  }
  return g;
}

// Element i of dx: what the outputs that the pixel went into hand back, found from the pixel.
template <class Outputs, class Filters>
double input_gradient(const Outputs& dy, const Filters& f, const kit::ConvSizes& s, size_t i) {
  const int col = static_cast<int>(i % s.w), row = static_cast<int>(i / s.w % s.h);
  const size_t channel = i / s.w / s.h % s.c, image = i / s.w / s.h / s.c;
  double sum = 0;
  for (int k = 0; k < s.k; ++k) {
    for (int r = 0; r < s.r; ++r) {
      for (int c = 0; c < s.s; ++c) {
        const int to_row = row + s.pad - r, to_col = col + s.pad - c;
        if (to_row < 0 || to_row >= s.p() || to_col < 0 || to_col >= s.q()) continue;
        sum += static_cast<double>(dy.at(((image * s.k + k) * s.p() + to_row) * s.q() + to_col)) *
               f.at(((static_cast<size_t>(k) * s.c + channel) * s.r + r) * s.s + c);
      }
    }
  }
  return sum;
}

// Element i of df: all outputs that the weight is in.
template <class Outputs, class Pixels>
double filter_gradient(const Outputs& dy, const Pixels& x, const kit::ConvSizes& s, size_t i) {
  const int c = static_cast<int>(i % s.s), r = static_cast<int>(i / s.s % s.r);
  const size_t channel = i / s.s / s.r % s.c, k = i / s.s / s.r / s.c;
  double sum = 0;
  for (size_t image = 0; image < static_cast<size_t>(s.n); ++image) {
    for (int out = 0; out < s.p() * s.q(); ++out) {
      const int row = out / s.q() + r - s.pad, col = out % s.q() + c - s.pad;
      if (row < 0 || row >= s.h || col < 0 || col >= s.w) continue;
      sum += static_cast<double>(dy.at((image * s.k + k) * s.p() * s.q() + out)) *
             x.at(((image * s.c + channel) * s.h + row) * s.w + col);
    }
  }
  return sum;
}

struct Inputs {
  std::vector<float> x, f, dy;
};
Inputs integers(const kit::ConvSizes& s) {
  return {kit::random_integer_floats(kit::conv_input_size(s)),
          kit::random_integer_floats(kit::conv_filter_size(s)),
          kit::random_integer_floats(kit::conv_output_size(s))};
}

constexpr auto kAtEnd = kit::Placement::kAtEnd;

kit::DeviceBuffer<float> grad_input(const Inputs& in, const kit::ConvSizes& s) {
  const auto d_dy = kit::DeviceBuffer<float>::input(in.dy, "dy", kAtEnd);
  const auto d_f = kit::DeviceBuffer<float>::input(in.f, "f", kAtEnd);
  const auto d_dx = kit::DeviceBuffer<float>::output(in.x.size(), "dx", kAtEnd);
  kit::run([&] { launch_conv2d_grad_input(d_dy.get(), d_f.get(), d_dx.get(), layer_of(s)); });
  return d_dx;
}

kit::DeviceBuffer<float> grad_filter(const Inputs& in, const kit::ConvSizes& s) {
  const auto d_dy = kit::DeviceBuffer<float>::input(in.dy, "dy", kAtEnd);
  const auto d_x = kit::DeviceBuffer<float>::input(in.x, "x", kAtEnd);
  const auto d_df = kit::DeviceBuffer<float>::output(in.f.size(), "df", kAtEnd);
  kit::run([&] { launch_conv2d_grad_filter(d_dy.get(), d_x.get(), d_df.get(), layer_of(s)); });
  return d_df;
}

kit::Tolerance exactly() { return kit::Tolerance::absolute(0); }

void check_input(const kit::ConvSizes& s) {
  const Inputs in = integers(s);
  kit::expect_near(grad_input(in, s), gradients_on_cpu(in.x, in.f, in.dy, s).dx, exactly(),
                   kit::Shape(s.n * s.c, s.h, s.w));
}

void check_filter(const kit::ConvSizes& s) {
  const Inputs in = integers(s);
  kit::expect_near(grad_filter(in, s), gradients_on_cpu(in.x, in.f, in.dy, s).df, exactly(),
                   kit::Shape(s.k * s.c, s.r, s.s));
}

// One channel, one filter, one image; then more of each, and padding.
std::vector<kit::ConvSizes> first_layers() {
  return {{1, 1, 4, 5, 1, 1, 1, 0},
          {1, 1, 6, 7, 1, 3, 3, 0},
          {1, 1, 5, 6, 1, 3, 3, 1},
          {2, 3, 6, 5, 4, 3, 3, 1},
          {1, 2, 9, 8, 3, 2, 5, 0}};
}

// The derivative of the loss by value i, by a step to both sides. The loss is linear in each value,
// so the size of the step does not matter, but for rounding in double.
double difference(std::vector<double>& values, size_t i, const std::function<double()>& loss) {
  const double middle = values[i], step = 0.5;
  values[i] = middle + step;
  const double above = loss();
  values[i] = middle - step;
  const double below = loss();
  values[i] = middle;
  return (above - below) / (2 * step);
}

}  // namespace

TEST(Conv2dBackward, GradientOfTheInput) {
  RecordProperty("todo", 1);
  kit::for_each("x", first_layers(), check_input);
}

TEST(Conv2dBackward, GradientOfTheFilter) {
  RecordProperty("todo", 2);
  // At most 32 outputs in a plane: one warp has them all.
  kit::for_each("x",
                std::vector<kit::ConvSizes>{
                    {1, 1, 4, 5, 1, 1, 1, 0}, {1, 1, 5, 6, 1, 3, 3, 1}, {2, 3, 6, 5, 4, 3, 3, 1}},
                check_filter);
}

TEST(Conv2dBackward, AddsUpTheThreadsOfABlock) {
  RecordProperty("todo", 3);
  kit::for_each(
      "x",
      std::vector<kit::ConvSizes>{
          {1, 1, 9, 11, 1, 3, 3, 1}, {2, 1, 16, 17, 2, 3, 3, 1}, {3, 2, 20, 20, 2, 3, 3, 0}},
      check_filter);
}

TEST(Conv2dBackward, FiniteDifferencesAgree) {
  RecordProperty("todo", 1);
  const kit::ConvSizes s = {2, 3, 5, 6, 4, 3, 2, 1};
  const Inputs in = {kit::random_floats(kit::conv_input_size(s)),
                     kit::random_floats(kit::conv_filter_size(s)),
                     kit::random_floats(kit::conv_output_size(s))};
  const std::vector<float> dx = grad_input(in, s).download(), df = grad_filter(in, s).download();
  std::vector<double> x(in.x.begin(), in.x.end()), f(in.f.begin(), in.f.end());
  const auto loss = [&] { return loss_on_cpu(x, f, in.dy, s); };
  std::vector<double> by_x, by_f;
  std::vector<float> of_x, of_f;  // every seventh value of x, every fifth of f
  for (size_t i = 0; i < x.size(); i += 7) {
    of_x.push_back(dx[i]);
    by_x.push_back(difference(x, i, loss));
  }
  for (size_t i = 0; i < f.size(); i += 5) {
    of_f.push_back(df[i]);
    by_f.push_back(difference(f, i, loss));
  }
  kit::expect_near("dx against finite differences", of_x, by_x, kit::Tolerance::absolute(2e-5));
  kit::expect_near("df against finite differences", of_f, by_f, kit::Tolerance::absolute(2e-5));
}

TEST(Conv2dBackward, CoversLayersOfAnySize) {
  RecordProperty("todo", 1);
  kit::for_each("x", kit::awkward_convs(), [](const kit::ConvSizes& s) {
    check_input(s);
    check_filter(s);
  });
}

// Special elements of dy, and of x: kit::kSpecialSums says what the sums that they are in make of
// them. One of another place, times 0, is no zero outside.
TEST(Conv2dBackward, SpecialElementsReachTheirGradientsAlone) {
  RecordProperty("todo", 1);
  const kit::ConvSizes s = {2, 2, 7, 6, 3, 3, 3, 1};
  const auto floats = [](size_t n) { return kit::random_floats(n, 0.5f, 1.0f); };
  const auto check_both = [&](const Inputs& in) {
    const Gradients g = gradients_on_cpu(in.x, in.f, in.dy, s);
    kit::expect_near_or_nan(grad_input(in, s), g.dx, kit::Tolerance::units(16, g.dx_scale),
                            kit::Shape(s.n * s.c, s.h, s.w));
    kit::expect_near_or_nan(grad_filter(in, s), g.df, kit::Tolerance::units(16, g.df_scale),
                            kit::Shape(s.k * s.c, s.r, s.s));
  };
  const size_t in_x = kit::conv_input_size(s), in_f = kit::conv_filter_size(s);
  const size_t in_y = kit::conv_output_size(s);
  kit::for_each("dy", kit::special_summands(floats(in_y)), [&](const kit::SpecialArray& dy) {
    check_both({floats(in_x), floats(in_f), dy.values});
  });
  kit::for_each("x", kit::special_summands(floats(in_x)), [&](const kit::SpecialArray& x) {
    check_both({x.values, floats(in_f), floats(in_y)});
  });
}

TEST(Conv2dBackward, TheLayersOfChapter12) {
  RecordProperty("todo", 2);
  kit::for_each("x",
                std::vector<kit::ConvSizes>{{2, 1, 28, 28, 4, 3, 3, 1}, {1, 4, 14, 14, 6, 3, 3, 1}},
                [](const kit::ConvSizes& s) {
                  check_input(s);
                  check_filter(s);
                });
}

TEST(Conv2dBackward, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("x", kit::long_tiled_convs(), [](const kit::ConvSizes& s) {
    check_input(s);
    check_filter(s);
  });
}

// dx, and df, of nearly 2^31 elements, each of which is a sum of few products.
void check_large(const kit::ConvSizes& s, bool of_input) {
  std::ostringstream title;
  title << (of_input ? "dx" : "df") << " of x = " << s;
  kit::at_largest(title.str(), [&] {
    const auto dy = kit::large_integers(kit::conv_output_size(s), "dy");
    const auto other = of_input ? kit::large_integers(kit::conv_filter_size(s), "f")
                                : kit::large_integers(kit::conv_input_size(s), "x");
    const auto result = of_input ? kit::LargeArray<float>::output(kit::conv_input_size(s), "dx")
                                 : kit::LargeArray<float>::output(kit::conv_filter_size(s), "df");
    kit::run([&] {
      const auto launch = of_input ? launch_conv2d_grad_input : launch_conv2d_grad_filter;
      launch(dy.get(), other.get(), result.get(), layer_of(s));
    });
    kit::expect_at_ends(result, [&](size_t i) {
      return of_input ? input_gradient(dy, other, s, i) : filter_gradient(dy, other, s, i);
    });
  });
}

TEST(Conv2dBackward, TakesTheLargestInputs) {
  RecordProperty("todo", 1);
  check_large({1 << 20, 1, 43, 47, 1, 3, 3, 1}, true);
  check_large({1, 2, 32'769, 32'767, 1, 3, 3, 0}, true);  // 2^31 - 2 elements
  check_large({3, 1 << 20, 25, 27, 2, 3, 3, 1}, true);
}

TEST(Conv2dBackward, TakesTheLargestFilters) {
  RecordProperty("todo", 2);
  check_large({2, 227, 3, 3, 1 << 20, 3, 3, 0}, false);
  check_large({2, 43'691, 5, 4, 16'383, 3, 1, 0}, false);
}

TEST(Conv2dBackward, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  const kit::ConvSizes s = {2, 3, 12, 11, 4, 3, 3, 1};
  const Inputs in = {kit::random_floats(kit::conv_input_size(s)),
                     kit::random_floats(kit::conv_filter_size(s)),
                     kit::precision_tripwire_floats(kit::conv_output_size(s))};
  const Gradients g = gradients_on_cpu(in.x, in.f, in.dy, s);
  kit::expect_near(grad_input(in, s), g.dx, kit::Tolerance::units(16, g.dx_scale));
  kit::expect_near(grad_filter(in, s), g.df, kit::Tolerance::units(16, g.df_scale));
}

TEST(Conv2dBackward, ReadsWholeSectors) {
  RecordProperty("todo", 2);
  const kit::ConvSizes s = {4, 2, 16, 64, 2, 3, 3, 1};
  const Inputs in = integers(s);
  const auto d_dy = kit::DeviceBuffer<float>::input(in.dy, "dy");
  const auto d_x = kit::DeviceBuffer<float>::input(in.x, "x");
  const auto d_df = kit::DeviceBuffer<float>::output(in.f.size(), "df");
  const kit::Run run =
      kit::run([&] { launch_conv2d_grad_filter(d_dy.get(), d_x.get(), d_df.get(), layer_of(s)); });
  kit::budget("sectors per load request of the filter's gradient",
              kit::ratio(static_cast<double>(run.counters().global_load_sectors),
                         static_cast<double>(run.counters().global_load_requests)),
              kit::at_most(6),
              "The lanes of a warp take neighbouring outputs of one plane, so they read neighbours "
              "in dy and in x",
              &kit::Counters::global_load_sectors);
}

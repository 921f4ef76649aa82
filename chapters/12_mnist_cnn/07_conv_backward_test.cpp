// Tests of 12/07 convolution, backward. The loss is the sum of dy * y.
#include "07_conv_backward.h"

#include <algorithm>
#include <cmath>

#include "08_fft_convolution/test/conv_extents.h"
#include "08_fft_convolution/test/convolution.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/mistake.h"
#include "kit/same_bits.h"

namespace {

using Sizes = std::vector<kit::ConvSizes>;

// Filters of 3 x 3 with a border of one pixel.
kit::ConvSizes layer(int n, int c, int h, int w, int k) { return {n, c, h, w, k, 3, 3, 1}; }

struct Inputs {
  std::vector<float> x, w, dy;
};
Inputs integers(const kit::ConvSizes& s) {
  return {kit::random_integer_floats(kit::conv_input_size(s)),
          kit::random_integer_floats(kit::conv_filter_size(s)),
          kit::random_integer_floats(kit::conv_output_size(s))};
}

// Reference in double: each product w x of an output hands dy to both factors. The scales are the
// same sums of absolute values.
struct Gradients {
  std::vector<double> dx, dw, dx_scale, dw_scale;
};
Gradients gradients_on_cpu(const Inputs& in, const kit::ConvSizes& s) {
  Gradients g{std::vector<double>(in.x.size()), std::vector<double>(in.w.size()),
              std::vector<double>(in.x.size()), std::vector<double>(in.w.size())};
  for (size_t i = 0; i < in.dy.size(); ++i) {
    kit::for_each_product(s, i, [&](size_t in_x, size_t in_w) {
      const double to_x = static_cast<double>(in.dy[i]) * in.w[in_w];
      const double to_w = static_cast<double>(in.dy[i]) * in.x[in_x];
      g.dx[in_x] += to_x;
      g.dx_scale[in_x] += std::fabs(to_x);
      g.dw[in_w] += to_w;
      g.dw_scale[in_w] += std::fabs(to_w);
    });
  }
  return g;
}

struct Result {
  kit::DeviceBuffer<float> dx, dw;
  kit::Run run;
};
Result backward(const Inputs& in, const kit::ConvSizes& s, bool want_dx = true) {
  constexpr auto kAtEnd = kit::Placement::kAtEnd;
  const auto d_x = kit::DeviceBuffer<float>::input(in.x, "x", kAtEnd);
  const auto d_w = kit::DeviceBuffer<float>::input(in.w, "w", kAtEnd);
  const auto d_dy = kit::DeviceBuffer<float>::input(in.dy, "dy", kAtEnd);
  const auto d_dx = kit::DeviceBuffer<float>::output(want_dx ? in.x.size() : 0, "dx", kAtEnd);
  const auto d_dw = kit::DeviceBuffer<float>::output(in.w.size(), "dw", kAtEnd);
  const auto d_scratch =
      kit::DeviceBuffer<float>::output(conv_backward_scratch(s.n, s.c, s.k), "scratch", kAtEnd);
  const kit::Run run = kit::run([&] {
    launch_conv_backward(d_x.get(), d_w.get(), d_dy.get(), want_dx ? d_dx.get() : nullptr,
                         d_dw.get(), d_scratch.get(), s.n, s.c, s.h, s.w, s.k);
  });
  return {d_dx, d_dw, run};
}

const kit::Tolerance kExactly = kit::Tolerance::absolute(0);

void check_dx(const kit::ConvSizes& s) {
  const Inputs in = integers(s);
  const kit::Mistake turned("they are what filters give that are turned the wrong way", [&] {
    Inputs other = in;
    for (size_t at = 0; at < other.w.size(); at += 9) {
      std::reverse(other.w.begin() + at, other.w.begin() + at + 9);
    }
    return gradients_on_cpu(other, s).dx;
  });
  kit::expect_near(backward(in, s).dx, gradients_on_cpu(in, s).dx, kExactly,
                   kit::Shape(s.n * s.c, s.h, s.w));
}
void check_dw(const kit::ConvSizes& s) {
  const Inputs in = integers(s);
  kit::expect_near(backward(in, s).dw, gradients_on_cpu(in, s).dw, kExactly,
                   kit::Shape(s.k * s.c, 3, 3));
}

// The loss in double, from the definition of the layer: no derivative was taken to write it.
double loss_on_cpu(const std::vector<double>& x, const std::vector<double>& w,
                   const std::vector<float>& dy, const kit::ConvSizes& s) {
  double loss = 0;
  for (size_t i = 0; i < dy.size(); ++i) {
    kit::for_each_product(s, i, [&](size_t in_x, size_t in_w) {
      loss += static_cast<double>(dy[i]) * x[in_x] * w[in_w];
    });
  }
  return loss;
}

// Derivative by values[i] from a step to both sides. The loss is linear in each value, so the size
// of the step does not matter.
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

TEST(ConvBackward, TakesDyBackToThePixels) {
  RecordProperty("todo", 1);
  kit::for_each("x", Sizes{layer(1, 1, 4, 6, 1), layer(1, 2, 5, 3, 3), layer(3, 9, 4, 4, 5)},
                check_dx);
}

TEST(ConvBackward, GivesDyToTheWeightsUnderIt) {
  RecordProperty("todo", 2);
  // One image, and few enough patches for one thread.
  kit::for_each("x", Sizes{layer(1, 1, 2, 2, 1), layer(1, 1, 1, 2, 3), layer(1, 3, 2, 1, 8)},
                check_dw);
}

TEST(ConvBackward, AddsUpTheThreadsOfABlock) {
  RecordProperty("todo", 3);
  kit::for_each("x", Sizes{layer(1, 1, 4, 6, 2), layer(1, 1, 10, 13, 3), layer(1, 1, 28, 28, 9)},
                check_dw);
}

TEST(ConvBackward, AddsUpThePartsOfABatch) {
  RecordProperty("todo", 4);
  // 2, 3, 4 and 43 parts.
  kit::for_each("x",
                Sizes{layer(260, 1, 2, 2, 1), layer(67, 1, 6, 4, 2), layer(520, 1, 1, 2, 1),
                      layer(86, 1, 16, 16, 1)},
                check_dw);
}

TEST(ConvBackward, FiniteDifferencesAgree) {
  RecordProperty("todo", 1);
  const kit::ConvSizes s = layer(2, 3, 5, 6, 4);
  const Inputs in = {kit::random_floats(kit::conv_input_size(s)),
                     kit::random_floats(kit::conv_filter_size(s)),
                     kit::random_floats(kit::conv_output_size(s))};
  const Result result = backward(in, s);
  const std::vector<float> dx = result.dx.download(), dw = result.dw.download();
  std::vector<double> x(in.x.begin(), in.x.end()), w(in.w.begin(), in.w.end()), by_x, by_w;
  std::vector<float> of_x, of_w;  // every 13th value of x, every seventh of w
  const auto loss = [&] { return loss_on_cpu(x, w, in.dy, s); };
  for (size_t i = 0; i < x.size(); i += 13) {
    of_x.push_back(dx[i]);
    by_x.push_back(difference(x, i, loss));
  }
  for (size_t i = 0; i < w.size(); i += 7) {
    of_w.push_back(dw[i]);
    by_w.push_back(difference(w, i, loss));
  }
  kit::expect_near("dx against finite differences", of_x, by_x, kit::Tolerance::absolute(2e-5));
  kit::expect_near("dw against finite differences", of_w, by_w, kit::Tolerance::absolute(2e-5));
}

TEST(ConvBackward, CoversTheLayersOfBothNetworks) {
  RecordProperty("todo", 4);
  for (const kit::ConvSizes& s : {layer(2, 1, 28, 28, 16), layer(1, 16, 14, 14, 32),
                                  layer(6, 1, 12, 12, 4), layer(5, 4, 6, 6, 8)}) {
    check_dw(s);
  }
  check_dx(layer(1, 16, 14, 14, 32));
}

// Weights of which an int counts each, but not 32 threads for each.
TEST(ConvBackward, TakesTheMostWeights) {
  RecordProperty("todo", 4);
  kit::at_largest("k = c = 3000", [] {
    const kit::ConvSizes s = layer(1, 3000, 1, 1, 3000);
    const auto x = kit::large_integers(kit::conv_input_size(s), "x");
    const auto w = kit::large_integers(kit::conv_filter_size(s), "w");
    const auto dy = kit::large_integers(kit::conv_output_size(s), "dy");
    const auto dw = kit::LargeArray<float>::output(kit::conv_filter_size(s), "dw");
    const auto scratch =
        kit::LargeArray<float>::output(conv_backward_scratch(s.n, s.c, s.k), "scratch");
    kit::run([&] {
      launch_conv_backward(x.get(), w.get(), dy.get(), nullptr, dw.get(), scratch.get(), s.n, s.c,
                           s.h, s.w, s.k);
    });
    // A plane is one pixel, which lies under the middle of every filter.
    kit::expect_at_ends(
        dw, [&](size_t i) { return i % 9 == 4 ? x.at(i / 9 % s.c) * dy.at(i / 9 / s.c) : 0.0f; });
  });
}

TEST(ConvBackward, CoversEveryExtent) {
  RecordProperty("todo", 4);
  kit::for_each("x", kit::long_layers_of_small_images(), [](const kit::ConvSizes& s) {
    const Inputs in = integers(s);
    const Result result = backward(in, s);
    const Gradients expected = gradients_on_cpu(in, s);
    kit::expect_near(result.dx, expected.dx, kExactly, kit::Shape(s.n * s.c, s.h, s.w));
    kit::expect_near(result.dw, expected.dw, kExactly, kit::Shape(s.k * s.c, 3, 3));
  });
}

TEST(ConvBackward, LeavesOutWhatIsNotWanted) {
  RecordProperty("todo", 4);
  const kit::ConvSizes s = layer(2, 2, 4, 4, 3);
  const Inputs in = integers(s);
  kit::expect_near(backward(in, s, false).dw, gradients_on_cpu(in, s).dw, kExactly);
}

TEST(ConvBackward, WithoutImagesTheWeightsGetZero) {
  RecordProperty("todo", 4);
  check_dw(layer(0, 2, 4, 4, 3));
  check_dw(layer(2, 2, 4, 4, 3));  // and works when there are some
}

TEST(ConvBackward, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  const kit::ConvSizes s = layer(2, 3, 12, 11, 4);
  const Inputs in = {kit::random_floats(kit::conv_input_size(s)),
                     kit::random_floats(kit::conv_filter_size(s)),
                     kit::precision_tripwire_floats(kit::conv_output_size(s))};
  const Gradients g = gradients_on_cpu(in, s);
  const Result result = backward(in, s);
  kit::expect_near(result.dx, g.dx, kit::Tolerance::units(16, g.dx_scale));
  kit::expect_near(result.dw, g.dw, kit::Tolerance::units(16, g.dw_scale));
}

TEST(ConvBackward, HasTheSameBitsAtEveryRun) {
  RecordProperty("todo", 4);
  kit::for_each("x", Sizes{layer(86, 1, 16, 16, 1), layer(40, 3, 9, 10, 9)},
                [](const kit::ConvSizes& s) {
                  const Inputs in = {kit::random_floats(kit::conv_input_size(s)),
                                     kit::random_floats(kit::conv_filter_size(s)),
                                     kit::random_floats(kit::conv_output_size(s))};
                  kit::expect_same_bits("dw, and then dx,", [&] {
                    const Result got = backward(in, s);
                    return kit::joined({got.dw, got.dx});
                  });
                });
}

TEST(ConvBackward, AddsInAFixedOrder) {
  RecordProperty("todo", 4);
  const kit::ConvSizes s = layer(16, 2, 6, 6, 8);
  const kit::Counters c = backward(integers(s), s).run.counters();
  kit::budget("atomic additions", static_cast<double>(c.atomic_global_requests), kit::at_most(0),
              "Which thread adds first changes from run to run, and with it the last digits: a "
              "training could not be repeated");
}

// Tests of 12/19 separable layer. The loss is the sum of dy * y.
#include "19_separable_layer.h"

#include <cmath>
#include <sstream>

#include "08_fft_convolution/test/conv_extents.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/same_bits.h"
#include "kit/speed/speed.h"

namespace {

struct Sizes {
  int n, c, h, w, k;
  size_t input() const { return static_cast<size_t>(n) * c * h * w; }
  size_t output() const { return static_cast<size_t>(n) * k * h * w; }
  size_t filters() const { return static_cast<size_t>(c) * 9; }
  size_t mixture() const { return static_cast<size_t>(k) * c; }
  double products() const { return static_cast<double>(n) * h * w * (9.0 * c + 1.0 * k * c); }
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w << ", k = " << s.k;
}

struct Inputs {
  std::vector<float> x, f, m, dy;
};
Inputs integers(const Sizes& s) {
  return {kit::random_integer_floats(s.input()), kit::random_integer_floats(s.filters()),
          kit::random_integer_floats(s.mixture()), kit::random_integer_floats(s.output())};
}
Inputs anything(const Sizes& s) {
  return {kit::random_floats(s.input()), kit::random_floats(s.filters()),
          kit::random_floats(s.mixture()), kit::random_floats(s.output())};
}

// Reference in double, from the definition: every product of the layer hands what comes back to
// both of its factors. Of each result also the sum of the absolute products, which its rounding
// errors are proportional to. `Array` is anything with at(i).
struct Results {
  std::vector<double> y, dx, df, dm;
};
template <class Array>
struct OnCpu {
  const Array &x, &f, &m, &dy;
  Sizes s;

  size_t pixel(size_t plane, int row, int col) const { return (plane * s.h + row) * s.w + col; }

  // add(position in x, position in f) for every product of z at this place.
  template <class Add>
  void for_each_product(int image, int channel, int row, int col, const Add& add) const {
    for (int j = 0; j < 9; ++j) {
      const int from_row = row + j / 3 - 1, from_col = col + j % 3 - 1;
      if (from_row < 0 || from_row >= s.h || from_col < 0 || from_col >= s.w) continue;
      add(pixel(static_cast<size_t>(image) * s.c + channel, from_row, from_col),
          static_cast<size_t>(channel) * 9 + j);
    }
  }
  kit::Expected z(int image, int channel, int row, int col) const {
    double sum = 0, scale = 0;
    for_each_product(image, channel, row, col, [&](size_t in_x, size_t in_f) {
      const double product = static_cast<double>(x.at(in_x)) * f.at(in_f);
      sum += product;
      scale += std::fabs(product);
    });
    return {sum, scale};
  }
  kit::Expected y(size_t i) const {
    const int col = static_cast<int>(i % s.w), row = static_cast<int>(i / s.w % s.h);
    const size_t plane = i / s.w / s.h, filter = plane % s.k;
    double sum = 0, scale = 0;
    for (int channel = 0; channel < s.c; ++channel) {
      const kit::Expected of_z = z(static_cast<int>(plane / s.k), channel, row, col);
      const double weight = m.at(filter * s.c + channel);
      sum += weight * of_z.value;
      scale += std::fabs(weight) * of_z.scale;
    }
    return {sum, scale};
  }
  kit::Expected dz(int image, int channel, int row, int col) const {
    double sum = 0, scale = 0;
    for (int filter = 0; filter < s.k; ++filter) {
      const double product =
          static_cast<double>(m.at(static_cast<size_t>(filter) * s.c + channel)) *
          dy.at(pixel(static_cast<size_t>(image) * s.k + filter, row, col));
      sum += product;
      scale += std::fabs(product);
    }
    return {sum, scale};
  }
  // Everything; `scales` has the sums of absolute products.
  Results results(Results* scales) const {
    Results r{std::vector<double>(s.output()), std::vector<double>(s.input()),
              std::vector<double>(s.filters()), std::vector<double>(s.mixture())};
    *scales = r;
    for (size_t i = 0; i < s.output(); ++i) {
      const kit::Expected of_y = y(i);
      r.y[i] = of_y.value;
      scales->y[i] = of_y.scale;
    }
    for (int image = 0; image < s.n; ++image) {
      for (int channel = 0; channel < s.c; ++channel) {
        for (int at = 0; at < s.h * s.w; ++at) {
          add_place(image, channel, at / s.w, at % s.w, &r, scales);
        }
      }
    }
    return r;
  }
  void add_place(int image, int channel, int row, int col, Results* r, Results* scales) const {
    const kit::Expected of_z = z(image, channel, row, col), back = dz(image, channel, row, col);
    for_each_product(image, channel, row, col, [&](size_t in_x, size_t in_f) {
      r->dx[in_x] += back.value * f.at(in_f);
      r->df[in_f] += back.value * x.at(in_x);
      scales->dx[in_x] += back.scale * std::fabs(f.at(in_f));
      scales->df[in_f] += back.scale * std::fabs(x.at(in_x));
    });
    for (int filter = 0; filter < s.k; ++filter) {
      const double of_y = dy.at(pixel(static_cast<size_t>(image) * s.k + filter, row, col));
      const size_t weight = static_cast<size_t>(filter) * s.c + channel;
      r->dm[weight] += of_y * of_z.value;
      scales->dm[weight] += std::fabs(of_y) * of_z.scale;
    }
  }
};

constexpr auto kAtEnd = kit::Placement::kAtEnd;

struct OnDevice {
  kit::DeviceBuffer<float> x, f, m, dy;
};
OnDevice upload(const Inputs& in) {
  return {kit::DeviceBuffer<float>::input(in.x, "x", kAtEnd),
          kit::DeviceBuffer<float>::input(in.f, "f", kAtEnd),
          kit::DeviceBuffer<float>::input(in.m, "m", kAtEnd),
          kit::DeviceBuffer<float>::input(in.dy, "dy", kAtEnd)};
}

struct Forward {
  kit::DeviceBuffer<float> y;
  kit::Run run;
};
Forward forward(const Inputs& in, const Sizes& s) {
  const OnDevice d = upload(in);
  const auto d_y = kit::DeviceBuffer<float>::output(s.output(), "y", kAtEnd);
  return {d_y, kit::run([&] {
            launch_separable_forward(d.x.get(), d.f.get(), d.m.get(), d_y.get(), s.n, s.c, s.h, s.w,
                                     s.k);
          })};
}

struct Backward {
  kit::DeviceBuffer<float> dx, df, dm;
  kit::Run run;
};
Backward backward(const Inputs& in, const Sizes& s) {
  const OnDevice d = upload(in);
  const auto d_dx = kit::DeviceBuffer<float>::output(s.input(), "dx", kAtEnd);
  const auto d_df = kit::DeviceBuffer<float>::output(s.filters(), "df", kAtEnd);
  const auto d_dm = kit::DeviceBuffer<float>::output(s.mixture(), "dm", kAtEnd);
  const auto d_scratch = kit::DeviceBuffer<float>::output(
      separable_scratch(s.n, s.c, s.h, s.w, s.k), "scratch", kAtEnd);
  return {d_dx, d_df, d_dm, kit::run([&] {
            launch_separable_backward(d.x.get(), d.f.get(), d.m.get(), d.dy.get(), d_dx.get(),
                                      d_df.get(), d_dm.get(), d_scratch.get(), s.n, s.c, s.h, s.w,
                                      s.k);
          })};
}

Results expected_of(const Inputs& in, const Sizes& s, Results* scales) {
  return OnCpu<std::vector<float>>{in.x, in.f, in.m, in.dy, s}.results(scales);
}

const kit::Tolerance kExactly = kit::Tolerance::absolute(0);

void check_forward(const Sizes& s) {
  const Inputs in = integers(s);
  Results scales;
  kit::expect_near(forward(in, s).y, expected_of(in, s, &scales).y, kExactly,
                   kit::Shape(s.n * s.k, s.h, s.w));
}
void check_backward(const Sizes& s) {
  const Inputs in = integers(s);
  Results scales;
  const Results expected = expected_of(in, s, &scales);
  const Backward result = backward(in, s);
  kit::expect_near(result.dx, expected.dx, kExactly, kit::Shape(s.n * s.c, s.h, s.w));
  kit::expect_near(result.df, expected.df, kExactly, kit::Shape(s.c, 3, 3));
  kit::expect_near(result.dm, expected.dm, kExactly, kit::Shape(s.k, s.c));
}

std::vector<Sizes> small_images() {
  std::vector<Sizes> all;
  for (const kit::ConvSizes& s : kit::long_layers_of_small_images()) {
    all.push_back({s.n, s.c, s.h, s.w, s.k});
  }
  return all;
}

}  // namespace

TEST(SeparableLayer, MixesWhatItHasFiltered) {
  RecordProperty("todo", 1);
  kit::for_each("x",
                std::vector<Sizes>{{1, 1, 1, 1, 1},
                                   {2, 3, 1, 1, 2},
                                   {1, 1, 2, 2, 1},
                                   {2, 3, 4, 6, 5},
                                   {1, 17, 4, 4, 33},
                                   {3, 2, 7, 5, 3},
                                   {2, 16, 14, 14, 32}},
                check_forward);
}

TEST(SeparableLayer, TakesDyBack) {
  RecordProperty("todo", 1);
  kit::for_each("x",
                std::vector<Sizes>{{1, 1, 1, 1, 1},
                                   {2, 3, 1, 1, 2},
                                   {1, 1, 2, 2, 1},
                                   {1, 1, 4, 6, 1},
                                   {1, 2, 5, 3, 3},
                                   {3, 9, 4, 4, 5},
                                   {1, 18, 3, 4, 35},
                                   {2, 16, 14, 14, 32}},
                check_backward);
}

TEST(SeparableLayer, AddsUpABatch) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<Sizes>{{67, 1, 6, 4, 2}, {520, 1, 1, 2, 1}, {300, 2, 3, 3, 3}},
                check_backward);
}

TEST(SeparableLayer, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("x", small_images(), [](const Sizes& s) {
    check_forward(s);
    check_backward(s);
  });
}

// Many images, and all channels that there may be, of which an output adds up few.
TEST(SeparableLayer, TakesTheLargestArrays) {
  RecordProperty("todo", 1);
  const std::vector<Sizes> all = {{1 << 26, 1, 5, 6, 1}, {409, 2, 8, 10, 65'535}};
  for (const Sizes& s : all) {
    std::ostringstream title;
    title << "x = " << s;
    kit::at_largest(title.str(), [&] {
      const auto x = kit::large_integers(s.input(), "x"), f = kit::large_integers(s.filters(), "f");
      const auto m = kit::large_integers(s.mixture(), "m");
      const auto y = kit::LargeArray<float>::output(s.output(), "y");
      kit::run([&] {
        launch_separable_forward(x.get(), f.get(), m.get(), y.get(), s.n, s.c, s.h, s.w, s.k);
      });
      const OnCpu<kit::LargeArray<float>> cpu{x, f, m, y, s};
      kit::expect_at_ends(y, [&](size_t i) { return cpu.y(i).value; });
    });
  }
}

TEST(SeparableLayer, WithoutImagesTheWeightsGetZero) {
  RecordProperty("todo", 1);
  for (const Sizes& s : {Sizes{0, 2, 4, 4, 3}, Sizes{2, 2, 4, 4, 3}}) {
    check_forward(s);
    check_backward(s);
  }
}

TEST(SeparableLayer, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  const Sizes s = {2, 3, 12, 11, 4};
  Inputs in = anything(s);
  in.x = kit::precision_tripwire_floats(s.input());
  in.dy = kit::precision_tripwire_floats(s.output());
  Results scales;
  const Results expected = expected_of(in, s, &scales);
  kit::expect_near(forward(in, s).y, expected.y, kit::Tolerance::units(16, scales.y));
  const Backward result = backward(in, s);
  kit::expect_near(result.dx, expected.dx, kit::Tolerance::units(16, scales.dx));
  kit::expect_near(result.df, expected.df, kit::Tolerance::units(16, scales.df));
  kit::expect_near(result.dm, expected.dm, kit::Tolerance::units(16, scales.dm));
}

TEST(SeparableLayer, KeepsWhatLiesBetweenOnTheChip) {
  RecordProperty("todo", 1);
  const Sizes s = {4, 16, 14, 14, 32};
  const kit::Run run = forward(integers(s), s).run;
  const kit::Counters& c = run.counters();
  kit::budget("words stored per element of y",
              kit::ratio(c.global_store_bytes / 4.0, static_cast<double>(s.output())),
              kit::at_most(1), "z is used at its own pixel and nowhere else",
              &kit::Counters::global_store_bytes);
  kit::budget("words loaded per product", kit::ratio(c.global_load_bytes / 4.0, s.products()),
              kit::at_most(0.5), "A pixel serves nine products of a filter, and z every result",
              &kit::Counters::global_load_bytes);
}

TEST(SeparableLayer, HasTheSameBitsAtEveryRun) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<Sizes>{{67, 2, 6, 4, 3}, {20, 3, 9, 6, 5}}, [](const Sizes& s) {
    const Inputs in = anything(s);
    kit::expect_same_bits("dm, then df and dx,", [&] {
      const Backward got = backward(in, s);
      return kit::joined({got.dm, got.df, got.dx});
    });
  });
}

TEST(SeparableLayer, AddsInAFixedOrder) {
  RecordProperty("todo", 1);
  const Sizes s = {16, 2, 6, 6, 8};
  const double most = 2.0 * s.input() + 256.0 * (s.filters() + s.mixture());
  kit::budget("floats of scratch memory, of those allowed",
              separable_scratch(s.n, s.c, s.h, s.w, s.k) / most, kit::at_most(1),
              "19_separable_layer.h says how much: z and dz, and 256 parts of the batch");
  const kit::Counters c = backward(integers(s), s).run.counters();
  kit::budget("atomic additions", static_cast<double>(c.atomic_global_requests), kit::at_most(0),
              "Which thread adds first changes from run to run, and with it the last digits");
}

TEST(SeparableLayer, IsFast) {
  RecordProperty("todo", 1);
  // The second convolution of the network, on 4096 images; fewer of them in the simulator.
  const Sizes s = {kit::work_scale(8, 4096), 16, 14, 14, 32};
  kit::Speed speed;
  const auto x = speed.input<float>(s.input(), "x", kit::Values::integers(-3, 3));
  const auto f = speed.input<float>(s.filters(), "f", kit::Values::integers(-3, 3));
  const auto m = speed.input<float>(s.mixture(), "m", kit::Values::integers(-3, 3));
  const auto dy = speed.input<float>(s.output(), "dy", kit::Values::integers(-3, 3));
  const auto y = speed.output<float>(s.output(), "y");
  const auto dx = speed.output<float>(s.input(), "dx");
  const auto df = speed.output<float>(s.filters(), "df");
  const auto dm = speed.output<float>(s.mixture(), "dm");
  const auto scratch = speed.output<float>(separable_scratch(s.n, s.c, s.h, s.w, s.k), "scratch");
  speed.bytes(4.0 * (3 * s.input() + 2 * s.output())).flops(6.0 * s.products()).slice(66);
  speed.launch([&] {
    launch_separable_forward(x.get(), f.get(), m.get(), y.get(), s.n, s.c, s.h, s.w, s.k);
    launch_separable_backward(x.get(), f.get(), m.get(), dy.get(), dx.get(), df.get(), dm.get(),
                              scratch.get(), s.n, s.c, s.h, s.w, s.k);
  });
  const OnCpu<kit::SpeedBuffer<float>> on_cpu = {x, f, m, dy, s};
  speed.expect(
      y, [&](size_t i) { return on_cpu.y(i); }, kit::Tolerance::units(16));
  speed.expect(
      dx,
      [&](size_t i) {
        const int row = static_cast<int>(i / s.w % s.h), col = static_cast<int>(i % s.w);
        const int plane = static_cast<int>(i / s.w / s.h), channel = plane % s.c;
        double sum = 0, scale = 0;
        for (int j = 0; j < 9; ++j) {
          const int to_row = row + 1 - j / 3, to_col = col + 1 - j % 3;
          if (to_row < 0 || to_row >= s.h || to_col < 0 || to_col >= s.w) continue;
          const kit::Expected back = on_cpu.dz(plane / s.c, channel, to_row, to_col);
          sum += back.value * f.at(static_cast<size_t>(channel) * 9 + j);
          scale += back.scale * std::fabs(f.at(static_cast<size_t>(channel) * 9 + j));
        }
        return kit::Expected(sum, scale);
      },
      kit::Tolerance::units(16));
  speed.against(kit::stage("a thread for each result",
                           [&] {
                             launch_separable_by_results(x.get(), f.get(), m.get(), dy.get(),
                                                         y.get(), dx.get(), df.get(), dm.get(), s.n,
                                                         s.c, s.h, s.w, s.k);
                           }),
                kit::Bars(6).modelled(3, 1.5));
  speed.grade();
}

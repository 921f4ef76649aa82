// Tests of 08/08 conv2d, direct.
#include "08_conv2d_direct.h"

#include <cmath>
#include <cstring>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

// Reference in double: x is image.rows x image.cols, f is filter.rows x filter.cols; `at(i)` of
// each gives a value. `scale` is the sum of the absolute products, which rounding errors grow with.
template <class Image, class Filter>
kit::Expected output_on_cpu(const Image& x, const Filter& f, kit::Shape image, kit::Shape filter,
                            size_t index) {
  const int row = static_cast<int>(index / image.cols), col = static_cast<int>(index % image.cols);
  double sum = 0, scale = 0;
  for (int i = 0; i < filter.rows; ++i) {
    for (int j = 0; j < filter.cols; ++j) {
      const int from_row = row + i - (filter.rows - 1) / 2;
      const int from_col = col + j - (filter.cols - 1) / 2;
      if (from_row < 0 || from_row >= image.rows || from_col < 0 || from_col >= image.cols)
        continue;
      const double product = static_cast<double>(f.at(i * filter.cols + j)) *
                             x.at(static_cast<size_t>(from_row) * image.cols + from_col);
      sum += product;
      scale += std::fabs(product);
    }
  }
  return {sum, scale};
}

struct Case {
  kit::Shape image, filter;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.image << ", filter " << c.filter;
}

kit::Run check(const Case& c, const std::vector<float>& x, const std::vector<float>& f,
               bool exact = true) {
  std::vector<double> expected(x.size()), scale(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const kit::Expected output = output_on_cpu(x, f, c.image, c.filter, i);
    expected[i] = output.value;
    scale[i] = output.scale;
  }
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", at_end);
  const auto d_f = kit::DeviceBuffer<float>::input(f, "f", at_end);
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y", at_end);
  const kit::Run run = kit::run([&] {
    launch_conv2d_direct(d_x.get(), d_f.get(), d_y.get(), c.image.rows, c.image.cols, c.filter.rows,
                         c.filter.cols);
  });
  kit::expect_near_or_nan(d_y, expected,
                          exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, scale),
                          c.image);
  return run;
}

// Small integers: sums are exact in every order, so a wrong place shows.
kit::Run check(const Case& c) {
  return check(c, kit::random_integer_floats(c.image.size()),
               kit::random_integer_floats(c.filter.size()));
}

}  // namespace

TEST(Conv2dDirect, LoadsTheTileAndItsHalo) {
  RecordProperty("todo", 1);
  // A single weight: the image is copied, or moved towards one of its corners.
  kit::for_each("the weight that is not 0", std::vector<int>{4, 0, 2, 6, 8}, [](int at) {
    std::vector<float> f(9, 0.0f);
    f[at] = 1;
    const Case c = {{128, 64}, {3, 3}};
    check(c, kit::random_integer_floats(c.image.size()), f);
  });
}

TEST(Conv2dDirect, AddsUpTheProducts) {
  RecordProperty("todo", 2);
  kit::for_each(
      "image",
      std::vector<Case>{
          {{64, 32}, {1, 1}}, {{64, 32}, {3, 3}}, {{64, 64}, {5, 5}}, {{128, 32}, {7, 7}}},
      [](const Case& c) { check(c); });
}

TEST(Conv2dDirect, TakesFiltersOfAnySize) {
  RecordProperty("todo", 2);
  kit::for_each("image",
                std::vector<Case>{{{65, 33}, {3, 5}},
                                  {{40, 70}, {4, 2}},
                                  {{50, 50}, {1, 9}},
                                  {{70, 20}, {8, 1}},
                                  {{37, 41}, {kMaxFilterSide, kMaxFilterSide}},
                                  {{66, 35}, {9, 9}}},
                [](const Case& c) { check(c); });
}

TEST(Conv2dDirect, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("image",
                std::vector<Case>{{{1, 1}, {7, 7}},
                                  {{63, 31}, {5, 5}},
                                  {{65, 97}, {3, 3}},
                                  {{1, 200}, {3, 3}},
                                  {{130, 1}, {5, 5}},
                                  {{3, 4}, {7, 7}}},
                [](const Case& c) { check(c); });
}

// Special pixels: kit::kSpecialSums says what the outputs over them make of them. A pixel of
// another place, times 0, is no zero outside the image.
TEST(Conv2dDirect, SpecialPixelsReachTheOutputsOverThem) {
  RecordProperty("todo", 1);
  for (const Case& c : {Case{{70, 41}, {3, 3}}, Case{{20, 35}, {4, 2}}}) {
    kit::for_each_special_sum(c.image.size(), [&](const std::vector<float>& x) {
      check(c, x, kit::random_floats(c.filter.size(), 0.5f, 1.0f), false);
    });
  }
}

TEST(Conv2dDirect, TakesHighAndWideImages) {
  RecordProperty("todo", 1);
  kit::for_each("image", std::vector<Case>{{{65'537, 1}, {1, 1}}, {{1, 33'001}, {1, 1}}},
                [](const Case& c) { check(c); });
}

TEST(Conv2dDirect, EveryCallHasItsOwnFilter) {
  RecordProperty("todo", 3);
  for (int call = 0; call < 2; ++call) check({{33, 40}, {3, 3}});
  check({{33, 40}, {2, 6}});
}

TEST(Conv2dDirect, TheFilterStaysOnTheDevice) {
  RecordProperty("todo", 3);
  const Case c = {{20, 40}, {5, 5}};
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(c.image.size()), "x");
  const auto d_f = kit::DeviceBuffer<float>::input(kit::random_floats(c.filter.size()), "f");
  const auto d_y = kit::DeviceBuffer<float>::output(c.image.size(), "y");
  uint64_t copied = 0;
  kit::run([&] {
    launch_conv2d_direct(d_x.get(), d_f.get(), d_y.get(), c.image.rows, c.image.cols, c.filter.rows,
                         c.filter.cols);
    cudaDeviceSynchronize();
    for (int i = 0; i < wsim_timeline_count(); ++i) {
      wsim_timeline_item item;
      if (wsim_get_timeline_item(i, &item) != 0) break;
      if (std::strcmp(item.kind, "copy to host") == 0) copied += item.bytes;
    }
  });
  kit::budget("bytes copied to the host", static_cast<double>(copied), kit::at_most(0),
              "A copy to the host waits for all work before it, and the filter is needed on the "
              "device");
}

TEST(Conv2dDirect, AcceptsImagesWithoutPixels) {
  RecordProperty("todo", 3);
  check({{0, 5}, {3, 3}});
  check({{5, 0}, {3, 3}});
  check({{5, 6}, {3, 3}});  // the same launcher must work when there is something to filter
}

TEST(Conv2dDirect, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  const Case c = {{40, 50}, {7, 7}};
  std::vector<float> signs = kit::random_integer_floats(c.filter.size(), 0, 1);
  for (float& sign : signs) sign = 2 * sign - 1;
  check(c, kit::precision_tripwire_floats(c.image.size()), signs);
  check(c, kit::random_floats(c.image.size()), kit::random_floats(c.filter.size()), false);
}

TEST(Conv2dDirect, LoadsEachPixelOncePerTile) {
  RecordProperty("todo", 1);
  const Case c = {{128, 128}, {7, 7}};
  const kit::Run run = check(c);
  const double words = static_cast<double>(run.counters().global_load_bytes) / 4;
  kit::budget("words loaded from global memory per output", kit::ratio(words, c.image.size()),
              kit::at_most(2),
              "49 products need 49 pixels and 49 weights. Pixels come once per tile, into shared "
              "memory, weights from constant memory",
              &kit::Counters::global_load_bytes);
}

TEST(Conv2dDirect, FiltersTheLargestImages) {
  RecordProperty("todo", 1);
  const auto check_large = [](long long h, long long w) {
    const std::vector<float> f = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const auto x = kit::large_integers(h * w, "x");
    const auto d_f = kit::DeviceBuffer<float>::input(f, "f");
    const auto y = kit::LargeArray<float>::output(h * w, "y");
    kit::run([&] {
      launch_conv2d_direct(x.get(), d_f.get(), y.get(), static_cast<int>(h), static_cast<int>(w), 3,
                           3);
    });
    kit::expect_at_ends(y, [&](size_t i) {
      const long long row = static_cast<long long>(i) / w, col = static_cast<long long>(i) % w;
      float sum = 0;
      for (int k = 0; k < 9; ++k) {
        const long long r = row + k / 3 - 1, c = col + k % 3 - 1;
        if (r >= 0 && r < h && c >= 0 && c < w) sum += f[k] * x.at(r * w + c);
      }
      return sum;
    });
  };
  kit::at_largest("2^19 x 4095", [&] { check_large(1 << 19, 4095); });
  kit::at_largest("4095 x 2^19", [&] { check_large(4095, 1 << 19); });
}

TEST(Conv2dDirect, IsFast) {
  RecordProperty("todo", 2);
  const Case c = {{kit::work_scale(512, 4096), kit::work_scale(256, 4096)}, {7, 7}};
  const int h = c.image.rows, w = c.image.cols, r = c.filter.rows, s = c.filter.cols;
  kit::Speed speed;
  const auto x = speed.input<float>(c.image.size(), "x");
  const auto f = speed.input<float>(c.filter.size(), "f");
  const auto y = speed.output<float>(c.image.size(), "y");
  speed.bytes(8.0 * c.image.size()).flops(2.0 * c.image.size() * c.filter.size()).slice(66);
  speed.launch([&] { launch_conv2d_direct(x.get(), f.get(), y.get(), h, w, r, s); });
  speed.expect(
      y, [&](size_t i) { return output_on_cpu(x, f, c.image, c.filter, i); },
      kit::Tolerance::units(16));
  speed.against(kit::stage("a thread per output",
                           [&] { launch_conv2d_naive(x.get(), f.get(), y.get(), h, w, r, s); }),
                kit::Bars(1.5, 2.5, 3.0));
  speed.grade();
}

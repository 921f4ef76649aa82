// Tests of 08/09 conv2d, NCHW. The reference, in double, is in test/convolution.h.
#include "09_conv2d_nchw.h"

#include "08_fft_convolution/test/conv_extents.h"
#include "08_fft_convolution/test/convolution.h"
#include "kit/kit.h"

namespace {

void launch(const float* x, const float* f, float* y, const kit::ConvSizes& s) {
  launch_conv2d_nchw(x, f, y, {s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.pad});
}

void check_all(const std::vector<kit::ConvSizes>& all) {
  kit::for_each("x", all, [](const kit::ConvSizes& s) { kit::check_conv_exact(launch, s); });
}

}  // namespace

TEST(Conv2dNchw, FindsThePlaceOfEachOutput) {
  RecordProperty("todo", 1);
  // Filters of one weight: every output is one pixel times one number.
  check_all({{1, 1, 6, 7, 1, 1, 1, 0},
             {1, 1, 5, 8, 3, 1, 1, 0},
             {4, 1, 3, 9, 1, 1, 1, 0},
             {3, 1, 5, 4, 2, 1, 1, 0}});
}

TEST(Conv2dNchw, AddsUpTheChannels) {
  RecordProperty("todo", 2);
  check_all({{1, 3, 6, 7, 1, 1, 1, 0}, {2, 3, 8, 9, 4, 3, 3, 0}, {1, 4, 6, 6, 2, 2, 3, 0}});
}

TEST(Conv2dNchw, TakesZerosAroundTheImage) {
  RecordProperty("todo", 2);
  check_all({{1, 1, 6, 7, 1, 3, 3, 1}, {2, 2, 5, 6, 3, 5, 5, 2}, {1, 2, 3, 3, 2, 3, 3, 2}});
}

TEST(Conv2dNchw, InfinityStaysWhereItIs) {
  RecordProperty("todo", 2);
  kit::for_each(
      "x",
      std::vector<kit::ConvSizes>{
          {2, 2, 9, 11, 2, 3, 3, 1}, {1, 1, 12, 10, 1, 5, 5, 2}, {2, 1, 8, 9, 2, 3, 3, 0}},
      [](const kit::ConvSizes& s) { kit::check_conv_infinities(launch, s); });
}

TEST(Conv2dNchw, CoversLayersOfAnySize) {
  RecordProperty("todo", 2);
  check_all(kit::awkward_convs());
}

TEST(Conv2dNchw, TheLayersOfChapter12) {
  RecordProperty("todo", 2);
  check_all({{2, 1, 28, 28, 16, 3, 3, 1}, {1, 16, 14, 14, 32, 3, 3, 1}});
}

TEST(Conv2dNchw, CoversEveryExtent) {
  RecordProperty("todo", 1);
  check_all(kit::long_convs());
}

TEST(Conv2dNchw, TakesTheLargestLayers) {
  RecordProperty("todo", 2);
  kit::check_large_conv(launch, {(1 << 21) - 1, 1, 32, 32, 1, 3, 3, 1});
  kit::check_large_conv(launch, {1, 1, 2, (1 << 30) - 1000, 1, 3, 3, 1});
  kit::check_large_conv(launch, {1, 1, 1, 0x7FFFFFFF, 1, 1, 1, 0});  // the last number of an int
}

TEST(Conv2dNchw, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  kit::check_conv_precision(launch, {2, 9, 10, 12, 3, 3, 3, 1});
  kit::check_conv(launch, {2, 20, 9, 10, 5, 3, 3, 1});
}

TEST(Conv2dNchw, SharesAFilterInEachWarp) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_conv_exact(launch, {2, 4, 16, 64, 8, 3, 3, 1});
  const kit::Counters& c = run.counters();
  kit::budget(
      "words loaded per multiply-add",
      kit::ratio(static_cast<double>(c.global_load_bytes) / 4, static_cast<double>(c.fp32_fma)),
      kit::at_most(2), "A product needs one pixel and one weight, and none past the edge",
      &kit::Counters::global_load_bytes);
  kit::budget("sectors per load request",
              kit::ratio(static_cast<double>(c.global_load_sectors),
                         static_cast<double>(c.global_load_requests)),
              kit::at_most(4),
              "Lanes that make neighbouring columns read neighbouring pixels, and one weight",
              &kit::Counters::global_load_sectors);
}

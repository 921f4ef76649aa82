// Tests of 12/06 convolution, forward. The reference, in double, is in test/convolution.h.
#include "06_conv_forward.h"

#include "08_fft_convolution/test/conv_extents.h"
#include "08_fft_convolution/test/convolution.h"
#include "kit/kit.h"

namespace {

using Sizes = std::vector<kit::ConvSizes>;

void launch(const float* x, const float* w, float* y, const kit::ConvSizes& s) {
  launch_conv_forward(x, w, y, s.n, s.c, s.h, s.w, s.k);
}

// Filters of 3 x 3 with a border of one pixel.
kit::ConvSizes layer(int n, int c, int h, int w, int k) { return {n, c, h, w, k, 3, 3, 1}; }

void check_all(const Sizes& all) {
  kit::for_each("x", all, [](const kit::ConvSizes& s) { kit::check_conv_exact(launch, s); });
}

}  // namespace

TEST(ConvForward, FindsThePatchOfEachThread) {
  RecordProperty("todo", 1);
  // Eight filters and even sides: every output of every patch exists.
  check_all({layer(1, 1, 2, 4, 8), layer(1, 1, 6, 4, 8), layer(3, 1, 4, 6, 8)});
}

TEST(ConvForward, AddsUpPixelsWeightsAndChannels) {
  RecordProperty("todo", 2);
  check_all({layer(1, 1, 2, 2, 8), layer(1, 3, 2, 2, 8), layer(2, 5, 4, 6, 8)});
}

TEST(ConvForward, WritesWhatIsThere) {
  RecordProperty("todo", 3);
  // Odd sides, an image of one pixel, filters that are no multiple of eight.
  check_all({layer(1, 1, 1, 1, 8), layer(1, 2, 3, 5, 8), layer(2, 1, 4, 4, 1),
             layer(2, 3, 7, 5, 11), layer(3, 2, 1, 9, 4)});
}

TEST(ConvForward, TakesMoreChannelsThanATileHas) {
  RecordProperty("todo", 2);
  check_all({layer(1, 16, 4, 4, 8), layer(1, 17, 3, 4, 5), layer(2, 35, 2, 3, 9)});
}

TEST(ConvForward, InfinityStaysWhereItIs) {
  RecordProperty("todo", 3);
  kit::for_each("x", Sizes{layer(1, 1, 6, 8, 8), layer(2, 3, 7, 5, 11), layer(1, 17, 3, 4, 5)},
                [](const kit::ConvSizes& s) { kit::check_conv_infinities(launch, s); });
}

TEST(ConvForward, CoversTheLayersOfBothNetworks) {
  RecordProperty("todo", 3);
  check_all({layer(2, 1, 28, 28, 16), layer(1, 16, 14, 14, 32), layer(5, 1, 12, 12, 4),
             layer(4, 4, 6, 6, 8)});
}

TEST(ConvForward, CoversEveryExtent) {
  RecordProperty("todo", 3);
  check_all(kit::long_layers_of_small_images());
}

TEST(ConvForward, TakesTheLargestLayers) {
  RecordProperty("todo", 3);
  kit::check_large_conv(launch, layer((1 << 21) - 1, 1, 32, 32, 1));
  kit::check_large_conv(launch, layer(30'000, 2, 2, 2, 17'000));
}

TEST(ConvForward, AcceptsNoImages) {
  RecordProperty("todo", 3);
  check_all({layer(0, 2, 4, 4, 3), layer(1, 2, 4, 4, 3)});  // and works when there is one
}

TEST(ConvForward, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  kit::check_conv_precision(launch, layer(1, 9, 8, 6, 9));
  kit::check_conv(launch, layer(1, 20, 6, 8, 8));
}

TEST(ConvForward, UsesAPixelForEveryFilter) {
  RecordProperty("todo", 2);
  const kit::ConvSizes s = layer(4, 16, 14, 14, 16);
  const kit::Run run = kit::check_conv_exact(launch, s);
  const double products = static_cast<double>(kit::conv_output_size(s)) * s.c * s.r * s.s;
  kit::budget("words loaded from global memory per multiply-add",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes) / 4, products),
              kit::at_most(1.0 / 12),
              "16 pixels serve 4 outputs of 8 filters: 288 products; the weights of a block are "
              "loaded once for all its threads",
              &kit::Counters::global_load_bytes);
}

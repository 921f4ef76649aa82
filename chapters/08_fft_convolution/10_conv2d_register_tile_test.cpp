// Tests of 08/10 conv2d, register tile. The reference, in double, is in test/convolution.h.
#include "10_conv2d_register_tile.h"

#include "08_fft_convolution/test/conv_extents.h"
#include "08_fft_convolution/test/convolution.h"
#include "09_conv2d_nchw.h"
#include "kit/kit.h"

namespace {

ConvLayer layer_of(const kit::ConvSizes& s) { return {s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.pad}; }

void launch(const float* x, const float* f, float* y, const kit::ConvSizes& s) {
  launch_conv2d_register_tile(x, f, y, layer_of(s));
}

void launch_naive(const float* x, const float* f, float* y, const kit::ConvSizes& s) {
  launch_conv2d_nchw(x, f, y, layer_of(s));
}

void check_all(const std::vector<kit::ConvSizes>& all) {
  kit::for_each("x", all, [](const kit::ConvSizes& s) { kit::check_conv_exact(launch, s); });
}

double per_product(uint64_t bytes, const kit::ConvSizes& s) {
  const double products = static_cast<double>(kit::conv_output_size(s)) * s.c * s.r * s.s;
  return kit::ratio(static_cast<double>(bytes) / 4, products);
}

// 4 x 128 pixels of y and 144 products: no tile and no step hangs over an edge.
constexpr kit::ConvSizes kWholeTiles = {1, 16, 16, 32, 64, 3, 3, 1};

}  // namespace

TEST(Conv2dRegisterTile, FindsThePixelOfEachProduct) {
  RecordProperty("todo", 1);
  // No padding: every product exists.
  check_all({{1, 1, 16, 16, 5, 1, 1, 0}, {1, 5, 8, 8, 64, 1, 1, 0}, {2, 3, 9, 11, 3, 2, 4, 0}});
}

TEST(Conv2dRegisterTile, TakesZerosAroundTheImage) {
  RecordProperty("todo", 1);
  // contract: Around an image lie zeros
  check_all({{1, 1, 8, 8, 64, 3, 3, 1}, {2, 1, 6, 8, 9, 5, 5, 2}, {1, 2, 4, 4, 16, 3, 3, 2}});
}

TEST(Conv2dRegisterTile, AddsUpAllProducts) {
  RecordProperty("todo", 2);
  // One product, then some more than one step of 8, 16 or 32 can have, and whole steps.
  check_all({{1, 1, 4, 4, 3, 1, 1, 0},
             {1, 16, 8, 8, 64, 1, 1, 0},
             {1, 17, 8, 8, 64, 1, 1, 0},
             {1, 7, 8, 8, 20, 3, 3, 1}});
}

TEST(Conv2dRegisterTile, WritesImagesAndPlanesOfAnySize) {
  RecordProperty("todo", 2);
  // contract: The layer of 08/09, the same arrays
  // contract: layer.n >= 0, all other sizes, p() and q() at least 1
  check_all({{5, 1, 6, 6, 7, 3, 3, 1}, {3, 1, 5, 7, 65, 3, 3, 1}, {40, 1, 3, 3, 2, 2, 2, 0}});
  check_all(kit::awkward_convs());
}

TEST(Conv2dRegisterTile, InfinityStaysWhereItIs) {
  RecordProperty("todo", 1);
  // contract: weights are finite
  // contract: a pixel goes into the outputs whose filter covers it
  // contract: also if it is infinite
  const std::vector<kit::ConvSizes> layers = {
      {2, 2, 9, 11, 2, 3, 3, 1}, {1, 1, 12, 10, 1, 5, 5, 2}, {2, 1, 8, 9, 2, 3, 3, 0}};
  kit::for_each("x", layers,
                [](const kit::ConvSizes& s) { kit::check_conv_infinities(launch, s); });
}

TEST(Conv2dRegisterTile, TakesLargeFilters) {
  RecordProperty("todo", 1);
  check_all(
      {{1, 1, 17, 16, 2, 15, 15, 7}, {1, 2, 16, 3, 2, 15, 1, 0}, {1, 1, 40, 35, 1, 33, 34, 2}});
}

TEST(Conv2dRegisterTile, CoversEveryExtent) {
  RecordProperty("todo", 2);
  check_all(kit::long_tiled_convs());
}

TEST(Conv2dRegisterTile, TakesTheLargestLayers) {
  RecordProperty("todo", 2);
  // contract: At most 65,535 filters
  // contract: none of the three arrays has 2^31 elements or more
  kit::check_large_conv(launch, {(1 << 21) - 1, 1, 32, 32, 1, 3, 3, 1});
  kit::check_large_conv(launch, {1, 1, 2, (1 << 30) - 1000, 1, 3, 3, 1});
  kit::check_large_conv(launch, {1, 1, 1, 0x7FFFFFFF, 1, 1, 1, 0});  // the last number of an int
  kit::check_large_conv(launch, {1, 1, 1, 32'760, 65'535, 1, 1, 0});
}

TEST(Conv2dRegisterTile, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  kit::check_conv_precision(launch, {1, 4, 8, 10, 9, 3, 3, 1});
  kit::check_conv(launch, {1, 20, 8, 8, 12, 3, 3, 1});
}

TEST(Conv2dRegisterTile, MakesEachElementForManyFilters) {
  RecordProperty("todo", 2);
  const kit::Run run = kit::check_conv_exact(launch, kWholeTiles);
  kit::budget("words loaded from global memory per product",
              per_product(run.counters().global_load_bytes, kWholeTiles), kit::at_most(1.0 / 20),
              "A tile of 64 filters and 64 pixels needs 128 words for 4096 products",
              &kit::Counters::global_load_bytes);
}

TEST(Conv2dRegisterTile, UsesEachWordSeveralTimes) {
  RecordProperty("todo", 2);
  const kit::Run run = kit::check_conv_exact(launch, kWholeTiles);
  kit::budget("words loaded from shared memory per product",
              per_product(run.counters().shared_load_bytes, kWholeTiles), kit::at_most(0.6),
              "8 words in registers serve 4 x 4 products", &kit::Counters::shared_load_bytes);
}

TEST(Conv2dRegisterTile, IsFast) {
  RecordProperty("todo", 2);
  const kit::ConvSizes sizes = kit::simulated() ? kit::ConvSizes{2, 4, 24, 32, 64, 3, 3, 1}
                                                : kit::ConvSizes{64, 64, 56, 56, 64, 3, 3, 1};
  kit::ConvSpeed work(sizes, 66);
  work.speed.launch(work.call(launch));
  work.speed.against(kit::stage("a thread per output", work.call(launch_naive)), kit::Bars(2.0));
  work.speed.grade();
}

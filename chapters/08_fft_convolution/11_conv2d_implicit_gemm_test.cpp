// Tests of 08/11 conv2d, implicit GEMM. The reference, in double, is in test/convolution.h.
#include "11_conv2d_implicit_gemm.h"

#include "08_fft_convolution/test/conv_extents.h"
#include "08_fft_convolution/test/convolution.h"
#include "09_conv2d_nchw.h"
#include "kit/kit.h"

namespace {

ConvLayer layer_of(const kit::ConvSizes& s) { return {s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.pad}; }

void launch(const float* x, const float* f, float* y, const kit::ConvSizes& s) {
  launch_conv2d_implicit_gemm(x, f, y, layer_of(s));
}

void launch_naive(const float* x, const float* f, float* y, const kit::ConvSizes& s) {
  launch_conv2d_nchw(x, f, y, layer_of(s));
}

void check_all(const std::vector<kit::ConvSizes>& all) {
  kit::for_each("x", all, [](const kit::ConvSizes& s) { kit::check_conv_exact(launch, s); });
}

// The same filters on a smaller layer and a slice of the card in the simulator.
kit::ConvSizes sized(const kit::ConvSizes& simulated, const kit::ConvSizes& on_gpu) {
  return kit::simulated() ? simulated : on_gpu;
}

}  // namespace

TEST(Conv2dImplicitGemm, FindsThePixelOfEachProduct) {
  RecordProperty("todo", 1);
  // No padding, planes of a multiple of four pixels: every product exists.
  check_all({{1, 1, 16, 16, 5, 1, 1, 0}, {1, 5, 8, 8, 64, 1, 1, 0}, {2, 3, 9, 11, 3, 2, 4, 0}});
}

TEST(Conv2dImplicitGemm, TakesZerosAroundTheImage) {
  RecordProperty("todo", 2);
  check_all({{1, 1, 8, 8, 64, 3, 3, 1}, {2, 1, 6, 8, 9, 5, 5, 2}, {1, 2, 4, 4, 16, 3, 3, 2}});
}

TEST(Conv2dImplicitGemm, AddsUpAllSteps) {
  RecordProperty("todo", 3);
  // One product, a whole step of sixteen, a product more, four steps.
  check_all({{1, 1, 4, 4, 3, 1, 1, 0},
             {1, 16, 8, 8, 64, 1, 1, 0},
             {1, 17, 8, 8, 64, 1, 1, 0},
             {1, 7, 8, 8, 20, 3, 3, 1}});
}

TEST(Conv2dImplicitGemm, WritesImagesAndPlanesOfAnySize) {
  RecordProperty("todo", 4);
  check_all({{5, 1, 6, 6, 7, 3, 3, 1}, {3, 1, 5, 7, 65, 3, 3, 1}, {40, 1, 3, 3, 2, 2, 2, 0}});
  check_all(kit::awkward_convs());
}

TEST(Conv2dImplicitGemm, EveryTileIsRightForEveryLayer) {
  RecordProperty("todo", 4);
  using Tiles = std::vector<ConvTile>;
  for (const ConvTile tile :
       Tiles{ConvTile::k64x256, ConvTile::k64x128, ConvTile::k32x256, ConvTile::k16x256}) {
    const auto with_tile = [&](const float* x, const float* f, float* y, const kit::ConvSizes& s) {
      launch_conv2d_implicit_gemm(x, f, y, layer_of(s), tile);
    };
    using Sizes = std::vector<kit::ConvSizes>;
    kit::for_each("x", Sizes{{1, 4, 9, 9, 20, 3, 3, 1}, {1, 1, 18, 18, 3, 3, 3, 1}},
                  [&](const kit::ConvSizes& s) { kit::check_conv_exact(with_tile, s); });
  }
}

TEST(Conv2dImplicitGemm, TakesLargeFilters) {
  RecordProperty("todo", 1);
  check_all({{1, 1, 17, 16, 2, 15, 15, 7}, {1, 2, 16, 3, 2, 15, 1, 0}, {1, 2, 3, 16, 2, 1, 15, 0}});
}

TEST(Conv2dImplicitGemm, TransformsThePixelsOfFewChannels) {
  RecordProperty("todo", 5);
  check_all({{1, 16, 4, 4, 32, 3, 3, 0},
             {1, 9, 6, 8, 5, 3, 3, 1},
             {2, 12, 5, 7, 33, 3, 3, 1},
             {1, 10, 3, 4, 3, 3, 3, 2}});
}

TEST(Conv2dImplicitGemm, CoversEveryExtent) {
  RecordProperty("todo", 4);
  check_all(kit::long_tiled_convs());
}

TEST(Conv2dImplicitGemm, TakesTheLargestLayers) {
  RecordProperty("todo", 4);
  // Many images, large ones, all filters, and the kernel for few channels.
  for (const kit::ConvSizes& s : std::vector<kit::ConvSizes>{{1 << 20, 1, 31, 31, 2, 3, 3, 1},
                                                             {1, 1, 32'767, 32'767, 2, 3, 3, 0},
                                                             {1, 4, 128, 128, 65'535, 1, 1, 0},
                                                             {1 << 15, 16, 63, 65, 4, 3, 3, 1}}) {
    kit::check_large_conv(launch, s);
  }
}

TEST(Conv2dImplicitGemm, KeepsFullPrecision) {
  RecordProperty("todo", 3);
  kit::check_conv_precision(launch, {1, 4, 8, 10, 9, 3, 3, 1});
  kit::check_conv(launch, {1, 20, 8, 8, 12, 3, 3, 1});
}

TEST(Conv2dImplicitGemm, KeepsFullPrecisionWithFewChannels) {
  RecordProperty("todo", 5);
  kit::check_conv_precision(launch, {1, 9, 8, 10, 9, 3, 3, 1});
  kit::check_conv(launch, {1, 16, 7, 7, 12, 3, 3, 1});
}

TEST(Conv2dImplicitGemm, MultipliesLessWithFewChannels) {
  RecordProperty("todo", 5);
  const kit::ConvSizes s = {1, 16, 16, 16, 32, 3, 3, 1};
  const kit::Run run = kit::check_conv_exact(launch, s);
  const double products = static_cast<double>(kit::conv_output_size(s)) * s.c * s.r * s.s;
  kit::budget("multiply-adds per product of the sum",
              kit::ratio(static_cast<double>(run.counters().fp32_fma), products), kit::at_most(0.5),
              "2 x 2 outputs take 16 products of transformed pixels, not 36",
              &kit::Counters::fp32_fma);
}

TEST(Conv2dImplicitGemm, UsesEachWordManyTimes) {
  RecordProperty("todo", 2);
  const kit::ConvSizes s = {1, 4, 16, 32, 64, 3, 3, 1};
  const kit::Run run = kit::check_conv_exact(launch, s);
  const double products = static_cast<double>(kit::conv_output_size(s)) * s.c * s.r * s.s;
  kit::budget("words loaded from global memory per multiply-add",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes) / 4, products),
              kit::at_most(1.0 / 20),
              "A step of a block brings 64 weights and 128 pixels for 8192 multiply-adds",
              &kit::Counters::global_load_bytes);
}

TEST(Conv2dImplicitGemm, IsFastFor64Channels) {
  RecordProperty("todo", 3);
  kit::ConvSpeed work(sized({2, 4, 24, 32, 64, 3, 3, 1}, {64, 64, 56, 56, 64, 3, 3, 1}), 66);
  work.speed.launch(work.call(launch));
  work.speed.against(kit::stage("a thread per output", work.call(launch_naive)), kit::Bars(3.0));
  work.speed.against(work.cudnn_gemm(), kit::Bars(0.35, 0.60, 0.90));
  work.speed.grade();
}

TEST(Conv2dImplicitGemm, IsFastForTheLayersOfChapter12) {
  RecordProperty("todo", 3);
  // Few channels and filters: a large tile hangs over the edge, so less is asked against 09.
  const std::vector<kit::ConvSizes> layers = {
      sized({8, 1, 28, 28, 16, 3, 3, 1}, {1024, 1, 28, 28, 16, 3, 3, 1}),
      sized({4, 16, 14, 14, 32, 3, 3, 1}, {1024, 16, 14, 14, 32, 3, 3, 1})};
  kit::for_each("x", layers, [](const kit::ConvSizes& s) {
    kit::ConvSpeed work(s, 66);
    work.speed.launch(work.call(launch));
    work.speed.against(kit::stage("a thread per output", work.call(launch_naive)), kit::Bars(1.2));
    work.speed.against(work.cudnn_best(), kit::Bars(0.35, 0.60, 2.0));
    work.speed.grade();
  });
}

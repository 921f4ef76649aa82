// Tests of 08/15 convolution with cuFFT.
#include "15_cufft_conv.h"

#include <cmath>
#include <map>

#include "08_fft_convolution/test/convolution.h"
#include "08_fft_convolution/test/cufft_errors.h"
#include "kit/kit.h"

namespace {

kit::ConvSizes sizes_of(const ConvShape& shape) {
  return {1, 1, shape.height, shape.width, 1, shape.filter_height, shape.filter_width, 0};
}

// Reference in double: out, row-major like image and filter.
std::vector<double> conv_on_cpu(const std::vector<float>& image, const std::vector<float>& filter,
                                const ConvShape& shape) {
  std::vector<double> out;
  for (size_t i = 0; i < kit::conv_output_size(sizes_of(shape)); ++i) {
    out.push_back(kit::conv_element(image, filter, sizes_of(shape), i).value);
  }
  return out;
}

// Rounding errors of a transform spread over all elements: see 14.
kit::Tolerance tolerance(const ConvShape& shape, float most) {
  const double points = 4.0 * shape.height * shape.width;
  const double taps = 1.0 * shape.filter_height * shape.filter_width;
  return kit::Tolerance::absolute(most * 4 * 0x1p-24 * std::log2(points) * std::sqrt(taps));
}

// Values of the image are at most 1, those of the filter at most `most`.
kit::Run check_with(const CufftConv* conv, const ConvShape& shape, float most = 1) {
  const kit::ConvSizes sizes = sizes_of(shape);
  const std::vector<float> image = kit::random_floats(kit::conv_input_size(sizes));
  const std::vector<float> filter = kit::random_floats(kit::conv_filter_size(sizes), -most, most);
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_image = kit::DeviceBuffer<float>::input(image, "image", at_end);
  const auto d_filter = kit::DeviceBuffer<float>::input(filter, "filter", at_end);
  const auto d_out = kit::DeviceBuffer<float>::output(kit::conv_output_size(sizes), "out", at_end);
  const kit::Run run =
      kit::run([&] { run_cufft_conv(conv, d_image.get(), d_filter.get(), d_out.get()); });
  kit::expect_near(d_out, conv_on_cpu(image, filter, shape), tolerance(shape, most),
                   kit::Shape(shape.out_height(), shape.out_width()));
  return run;
}

void check(const ConvShape& shape) {
  CufftConv* conv = make_cufft_conv(shape);
  check_with(conv, shape);
  destroy_cufft_conv(conv);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ConvShape& shape) {
  return out << shape.height << " x " << shape.width << " with " << shape.filter_height << " x "
             << shape.filter_width;
}

namespace {

TEST(CufftConv, FindsSizesThatAreFast) {
  RecordProperty("todo", 1);
  const std::map<int, int> sizes = {{1, 1},       {7, 7},       {11, 12},    {13, 14},
                                    {97, 98},     {121, 125},   {127, 128},  {128, 128},
                                    {1025, 1029}, {2048, 2048}, {2053, 2058}};
  for (const auto& [n, expected] : sizes) {
    const int got = fast_size(n);
    if (got == expected) continue;
    kit::fail("fast_size(" + std::to_string(n) + ") is " + std::to_string(got) + ", expected " +
              std::to_string(expected) + ".");
    return;
  }
}

// What serves the images of one shape belongs to that shape, for as long as it is there.
TEST(CufftConv, TwoShapesAreThereAtTheSameTime) {
  RecordProperty("todo", 4);
  const ConvShape one = {20, 30, 3, 5}, other = {9, 11, 4, 2};
  kit::Cases cases;
  CufftConv* const first = make_cufft_conv(one);
  CufftConv* const second = make_cufft_conv(other);
  cases.run("the one that was made first", [&] { check_with(first, one); });
  cases.run("the one that was made second", [&] { check_with(second, other); });
  destroy_cufft_conv(second);
  cases.run("the first one when the second is gone", [&] { check_with(first, one); });
  destroy_cufft_conv(first);
}

TEST(CufftConv, PlansHigherAndWiderTransforms) {
  RecordProperty("todo", 2);
  kit::for_each("image and filter", std::vector<ConvShape>{{8, 30, 3, 5}, {30, 7, 4, 2}}, check);
}

TEST(CufftConv, MultipliesByTheConjugate) {
  RecordProperty("todo", 3);
  kit::for_each("image and filter", std::vector<ConvShape>{{16, 16, 4, 4}, {17, 19, 17, 19}},
                check);
}

TEST(CufftConv, HandlesSizesThatArePadded) {
  RecordProperty("todo", 4);
  kit::for_each(
      "image and filter",
      std::vector<ConvShape>{{1, 1, 1, 1}, {1, 53, 1, 9}, {61, 1, 5, 1}, {59, 67, 11, 30}}, check);
}

TEST(CufftConv, TakesTheLongestSides) {
  RecordProperty("todo", 4);
  // Both sides become 65,536, and a grid has no more than 65,535 blocks in y.
  kit::for_each("image and filter", std::vector<ConvShape>{{65531, 1, 3, 1}, {1, 65536, 1, 3}},
                check);
}

TEST(CufftConv, ServesImageAfterImage) {
  RecordProperty("todo", 4);
  // A transform back spoils its input, and leaves its result where the padded image was.
  const ConvShape shape = {22, 26, 5, 3};
  CufftConv* conv = make_cufft_conv(shape);
  // Zeros that nobody restores grow from image to image, by a filter of large values.
  for (int image = 0; image < 8; ++image) check_with(conv, shape, 50);
  const double calls =
      static_cast<double>(kit::api_calls("cufftExecR2C") + kit::api_calls("cufftExecC2R"));
  kit::budget("transforms for an image", calls, kit::at_most(3),
              "One for the image, one for the filter, one back");
  destroy_cufft_conv(conv);
}

TEST(CufftConv, SaysThatAPlanCouldNotBeMade) {
  RecordProperty("todo", 2);
  CufftConv* conv = nullptr;
  kit::expect_cufft_errors_on_stderr(
      "make_cufft_conv",
      [&] {
        conv = make_cufft_conv({10, 12, 3, 3});
      },
      [&] { destroy_cufft_conv(conv); });
}

TEST(CufftConv, SaysThatATransformHasFailed) {
  RecordProperty("todo", 4);
  const ConvShape shape = {10, 12, 3, 3};
  const auto d_image = kit::DeviceBuffer<float>::input(kit::random_floats(10 * 12), "image");
  const auto d_filter = kit::DeviceBuffer<float>::input(kit::random_floats(3 * 3), "filter");
  const auto d_out = kit::DeviceBuffer<float>::output(8 * 10, "out");
  CufftConv* conv = make_cufft_conv(shape);
  kit::expect_cufft_errors_on_stderr(
      "run_cufft_conv", [&] { run_cufft_conv(conv, d_image.get(), d_filter.get(), d_out.get()); },
      [] {});
  destroy_cufft_conv(conv);
}

TEST(CufftConv, LeavesNoMemoryBehind) {
  RecordProperty("todo", 2);
  const ConvShape shape = {10, 12, 3, 3};
  check(shape);
  kit::expect_no_leak(kit::run([&] { destroy_cufft_conv(make_cufft_conv(shape)); }));
}

}  // namespace

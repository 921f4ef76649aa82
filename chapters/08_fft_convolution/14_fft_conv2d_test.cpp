// Tests of 08/14 convolution through the spectrum, 2-D.
#include "14_fft_conv2d.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "08_fft_convolution/test/convolution.h"
#include "kit/kit.h"
#include "kit/libraries/libraries.h"
#include "kit/speed/speed.h"

namespace {

kit::ConvSizes sizes_of(const Conv2d& shape) {
  return {1, 1, shape.height, shape.width, 1, shape.filter_height, shape.filter_width, 0};
}

// Reference in double: out, row-major like image and filter.
std::vector<double> conv2d_on_cpu(const std::vector<float>& image, const std::vector<float>& filter,
                                  const Conv2d& shape) {
  std::vector<double> out;
  for (size_t i = 0; i < kit::conv_output_size(sizes_of(shape)); ++i) {
    out.push_back(kit::conv_element(image, filter, sizes_of(shape), i).value);
  }
  return out;
}

// A transform spreads the rounding errors of all points over all others: they grow with log2 of the
// number of points, and are measured against the typical size of out, not of the element.
kit::Tolerance tolerance(const Conv2d& shape) {
  const double points = std::max(512, shape.height) * std::max(256.0, 1.0 * shape.width);
  const double taps = 1.0 * shape.filter_height * shape.filter_width;
  return kit::Tolerance::absolute(4 * 0x1p-24 * std::log2(points) * std::sqrt(taps));
}

size_t image_size(const Conv2d& shape) { return static_cast<size_t>(shape.height) * shape.width; }
size_t filter_size(const Conv2d& shape) {
  return static_cast<size_t>(shape.filter_height) * shape.filter_width;
}
size_t out_size(const Conv2d& shape) {
  return static_cast<size_t>(shape.out_height()) * shape.out_width();
}

kit::Run check(const Conv2d& shape) {
  const std::vector<float> image = kit::random_floats(image_size(shape));
  const std::vector<float> filter = kit::random_floats(filter_size(shape));
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_image = kit::DeviceBuffer<float>::input(image, "image", at_end);
  const auto d_filter = kit::DeviceBuffer<float>::input(filter, "filter", at_end);
  const auto d_out = kit::DeviceBuffer<float>::output(out_size(shape), "out", at_end);
  const auto workspace =
      kit::DeviceBuffer<float2>::output(fft_conv2d_workspace(shape), "workspace");
  const kit::Run run = kit::run([&] {
    launch_fft_conv2d(d_image.get(), d_filter.get(), d_out.get(), workspace.get(), shape);
  });
  kit::expect_near(d_out, conv2d_on_cpu(image, filter, shape), tolerance(shape),
                   kit::Shape(shape.out_height(), shape.out_width()));
  return run;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Conv2d& shape) {
  return out << shape.height << " x " << shape.width << " with " << shape.filter_height << " x "
             << shape.filter_width;
}

namespace {

TEST(FftConv2d, TransformsTheUpperHalfOfTheRows) {
  RecordProperty("todo", 3);
  // Up to 256 rows: the imaginary parts are 0.
  kit::for_each("image and filter", std::vector<Conv2d>{{1, 1, 1, 1}, {20, 256, 3, 5}},
                [](const Conv2d& shape) { check(shape); });
}

TEST(FftConv2d, MultipliesByTheFilterTurnedRound) {
  RecordProperty("todo", 2);
  kit::for_each("image and filter", std::vector<Conv2d>{{31, 33, 7, 9}, {63, 65, 63, 65}},
                [](const Conv2d& shape) { check(shape); });
}

TEST(FftConv2d, FoldsAndUnfoldsTheLowerHalf) {
  RecordProperty("todo", 1);
  // From 257 rows on there is a lower half. A filter of more than 256 rows is folded as well.
  kit::for_each("image and filter", std::vector<Conv2d>{{257, 20, 3, 2}, {512, 70, 300, 4}},
                [](const Conv2d& shape) { check(shape); });
}

TEST(FftConv2d, CutsLargeImagesIntoTiles) {
  RecordProperty("todo", 1);
  // Two tiles of up to 2048 columns, and 512 rows each after unfolding.
  check({258, 2100, 2, 9});
}

TEST(FftConv2d, MakesDoWithTheSharedMemoryOfTheCard) {
  RecordProperty("todo", 3);
  // A column of 1024 values, where the card has the shared memory for eight of them. A T4 has not:
  // there the image is cut into tiles of 512 rows.
  check({600, 3, 5, 2});
  kit::for_each_card([] {
    int bytes = 0;
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    if (bytes <= 64 * 1024) check({600, 4, 90, 2});
  });
}

TEST(FftConv2d, KnowsWhereItOvertakes) {
  RecordProperty("todo", 4);
  const std::vector<Conv2d> by_the_sum = {
      {2048, 2048, 1, 1}, {2048, 2048, 3, 3}, {1024, 1024, 1, 15}};
  const std::vector<Conv2d> by_the_spectrum = {{2048, 2048, 17, 17},
                                               {1024, 1024, 31, 31},
                                               {2048, 2048, 128, 128},
                                               {2048, 2048, 15, 40},
                                               {2048, 2048, 6, 60}};
  for (const bool overtakes : {false, true}) {
    for (const Conv2d& shape : overtakes ? by_the_spectrum : by_the_sum) {
      if (fft_overtakes(shape) == overtakes) continue;
      std::ostringstream text;
      text << "fft_overtakes says " << (overtakes ? "no" : "yes") << " to an image of " << shape
           << ".\nThe sum has " << filter_size(shape)
           << " products per element; what the three kernels do does not depend on the filter.";
      kit::fail(text.str());
      return;
    }
  }
}

TEST(FftConv2d, MovesTheSpectrumFourTimes) {
  RecordProperty("todo", 2);
  const Conv2d shape = {512, 256, 8, 8};
  const kit::Counters c = check(shape).counters();
  const double bytes =
      static_cast<double>(c.global_load_bytes) + static_cast<double>(c.global_store_bytes);
  kit::budget("bytes per element of the image", bytes / image_size(shape), kit::at_most(26),
              "4 for the image, 4 for out, and half a complex value per element four times: "
              "the zeros around the filter are neither written nor read",
              &kit::Counters::global_load_bytes);
}

TEST(FftConv2d, IsFasterThanTheSumForALargeFilter) {
  RecordProperty("todo", 2);
  const int scale = kit::work_scale(8, 1);
  const Conv2d shape = {2048 / scale, 2048 / scale, kit::work_scale(32, 128),
                        kit::work_scale(32, 128)};
  kit::Speed speed;
  const auto image = speed.input<float>(image_size(shape), "image");
  const auto filter = speed.input<float>(filter_size(shape), "filter");
  const auto out = speed.output<float>(out_size(shape), "out");
  const auto workspace = speed.output<float>(2 * fft_conv2d_workspace(shape), "workspace");
  speed.bytes(4.0 * (image_size(shape) + out_size(shape))).slice(32);
  speed.launch([&] {
    launch_fft_conv2d(image.get(), filter.get(), out.get(),
                      reinterpret_cast<float2*>(workspace.get()), shape);
  });
  speed.expect(
      out, [&](size_t i) { return kit::conv_element(image, filter, sizes_of(shape), i).value; },
      tolerance(shape));
  speed.against(
      kit::stage("the sum, tiled",
                 [&] { launch_conv2d_direct(image.get(), filter.get(), out.get(), shape); }),
      kit::Bars(1.1));
  // The library's result, square and with what wrapped round, fits into the workspace.
  speed.against(kit::library("three cuFFT calls", kit::cufft(),
                             [&] {
                               kit::cufft_correlate(image.get(), filter.get(), workspace.get(),
                                                    shape.height, shape.width, shape.filter_height,
                                                    shape.filter_width);
                             }),
                kit::Bars(0.5, 1.2, 1.5));
  speed.grade();
}

}  // namespace

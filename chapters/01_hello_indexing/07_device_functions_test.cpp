// Tests of 01/07 device functions.
#include "07_device_functions.h"

#include <limits>

#include "kit/host_code.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

// 1 / sqrt(64), the usual scale for heads of 64 channels, is exact; the other one rounds.
// A negative one tells -infinity from the scale times -infinity.
constexpr float kScales[] = {0.125f, 0.3f, -2.0f};

// queries x keys, row-major. One rounding per product, so every right answer has the same bits.
std::vector<float> reference(const std::vector<float>& scores, float scale,
                             const kit::Shape& shape) {
  std::vector<float> out;
  for (int query = 0; query < shape.rows; ++query) {
    for (int key = 0; key < shape.cols; ++key) {
      const double product = double{scores[query * shape.cols + key]} * scale;
      out.push_back(key > query ? -std::numeric_limits<float>::infinity()
                                : static_cast<float>(product));
    }
  }
  return out;
}

// Prompts (square), a step that sees a longer past, and sizes around the block.
const std::vector<kit::Shape>& shapes() {
  static const std::vector<kit::Shape> list = {{1, 1},      {4, 4},     {3, 7},    {7, 3},
                                               {8, 32},     {33, 33},   {65, 127}, {127, 50},
                                               {65'535, 1}, {1, 65'535}};
  return list;
}

TEST(DeviceFunctions, HostHidesTheFuture) {
  RecordProperty("todo", 1);
  kit::for_each("queries x keys", shapes(), [](const kit::Shape& shape) {
    for (const float scale : kScales) {
      const std::vector<float> scores = kit::random_floats(shape.size(), -8.0f, 8.0f);
      std::vector<float> out(shape.size());
      kit::expect_host_code("mask_scores_on_cpu", [&] {
        mask_scores_on_cpu(scores.data(), out.data(), scale, shape.rows, shape.cols);
      });
      kit::expect_equal("out on the host", out, reference(scores, scale, shape), shape);
    }
  });
}

TEST(DeviceFunctions, DeviceAgreesWithTheHost) {
  RecordProperty("todo", 2);
  kit::for_each("queries x keys", shapes(), [](const kit::Shape& shape) {
    for (const float scale : kScales) {
      const std::vector<float> scores = kit::random_floats(shape.size(), -8.0f, 8.0f);
      const auto d_scores = kit::DeviceBuffer<float>::input(scores, "scores");
      const auto out = kit::DeviceBuffer<float>::output(shape.size(), "out");
      kit::run(
          [&] { launch_mask_scores(d_scores.get(), out.get(), scale, shape.rows, shape.cols); });
      std::vector<float> on_host(shape.size());
      mask_scores_on_cpu(scores.data(), on_host.data(), scale, shape.rows, shape.cols);
      kit::expect_equal(out, on_host, shape);
    }
  });
}

TEST(DeviceFunctions, WhatIsHiddenDoesNotMatter) {
  RecordProperty("todo", 2);
  // A score that nobody may see can be anything: infinite, or not a number.
  const kit::Shape shape(20, 40);
  std::vector<float> scores = kit::random_floats(shape.size(), -8.0f, 8.0f);
  const std::vector<float> hidden = kit::special_floats_and_nans(shape.size());
  for (int query = 0; query < shape.rows; ++query) {
    for (int key = query + 1; key < shape.cols; ++key) {
      scores[query * shape.cols + key] = hidden[query * shape.cols + key];
    }
  }
  const auto d_scores = kit::DeviceBuffer<float>::input(scores, "scores");
  const auto out = kit::DeviceBuffer<float>::output(shape.size(), "out");
  kit::run([&] { launch_mask_scores(d_scores.get(), out.get(), 0.3f, shape.rows, shape.cols); });
  kit::expect_equal(out, reference(scores, 0.3f, shape), shape);
}

TEST(DeviceFunctions, WhatIsSeenIsMultiplied) {
  RecordProperty("todo", 2);
  const kit::Shape shape(20, 40);
  const std::vector<float> scores = kit::special_floats(shape.size());
  for (const float scale : {0.0f, 0.3f}) {
    const std::vector<float> expected = reference(scores, scale, shape);
    const auto d_scores = kit::DeviceBuffer<float>::input(scores, "scores");
    const auto out = kit::DeviceBuffer<float>::output(shape.size(), "out");
    kit::run([&] { launch_mask_scores(d_scores.get(), out.get(), scale, shape.rows, shape.cols); });
    kit::expect_nans("out", out.download(), expected);
    std::vector<float> on_host(shape.size());
    mask_scores_on_cpu(scores.data(), on_host.data(), scale, shape.rows, shape.cols);
    kit::expect_nans("out on the host", on_host, expected);
  }
}

TEST(DeviceFunctions, DeviceHidesTheFuture) {
  RecordProperty("todo", 2);
  kit::for_each("queries x keys", shapes(), [](const kit::Shape& shape) {
    for (const float scale : kScales) {
      const std::vector<float> scores = kit::random_floats(shape.size(), -8.0f, 8.0f);
      const auto d_scores = kit::DeviceBuffer<float>::input(scores, "scores");
      const auto out = kit::DeviceBuffer<float>::output(shape.size(), "out");
      kit::run(
          [&] { launch_mask_scores(d_scores.get(), out.get(), scale, shape.rows, shape.cols); });
      kit::expect_equal(out, reference(scores, scale, shape), shape);
    }
  });
}

TEST(DeviceFunctions, MasksTheLargestMatrices) {
  RecordProperty("todo", 2);
  const auto check_large = [](size_t queries, size_t keys) {
    const size_t n = queries * keys;
    const float scale = 0.5f;
    const auto scores = kit::large_floats(n, "scores");
    const auto out = kit::LargeArray<float>::output(n, "out");
    kit::run([&] { launch_mask_scores(scores.get(), out.get(), scale, queries, keys); });
    kit::expect_at_ends(out, [&](size_t i) {
      return i % keys <= i / keys ? scale * scores.at(i) : -std::numeric_limits<float>::infinity();
    });
  };
  kit::at_largest("65535 queries, 32767 keys", [&] { check_large(65535, 32767); });
  kit::at_largest("32767 queries, 65535 keys", [&] { check_large(32767, 65535); });
}

}  // namespace

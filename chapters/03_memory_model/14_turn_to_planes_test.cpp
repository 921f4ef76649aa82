// Tests of 03/14 turn to planes.
#include "14_turn_to_planes.h"

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/mistake.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

Mix random_mix() {
  const std::vector<float> weights = kit::random_floats(9, -2.0f, 2.0f);
  Mix mix;
  for (int i = 0; i < 9; ++i) mix.at[i / 3][i % 3] = weights[i];
  return mix;
}

// Reference: pixels rows x cols x 3, the result 3 x cols x rows. `scale` is the sum of magnitudes.
std::vector<double> turned_on_cpu(const std::vector<float>& pixels, const Mix& mix, int rows,
                                  int cols, std::vector<double>* scale) {
  std::vector<double> planes(pixels.size());
  scale->assign(pixels.size(), 0.0);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) {
      for (int k = 0; k < 3; ++k) {
        const size_t at = (static_cast<size_t>(k) * cols + c) * rows + rows - 1 - r;
        for (int j = 0; j < 3; ++j) {
          const double product = static_cast<double>(mix.at[k][j]) *
                                 pixels[(static_cast<size_t>(r) * cols + c) * 3 + j];
          planes[at] += product;
          (*scale)[at] += std::abs(product);
        }
      }
    }
  }
  return planes;
}

kit::Run check(kit::Shape shape, kit::Placement placement = kit::Placement::kMiddle) {
  const Mix mix = random_mix();
  const std::vector<float> pixels = kit::random_floats(3 * shape.size());
  const auto d_pixels = kit::DeviceBuffer<float>::input(pixels, "pixels", placement);
  const auto d_planes = kit::DeviceBuffer<float>::output(pixels.size(), "planes", placement);
  const kit::Run run = kit::run(
      [&] { launch_turn_to_planes(d_pixels.get(), mix, d_planes.get(), shape.rows, shape.cols); });
  std::vector<double> scale;
  const std::vector<double> expected = turned_on_cpu(pixels, mix, shape.rows, shape.cols, &scale);
  std::vector<double> unused;
  const kit::Mistake transposed(
      "they are what the transposed mix gives: at[j][k] for at[k][j]", [&] {
        Mix other;
        for (int i = 0; i < 9; ++i) other.at[i / 3][i % 3] = mix.at[i % 3][i / 3];
        return turned_on_cpu(pixels, other, shape.rows, shape.cols, &unused);
      });
  const kit::Mistake to_the_left("they are what a picture gives that is turned to the left", [&] {
    std::vector<double> left(expected.size());
    const size_t plane = shape.size();  // half a turn further is the other direction
    for (size_t i = 0; i < left.size(); ++i) {
      left[i] = expected[i / plane * plane + plane - 1 - i % plane];
    }
    return left;
  });
  kit::expect_near(d_planes, expected, kit::Tolerance::units(4, scale),
                   {3 * shape.cols, shape.rows});
  return run;
}

}  // namespace

TEST(TurnToPlanes, TurnsWholeTiles) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{64, 64}, {64, 192}, {128, 64}},
                [](kit::Shape shape) { check(shape); });
}

TEST(TurnToPlanes, CoversAwkwardShapes) {
  RecordProperty("todo", 1);
  kit::for_each("shape", kit::awkward_shapes(), [](kit::Shape shape) { check(shape); });
  kit::for_each("shape", std::vector<kit::Shape>{{1, 100}, {100, 1}, {65, 63}, {129, 70}},
                [](kit::Shape shape) { check(shape); });
}

TEST(TurnToPlanes, EveryCallHasItsOwnMix) {
  RecordProperty("todo", 1);
  for (int call = 0; call < 3; ++call) check({33, 40});
}

TEST(TurnToPlanes, AWeightOfNothingIsAWeight) {
  RecordProperty("todo", 1);
  const Mix mix = {{{0.0f, 1.0f, 0.0f}, {-0.5f, 0.0f, 2.0f}, {0.0f, 0.0f, 0.0f}}};
  const kit::Shape shape(34, 41);
  const std::vector<float> pixels = kit::special_floats(3 * shape.size());
  const auto d_pixels = kit::DeviceBuffer<float>::input(pixels, "pixels");
  const auto d_planes = kit::DeviceBuffer<float>::output(pixels.size(), "planes");
  kit::run(
      [&] { launch_turn_to_planes(d_pixels.get(), mix, d_planes.get(), shape.rows, shape.cols); });
  std::vector<double> unused;
  kit::expect_nans("planes", d_planes.download(),
                   turned_on_cpu(pixels, mix, shape.rows, shape.cols, &unused));
}

TEST(TurnToPlanes, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{65, 64}, {40, 67}, {1, 1}},
                [](kit::Shape shape) { check(shape, kit::Placement::kAtEnd); });
}

TEST(TurnToPlanes, AcceptsNoPixels) {
  RecordProperty("todo", 1);
  check({0, 5});
  check({5, 0});
  check({5, 3});  // the same launcher must work when there is something to turn
}

TEST(TurnToPlanes, TurnsLargePhotos) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t rows, size_t cols) {
    const Mix mix = {{{1, 2, 3}, {-1, 0, 4}, {2, -5, 1}}};
    const auto pixels = kit::large_integers(3 * rows * cols, "pixels");
    const auto planes = kit::LargeArray<float>::output(3 * rows * cols, "planes");
    kit::run([&] { launch_turn_to_planes(pixels.get(), mix, planes.get(), rows, cols); });
    kit::expect_at_ends(planes, [&](size_t i) {
      const size_t k = i / (rows * cols), c = i / rows % cols, r = rows - 1 - i % rows;
      float sum = 0;
      for (size_t j = 0; j < 3; ++j) sum += mix.at[k][j] * pixels.at(3 * (r * cols + c) + j);
      return sum;
    });
  };
  kit::at_largest("2^20 x 2^10", [&] { check_large(1 << 20, 1 << 10); });
  kit::at_largest("2^10 x 2^20", [&] { check_large(1 << 10, 1 << 20); });
  kit::at_largest("2^16 x 2^16", [&] { check_large(1 << 16, 1 << 16); });
}

TEST(TurnToPlanes, MovesOnlyWhatItUses) {
  RecordProperty("todo", 1);
  const kit::Shape shape{128, 256};
  const kit::Run run = check(shape);
  const kit::Counters& c = run.counters();
  kit::budget("useful share of loaded bytes",
              kit::ratio(c.global_load_unique_bytes, 32.0 * c.global_load_sectors),
              kit::at_least(0.9), "A warp must read neighbours, whatever colour they are",
              &kit::Counters::global_load_sectors);
  kit::budget("useful share of stored bytes",
              kit::ratio(c.global_store_unique_bytes, 32.0 * c.global_store_sectors),
              kit::at_least(0.9), "A warp must write along a row of planes",
              &kit::Counters::global_store_sectors);
  kit::budget("bytes loaded per pixel", kit::ratio(c.global_load_bytes, shape.size()),
              kit::at_most(12.5), "A pixel has three floats, and each is needed once",
              &kit::Counters::global_load_bytes);
}

TEST(TurnToPlanes, HasNoBankConflicts) {
  RecordProperty("todo", 1);
  const kit::Run run = check({128, 256});
  kit::budget("shared-memory bank conflicts",
              static_cast<double>(run.counters().shared_bank_conflicts), kit::at_most(0),
              "The 32 words that a warp reads or writes at a time must lie in 32 banks",
              &kit::Counters::shared_bank_conflicts);
}

TEST(TurnToPlanes, IsFast) {
  RecordProperty("todo", 1);
  const int rows = kit::work_scale(256, 8192), cols = kit::work_scale(256, 8192);
  const size_t n = static_cast<size_t>(rows) * cols;
  const Mix mix = random_mix();
  kit::Speed speed;
  const auto pixels = speed.input<float>(3 * n, "pixels");
  const auto planes = speed.output<float>(3 * n, "planes");
  speed.bytes(24.0 * n).flops(15.0 * n).slice(33);
  speed.launch([&] { launch_turn_to_planes(pixels.get(), mix, planes.get(), rows, cols); });
  speed.expect(
      planes,
      [&](size_t i) {
        const size_t k = i / n, c = i % n / rows, r = rows - 1 - i % rows;
        double sum = 0;
        for (size_t j = 0; j < 3; ++j) sum += mix.at[k][j] * pixels.at((r * cols + c) * 3 + j);
        return sum;
      },
      kit::Tolerance::absolute(1e-5));
  // As in 03/05, the model does not know what it costs to write parts of many sectors, so the
  // simulator judges by the counters above.
  speed.against(kit::copy_rate().on_gpu_only(), kit::Bars(0.50));
  speed.against(
      kit::stage("a thread per pixel",
                 [&] { launch_turn_directly(pixels.get(), mix, planes.get(), rows, cols); })
          .on_gpu_only(),
      kit::Bars(1.5));
  speed.grade();
}

// Tests of 03/06 transpose, padded.
#include "06_transpose_padded.h"

#include "05_transpose_tile.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/libraries/libraries.h"
#include "kit/speed/speed.h"

namespace {

// Reference: in is rows x cols, the result cols x rows. Values are moved: compared bit by bit.
std::vector<float> transpose_on_cpu(const std::vector<float>& in, kit::Shape shape) {
  std::vector<float> out(in.size());
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c < shape.cols; ++c) {
      out[c * shape.rows + r] = in[r * shape.cols + c];
    }
  }
  return out;
}

kit::Run check(kit::Shape shape, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> in = kit::random_floats(shape.size());
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in", placement);
  const auto d_out = kit::DeviceBuffer<float>::output(shape.size(), "out", placement);
  const kit::Run run =
      kit::run([&] { launch_transpose_padded(d_in.get(), d_out.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_out, transpose_on_cpu(in, shape), {shape.cols, shape.rows});
  return run;
}

struct Pitch {
  int words, wavefronts;
};
std::ostream& operator<<(std::ostream& out, const Pitch& pitch) { return out << pitch.words; }

}  // namespace

TEST(TransposePadded, CountsTheWavefrontsOfAColumn) {
  RecordProperty("todo", 1);
  const std::vector<Pitch> pitches = {{32, 32},
                                      {64, 32},
                                      {33, 1},
                                      {65, 1},
                                      {34, 2},
                                      {36, 4},
                                      {40, 8},
                                      {48, 16},
                                      {1, 1},
                                      {2, 2},
                                      {(1 << 27) + 1, 1},
                                      {0x7FFFFFFF, 1},
                                      {1 << 30, 32}};
  kit::for_each("pitch", pitches, [](const Pitch& pitch) {
    const int counted = column_wavefronts(pitch.words);
    if (counted != pitch.wavefronts) {
      kit::fail("column_wavefronts says " + std::to_string(counted) +
                "; lanes 0, 1, 2, 3 read words 0, " + std::to_string(pitch.words) + ", " +
                std::to_string(2LL * pitch.words) + ", " + std::to_string(3LL * pitch.words) +
                " of banks 0, " + std::to_string(pitch.words % 32) + ", " +
                std::to_string(2LL * pitch.words % 32) + ", " +
                std::to_string(3LL * pitch.words % 32) + ", and at most " +
                std::to_string(pitch.wavefronts) + " of all 32 lanes meet in one bank.");
    }
  });
}

TEST(TransposePadded, TurnsWholeTiles) {
  RecordProperty("todo", 2);
  kit::for_each("shape", std::vector<kit::Shape>{{64, 64}, {64, 192}, {128, 64}},
                [](kit::Shape shape) { check(shape); });
}

TEST(TransposePadded, CoversShapesThatAreNotTileMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("shape", kit::awkward_shapes(), [](kit::Shape shape) { check(shape); });
  kit::for_each("shape", std::vector<kit::Shape>{{1, 100}, {100, 1}, {65, 63}, {129, 70}},
                [](kit::Shape shape) { check(shape); });
}

TEST(TransposePadded, StaysInsideItsArrays) {
  RecordProperty("todo", 2);
  kit::for_each("shape", std::vector<kit::Shape>{{65, 64}, {40, 67}, {1, 1}},
                [](kit::Shape shape) { check(shape, kit::Placement::kAtEnd); });
}

TEST(TransposePadded, AcceptsNoElements) {
  RecordProperty("todo", 2);
  check({0, 5});
  check({5, 0});
  check({5, 3});  // the same launcher must work when there is something to turn
}

TEST(TransposePadded, HasNoBankConflicts) {
  RecordProperty("todo", 2);
  const kit::Run run = check({128, 256});
  kit::budget("shared-memory bank conflicts",
              static_cast<double>(run.counters().shared_bank_conflicts), kit::at_most(0),
              "The 32 words that a warp reads or writes at a time must lie in 32 banks",
              &kit::Counters::shared_bank_conflicts);
}

TEST(TransposePadded, TurnsTheLongestMatrices) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t rows, size_t cols) {
    const auto in = kit::large_floats(rows * cols, "in");
    const auto out = kit::LargeArray<float>::output(rows * cols, "out");
    kit::run([&] { launch_transpose_padded(in.get(), out.get(), rows, cols); });
    kit::expect_at_ends(out, [&](size_t i) { return in.at(i % rows * cols + i / rows); });
  };
  kit::at_largest("2^20 x 2^12", [&] { check_large(1 << 20, 1 << 12); });
  kit::at_largest("2^12 x 2^20", [&] { check_large(1 << 12, 1 << 20); });
  // More elements than 32 bits can count, with a sign or without.
  kit::at_largest("(2^20 - 1) x 4099", [&] { check_large((1 << 20) - 1, 4099); });
  kit::at_largest("4099 x (2^20 - 1)", [&] { check_large(4099, (1 << 20) - 1); });
}

TEST(TransposePadded, MovesOnlyWhatItUses) {
  RecordProperty("todo", 2);
  const kit::Run run = check({128, 256});
  const kit::Counters& c = run.counters();
  kit::budget("useful share of moved bytes", kit::useful_share(c), kit::at_least(0.9),
              "A warp reads along a row of in and writes along a row of out",
              &kit::Counters::global_store_sectors);
}

TEST(TransposePadded, IsFast) {
  RecordProperty("todo", 2);
  const int rows = kit::work_scale(512, 16384), cols = kit::work_scale(512, 16384);
  const size_t n = static_cast<size_t>(rows) * cols;
  kit::Speed speed;
  const auto in = speed.input<float>(n, "in");
  const auto out = speed.output<float>(n, "out");
  speed.bytes(8.0 * n).slice(33);
  speed.launch([&] { launch_transpose_padded(in.get(), out.get(), rows, cols); });
  speed.expect(
      out, [&](size_t i) { return in.at(i % rows * cols + i / rows); },
      kit::Tolerance::absolute(0));
  speed.against(kit::copy_rate(), kit::Bars(0.80, 0.85, 0.95));
  speed.against(kit::stage("tile without padding",
                           [&] { launch_transpose_tile(in.get(), out.get(), rows, cols); }),
                kit::Bars(1.3, 1.5));
  speed.against(kit::library("cuBLAS geam", kit::cublas(),
                             [&] { kit::cublas_transpose(in.get(), out.get(), rows, cols); }),
                kit::Bars(0.85, 0.91, 1.0));
  speed.grade();
}

// Tests of 07/19 size cliffs. The reference of the product, in double, is in test/matmul.h.
#include "19_size_cliffs.h"

#include <algorithm>
#include <cstdio>

#include "07_tiled_matmul/test/matmul.h"
#include "08_matmul_vectorized.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

struct Tiling {
  int tile, multiprocessors;
};
std::ostream& operator<<(std::ostream& out, const Tiling& t) {
  return out << t.tile << " x " << t.tile << " on " << t.multiprocessors << " multiprocessors";
}

// Cards and kernels: an H200, an RTX 3070, a T4, and two that do not exist.
const std::vector<Tiling>& tilings() {
  static const std::vector<Tiling> all = {{128, 132}, {128, 46}, {64, 40}, {32, 7}, {100, 1}};
  return all;
}
const std::vector<int> kSizes = {1, 31, 32, 33, 100, 127, 128, 129, 1000, 1408, 1409, 2048, 2049};

// Reference: gives the tiles to the multiprocessors one by one.
long long tiles_on_cpu(int n, const Tiling& tiling) {
  long long side = 0;
  for (int end = 0; end < n; end += tiling.tile) ++side;
  return side * side;
}
int waves_on_cpu(int n, const Tiling& tiling) {
  int rounds = 0;
  for (long long left = tiles_on_cpu(n, tiling); left > 0; left -= tiling.multiprocessors) ++rounds;
  return rounds;
}

void expect_size(const char* what, int got, int expected, int n, const Tiling& tiling) {
  if (got == expected) return;
  kit::fail(std::string(what) + " is " + std::to_string(got) + " for n = " + std::to_string(n) +
            ", not " + std::to_string(expected) + ". A product of " + std::to_string(n) +
            " needs " + std::to_string(tiles_on_cpu(n, tiling)) + " tiles, in " +
            std::to_string(waves_on_cpu(n, tiling)) + " waves; one of " + std::to_string(expected) +
            " needs " + std::to_string(tiles_on_cpu(expected, tiling)) + " tiles, in " +
            std::to_string(waves_on_cpu(expected, tiling)) + ".");
}

// a, b and c as launch_matmul_padded wants them, and the product.
kit::Run check_padded(const kit::MatmulSizes& s) {
  const int cols_a = padded(s.k), cols_b = padded(s.n);
  if (cols_a < s.k || cols_b < s.n) {
    kit::fail("padded(" + std::to_string(s.k) + ") is " + std::to_string(cols_a) +
              ": a padded row must have room for the row.");
    return {};
  }
  const std::vector<float> a = kit::random_floats(static_cast<size_t>(s.m) * s.k);
  const std::vector<float> b = kit::random_floats(static_cast<size_t>(s.k) * s.n);
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto padded_a = kit::DeviceBuffer<float>::output(static_cast<size_t>(s.m) * cols_a,
                                                         "padded a", kit::Placement::kAtEnd);
  const auto padded_b = kit::DeviceBuffer<float>::output(static_cast<size_t>(cols_a) * cols_b,
                                                         "padded b", kit::Placement::kAtEnd);
  const auto d_c = kit::DeviceBuffer<float>::output(static_cast<size_t>(s.m) * cols_b, "c",
                                                    kit::Placement::kAtEnd);
  kit::run([&] {
    launch_pad(d_a.get(), s.m, s.k, padded_a.get(), s.m, cols_a);
    launch_pad(d_b.get(), s.k, s.n, padded_b.get(), cols_a, cols_b);
  });
  const kit::Run run = kit::run(
      [&] { launch_matmul_padded(padded_a.get(), padded_b.get(), d_c.get(), s.m, s.n, s.k); });
  const kit::MatmulReference product = kit::matmul_on_cpu(a, b, s);
  std::vector<double> c(static_cast<size_t>(s.m) * cols_b), scale(c.size());
  for (size_t i = 0; i < product.c.size(); ++i) {
    c[i / s.n * cols_b + i % s.n] = product.c[i];
    scale[i / s.n * cols_b + i % s.n] = product.scale[i];
  }
  kit::expect_near(d_c, c, kit::Tolerance::units(16, scale), kit::Shape(s.m, cols_b));
  return run;
}

// Seconds that the kernel of 08 takes for a product of n x n: modelled, or measured on a GPU.
double seconds_of_product(int n, int k) {
  const std::vector<float> ab(static_cast<size_t>(n) * k, 1.0f);
  const auto d_a = kit::DeviceBuffer<float>::input(ab, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(ab, "b");
  const auto d_c = kit::DeviceBuffer<float>::output(static_cast<size_t>(n) * n, "c");
  const auto launch = [&] { launch_matmul_vectorized(d_a.get(), d_b.get(), d_c.get(), n, n, k); };
  const uint64_t mark = wsim_model_mark();
  kit::run(launch);
  if (kit::simulated()) return wsim_modelled_seconds(mark);
  double least = 1;
  for (int i = 0; i < 5; ++i) least = std::min(least, kit::milliseconds(launch) / 1000);
  return least;
}

}  // namespace

TEST(SizeCliffs, CountsWaves) {
  RecordProperty("todo", 1);
  kit::for_each("tiles", tilings(), [](const Tiling& tiling) {
    for (const int n : kSizes) {
      const int got = waves(n, tiling.tile, tiling.multiprocessors),
                expected = waves_on_cpu(n, tiling);
      if (got == expected) continue;
      kit::fail("waves is " + std::to_string(got) + " for n = " + std::to_string(n) + ", not " +
                std::to_string(expected) + ": c has " + std::to_string(tiles_on_cpu(n, tiling)) +
                " tiles.");
    }
  });
}

TEST(SizeCliffs, CountsWavesOfVeryManyTiles) {
  RecordProperty("todo", 1);
  // 2^17 tiles on a side, more than 2^32 in all; 130,150,525 waves, which no float holds, on 132.
  for (const int multiprocessors : {1000, 132}) {
    const Tiling tiling = {8, multiprocessors};
    const int got = waves(1 << 20, tiling.tile, tiling.multiprocessors),
              expected = waves_on_cpu(1 << 20, tiling);
    if (got == expected) continue;
    kit::fail("waves is " + std::to_string(got) + " for n = 2^20 and tiles of 8 x 8 on " +
              std::to_string(multiprocessors) + " multiprocessors, not " +
              std::to_string(expected) +
              ": 2^34 tiles are too many for an int, and a float rounds them.");
    return;
  }
}

TEST(SizeCliffs, PredictsTheNextTileCliff) {
  RecordProperty("todo", 2);
  kit::for_each("tiles", tilings(), [](const Tiling& tiling) {
    for (const int n : kSizes) {
      int expected = n + 1;
      while (tiles_on_cpu(expected, tiling) == tiles_on_cpu(n, tiling)) ++expected;
      expect_size("next_tile_cliff", next_tile_cliff(n, tiling.tile), expected, n, tiling);
    }
  });
}

TEST(SizeCliffs, PredictsTheNextWaveCliff) {
  RecordProperty("todo", 2);
  kit::for_each("tiles", tilings(), [](const Tiling& tiling) {
    for (const int n : kSizes) {
      int expected = n + 1;
      while (waves_on_cpu(expected, tiling) == waves_on_cpu(n, tiling)) ++expected;
      expect_size("next_wave_cliff", next_wave_cliff(n, tiling.tile, tiling.multiprocessors),
                  expected, n, tiling);
    }
  });
}

TEST(SizeCliffs, PredictsTheNextWaveCliffOfVeryManyTiles) {
  RecordProperty("todo", 2);
  // One row more is two million tiles of 1 x 1 more, so it always begins a wave; the number of
  // tiles is about 2^40.
  for (int n = (1 << 20) - 60; n < 1 << 20; ++n) {
    const int got = next_wave_cliff(n, 1, 600);
    if (got == n + 1) continue;
    kit::fail("next_wave_cliff is " + std::to_string(got) + " for n = " + std::to_string(n) +
              " and tiles of 1 x 1 on 600 multiprocessors, not " + std::to_string(n + 1) +
              ": a float rounds so many tiles.");
    return;
  }
}

TEST(SizeCliffs, TimeJumpsWhereAWaveBegins) {
  RecordProperty("todo", 2);
  Tiling tiling = {128, 4};
  if (!kit::simulated()) {
    cudaDeviceGetAttribute(&tiling.multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  }
  const int from = kit::work_scale(200, 1024), k = kit::work_scale(64, 1024);
  const int cliff = next_wave_cliff(from, tiling.tile, tiling.multiprocessors);
  wsim_model_start(33);  // an H200 has 132 multiprocessors
  const double ratio = seconds_of_product(cliff, k) / seconds_of_product(cliff - 1, k);
  wsim_model_stop();
  const std::string text =
      "A product of " + std::to_string(cliff) + " takes " + std::to_string(ratio) +
      " times as long as one of " + std::to_string(cliff - 1) + " (k = " + std::to_string(k) +
      ", tiles of 128, " + std::to_string(tiling.multiprocessors) + " multiprocessors)";
  if (!kit::simulated()) {
    std::printf("%s, measured on this GPU.\n", text.c_str());  // how much is the card's business
  } else if (!(ratio >= 1.5)) {
    kit::fail(text + ", modelled: that is no cliff.");
  }
}

TEST(SizeCliffs, MultipliesPaddedMatrices) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) { check_padded(s); });
  kit::for_each("c", std::vector<kit::MatmulSizes>{{32, 64, 16}, {5, 6, 7}, {3, 4, 0}},
                [](const kit::MatmulSizes& s) { check_padded(s); });
}

TEST(SizeCliffs, PadsMoreRowsThanAGridHasBlocks) {
  RecordProperty("todo", 3);
  constexpr int kRows = 524'289;  // 65,537 blocks of 8 rows
  const std::vector<float> x = kit::random_integer_floats(kRows);
  const int cols = padded(1);
  std::vector<float> expected(static_cast<size_t>(kRows) * cols);
  for (int row = 0; row < kRows; ++row) expected[static_cast<size_t>(row) * cols] = x[row];
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_out = kit::DeviceBuffer<float>::output(expected.size(), "out");
  kit::run([&] { launch_pad(d_x.get(), kRows, 1, d_out.get(), kRows, cols); });
  kit::expect_equal(d_out, expected, kit::Shape(kRows, cols));
}

// Two columns less than padded, and one row.
void check_large_pad(int out_rows, int out_cols) {
  const int rows = out_rows - 1, cols = out_cols - 2;
  kit::at_largest("out = " + std::to_string(out_rows) + " x " + std::to_string(out_cols), [&] {
    const auto x = kit::large_floats(static_cast<size_t>(rows) * cols, "x");
    const auto out =
        kit::LargeArray<float>::output(static_cast<size_t>(out_rows) * out_cols, "out");
    kit::run([&] { launch_pad(x.get(), rows, cols, out.get(), out_rows, out_cols); });
    kit::expect_at_ends(out, [&](size_t i) {
      const size_t row = i / out_cols, col = i % out_cols;
      const bool inside = row < static_cast<size_t>(rows) && col < static_cast<size_t>(cols);
      return inside ? x.at(row * cols + col) : 0.0f;
    });
  });
}

TEST(SizeCliffs, PadsTheLargestMatrices) {
  RecordProperty("todo", 3);
  check_large_pad(1 << 20, 2044);
  check_large_pad(2047, 1 << 20);
}

TEST(SizeCliffs, PadsNoMoreThanItMust) {
  RecordProperty("todo", 3);
  kit::for_each("size", std::vector<int>{0, 1, 2, 3, 4, 5, 127, 128, 1281}, [](int size) {
    if (padded(size) > size + 3) {
      kit::fail("padded is " + std::to_string(padded(size)) +
                ": four floats are 16 bytes, so three "
                "more are always enough.");
    }
  });
}

TEST(SizeCliffs, LoadsSixteenBytesWhateverTheSizes) {
  RecordProperty("todo", 3);
  const kit::Counters c = check_padded({70, 61, 45}).counters();
  kit::budget("16-byte share of global loads",
              kit::ratio(c.global_load_requests_16, c.global_load_requests), kit::at_least(0.9),
              "Rows of 61 floats begin anywhere; rows of 64 begin at multiples of 16 bytes",
              &kit::Counters::global_load_requests);
}

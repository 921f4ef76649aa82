// Tests of 07/05 matmul, dynamic tile. The reference of the product, in double, is in
// test/matmul.h.
#include "05_matmul_dynamic_tile.h"

#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

namespace {

constexpr int kAnyThreads = 1024, kAnyBytes = 48 * 1024;  // do not limit a width of 32

// Reference: tries the widths from the greatest down.
int width_by_trial(int m, int n, int threads, int shared_bytes) {
  for (const int width : {32, 16}) {
    const bool fits = width * width <= threads && 8 * width * width <= shared_bytes;
    const bool needed = m > width / 2 && n > width / 2;
    if (fits && needed) return width;
  }
  return 8;
}

void check_width(int m, int n, int threads, int shared_bytes) {
  const int got = tile_width(m, n, threads, shared_bytes);
  const int expected = width_by_trial(m, n, threads, shared_bytes);
  if (got == expected) return;
  kit::fail("tile_width is " + std::to_string(got) + ", not " + std::to_string(expected) +
            ", for c = " + std::to_string(m) + " x " + std::to_string(n) +
            " on a device with at most " + std::to_string(threads) + " threads and " +
            std::to_string(shared_bytes) + " bytes of shared memory per block. Tiles of width w " +
            "take w * w threads and 8 * w * w bytes.");
}

// The launch must have blocks of this width, and c must be right.
void check_product(const kit::MatmulSizes& s, int width) {
  const kit::Run run = kit::check_matmul_exact(launch_matmul_dynamic_tile, s);
  if (!kit::simulated() || run.launches().empty()) return;
  const unsigned got = run.launches()[0].block[0];
  if (got != static_cast<unsigned>(width)) {
    kit::fail("The launch has blocks of width " + std::to_string(got) + ", not " +
              std::to_string(width) + ", which covers the shorter side of c.");
  }
}

}  // namespace

TEST(MatmulDynamicTile, TheWidthFitsTheDevice) {
  RecordProperty("todo", 1);
  kit::for_each("threads", std::vector<int>{1024, 1023, 512, 256, 255, 64},
                [](int threads) { check_width(500, 400, threads, kAnyBytes); });
  kit::for_each("shared bytes", std::vector<int>{8192, 8191, 4096, 2048, 2047, 512},
                [](int bytes) { check_width(500, 400, kAnyThreads, bytes); });
}

TEST(MatmulDynamicTile, TheWidthFitsTheMatrix) {
  RecordProperty("todo", 1);
  kit::for_each("shorter side", std::vector<int>{1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000},
                [](int side) {
                  check_width(side, 1000, kAnyThreads, kAnyBytes);
                  check_width(1000, side, kAnyThreads, kAnyBytes);
                });
}

TEST(MatmulDynamicTile, MultipliesInTilesOf32) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{32, 32, 32}, {33, 65, 40}, {17, 100, 65}},
                [](const kit::MatmulSizes& s) { check_product(s, 32); });
}

TEST(MatmulDynamicTile, MultipliesInTilesOf16) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{16, 64, 16}, {9, 70, 33}, {100, 12, 5}},
                [](const kit::MatmulSizes& s) { check_product(s, 16); });
}

TEST(MatmulDynamicTile, MultipliesInTilesOf8) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{8, 64, 8}, {1, 33, 17}, {90, 3, 20}},
                [](const kit::MatmulSizes& s) { check_product(s, 8); });
}

TEST(MatmulDynamicTile, TakesZerosPastTheEdges) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_dynamic_tile, s);
  });
}

TEST(MatmulDynamicTile, AcceptsEmptyMatrices) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_dynamic_tile, s);
  });
  kit::check_matmul_exact(launch_matmul_dynamic_tile, {3, 5, 7});  // the same launcher must work
}

TEST(MatmulDynamicTile, CoversEveryExtent) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_dynamic_tile, s);
  });
}

TEST(MatmulDynamicTile, MakesTheLargestProducts) {
  RecordProperty("todo", 3);
  kit::check_largest_matmuls<float>(launch_matmul_dynamic_tile);
  kit::check_large_matmul<float>(launch_matmul_dynamic_tile, {1 << 20, 5, 3});  // tiles of 8 x 8
}

TEST(MatmulDynamicTile, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 3);
  kit::check_infinities<float>(launch_matmul_dynamic_tile);
}

TEST(MatmulDynamicTile, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 3);
  kit::check_special_factors(launch_matmul_dynamic_tile);
}

TEST(MatmulDynamicTile, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 3);
  kit::check_any_begin(launch_matmul_dynamic_tile);
}

TEST(MatmulDynamicTile, TakesMoreTilesThanAGridHasBlocksInY) {
  RecordProperty("todo", 2);
  // Sums of nothing: zeros in 65,537 tiles of 8 rows, or of 8 columns.
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{524'289, 1, 0}, {1, 524'289, 0}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_dynamic_tile, s); });
}

TEST(MatmulDynamicTile, RoundsAsFloatsDo) {
  RecordProperty("todo", 2);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
      [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_dynamic_tile, s); });
}

TEST(MatmulDynamicTile, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  kit::check_matmul_precision(launch_matmul_dynamic_tile, {32, 33, 256});
}

TEST(MatmulDynamicTile, HasNoBranchPerProduct) {
  RecordProperty("todo", 2);
  const kit::Run run = kit::check_matmul(launch_matmul_dynamic_tile, {64, 64, 256});
  const kit::Counters& c = run.counters();
  kit::budget("branches per multiply-add",
              kit::ratio(32.0 * static_cast<double>(c.branches), static_cast<double>(c.fp32_fma)),
              kit::at_most(1.0 / 6),
              "A loop of 32 multiply-adds whose length the compiler knows has no branch of its own",
              &kit::Counters::branches);
}

TEST(MatmulDynamicTile, IsFast) {
  RecordProperty("todo", 2);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 128, 64} : kit::MatmulSizes{2048, 2048, 2048};
  kit::MatmulSpeed work(sizes, 33);
  work.speed.launch(work.call(launch_matmul_dynamic_tile));
  work.speed.against(
      kit::stage("a width known at run time only", work.call(launch_matmul_run_time_width)),
      kit::Bars(1.10, 1.30));
  work.speed.grade();
}

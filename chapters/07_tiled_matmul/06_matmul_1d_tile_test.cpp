// Tests of 07/06 matmul, 1-D tile. The reference, in double, is in test/matmul.h.
#include "06_matmul_1d_tile.h"

#include "04_matmul_shared.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(Matmul1dTile, LoadsBothTiles) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{64, 64, 8}, {128, 64, 16}, {64, 128, 8}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_1d_tile, s); });
}

TEST(Matmul1dTile, AddsUpTheProducts) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{64, 64, 24}, {64, 64, 40}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_1d_tile, s); });
}

TEST(Matmul1dTile, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_1d_tile, s);
  });
}

TEST(Matmul1dTile, AcceptsEmptyMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_1d_tile, s);
  });
  kit::check_matmul_exact(launch_matmul_1d_tile, {3, 5, 7});  // the same launcher must work here
}

TEST(Matmul1dTile, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_1d_tile, s);
  });
}

TEST(Matmul1dTile, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_1d_tile);
}

TEST(Matmul1dTile, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_1d_tile);
}

TEST(Matmul1dTile, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_1d_tile);
}

TEST(Matmul1dTile, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_1d_tile);
}

TEST(Matmul1dTile, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_1d_tile, s); });
}

TEST(Matmul1dTile, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_1d_tile, {32, 33, 256});
}

TEST(Matmul1dTile, UsesEachWordSeveralTimes) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_1d_tile, {64, 128, 32});
  kit::budget("words loaded from shared memory per multiply-add",
              kit::words_per_fma(run.counters().shared_load_bytes, run), kit::at_most(1.2),
              "A word of b that is in a register serves 8 multiply-adds: 9 words for 8",
              &kit::Counters::shared_load_bytes);
}

TEST(Matmul1dTile, IsFast) {
  RecordProperty("todo", 1);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 128, 128} : kit::MatmulSizes{2048, 2048, 2048};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_1d_tile));
  // Measured on an H200 (2026-11-21): 1.80 times tiles of 32 x 32 and 33.5 % of cuBLAS at 2048; the
  // starter, which is the kernel of 04, has 20 % on an H100 (2026-11-23).
  work.speed.against(kit::stage("one element per thread", work.call(launch_matmul_shared)),
                     kit::Bars(1.40));
  work.speed.against(work.against_cublas(), kit::Bars(0.25, 0.30));
  work.speed.grade();
}

// Tests of 07/07 matmul, 2-D tile. The reference, in double, is in test/matmul.h.
#include "07_matmul_2d_tile.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(Matmul2dTile, LoadsBothTiles) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 16}, {256, 128, 32}, {128, 256, 16}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_2d_tile, s); });
}

TEST(Matmul2dTile, AddsUpTheProducts) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 24}, {128, 128, 48}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_2d_tile, s); });
}

TEST(Matmul2dTile, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_2d_tile, s);
  });
}

TEST(Matmul2dTile, AcceptsEmptyMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_2d_tile, s);
  });
  kit::check_matmul_exact(launch_matmul_2d_tile, {3, 5, 7});  // the same launcher must work here
}

TEST(Matmul2dTile, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_2d_tile, s);
  });
}

TEST(Matmul2dTile, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_2d_tile);
}

TEST(Matmul2dTile, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_2d_tile);
}

TEST(Matmul2dTile, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_2d_tile);
}

TEST(Matmul2dTile, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_2d_tile);
}

TEST(Matmul2dTile, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_2d_tile, s); });
}

TEST(Matmul2dTile, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_2d_tile, {32, 33, 256});
}

TEST(Matmul2dTile, UsesEachWordSeveralTimes) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_2d_tile, {128, 256, 32});
  kit::budget("words loaded from shared memory per multiply-add",
              kit::words_per_fma(run.counters().shared_load_bytes, run), kit::at_most(0.27),
              "16 words in registers serve 64 multiply-adds", &kit::Counters::shared_load_bytes);
}

TEST(Matmul2dTile, IsFast) {
  RecordProperty("todo", 1);
  // Long in k: with few steps, the first and the last one are most of what the model sees.
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 256, 256} : kit::MatmulSizes{4096, 4096, 4096};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_2d_tile));
  // Measured on an H200 (2026-11-21): 4.8 times the coalesced kernel and 57 % of cuBLAS; four
  // other designs in blocks: 4.1 to 6.0 times. The model says 3.8 of this one, and of seven others
  // in blocks 2.4 (2.5 on the card) to 5.2. It says less than 0.5 of what multiplies in double.
  work.speed.against(kit::stage("the coalesced kernel", work.call(launch_matmul_coalesced)),
                     kit::Bars(3.0).modelled(2.0, 1.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.45, 0.55));
  work.speed.grade();
}

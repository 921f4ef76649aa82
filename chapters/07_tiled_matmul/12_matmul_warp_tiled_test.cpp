// Tests of 07/12 matmul, warp tiled. The reference, in double, is in test/matmul.h.
#include "12_matmul_warp_tiled.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulWarpTiled, FindsThePlaceOfEveryThread) {
  RecordProperty("todo", 1);
  kit::check_matmul_exact(launch_matmul_warp_tiled, {128, 256, 16});
}

TEST(MatmulWarpTiled, ReadsItsFragments) {
  RecordProperty("todo", 2);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 256, 1}, {128, 256, 4}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_warp_tiled, s); });
}

TEST(MatmulWarpTiled, MultipliesWholeFragments) {
  RecordProperty("todo", 2);
  kit::check_matmul_exact(launch_matmul_warp_tiled, {256, 256, 16});
}

TEST(MatmulWarpTiled, LoadsAheadAlongTheWholeOfK) {
  RecordProperty("todo", 2);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 256, 32}, {64, 128, 80}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_warp_tiled, s); });
}

TEST(MatmulWarpTiled, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_warp_tiled, s);
  });
}

TEST(MatmulWarpTiled, TakesZerosPastTheEdgesOfAlignedRows) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{36, 68, 20}, {132, 260, 4}, {1, 4, 4}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_warp_tiled, s); });
}

TEST(MatmulWarpTiled, AcceptsEmptyMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_warp_tiled, s);
  });
  kit::check_matmul_exact(launch_matmul_warp_tiled, {3, 5, 7});  // the same launcher must work here
}

TEST(MatmulWarpTiled, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_warp_tiled, s);
  });
}

TEST(MatmulWarpTiled, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_warp_tiled);
}

TEST(MatmulWarpTiled, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_warp_tiled);
}

TEST(MatmulWarpTiled, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_warp_tiled);
}

TEST(MatmulWarpTiled, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_warp_tiled);
}

TEST(MatmulWarpTiled, RoundsAsFloatsDo) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 200}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_warp_tiled, s); });
}

TEST(MatmulWarpTiled, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  kit::check_matmul_precision(launch_matmul_warp_tiled, {32, 33, 256});
}

TEST(MatmulWarpTiled, LoadsWhatItNeedsOncePerTile) {
  RecordProperty("todo", 2);
  const kit::Run run = kit::check_matmul(launch_matmul_warp_tiled, {256, 256, 64});
  kit::budget("words loaded from global memory per multiply-add",
              kit::words_per_fma(run.counters().global_load_bytes, run), kit::at_most(1.0 / 60),
              "A tile of 128 x 256 needs 384 words for 32,768 multiply-adds: 1/85",
              &kit::Counters::global_load_bytes);
}

TEST(MatmulWarpTiled, IsFast) {
  RecordProperty("todo", 2);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 512, 64} : kit::MatmulSizes{4096, 4096, 4096};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_warp_tiled));
  // Measured on an H200 (2026-11-21): 8.4 times the coalesced kernel and 99 % of cuBLAS.
  work.speed.against(kit::stage("the coalesced kernel", work.call(launch_matmul_coalesced)),
                     kit::Bars(5.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.60, 0.80, 0.95));
  work.speed.grade();
}

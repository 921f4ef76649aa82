// Tests of 07/11 matmul, the shape of a warp. The reference, in double, is in test/matmul.h.
#include "11_matmul_warp_shape.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulWarpShape, FindsThePlaceOfEveryThread) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 16}, {256, 128, 1}, {128, 256, 8}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_warp_shape, s); });
}

TEST(MatmulWarpShape, GoesAlongTheWholeOfK) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 32}, {64, 128, 80}, {128, 64, 100}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_warp_shape, s); });
}

TEST(MatmulWarpShape, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_warp_shape, s);
  });
}

TEST(MatmulWarpShape, TakesZerosPastTheEdgesOfAlignedRows) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{36, 68, 20}, {132, 260, 36}, {1, 4, 4}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_warp_shape, s); });
}

TEST(MatmulWarpShape, AcceptsEmptyMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_warp_shape, s);
  });
  kit::check_matmul_exact(launch_matmul_warp_shape, {3, 5, 7});  // the same launcher must work here
}

TEST(MatmulWarpShape, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_warp_shape, s);
  });
}

TEST(MatmulWarpShape, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_warp_shape);
}

TEST(MatmulWarpShape, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_warp_shape);
}

TEST(MatmulWarpShape, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_warp_shape);
}

TEST(MatmulWarpShape, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_warp_shape);
}

TEST(MatmulWarpShape, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_warp_shape, s); });
}

TEST(MatmulWarpShape, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_warp_shape, {32, 33, 256});
}

TEST(MatmulWarpShape, ReadsInFewPasses) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_warp_shape, {128, 256, 256});
  const kit::Counters& c = run.counters();
  kit::budget("passes of loads from shared memory per multiply-add",
              kit::ratio(c.shared_load_wavefronts, c.fp32_fma), kit::at_most(1.0 / 200),
              "In a step of k, a warp with 8 x 8 sums per lane makes four requests of two passes "
              "for 2,048 multiply-adds: 1/256",
              &kit::Counters::shared_load_wavefronts);
}

TEST(MatmulWarpShape, IsFast) {
  RecordProperty("todo", 1);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 512, 64} : kit::MatmulSizes{4096, 4096, 4096};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_warp_shape));
  work.speed.against(kit::stage("the coalesced kernel", work.call(launch_matmul_coalesced)),
                     kit::Bars(3.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.45, 0.60));
  work.speed.grade();
}

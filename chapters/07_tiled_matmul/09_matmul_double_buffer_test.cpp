// Tests of 07/09 matmul, double buffer. The reference, in double, is in test/matmul.h.
#include "09_matmul_double_buffer.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulDoubleBuffer, MultipliesOneStep) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 16}, {256, 128, 1}, {128, 256, 8}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_double_buffer, s); });
}

TEST(MatmulDoubleBuffer, GoesAlongTheWholeOfK) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 32}, {64, 128, 80}, {128, 64, 100}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_double_buffer, s); });
}

TEST(MatmulDoubleBuffer, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_double_buffer, s);
  });
}

TEST(MatmulDoubleBuffer, TakesZerosPastTheEdgesOfAlignedRows) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{36, 68, 20}, {132, 260, 36}, {1, 4, 4}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_double_buffer, s); });
}

TEST(MatmulDoubleBuffer, AcceptsEmptyMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_double_buffer, s);
  });
  kit::check_matmul_exact(launch_matmul_double_buffer,
                          {3, 5, 7});  // the same launcher must work here
}

TEST(MatmulDoubleBuffer, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_double_buffer, s);
  });
}

TEST(MatmulDoubleBuffer, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_double_buffer);
}

TEST(MatmulDoubleBuffer, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_double_buffer);
}

TEST(MatmulDoubleBuffer, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_double_buffer);
}

TEST(MatmulDoubleBuffer, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_double_buffer);
}

TEST(MatmulDoubleBuffer, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
      [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_double_buffer, s); });
}

TEST(MatmulDoubleBuffer, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_double_buffer, {32, 33, 256});
}

TEST(MatmulDoubleBuffer, MeetsOnceInEachStep) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_double_buffer, {128, 256, 256});
  const kit::Counters& c = run.counters();
  kit::budget("barriers of a warp per 16 steps of k",
              kit::ratio(c.barriers, c.threads / 32 * (256 / 16)), kit::at_most(1.25),
              "With two pairs of tiles, what is stored is never what is read",
              &kit::Counters::barriers);
}

TEST(MatmulDoubleBuffer, IsFast) {
  RecordProperty("todo", 1);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 512, 64} : kit::MatmulSizes{4096, 4096, 4096};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_double_buffer));
  work.speed.against(kit::stage("the coalesced kernel", work.call(launch_matmul_coalesced)),
                     kit::Bars(3.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.45, 0.60));
  work.speed.grade();
}

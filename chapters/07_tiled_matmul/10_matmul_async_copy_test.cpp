// Tests of 07/10 matmul, asynchronous copies. The reference, in double, is in test/matmul.h.
#include "10_matmul_async_copy.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulAsyncCopy, MultipliesOneStep) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 16}, {256, 128, 1}, {128, 256, 8}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_async_copy, s); });
}

TEST(MatmulAsyncCopy, GoesAlongTheWholeOfK) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 32}, {64, 128, 80}, {128, 64, 100}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_async_copy, s); });
}

TEST(MatmulAsyncCopy, TakesZerosPastTheEdges) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_async_copy, s);
  });
}

TEST(MatmulAsyncCopy, TakesZerosPastTheEdgesOfAlignedRows) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{36, 68, 20}, {132, 260, 36}, {1, 4, 4}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_async_copy, s); });
}

TEST(MatmulAsyncCopy, AcceptsEmptyMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_async_copy, s);
  });
  kit::check_matmul_exact(launch_matmul_async_copy, {3, 5, 7});  // the same launcher must work here
}

TEST(MatmulAsyncCopy, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_async_copy, s);
  });
}

TEST(MatmulAsyncCopy, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_async_copy);
}

TEST(MatmulAsyncCopy, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_async_copy);
}

TEST(MatmulAsyncCopy, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_async_copy);
}

TEST(MatmulAsyncCopy, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_async_copy);
}

TEST(MatmulAsyncCopy, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_async_copy, s); });
}

TEST(MatmulAsyncCopy, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_async_copy, {32, 33, 256});
}

TEST(MatmulAsyncCopy, StoresOnlyAItself) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_async_copy, {128, 256, 256});
  kit::budget("words stored to shared memory per multiply-add",
              kit::words_per_fma(run.counters().shared_store_bytes, run), kit::at_most(1.0 / 100),
              "Of each step, a block of 128 x 128 stores 2,048 words of a and none of b: 1/128",
              &kit::Counters::shared_store_bytes);
}

TEST(MatmulAsyncCopy, MeetsOnceInEachStep) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_async_copy, {128, 256, 256});
  const kit::Counters& c = run.counters();
  kit::budget("barriers of a warp per 16 steps of k",
              kit::ratio(c.barriers, c.threads / 32 * (256 / 16)), kit::at_most(1.25),
              "With two pairs of tiles, what is stored is never what is read",
              &kit::Counters::barriers);
}

TEST(MatmulAsyncCopy, IsFast) {
  RecordProperty("todo", 1);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 512, 64} : kit::MatmulSizes{4096, 4096, 4096};
  kit::MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_async_copy));
  work.speed.against(kit::stage("the coalesced kernel", work.call(launch_matmul_coalesced)),
                     kit::Bars(3.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.45, 0.60));
  work.speed.grade();
}

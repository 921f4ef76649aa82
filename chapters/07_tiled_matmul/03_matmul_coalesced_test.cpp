// Tests of 07/03 matmul, coalesced. The reference, in double, is in test/matmul.h.
#include "03_matmul_coalesced.h"

#include "02_matmul_naive.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulCoalesced, MultipliesEveryRowWithEveryColumn) {
  RecordProperty("todo", 2);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{32, 32, 7}, {64, 96, 5}, {96, 32, 3}, {32, 160, 4}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_coalesced, s); });
}

TEST(MatmulCoalesced, StaysInsideTheMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_coalesced, s);
  });
}

TEST(MatmulCoalesced, AcceptsEmptyMatrices) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_exact(launch_matmul_coalesced, s);
  });
}

TEST(MatmulCoalesced, CoversEveryExtent) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::long_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_coalesced, s);
  });
}

TEST(MatmulCoalesced, MakesTheLargestProducts) {
  RecordProperty("todo", 2);
  kit::check_largest_matmuls<float>(launch_matmul_coalesced);
  kit::check_largest_factors(launch_matmul_coalesced);
}

TEST(MatmulCoalesced, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 2);
  kit::check_infinities<float>(launch_matmul_coalesced);
}

TEST(MatmulCoalesced, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 2);
  kit::check_special_factors(launch_matmul_coalesced);
}

TEST(MatmulCoalesced, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 2);
  kit::check_any_begin(launch_matmul_coalesced);
}

TEST(MatmulCoalesced, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_coalesced, s); });
}

TEST(MatmulCoalesced, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_coalesced, {32, 33, 256});
}

TEST(MatmulCoalesced, ReadsWholeSectors) {
  RecordProperty("todo", 1);
  const kit::Run run = kit::check_matmul(launch_matmul_coalesced, {64, 64, 64});
  const kit::Counters& c = run.counters();
  kit::budget("global load sectors per request",
              kit::ratio(c.global_load_sectors, c.global_load_requests), kit::at_most(5),
              "32 neighbouring floats lie in 4 sectors; lanes that are a row apart need 32",
              &kit::Counters::global_load_sectors);
}

TEST(MatmulCoalesced, IsFast) {
  RecordProperty("todo", 1);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 128, 64} : kit::MatmulSizes{2048, 2048, 2048};
  kit::MatmulSpeed work(sizes, 33);
  work.speed.launch(work.call(launch_matmul_coalesced));
  // Measured on an H200 (2026-11-21): 13.5 times for n = 1024 and 2048, 11.3 times for 4096.
  work.speed.against(kit::stage("the naive kernel", work.call(launch_matmul_naive)),
                     kit::Bars(2.5, 4.0));
  work.speed.grade();
}

// Tests of 07/02 matmul, naive. The reference, in double, is in test/matmul.h.
#include "02_matmul_naive.h"

#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulNaive, AddsUpTheProducts) {
  RecordProperty("todo", 1);
  // One block is enough for these, so the grid does not matter yet.
  kit::for_each(
      "c",
      std::vector<kit::MatmulSizes>{{1, 1, 1}, {2, 3, 4}, {32, 32, 7}, {31, 8, 65}, {7, 32, 1}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_naive, s); });
}

TEST(MatmulNaive, CoversEveryElement) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{64, 96, 5}, {96, 32, 3}, {32, 160, 4}},
                [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_naive, s); });
}

TEST(MatmulNaive, StaysInsideTheMatrices) {
  RecordProperty("todo", 1);
  kit::for_each("c", kit::awkward_matmuls(),
                [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_naive, s); });
}

TEST(MatmulNaive, AcceptsEmptyMatrices) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::empty_matmuls(),
                [](const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_naive, s); });
}

TEST(MatmulNaive, CoversEveryExtent) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::long_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_matmul_precision(launch_matmul_naive, s);
  });
}

TEST(MatmulNaive, MakesTheLargestProducts) {
  RecordProperty("todo", 2);
  kit::check_largest_matmuls<float>(launch_matmul_naive);
  kit::check_largest_factors(launch_matmul_naive);
}

TEST(MatmulNaive, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 2);
  kit::check_infinities<float>(launch_matmul_naive);
}

TEST(MatmulNaive, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 2);
  kit::check_special_factors(launch_matmul_naive);
}

TEST(MatmulNaive, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 2);
  kit::check_any_begin(launch_matmul_naive);
}

TEST(MatmulNaive, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {20, 70, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_naive, s); });
}

TEST(MatmulNaive, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  const kit::MatmulSizes s = {32, 33, 256};
  const kit::Run run = kit::check_matmul_precision(launch_matmul_naive, s);
  kit::budget(
      "float operations per product",
      kit::ratio(static_cast<double>(run.counters().fp32_operations), 1.0 * s.m * s.n * s.k),
      kit::at_least(1.5),
      "A product and its addition are two operations of floats; sums in double take the units for "
      "doubles, of which a card has fewer");
}

// Tests of 07/13 matmul, tall and skinny. The reference, in double, is in test/matmul.h.
#include "13_matmul_tall_skinny.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

namespace {

void check(const kit::MatmulSizes& s) { kit::check_matmul_exact(launch_matmul_tall_skinny, s); }

}  // namespace

TEST(MatmulTallSkinny, MultipliesFourRows) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{4, 10, 64}, {4, 10, 256}}, check);
}

TEST(MatmulTallSkinny, GoesOnWithTheNextRows) {
  RecordProperty("todo", 2);
  kit::for_each_card([] { check({15400, 10, 4}); });  // nine turns on the smallest card
}

TEST(MatmulTallSkinny, TakesZerosPastTheEdges) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::awkward_matmuls(), check);
}

TEST(MatmulTallSkinny, TakesZerosPastTheEdgesOfAlignedRows) {
  RecordProperty("todo", 3);
  kit::for_each("c",
                std::vector<kit::MatmulSizes>{{37, 10, 784}, {5, 11, 20}, {12, 25, 64}, {1, 10, 4}},
                check);
}

TEST(MatmulTallSkinny, CutsLongRowsIntoSlabs) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{20, 10, 1600}, {9, 12, 1001}}, check);
}

TEST(MatmulTallSkinny, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  kit::check_largest_matmuls<float>(launch_matmul_tall_skinny);
}

TEST(MatmulTallSkinny, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(launch_matmul_tall_skinny);
}

TEST(MatmulTallSkinny, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(launch_matmul_tall_skinny);
}

TEST(MatmulTallSkinny, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 1);
  kit::check_any_begin(launch_matmul_tall_skinny);
}

TEST(MatmulTallSkinny, AcceptsEmptyMatrices) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::empty_matmuls(), check);
  check({3, 5, 7});  // the same launcher must work here
}

TEST(MatmulTallSkinny, CoversEveryExtent) {
  RecordProperty("todo", 3);
  // More rows than 16 bits count with a sign. Many columns are what this kernel is not made for.
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{33'001, 1, 3}, {1, 1031, 3}, {5, 6, 2051}},
      [](const kit::MatmulSizes& s) { kit::check_matmul_precision(launch_matmul_tall_skinny, s); });
}

TEST(MatmulTallSkinny, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 10, 300}, {20, 7, 64}},
                [](const kit::MatmulSizes& s) { kit::check_matmul(launch_matmul_tall_skinny, s); });
}

TEST(MatmulTallSkinny, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  kit::check_matmul_precision(launch_matmul_tall_skinny, {32, 10, 256});
}

TEST(MatmulTallSkinny, ReadsAOnce) {
  RecordProperty("todo", 2);
  constexpr kit::MatmulSizes kSizes = {512, 10, 256};
  const kit::Run run = kit::check_matmul(launch_matmul_tall_skinny, kSizes);
  const double blocks = run.launches().empty() ? 0 : run.launches().front().blocks();
  const double of_b = blocks * 4.0 * kSizes.k * kSizes.n;  // every block may read b
  kit::budget("times that a is read",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes) - of_b,
                         4.0 * kSizes.m * kSizes.k),
              kit::at_most(1.05), "All columns of b are multiplied with a row while it is at hand",
              &kit::Counters::global_load_bytes);
}

TEST(MatmulTallSkinny, IsFast) {
  RecordProperty("todo", 2);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{704, 10, 784} : kit::MatmulSizes{50000, 10, 784};
  kit::MatmulSpeed work(sizes, 71);
  work.speed.launch(work.call(launch_matmul_tall_skinny));
  work.speed.against(kit::stage("the coalesced kernel", work.call(launch_matmul_coalesced)),
                     kit::Bars(1.3));  // a row per warp reaches 1.35 on an H200
  work.speed.against(work.against_cublas(), kit::Bars(0.5, 1.0, 1.8));
  work.speed.grade();
}

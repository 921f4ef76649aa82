// Tests of 07/15 matmul on tensor cores. The reference, in double, is in test/matmul.h.
#include "15_matmul_wmma.h"

#include "03_matmul_coalesced.h"
#include "07_tiled_matmul/test/matmul_bf16.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"

TEST(MatmulWmma, MultipliesTheTilesOfOneStep) {
  RecordProperty("todo", 1);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 64}, {128, 256, 64}},
      [](const kit::MatmulSizes& s) { kit::check_bf16_matmul_exact(launch_matmul_wmma, s); });
}

TEST(MatmulWmma, GoesAlongTheWholeOfK) {
  RecordProperty("todo", 2);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{128, 128, 128}, {128, 128, 320}},
      [](const kit::MatmulSizes& s) { kit::check_bf16_matmul_exact(launch_matmul_wmma, s); });
}

TEST(MatmulWmma, TakesZerosPastTheEdges) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::awkward_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_bf16_matmul_exact(launch_matmul_wmma, s);
  });
}

TEST(MatmulWmma, TakesZerosPastTheEdgesOfAlignedRows) {
  RecordProperty("todo", 3);
  kit::for_each(
      "c", std::vector<kit::MatmulSizes>{{40, 72, 24}, {136, 136, 72}, {1, 8, 8}, {128, 128, 40}},
      [](const kit::MatmulSizes& s) { kit::check_bf16_matmul_exact(launch_matmul_wmma, s); });
}

TEST(MatmulWmma, CoversEveryExtent) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::long_tiled_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_bf16_matmul_exact(launch_matmul_wmma, s);
  });
}

TEST(MatmulWmma, MakesTheLargestProducts) {
  RecordProperty("todo", 3);
  kit::check_largest_matmuls<__nv_bfloat16>(launch_matmul_wmma);
}

TEST(MatmulWmma, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 3);
  kit::check_infinities<__nv_bfloat16>(launch_matmul_wmma);
}

TEST(MatmulWmma, AcceptsEmptyMatrices) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    kit::check_bf16_matmul_exact(launch_matmul_wmma, s);
  });
  kit::check_bf16_matmul_exact(launch_matmul_wmma, {3, 5, 7});  // the same launcher must work here
}

TEST(MatmulWmma, AddsUpInFloat) {
  RecordProperty("todo", 1);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 300}, {16, 72, 64}},
                [](const kit::MatmulSizes& s) { kit::check_bf16_matmul(launch_matmul_wmma, s); });
}

// What the narrow inputs cost. Products of floats that are made in float are off by 1e-7.
TEST(MatmulWmma, CostsTheDigitsThatTheInputsLose) {
  RecordProperty("todo", 1);
  const double error = kit::bf16_matmul_error(launch_matmul_wmma, {48, 40, 256});
  if (!(error <= 1e-2)) {
    kit::fail("The product is off by " + std::to_string(error) +
              " of its length. Rounding the inputs to bfloat16 explains 0.003 of it.");
  }
  kit::budget("error that rounding the inputs has made", error, kit::at_most(1e-2),
              "A bfloat16 has 8 bits for its digits: each input is off by up to 1/512");
}

TEST(MatmulWmma, MultipliesOnTensorCores) {
  RecordProperty("todo", 1);
  constexpr kit::MatmulSizes kSizes = {128, 128, 64};
  const kit::Run run = kit::check_bf16_matmul(launch_matmul_wmma, kSizes);
  const double products = static_cast<double>(kSizes.m) * kSizes.n * kSizes.k;
  kit::budget("multiply-adds of single threads per product",
              kit::ratio(static_cast<double>(run.counters().fp32_fma), products),
              kit::at_most(0.01), "A warp has the tensor core multiply for it: mma_sync",
              &kit::Counters::fp32_fma);
}

TEST(MatmulWmma, IsFast) {
  RecordProperty("todo", 2);
  const kit::MatmulSizes sizes =
      kit::simulated() ? kit::MatmulSizes{256, 256, 256} : kit::MatmulSizes{4096, 4096, 4096};
  kit::Bf16MatmulSpeed work(sizes, 66);
  work.speed.launch(work.call(launch_matmul_wmma));
  work.speed.against(
      kit::stage("the coalesced kernel on floats", work.call_on_floats(launch_matmul_coalesced)),
      kit::Bars(5.0));
  work.speed.against(work.against_cublas_on_floats(), kit::Bars(0.6, 1.0));
  work.speed.against(work.against_cublas(), kit::Bars(0.04, 0.07, 0.40));
  work.speed.grade();
}

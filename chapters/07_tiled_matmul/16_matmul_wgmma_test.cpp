// Tests of 07/16 matmul with wgmma. The reference, in double, is in test/matmul.h.
#include "16_matmul_wgmma.h"

#include "07_tiled_matmul/test/matmul_bf16.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "15_matmul_wmma.h"
#include "kit/kit.h"

namespace {

void check(const kit::MatmulSizes& s) { kit::check_bf16_matmul_exact(launch_matmul_wgmma, s); }

// Against the solution of 15, and against the library with the same inputs. The simulator does not
// judge the speed: at sizes that it can run, both kernels wait for DRAM and for their first and
// last tiles, and the model says 1.3 to 1.4 where a card gives 2.3 to 2.5 (MODEL.md).
void grade_speed(int n) {
  kit::Bf16MatmulSpeed work({n, n, n}, 66);
  work.speed.launch(work.call(launch_matmul_wgmma));
  work.speed.against(
      kit::stage("fragments and mma.sync", work.call(launch_matmul_wmma)).on_gpu_only(),
      kit::Bars(1.3));
  work.speed.against(work.against_cublas(), kit::Bars(0.55, 0.75, 0.90));
  work.speed.grade();
}

}  // namespace

TEST(MatmulWgmma, LoadsBothTiles) {
  RecordProperty("todo", 1);
  check({128, 256, 64});
}

TEST(MatmulWgmma, GoesAlongTheWholeOfK) {
  RecordProperty("todo", 1);
  // Four stages: the fifth step and the ninth find a stage that was used before.
  kit::for_each("c", std::vector<kit::MatmulSizes>{{128, 256, 320}, {128, 256, 1088}}, check);
}

TEST(MatmulWgmma, MultipliesAllPartsOfAStep) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{64, 8, 16}, {64, 8, 64}, {128, 128, 48}},
                check);
}

TEST(MatmulWgmma, TakesZerosPastTheEdges) {
  RecordProperty("todo", 3);
  kit::for_each("c",
                std::vector<kit::MatmulSizes>{
                    {1, 8, 8}, {40, 72, 24}, {136, 264, 72}, {257, 520, 200}, {63, 248, 56}},
                check);
}

TEST(MatmulWgmma, GivesWorkToTheWholeCard) {
  RecordProperty("todo", 1);
  int multiprocessors = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  const kit::Run run =
      kit::check_bf16_matmul_exact(launch_matmul_wgmma, {1100, 3800, 72});  // 9 x 15 tiles
  kit::budget("blocks per multiprocessor",
              kit::ratio(static_cast<double>(run.counters().blocks), multiprocessors),
              kit::at_least(1.0), "There are more tiles than multiprocessors: none should idle",
              &kit::Counters::blocks);
}

TEST(MatmulWgmma, MultipliesOnTensorCores) {
  RecordProperty("todo", 2);
  constexpr kit::MatmulSizes kSizes = {128, 256, 64};
  const kit::Run run = kit::check_bf16_matmul(launch_matmul_wgmma, kSizes);
  const double products = static_cast<double>(kSizes.m) * kSizes.n * kSizes.k;
  kit::budget("multiply-adds of single threads per product",
              kit::ratio(static_cast<double>(run.counters().fp32_fma), products),
              kit::at_most(0.01), "Four warps have the tensor cores multiply for them: wgmma",
              &kit::Counters::fp32_fma);
}

TEST(MatmulWgmma, CoversEveryExtent) {
  RecordProperty("todo", 2);
  // More rows, columns and steps of k than 16 bits count.
  kit::for_each("c", std::vector<kit::MatmulSizes>{{65'537, 8, 8}, {3, 65'544, 8}, {3, 8, 65'544}},
                check);
}

TEST(MatmulWgmma, MakesTheLargestProducts) {
  RecordProperty("todo", 2);
  kit::check_large_matmul<__nv_bfloat16>(launch_matmul_wgmma, {1 << 20, 2040, 24});
  kit::check_large_matmul<__nv_bfloat16>(launch_matmul_wgmma, {2047, 1 << 20, 24});
}

TEST(MatmulWgmma, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 2);
  kit::check_infinities<__nv_bfloat16>(launch_matmul_wgmma, 8);
}

TEST(MatmulWgmma, AcceptsEmptyMatrices) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{0, 8, 16}, {8, 0, 16}, {8, 16, 0}}, check);
  check({3, 8, 16});  // the same launcher must work here
}

TEST(MatmulWgmma, AddsUpInFloat) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<kit::MatmulSizes>{{33, 40, 304}, {130, 264, 1000}},
                [](const kit::MatmulSizes& s) { kit::check_bf16_matmul(launch_matmul_wgmma, s); });
}

TEST(MatmulWgmma, IsFastAt4096) {
  RecordProperty("todo", 1);
  grade_speed(kit::work_scale(256, 4096));
}

TEST(MatmulWgmma, IsFastAt8192) {
  RecordProperty("todo", 1);
  grade_speed(kit::work_scale(384, 8192));
}

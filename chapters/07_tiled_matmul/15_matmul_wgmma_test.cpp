// Tests of 07/15 matmul with wgmma. The reference, in double, is in test/matmul.h.
#include "15_matmul_wgmma.h"

#include "07_tiled_matmul/test/matmul_bf16.h"
#include "14_matmul_wmma.h"
#include "kit/kit.h"

namespace {

void check(const kit::MatmulSizes& s) { kit::check_bf16_matmul_exact(launch_matmul_wgmma, s); }

// Against the solution of 12, and against the library with the same inputs.
void grade_speed(int n) {
  kit::Bf16MatmulSpeed work({n, n, n}, 1);
  work.speed.launch(work.call(launch_matmul_wgmma));
  work.speed.against(kit::stage("fragments and mma.sync", work.call(launch_matmul_wmma)),
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

TEST(MatmulWgmma, TakesMoreTilesThanBlocks) {
  RecordProperty("todo", 3);
  check({1288, 6152, 72});  // 11 x 25 tiles
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
  grade_speed(4096);
}

TEST(MatmulWgmma, IsFastAt8192) {
  RecordProperty("todo", 1);
  grade_speed(8192);
}

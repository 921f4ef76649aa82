// Speeds that are known beforehand: the graded copy moves n floats, the stage beside it 0.90 n
// or 1.10 n, so the graded one is 0.90 or 1.10 times as fast. The bar is 1. speed_proof.py runs
// this many times and counts the verdicts. Load.KeepsTheCardBusy is the second process of its other
// half.
#include "planted.h"

#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

constexpr int kElements = 1 << 25;  // 128 MiB each way

void grade_against(double share_of_work) {
  const int other = static_cast<int>(share_of_work * kElements) / 4 * 4;
  const int most = kElements > other ? kElements : other;
  kit::Speed speed;
  const auto in = speed.input<float>(most, "in");
  const auto out = speed.output<float>(most, "out");
  speed.launch([&] { launch_planted_copy(in.get(), out.get(), kElements); });
  speed.against(
      kit::stage("the other copy", [&] { launch_planted_copy(in.get(), out.get(), other); }),
      kit::Bars(1.0));
  speed.grade();
}

}  // namespace

TEST(Planted, Fast90) { grade_against(0.90); }
TEST(Planted, Fast110) { grade_against(1.10); }

TEST(Load, KeepsTheCardBusy) {
  constexpr int kFloats = 1 << 28;
  void* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, kFloats * sizeof(float)), cudaSuccess);
  launch_load(static_cast<float*>(data), kFloats, 300e3);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
}

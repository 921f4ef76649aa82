#include <gtest/gtest.h>

#include <numeric>
#include <vector>

extern "C" int mirror_groups(const float* in, float* out, int groups);

TEST(Mirror, TurnsEachGroupAround) {
  std::vector<float> in(96), out(96);
  std::iota(in.begin(), in.end(), 0.0f);
  ASSERT_EQ(mirror_groups(in.data(), out.data(), 3), 0);
  for (int i = 0; i < 96; ++i) EXPECT_EQ(out[i], in[i / 32 * 32 + 31 - i % 32]);
}

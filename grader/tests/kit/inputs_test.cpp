#include <algorithm>
#include <cmath>
#include <set>

#include "kit/context.h"
#include "kit/kit.h"

TEST(KitInputs, AreZeroMeanAndSigned) {
  const std::vector<float> x = kit::random_floats(10000);
  double sum = 0;
  for (const float value : x) {
    ASSERT_GE(value, -1.0f);
    ASSERT_LE(value, 1.0f);
    sum += value;
  }
  EXPECT_LT(std::fabs(sum / 10000), 0.03);
  EXPECT_NE(kit::random_floats(100), kit::random_floats(100)) << "each call draws new values";
}

TEST(KitInputs, RepeatWithTheirSeed) {
  const std::vector<float> first = kit::random_floats(5);
  kit::context().draws = 0;
  EXPECT_EQ(kit::random_floats(5), first);
  kit::context().draws = 0;
  kit::context().base_seed += 1;
  EXPECT_NE(kit::random_floats(5), first);
  kit::context().base_seed -= 1;
}

TEST(KitInputs, ReachBothEndsOfARange) {
  const std::vector<int> x = kit::random_ints(1000, -2, 3);
  const std::set<int> values(x.begin(), x.end());
  EXPECT_EQ(values, (std::set<int>{-2, -1, 0, 1, 2, 3}));
}

TEST(KitInputs, TripwiresNeedTwelveBits) {
  for (const float value : kit::precision_tripwire_floats(1000)) {
    const int magnitude = static_cast<int>(std::fabs(value));
    EXPECT_EQ(magnitude % 2, 1);
    EXPECT_GE(magnitude, 2049);
    EXPECT_LE(magnitude, 4095);
  }
}

TEST(KitInputs, SizesHoldNeighboursOfWarpsAndBlocks) {
  const std::vector<int>& sizes = kit::awkward_sizes();
  for (const int n : {1, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 1031}) {
    EXPECT_NE(std::find(sizes.begin(), sizes.end(), n), sizes.end()) << n;
  }
}

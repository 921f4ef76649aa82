#include "12_mnist_cnn/test/digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using Bytes = std::vector<uint8_t>;

TEST(Digits, AnImageDependsOnSeedSideAndPositionAlone) {
  const kit::DigitSet few = kit::random_digits(10, 12, 5), many = kit::random_digits(20, 12, 5);
  EXPECT_EQ(few.images, Bytes(many.images.begin(), many.images.begin() + 10 * 144));
  EXPECT_EQ(few.labels, Bytes(many.labels.begin(), many.labels.begin() + 10));
  EXPECT_NE(few.images, kit::random_digits(10, 12, 6).images);
}

TEST(Digits, EveryDigitOccursAndNoTwoImagesAreTheSame) {
  const kit::DigitSet set = kit::random_digits(300, 12, 1);
  std::set<Bytes> images;
  std::set<uint8_t> labels(set.labels.begin(), set.labels.end());
  for (int i = 0; i < set.count; ++i) {
    images.insert(Bytes(set.images.begin() + i * 144, set.images.begin() + (i + 1) * 144));
  }
  EXPECT_EQ(images.size(), 300u);
  EXPECT_EQ(labels, (std::set<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Digits, AnImageIsDarkWithSomeWhiteAtAnySize) {
  for (const int side : {12, 28}) {
    const kit::DigitSet set = kit::random_digits(50, side, 2);
    for (int i = 0; i < set.count; ++i) {
      const auto image = set.images.begin() + i * side * side;
      const auto white = std::count_if(image, image + side * side, [](int v) { return v > 128; });
      EXPECT_GT(white, side * side / 40) << "image " << i << " of side " << side;
      EXPECT_LT(white, side * side / 2) << "image " << i << " of side " << side;
    }
  }
}

TEST(Digits, IdxFilesAreBigEndian) {
  const kit::DigitSet set = {1, 2, {9, 8, 7, 6}, {3}};
  EXPECT_EQ(kit::idx_images(set),
            (Bytes{0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 9, 8, 7, 6}));
  EXPECT_EQ(kit::idx_labels(set), (Bytes{0, 0, 8, 1, 0, 0, 0, 1, 3}));
}

}  // namespace

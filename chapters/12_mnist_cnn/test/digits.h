// Images of digits from a seed, as MNIST has them: white strokes on black, one byte per pixel. For
// tests, and for machines without a network. And IDX files, the format of MNIST.
//
// A digit is drawn as a few strokes, moved at random, a little turned, slanted and scaled, in pens
// of random width, with noise on top. Being moved is what defeats a single linear layer, which has
// one weight for each place; a convolution does not mind.
#ifndef WARPLINGS_MNIST_CNN_TEST_DIGITS_H_
#define WARPLINGS_MNIST_CNN_TEST_DIGITS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kit {

struct DigitSet {
  int count = 0, side = 0;
  std::vector<uint8_t> images;  // count x side x side
  std::vector<uint8_t> labels;  // count, each 0 to 9
};

// `side` is 12 or more. Image i depends on seed, side and i alone.
DigitSet random_digits(int count, int side, uint64_t seed);

// The bytes of IDX files: big-endian magic number and sizes, then the values.
std::vector<uint8_t> idx_images(const DigitSet& set);
std::vector<uint8_t> idx_labels(const DigitSet& set);

}  // namespace kit

#endif  // WARPLINGS_MNIST_CNN_TEST_DIGITS_H_

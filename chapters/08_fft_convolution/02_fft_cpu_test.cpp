// Tests of 08/02 FFT, CPU. The reference, in double, is in test/fft.h.
#include "02_fft_cpu.h"

#include <cstring>
#include <string>
#include <vector>

#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"

namespace {

// Multiplies and counts.
struct Counted {
  int products = 0;
  Product times() {
    return [this](float2 a, float2 b) {
      ++products;
      return float2{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    };
  }
};

const std::vector<int>& sizes() {
  static const std::vector<int> all = {1, 2, 4, 8, 16, 64, 256, 1024};
  return all;
}

// y is NaN before. Returns the number of products.
int check_recursive(const std::vector<float2>& x) {
  const int n = static_cast<int>(x.size());
  std::vector<float2> y(x.size());
  std::memset(y.data(), 0xFF, y.size() * sizeof(float2));
  Counted counted;
  fft_recursive(x.data(), y.data(), n, counted.times());
  kit::expect_transforms_near("y", y, kit::dft_on_cpu(x, n), n);
  return counted.products;
}

int check_iterative(const std::vector<float2>& x) {
  const int n = static_cast<int>(x.size());
  std::vector<float2> points = x;
  Counted counted;
  fft_iterative(points.data(), n, counted.times());
  kit::expect_transforms_near("points", points, kit::dft_on_cpu(x, n), n);
  return counted.products;
}

// n / 2 butterflies in each of log2(n) stages, each with one product.
void expect_few_products(const char* function, int products) {
  kit::budget(std::string("products of ") + function + " for 1024 points", products,
              kit::at_most(512 * 10),
              "There are 10 stages of 512 butterflies, with one product each. The definition takes "
              "1024 * 1024 products");
  // A product with 1 or -i may be left out.
  kit::budget(std::string("products that ") + function + " counts", products, kit::at_least(1024),
              "Every product of complex numbers goes through `times`: * does not count");
}

}  // namespace

TEST(FftCpu, TheRecursionIsRight) {
  RecordProperty("todo", 1);
  kit::for_each("n", sizes(), [](int n) { check_recursive(kit::random_complex(n)); });
}

TEST(FftCpu, TheRecursionTakesFewProducts) {
  RecordProperty("todo", 1);
  expect_few_products("fft_recursive", check_recursive(kit::random_complex(1024)));
}

TEST(FftCpu, BitsAreReversed) {
  RecordProperty("todo", 2);
  kit::for_each("bits", std::vector<int>{1, 2, 3, 4, 7, 10, 0, 18}, [](int bits) {
    std::vector<int> got, expected;
    for (int i = 0; i < 1 << bits; ++i) {
      got.push_back(bit_reversed(i, bits));
      int sum = 0;
      for (int bit = 0; bit < bits; ++bit) {
        if (i >> bit & 1) sum += 1 << (bits - 1 - bit);
      }
      expected.push_back(sum);
    }
    kit::expect_equal("bit_reversed", got, expected);
  });
}

TEST(FftCpu, TheLoopsAreRight) {
  RecordProperty("todo", 3);
  kit::for_each("n", sizes(), [](int n) { check_iterative(kit::random_complex(n)); });
}

TEST(FftCpu, TheLoopsTakeFewProducts) {
  RecordProperty("todo", 3);
  expect_few_products("fft_iterative", check_iterative(kit::random_complex(1024)));
}

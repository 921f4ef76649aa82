// Tests of 08/02 FFT, CPU. The reference, in double, is in test/fft.h.
#include "02_fft_cpu.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "08_fft_convolution/test/fft.h"
#include "kit/host_code.h"
#include "kit/kit.h"

static thread_local size_t bytes_from_new = 0;

void* operator new(size_t size) {
  bytes_from_new += size;
  if (void* const memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

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
  const Product times = counted.times();
  kit::expect_host_code("fft_recursive", [&] { fft_recursive(x.data(), y.data(), n, times); });
  kit::expect_transforms_near("y", y, kit::dft_on_cpu(x, n), n);
  return counted.products;
}

int check_iterative(const std::vector<float2>& x) {
  const int n = static_cast<int>(x.size());
  std::vector<float2> points = x;
  Counted counted;
  const Product times = counted.times();
  kit::expect_host_code("fft_iterative", [&] { fft_iterative(points.data(), n, times); });
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

// The transform of a one in place 1 is every root, each as exact as a float.
TEST(FftCpu, RootsOfLongTransformsAreExact) {
  RecordProperty("todo", 3);
  const int n = 1 << 16;
  const auto check_root = [n](const char* function, const std::vector<float2>& got) {
    const double turn = -2 * 3.14159265358979323846 / n;
    for (int k = 0; k < n; ++k) {
      const double error = std::hypot(got[k].x - std::cos(turn * k), got[k].y - std::sin(turn * k));
      if (error < 2e-6) continue;
      kit::fail(std::string(function) + ": of " + std::to_string(n) +
                " points, where x[1] is 1 and all others are 0, y[" + std::to_string(k) +
                "] is off by " + std::to_string(error) +
                ". It is one root. A root that is made of the one before it by a product has the "
                "errors of all of them; take each from the angle.");
      return;
    }
  };
  std::vector<float2> x(n, float2{0, 0}), y(n);
  x[1].x = 1;
  Counted counted;
  fft_recursive(x.data(), y.data(), n, counted.times());
  check_root("fft_recursive", y);
  fft_iterative(x.data(), n, counted.times());
  check_root("fft_iterative", x);
}

TEST(FftCpu, TheLoopsNeedNoSecondArray) {
  RecordProperty("todo", 3);
  const int n = 1 << 12;
  std::vector<float2> points = kit::random_complex(n);
  Counted counted;
  const Product times = counted.times();
  const size_t before = bytes_from_new;
  fft_iterative(points.data(), n, times);
  const size_t taken = bytes_from_new - before;
  if (taken >= n * sizeof(float2)) {
    kit::fail("fft_iterative has asked for " + std::to_string(taken) + " bytes of memory for " +
              std::to_string(n) + " points of 8 bytes: it works in place, without a second array.");
  }
}

TEST(FftCpu, TheLoopsTakeFewProducts) {
  RecordProperty("todo", 3);
  expect_few_products("fft_iterative", check_iterative(kit::random_complex(1024)));
}

#include "07_tiled_matmul/test/matmul.h"

#include <cstdint>
#include <cstring>

#include "failure_of.h"

using kit_tests::failure_of;

namespace {

constexpr kit::MatmulSizes kSizes{9, 14, 33};

// Multiplies on the host, in float, with as much wrong as its members say.
struct HostMatmul {
  uint32_t kept_bits = 0xFFFFFFFFu;  // of each value of a
  int rows_left_out = 0;             // at the end of c
  float added = 0;                   // to every element

  kit::MatmulLauncher launcher() const {
    const HostMatmul self = *this;
    return [self](const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
      std::vector<float> a(static_cast<size_t>(m) * k), b(static_cast<size_t>(k) * n);
      cudaMemcpy(a.data(), d_a, a.size() * sizeof(float), cudaMemcpyDeviceToHost);
      cudaMemcpy(b.data(), d_b, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
      std::vector<float> c;
      for (int row = 0; row < m - self.rows_left_out; ++row) {
        for (int col = 0; col < n; ++col) {
          float sum = self.added;
          for (int i = 0; i < k; ++i) sum += self.kept(a[row * k + i]) * b[i * n + col];
          c.push_back(sum);
        }
      }
      cudaMemcpy(d_c, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
    };
  }

 private:
  float kept(float value) const {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits &= kept_bits;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
};

HostMatmul with_bits(uint32_t kept) {
  HostMatmul matmul;
  matmul.kept_bits = kept;
  return matmul;
}
constexpr uint32_t kTf32 = 0xFFFFE000u, kBfloat16 = 0xFFFF0000u;

}  // namespace

TEST(KitMatmul, AcceptsARightProduct) {
  const kit::MatmulLauncher right = HostMatmul().launcher();
  kit::check_matmul(right, kSizes);
  kit::check_matmul_exact(right, kSizes);
  kit::check_matmul_precision(right, kSizes);
  kit::for_each("c", kit::empty_matmuls(),
                [&](const kit::MatmulSizes& s) { kit::check_matmul_exact(right, s); });
}

TEST(KitMatmul, RejectsNarrowInputs) {
  for (const uint32_t kept : {kTf32, kBfloat16}) {
    const kit::MatmulLauncher narrow = with_bits(kept).launcher();
    EXPECT_NE(failure_of([&] { kit::check_matmul(narrow, {9, 14, 1024}); }), "") << kept;
    EXPECT_NE(failure_of([&] { kit::check_matmul_precision(narrow, kSizes); }), "") << kept;
  }
}

TEST(KitMatmul, RejectsASmallOffset) {
  HostMatmul matmul;
  matmul.added = 1;
  EXPECT_NE(failure_of([&] { kit::check_matmul_exact(matmul.launcher(), kSizes); }), "");
  matmul.added = 1e-4f;
  EXPECT_NE(failure_of([&] { kit::check_matmul(matmul.launcher(), kSizes); }), "");
}

TEST(KitMatmul, SaysWhatWasNeverWritten) {
  HostMatmul matmul;
  matmul.rows_left_out = 1;
  const std::string message =
      failure_of([&] { kit::check_matmul_exact(matmul.launcher(), kSizes); });
  EXPECT_NE(message.find("never written"), std::string::npos) << message;
}

TEST(KitMatmul, TheReferenceMultipliesRowsByColumns) {
  const kit::MatmulReference product = kit::matmul_on_cpu({1, 2, 3, -4}, {5, 6, 7, 8}, {2, 2, 2});
  EXPECT_EQ(product.c, (std::vector<double>{19, 22, -13, -14}));
  EXPECT_EQ(product.scale, (std::vector<double>{19, 22, 43, 50}));
}

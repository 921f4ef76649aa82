// The library calls that speed tests compare with do the work that they are taken for.
#include "kit/libraries/libraries.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "08_fft_convolution/test/convolution.h"
#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"

namespace {

// Not a multiple of anything, and more than one tile of every algorithm.
constexpr int kCount = 100003;

// The sum of the elements before each position, and of the whole at the end.
std::vector<double> running_sums(const std::vector<float>& x) {
  std::vector<double> sums(x.size() + 1, 0.0);
  for (size_t i = 0; i < x.size(); ++i) sums[i + 1] = sums[i] + x[i];
  return sums;
}

TEST(Libraries, AreHere) {
  EXPECT_EQ(kit::cub().missing, "");
  EXPECT_EQ(kit::cublas().missing, "");
  EXPECT_EQ(kit::cudnn().missing, "");
  EXPECT_EQ(kit::cufft().missing, "");
}

TEST(Libraries, CubSumsAndScans) {
  const std::vector<float> x = kit::random_integer_floats(kCount);  // exact in any order
  const std::vector<double> sums = running_sums(x);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto sum = kit::DeviceBuffer<float>::output(1, "sum");
  const auto inclusive = kit::DeviceBuffer<float>::output(kCount, "inclusive");
  const auto exclusive = kit::DeviceBuffer<float>::output(kCount, "exclusive");
  kit::run([&] {
    kit::cub_sum(d_x.get(), sum.get(), kCount);
    kit::cub_inclusive_sum(d_x.get(), inclusive.get(), kCount);
    kit::cub_exclusive_sum(d_x.get(), exclusive.get(), kCount);
  });
  const auto exactly = kit::Tolerance::absolute(0);
  kit::expect_near(sum, {sums.back()}, exactly);
  kit::expect_near(inclusive, {sums.begin() + 1, sums.end()}, exactly);
  kit::expect_near(exclusive, {sums.begin(), sums.end() - 1}, exactly);
}

TEST(Libraries, CubCountsBytes) {
  std::vector<uint8_t> bytes;
  std::vector<unsigned> expected(256, 0);
  for (int value : kit::random_ints(kCount, 0, 255)) {
    bytes.push_back(static_cast<uint8_t>(value));
    ++expected[value];
  }
  const auto d_bytes = kit::DeviceBuffer<uint8_t>::input(bytes, "bytes");
  const auto counts = kit::DeviceBuffer<unsigned>::output(256, "counts");
  kit::run([&] { kit::cub_histogram(d_bytes.get(), counts.get(), kCount); });
  kit::expect_equal(counts, expected);
}

TEST(Libraries, CublasTransposes) {
  constexpr int kRows = 37, kCols = 70;
  const std::vector<float> in = kit::random_floats(kRows * kCols);
  std::vector<float> expected(in.size());
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) expected[col * kRows + row] = in[row * kCols + col];
  }
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in");
  const auto out = kit::DeviceBuffer<float>::output(in.size(), "out");
  kit::run([&] { kit::cublas_transpose(d_in.get(), out.get(), kRows, kCols); });
  kit::expect_equal(out, expected, kit::Shape(kCols, kRows));
}

TEST(Libraries, CublasMultipliesInFullPrecision) {
  constexpr int kM = 33, kN = 70, kK = 45;
  const std::vector<float> a = kit::precision_tripwire_floats(kM * kK);
  const std::vector<float> b = kit::random_integer_floats(kK * kN, -1, 1);
  std::vector<double> expected(kM * kN, 0.0);
  for (int row = 0; row < kM; ++row) {
    for (int i = 0; i < kK; ++i) {
      for (int col = 0; col < kN; ++col) {
        expected[row * kN + col] += static_cast<double>(a[row * kK + i]) * b[i * kN + col];
      }
    }
  }
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto c = kit::DeviceBuffer<float>::output(kM * kN, "c");
  kit::run([&] { kit::cublas_sgemm(d_a.get(), d_b.get(), c.get(), kM, kN, kK); });
  kit::expect_near(c, expected, kit::Tolerance::absolute(0), kit::Shape(kM, kN));
}

// A row-major product with bfloat16 inputs, which small integers fit into: sums are exact.
TEST(Libraries, CublasMultipliesBfloat16) {
  constexpr int kM = 40, kN = 72, kK = 56;
  const std::vector<float> a = kit::random_integer_floats(kM * kK);
  const std::vector<float> b = kit::random_integer_floats(kK * kN);
  const auto bits_of = [](const std::vector<float>& values) {
    std::vector<uint16_t> bits(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      uint32_t word = 0;
      std::memcpy(&word, &values[i], sizeof word);
      bits[i] = static_cast<uint16_t>(word >> 16);  // the upper half of a float is a bfloat16
    }
    return bits;
  };
  std::vector<double> expected(kM * kN, 0.0);
  for (int row = 0; row < kM; ++row) {
    for (int i = 0; i < kK; ++i) {
      for (int col = 0; col < kN; ++col) {
        expected[row * kN + col] += static_cast<double>(a[row * kK + i]) * b[i * kN + col];
      }
    }
  }
  const auto d_a = kit::DeviceBuffer<uint16_t>::input(bits_of(a), "a");
  const auto d_b = kit::DeviceBuffer<uint16_t>::input(bits_of(b), "b");
  const auto c = kit::DeviceBuffer<float>::output(kM * kN, "c");
  kit::run([&] { kit::cublas_bf16(d_a.get(), d_b.get(), c.get(), kM, kN, kK); });
  kit::expect_near(c, expected, kit::Tolerance::absolute(0), kit::Shape(kM, kN));
}

TEST(Libraries, CudnnTakesTheSoftmaxOfRows) {
  constexpr int kRows = 19, kCols = 300;
  const std::vector<float> x = kit::random_floats(kRows * kCols, -5, 5);
  std::vector<double> expected(x.size());
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int col = 0; col < kCols; ++col) sum += std::exp(double{x[row * kCols + col]});
    for (int col = 0; col < kCols; ++col) {
      expected[row * kCols + col] = std::exp(double{x[row * kCols + col]}) / sum;
    }
  }
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto out = kit::DeviceBuffer<float>::output(x.size(), "out");
  kit::run([&] { kit::cudnn_softmax(d_x.get(), out.get(), kRows, kCols); });
  kit::expect_near(out, expected, kit::Tolerance::relative(1e-5), kit::Shape(kRows, kCols));
}

TEST(Libraries, CufftTransformsEachOfABatch) {
  constexpr int kPoints = 60, kBatch = 7;
  const std::vector<float2> x = kit::random_complex(kPoints * kBatch);
  const auto d_x = kit::DeviceBuffer<float2>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float2>::output(x.size(), "y");
  kit::run([&] { kit::cufft_forward(d_x.get(), d_y.get(), kPoints, kBatch); });
  kit::expect_transforms_near(d_y, kit::dft_on_cpu(x, kPoints), kPoints);
}

TEST(Libraries, CudnnConvolvesInFullPrecision) {
  // Not check_conv_exact and the like: arrays that end where their allocation ends may begin
  // anywhere, and cuDNN stops at addresses that are no multiple of 16.
  kit::check_conv(kit::cudnn_conv_gemm, {3, 5, 12, 17, 6, 3, 3, 1});
  kit::check_conv(kit::cudnn_conv_gemm, {2, 3, 9, 8, 4, 5, 2, 2});
}

TEST(Libraries, CudnnsFastestConvolutionIsNear) {
  // It may go through a Fourier transform: near the reference as a whole, not in each element.
  const kit::ConvSizes sizes = {8, 16, 14, 14, 32, 3, 3, 1};
  const std::vector<float> x = kit::random_floats(kit::conv_input_size(sizes));
  const std::vector<float> f = kit::random_floats(kit::conv_filter_size(sizes));
  std::vector<double> expected(kit::conv_output_size(sizes));
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = kit::conv_element(x, f, sizes, i).value;
  }
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_f = kit::DeviceBuffer<float>::input(f, "f");
  const auto y = kit::DeviceBuffer<float>::output(expected.size(), "y");
  kit::run([&] { kit::cudnn_conv_best(d_x.get(), d_f.get(), y.get(), sizes); });
  kit::expect_norm_near("y", y.download(), expected, 1e-5);
}

TEST(Libraries, CufftCorrelatesAnImageWithAFilter) {
  constexpr int kHeight = 50, kWidth = 61, kFilterHeight = 7, kFilterWidth = 4, kSquare = 64;
  const std::vector<float> image = kit::random_floats(kHeight * kWidth);
  const std::vector<float> filter = kit::random_floats(kFilterHeight * kFilterWidth);
  const auto d_image = kit::DeviceBuffer<float>::input(image, "image");
  const auto d_filter = kit::DeviceBuffer<float>::input(filter, "filter");
  const auto d_square = kit::DeviceBuffer<float>::output(kSquare * kSquare, "square");
  kit::run([&] {
    kit::cufft_correlate(d_image.get(), d_filter.get(), d_square.get(), kHeight, kWidth,
                         kFilterHeight, kFilterWidth);
  });
  const std::vector<float> square = d_square.download();
  const kit::ConvSizes sizes = {1, 1, kHeight, kWidth, 1, kFilterHeight, kFilterWidth, 0};
  std::vector<float> corner;
  std::vector<double> expected;
  for (size_t i = 0; i < kit::conv_output_size(sizes); ++i) {
    corner.push_back(square[i / sizes.q() * kSquare + i % sizes.q()]);
    expected.push_back(kit::conv_element(image, filter, sizes, i).value);
  }
  kit::expect_near("corner of square", corner, expected, kit::Tolerance::absolute(1e-5));
}

}  // namespace

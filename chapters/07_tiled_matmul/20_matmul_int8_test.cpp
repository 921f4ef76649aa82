// Tests of 07/20 matmul, int8.
#include "20_matmul_int8.h"

#include <algorithm>
#include <cmath>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

using kit::MatmulSizes;

// References. x is rows x cols, row-major.
std::vector<double> scales_on_cpu(const std::vector<float>& x, kit::Shape shape) {
  std::vector<double> scale(shape.rows, 0.0);
  for (size_t i = 0; i < x.size(); ++i) {
    double& of_row = scale[i / shape.cols];
    of_row = std::max(of_row, std::fabs(x[i]) / 127.0);
  }
  return scale;
}

// The byte at (row, i) of words.
int byte_at(const std::vector<int>& q, int words, int row, int i) {
  const auto word = static_cast<unsigned>(q[static_cast<size_t>(row) * words + i / 4]);
  return static_cast<int8_t>(word >> (8 * (i % 4)));
}

// a is m x k, b is n x k: c = a times b transposed, in double.
std::vector<double> product_on_cpu(const std::vector<float>& a, const std::vector<float>& b,
                                   const MatmulSizes& s) {
  std::vector<double> c(static_cast<size_t>(s.m) * s.n);
  for (int row = 0; row < s.m; ++row) {
    for (int col = 0; col < s.n; ++col) {
      for (int i = 0; i < s.k; ++i) {
        c[row * s.n + col] += static_cast<double>(a[row * s.k + i]) * b[col * s.k + i];
      }
    }
  }
  return c;
}

struct Quantised {
  std::vector<int> q;
  std::vector<float> scale;
};

Quantised quantise(const std::vector<float>& x, kit::Shape shape) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_q = kit::DeviceBuffer<int>::output(
      static_cast<size_t>(shape.rows) * words_of(shape.cols), "q", kit::Placement::kAtEnd);
  const auto d_scale = kit::DeviceBuffer<float>::output(shape.rows, "scale");
  kit::run(
      [&] { launch_quantise_rows(d_x.get(), d_q.get(), d_scale.get(), shape.rows, shape.cols); });
  kit::expect_near(d_scale, scales_on_cpu(x, shape), kit::Tolerance::units(4));
  return {d_q.download(), d_scale.download()};
}

// Each byte is within half a step of its value, and what lies behind the row is 0.
void check_bytes(const std::vector<float>& x, kit::Shape shape) {
  const Quantised got = quantise(x, shape);
  const int words = words_of(shape.cols);
  const std::vector<double> scale = scales_on_cpu(x, shape);
  for (int row = 0; row < shape.rows; ++row) {
    for (int i = 0; i < 4 * words; ++i) {
      const int byte = byte_at(got.q, words, row, i);
      const bool exists = i < shape.cols;
      const double steps = exists && scale[row] > 0 ? x[row * shape.cols + i] / scale[row] : 0;
      if (std::fabs(byte - steps) <= 0.5001) continue;
      kit::fail("Byte " + std::to_string(i) + " of row " + std::to_string(row) + " of q is " +
                std::to_string(byte) +
                (exists ? ", but the value divided by the scale of its row is " +
                              std::to_string(steps) + "."
                        : ", but the row has only " + std::to_string(shape.cols) +
                              " values: what fills up its last word must be 0."));
      return;
    }
  }
}

// Random bytes from -limit to limit in the format of q, a row filled up with zeros.
std::vector<int> random_words(int rows, int cols, int least, int limit) {
  const int words = words_of(cols);
  const std::vector<int> bytes = kit::random_ints(static_cast<size_t>(rows) * cols, least, limit);
  std::vector<int> q(static_cast<size_t>(rows) * words);
  for (size_t j = 0; j < bytes.size(); ++j) {
    const size_t i = j % cols;
    q[j / cols * words + i / 4] |= static_cast<int>((bytes[j] & 0xFFu) << (8 * (i % 4)));
  }
  return q;
}

std::vector<double> integer_product(const std::vector<int>& q_a, const std::vector<int>& q_b,
                                    const MatmulSizes& s) {
  std::vector<double> c(static_cast<size_t>(s.m) * s.n);
  for (int row = 0; row < s.m; ++row) {
    for (int col = 0; col < s.n; ++col) {
      for (int i = 0; i < s.k; ++i) {
        c[row * s.n + col] +=
            byte_at(q_a, words_of(s.k), row, i) * byte_at(q_b, words_of(s.k), col, i);
      }
    }
  }
  return c;
}

// Bytes from `least` to `limit`, and scales that are powers of two, from 2^(lift - 6) to
// 2^(lift + 3) for a and the same with -lift for b: each result is the nearest float.
kit::Run check_product(const MatmulSizes& s, int least = -127, int limit = 127, int lift = 0) {
  const std::vector<int> q_a = random_words(s.m, s.k, least, limit);
  const std::vector<int> q_b = random_words(s.n, s.k, least, limit);
  std::vector<float> scale_a, scale_b;
  for (const int e : kit::random_ints(s.m, -6, 3)) scale_a.push_back(std::ldexp(1.0f, e + lift));
  for (const int e : kit::random_ints(s.n, -6, 3)) scale_b.push_back(std::ldexp(1.0f, e - lift));
  const auto d_q_a = kit::DeviceBuffer<int>::input(q_a, "q_a", kit::Placement::kAtEnd);
  const auto d_q_b = kit::DeviceBuffer<int>::input(q_b, "q_b", kit::Placement::kAtEnd);
  const auto d_scale_a = kit::DeviceBuffer<float>::input(scale_a, "scale_a");
  const auto d_scale_b = kit::DeviceBuffer<float>::input(scale_b, "scale_b");
  const auto d_c =
      kit::DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "c", kit::Placement::kAtEnd);
  const kit::Run run = kit::run([&] {
    launch_matmul_int8(d_q_a.get(), d_q_b.get(), d_scale_a.get(), d_scale_b.get(), d_c.get(), s.m,
                       s.n, s.k);
  });
  std::vector<double> expected = integer_product(q_a, q_b, s);
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] *= static_cast<double>(scale_a[i / s.n]) * scale_b[i % s.n];
  }
  kit::expect_near(d_c, expected, kit::Tolerance::units(2), kit::Shape(s.m, s.n));
  return run;
}

// Floats to bytes, the product, and back.
std::vector<float> product_in_bytes(const std::vector<float>& a, const std::vector<float>& b,
                                    const MatmulSizes& s) {
  const Quantised qa = quantise(a, kit::Shape(s.m, s.k)), qb = quantise(b, kit::Shape(s.n, s.k));
  const auto d_q_a = kit::DeviceBuffer<int>::input(qa.q, "q_a");
  const auto d_q_b = kit::DeviceBuffer<int>::input(qb.q, "q_b");
  const auto d_scale_a = kit::DeviceBuffer<float>::input(qa.scale, "scale_a");
  const auto d_scale_b = kit::DeviceBuffer<float>::input(qb.scale, "scale_b");
  const auto d_c = kit::DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "c");
  kit::run([&] {
    launch_matmul_int8(d_q_a.get(), d_q_b.get(), d_scale_a.get(), d_scale_b.get(), d_c.get(), s.m,
                       s.n, s.k);
  });
  return d_c.download();
}

// Rounding to steps of 1/127 changes a value that is uniform in [-1, 1] by 0.39 % (root of the mean
// square), a sum of products of two such values by sqrt(2) times as much: 0.56 %.
constexpr double kErrorOfBytes = 0.007;

}  // namespace

TEST(MatmulInt8, FindsTheGreatestValueOfARow) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<kit::Shape>{{1, 1}, {9, 33}, {3, 100}, {8, 32}, {17, 5}},
                [](kit::Shape shape) { quantise(kit::random_floats(shape.size()), shape); });
}

TEST(MatmulInt8, RoundsValuesToTheNearestByte) {
  RecordProperty("todo", 2);
  kit::for_each("x", std::vector<kit::Shape>{{1, 4}, {5, 128}, {9, 33}, {3, 130}, {20, 7}, {2, 1}},
                [](kit::Shape shape) { check_bytes(kit::random_floats(shape.size()), shape); });
}

TEST(MatmulInt8, KeepsARowOfZeros) {
  RecordProperty("todo", 2);
  const kit::Shape shape(3, 40);
  std::vector<float> x = kit::random_floats(shape.size());
  std::fill(x.begin() + 40, x.begin() + 80, 0.0f);
  check_bytes(x, shape);
}

TEST(MatmulInt8, RoundsRowsOfTinyAndOfHugeValues) {
  RecordProperty("todo", 2);
  const kit::Shape shape(4, 40);
  const float sizes[] = {1e-25f, 1, 1e30f, 1e-30f};
  std::vector<float> x = kit::random_floats(shape.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = (i % 40 == 7 ? 1 : x[i]) * sizes[i / 40];
  check_bytes(x, shape);
}

TEST(MatmulInt8, AddsUpProductsOfBytes) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<MatmulSizes>{{32, 32, 128}, {32, 64, 256}, {1, 1, 4}},
                [](const MatmulSizes& s) { check_product(s); });
}

TEST(MatmulInt8, TakesZerosPastTheEdges) {
  RecordProperty("todo", 3);
  kit::for_each("c", kit::awkward_matmuls(), [](const MatmulSizes& s) { check_product(s); });
  kit::for_each("c", kit::empty_matmuls(), [](const MatmulSizes& s) { check_product(s); });
}

TEST(MatmulInt8, CoversEveryExtent) {
  RecordProperty("todo", 3);
  kit::for_each("c", std::vector<MatmulSizes>{{33'001, 1, 0}, {1, 33'001, 0}},
                [](const MatmulSizes& s) { check_product(s); });
  kit::for_each("x", std::vector<kit::Shape>{{66'001, 1}, {1, 1 << 17}},
                [](kit::Shape shape) { check_bytes(kit::random_floats(shape.size()), shape); });
}

TEST(MatmulInt8, MakesTheLargestProducts) {
  RecordProperty("todo", 3);
  const auto check_large = [](int m, int n, int k) {
    const int words = words_of(k);
    const std::vector<int> q = random_words(kit::kPeriod / words, k, -127, 127);
    const auto q_a = kit::LargeArray<int>::input(static_cast<size_t>(m) * words, "q_a", q);
    const auto q_b = kit::LargeArray<int>::input(static_cast<size_t>(n) * words, "q_b", q);
    std::vector<float> scales;
    for (const int e : kit::random_ints(kit::kPeriod, -6, 3)) scales.push_back(std::ldexp(1.0f, e));
    const auto scale_a = kit::LargeArray<float>::input(m, "scale_a", scales);
    const auto scale_b = kit::LargeArray<float>::input(n, "scale_b", scales);
    const auto c = kit::LargeArray<float>::output(static_cast<size_t>(m) * n, "c");
    kit::run([&] {
      launch_matmul_int8(q_a.get(), q_b.get(), scale_a.get(), scale_b.get(), c.get(), m, n, k);
    });
    const int rows = static_cast<int>(q.size()) / words;
    kit::expect_at_ends(c, [&](size_t e) {
      const int row = static_cast<int>(e / n), col = static_cast<int>(e % n);
      int sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += byte_at(q, words, row % rows, i) * byte_at(q, words, col % rows, i);
      }
      return sum * scale_a.at(row) * scale_b.at(col);
    });
  };
  // 2^20 rows are 65,536 tiles of 16, one more than a grid may have blocks in y.
  kit::at_largest("c = 2^20 x 2047, k = 12", [&] { check_large(1 << 20, 2047, 12); });
  kit::at_largest("c = 2047 x 2^20, k = 12", [&] { check_large(2047, 1 << 20, 12); });
}

TEST(MatmulInt8, LongSumsDoNotOverflow) {
  RecordProperty("todo", 3);
  // Sums that 16 bits cannot hold; in the second product 3000 * 127 * 127, beyond 2^24 as well.
  check_product({3, 5, 4000});
  const std::vector<float> ones(2 * 3000, 1.0f);
  const std::vector<float> c = product_in_bytes(ones, ones, {2, 2, 3000});
  kit::expect_near("c", c, std::vector<double>(4, 3000.0), kit::Tolerance::units(8));
}

// A float that takes up the sum step by step rounds each step, once it is beyond 2^24.
TEST(MatmulInt8, LongSumsKeepEveryDigit) {
  RecordProperty("todo", 3);
  check_product({3, 2, 1 << 16}, 90, 127);
}

// The scale of a row of huge values, times sums of bytes, is more than a float holds.
TEST(MatmulInt8, ScalesMayLieFarApart) {
  RecordProperty("todo", 3);
  kit::for_each("scales of a around 2^", std::vector<int>{100, -100}, [](int lift) {
    check_product({20, 21, 1 << 14}, 90, 127, lift);
  });
}

TEST(MatmulInt8, StaysCloseToTheProductOfFloats) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<MatmulSizes>{{40, 50, 100}, {33, 20, 515}},
                [](const MatmulSizes& s) {
                  const std::vector<float> a = kit::random_floats(static_cast<size_t>(s.m) * s.k);
                  const std::vector<float> b = kit::random_floats(static_cast<size_t>(s.n) * s.k);
                  kit::expect_norm_near("c", product_in_bytes(a, b, s), product_on_cpu(a, b, s),
                                        kErrorOfBytes);
                });
}

TEST(MatmulInt8, AnOutlierSpoilsOnlyItsOwnRow) {
  RecordProperty("todo", 1);
  const MatmulSizes s = {12, 30, 200};
  std::vector<float> a = kit::random_floats(static_cast<size_t>(s.m) * s.k);
  const std::vector<float> b = kit::random_floats(static_cast<size_t>(s.n) * s.k);
  a[17] = 300.0f;  // in row 0: its other values become 0 or 1
  const std::vector<float> c = product_in_bytes(a, b, s);
  const std::vector<double> expected = product_on_cpu(a, b, s);
  kit::expect_norm_near("c without row 0", {c.begin() + s.n, c.end()},
                        {expected.begin() + s.n, expected.end()}, kErrorOfBytes);
}

TEST(MatmulInt8, MultipliesFourBytesAtATime) {
  RecordProperty("todo", 3);
  const MatmulSizes s = {32, 32, 2048};
  const kit::Run run = check_product(s);
  const kit::Counters& c = run.counters();
  const double products = static_cast<double>(s.m) * s.n * s.k;
  kit::budget("bytes loaded from global memory per product", c.global_load_bytes / products,
              kit::at_most(1.0 / 14),
              "32 threads of a block use each word of a tile, and a word holds four factors",
              &kit::Counters::global_load_bytes);
  kit::budget("instructions per product", c.thread_instructions / products, kit::at_most(1.2),
              "Two words are read and one __dp4a adds four products",
              &kit::Counters::thread_instructions);
  kit::budget("bank conflicts per request",
              kit::ratio(c.shared_bank_conflicts, c.shared_load_requests), kit::at_most(0.01),
              "Rows of 33 words: the 32 lanes that read one word of 32 rows find it in 32 banks",
              &kit::Counters::shared_bank_conflicts);
}

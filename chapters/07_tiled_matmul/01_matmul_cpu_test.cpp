// Tests of 07/01 matmul, CPU. The reference, in double, is in test/matmul.h.
#include "01_matmul_cpu.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/host_code.h"
#include "kit/kit.h"
#include "kit/special_values.h"

namespace {

// The threads of a block in one of four orders; counts the phases, and how often a block is begun.
struct Threads {
  int order = 0;
  int phases = 0;
  EachThread each() {
    return [this](const std::function<void(int, int)>& thread) {
      ++phases;
      for (int e = 0; e < kTile * kTile; ++e) {
        const int at = order % 2 == 0 ? e : kTile * kTile - 1 - e;
        const int fast = at % kTile, slow = at / kTile;
        if (order < 2) {
          thread(fast, slow);
        } else {
          thread(slow, fast);
        }
      }
    };
  }
};

using Product = std::function<void(const float*, const float*, float*, int, int, int)>;

// Runs a product on host arrays whose result is NaN before. Small integers are exact.
void check(const char* name, const Product& product, const kit::MatmulSizes& s,
           const std::vector<float>& a, const std::vector<float>& b, bool exact) {
  std::vector<float> c(static_cast<size_t>(s.m) * s.n);
  if (!c.empty()) std::memset(c.data(), 0xFF, c.size() * sizeof(float));
  kit::expect_host_code(name, [&] { product(a.data(), b.data(), c.data(), s.m, s.n, s.k); });
  const kit::MatmulReference reference = kit::matmul_on_cpu(a, b, s);
  const auto tolerance =
      exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, reference.scale);
  kit::expect_near(std::string("c of ") + name, c, reference.c, tolerance, kit::Shape(s.m, s.n));
}

void check_exact(const char* name, const Product& product, const kit::MatmulSizes& s) {
  check(name, product, s, kit::random_integer_floats(static_cast<size_t>(s.m) * s.k),
        kit::random_integer_floats(static_cast<size_t>(s.k) * s.n), true);
}

// Random values, and values that nothing narrower than float holds.
void check_precision(const char* name, const Product& product) {
  const kit::MatmulSizes s{9, 14, 250};
  check(name, product, s, kit::random_floats(static_cast<size_t>(s.m) * s.k),
        kit::random_floats(static_cast<size_t>(s.k) * s.n), false);
  std::vector<float> signs = kit::random_integer_floats(static_cast<size_t>(s.k) * s.n, 0, 1);
  for (float& value : signs) value = 2 * value - 1;
  check(name, product, s, kit::precision_tripwire_floats(static_cast<size_t>(s.m) * s.k), signs,
        true);
}

void multiply_blocks(const float* a, const float* b, float* c, int m, int n, int k) {
  Threads threads;
  matmul_blocks(a, b, c, m, n, k, threads.each());
}

const std::vector<kit::MatmulSizes>& sizes() {
  static const std::vector<kit::MatmulSizes> all = {{2, 2, 3}, {1, 1, 1},  {4, 4, 4},  {5, 3, 9},
                                                    {3, 7, 2}, {8, 12, 4}, {13, 6, 17}};
  return all;
}

}  // namespace

TEST(MatmulCpu, ThreeLoopsAreRight) {
  RecordProperty("todo", 1);
  kit::for_each("c", sizes(),
                [](const kit::MatmulSizes& s) { check_exact("matmul_loops", matmul_loops, s); });
  check_precision("matmul_loops", matmul_loops);
}

TEST(MatmulCpu, TheOtherOrderIsRight) {
  RecordProperty("todo", 2);
  kit::for_each("c", sizes(),
                [](const kit::MatmulSizes& s) { check_exact("matmul_rows", matmul_rows, s); });
  check_precision("matmul_rows", matmul_rows);
}

TEST(MatmulCpu, TheBlocksAreRight) {
  RecordProperty("todo", 3);
  kit::for_each("c", sizes(), [](const kit::MatmulSizes& s) {
    check_exact("matmul_blocks", multiply_blocks, s);
  });
  check_precision("matmul_blocks", multiply_blocks);
}

TEST(MatmulCpu, TheOrderOfTheThreadsDoesNotMatter) {
  RecordProperty("todo", 3);
  kit::for_each("order", std::vector<int>{1, 2, 3, 0}, [](int order) {
    Threads threads;
    threads.order = order;
    check_exact("matmul_blocks",
                [&](const float* a, const float* b, float* c, int m, int n, int k) {
                  matmul_blocks(a, b, c, m, n, k, threads.each());
                },
                {8, 12, 9});
  });
}

// Every product is one: 0 times infinity is no number, and a 0 past the edge of a tile must not
// meet an infinity.
TEST(MatmulCpu, NothingIsLeftOutAndNothingAdded) {
  RecordProperty("todo", 2);
  const kit::MatmulSizes s{6, 7, 9};
  std::vector<float> a = kit::random_integer_floats(static_cast<size_t>(s.m) * s.k, 0, 2);
  std::vector<float> b = kit::random_integer_floats(static_cast<size_t>(s.k) * s.n, 0, 2);
  a[s.k - 1] = a[2 * s.k + 3] = INFINITY;
  b[(s.k - 1) * s.n] = b[2 * s.n + 4] = -INFINITY;
  a[s.k + 2] = a[4 * s.k + s.k - 1] = b[s.n * 3 + 5] = 0;  // of which some meet an infinity
  const auto expect_same = [&](const char* name, const Product& product) {
    std::vector<float> c(static_cast<size_t>(s.m) * s.n);
    product(a.data(), b.data(), c.data(), s.m, s.n, s.k);
    kit::expect_nans(name, c, kit::matmul_on_cpu(a, b, s).c);
  };
  const auto expect_all_same = [&] {
    expect_same("c of matmul_loops", matmul_loops);
    expect_same("c of matmul_rows", matmul_rows);
    expect_same("c of matmul_blocks", multiply_blocks);
  };
  expect_all_same();
  // A tile still has what the step before loaded: the zeros of the other must not meet that.
  std::fill(a.begin(), a.end(), 1.0f);
  std::fill(b.begin(), b.end(), INFINITY);
  expect_all_same();
  std::fill(a.begin(), a.end(), INFINITY);
  std::fill(b.begin(), b.end(), 1.0f);
  expect_all_same();
}

TEST(MatmulCpu, EveryStepHasTwoPhases) {
  RecordProperty("todo", 3);
  Threads threads;
  check_exact("matmul_blocks",
              [&](const float* a, const float* b, float* c, int m, int n, int k) {
                matmul_blocks(a, b, c, m, n, k, threads.each());
              },
              {4, 8, 9});
  // 2 blocks; each clears the sums, has two phases in each of 3 steps, and writes.
  const int expected = 2 * (1 + 2 * 3 + 1);
  if (threads.phases != expected) {
    kit::fail("A product of 4 x 9 and 9 x 8 has 2 blocks of 3 steps, so `each` is called " +
              std::to_string(expected) + " times: to clear, to load and to add in every step, to " +
              "write. It was called " + std::to_string(threads.phases) + " times.");
  }
}

TEST(MatmulCpu, AcceptsEmptyMatrices) {
  RecordProperty("todo", 2);
  kit::for_each("c", kit::empty_matmuls(), [](const kit::MatmulSizes& s) {
    check_exact("matmul_loops", matmul_loops, s);
    check_exact("matmul_rows", matmul_rows, s);
    check_exact("matmul_blocks", multiply_blocks, s);
  });
}

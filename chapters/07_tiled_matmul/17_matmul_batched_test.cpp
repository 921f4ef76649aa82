// Tests of 07/17 matmul, batched. The reference of one product, in double, is in test/matmul.h.
#include "17_matmul_batched.h"

#include <cmath>

#include "04_matmul_shared.h"
#include "07_tiled_matmul/test/matmul.h"
#include "07_tiled_matmul/test/matmul_extents.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/sparse.h"
#include "kit/speed/speed.h"

namespace {

constexpr int kMostPlanes = 65535;  // what CUDA allows
constexpr float kGap = 1024.5f;     // stands between the matrices of c, and must stay

// A batch of products; strides as in the header, -1: the matrices lie one behind the other.
struct Batch {
  kit::MatmulSizes sizes;
  int batch;
  long long stride_a = -1, stride_b = -1, stride_c = -1;
  int most_planes = kMostPlanes;
};
std::ostream& operator<<(std::ostream& out, const Batch& b) {
  out << b.batch << " of " << b.sizes;
  if (b.stride_a >= 0) out << ", strides " << b.stride_a << " " << b.stride_b << " " << b.stride_c;
  if (b.most_planes < kMostPlanes) out << ", at most " << b.most_planes << " planes";
  return out;
}

Batch with_strides(Batch b) {
  const auto [m, n, k] = b.sizes;
  if (b.stride_a < 0) b.stride_a = static_cast<long long>(m) * k;
  if (b.stride_b < 0) b.stride_b = static_cast<long long>(k) * n;
  if (b.stride_c < 0) b.stride_c = static_cast<long long>(m) * n;
  return b;
}

// Floats from the begin of the first matrix to the end of the last.
size_t length(int batch, long long stride, size_t size) {
  return batch == 0 ? 0 : (batch - 1) * stride + size;
}

std::vector<float> part(const std::vector<float>& all, long long begin, size_t size) {
  return {all.begin() + begin, all.begin() + begin + size};
}

struct Inputs {
  std::vector<float> a, b;
};

// Reference: one product after the other. Between the matrices of c stands kGap.
kit::MatmulReference batch_on_cpu(const Batch& b, const Inputs& in) {
  const auto [m, n, k] = b.sizes;
  const size_t size_a = static_cast<size_t>(m) * k, size_b = static_cast<size_t>(k) * n;
  const size_t all = length(b.batch, b.stride_c, static_cast<size_t>(m) * n);
  kit::MatmulReference reference{std::vector<double>(all, kGap), std::vector<double>(all, 0.0)};
  for (int z = 0; z < b.batch; ++z) {
    const kit::MatmulReference one = kit::matmul_on_cpu(
        part(in.a, z * b.stride_a, size_a), part(in.b, z * b.stride_b, size_b), b.sizes);
    std::copy(one.c.begin(), one.c.end(), reference.c.begin() + z * b.stride_c);
    std::copy(one.scale.begin(), one.scale.end(), reference.scale.begin() + z * b.stride_c);
  }
  return reference;
}

kit::Run check(
    const Batch& asked, bool exact, std::vector<float> (*values)(size_t n) = [](size_t n) {
      return kit::random_integer_floats(n);
    }) {
  const Batch b = with_strides(asked);
  const auto [m, n, k] = b.sizes;
  const Inputs in = {
      values(length(b.batch, b.stride_a, static_cast<size_t>(m) * k)),
      exact ? kit::random_integer_floats(length(b.batch, b.stride_b, static_cast<size_t>(k) * n))
            : values(length(b.batch, b.stride_b, static_cast<size_t>(k) * n))};
  const kit::MatmulReference reference = batch_on_cpu(b, in);
  const auto d_a = kit::DeviceBuffer<float>::input(in.a, "a", kit::Placement::kAtEnd);
  const auto d_b = kit::DeviceBuffer<float>::input(in.b, "b", kit::Placement::kAtEnd);
  const bool gaps = b.stride_c > static_cast<long long>(m) * n;
  const size_t size = reference.c.size();
  const auto d_c = gaps ? kit::DeviceBuffer<float>::inout(std::vector<float>(size, kGap), "c")
                        : kit::DeviceBuffer<float>::output(size, "c", kit::Placement::kAtEnd);
  const kit::Run run = kit::run([&] {
    launch_matmul_batched(d_a.get(), d_b.get(), d_c.get(), m, n, k, b.batch, b.stride_a, b.stride_b,
                          b.stride_c, b.most_planes);
  });
  const kit::Shape shape = gaps ? kit::Shape() : kit::Shape(b.batch, m, n);
  kit::expect_near(d_c, reference.c,
                   exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, reference.scale),
                   shape);
  return run;
}

}  // namespace

TEST(MatmulBatched, MultipliesEveryMatrixOfTheBatch) {
  RecordProperty("todo", 1);
  kit::for_each("batch",
                std::vector<Batch>{{{32, 32, 32}, 2},
                                   {{33, 20, 40}, 3},
                                   {{5, 70, 17}, 5},
                                   {{1, 1, 1}, 31},
                                   {{64, 32, 33}, 1}},
                [](const Batch& b) { check(b, true); });
}

TEST(MatmulBatched, GoesRoundWhenThePlanesAreFew) {
  RecordProperty("todo", 1);
  kit::for_each("batch",
                std::vector<Batch>{{{20, 33, 40}, 7, -1, -1, -1, 3},
                                   {{32, 16, 32}, 6, -1, -1, -1, 3},
                                   {{16, 16, 16}, 5, -1, -1, -1, 1}},
                [](const Batch& b) {
                  const kit::Run run = check(b, true);
                  if (!kit::simulated() || run.launches().empty()) return;
                  kit::budget("kernel launches", static_cast<double>(run.launches().size()),
                              kit::at_most(1), "One in all, however few the planes are");
                  const unsigned planes = run.launches()[0].grid[2];
                  if (planes > static_cast<unsigned>(b.most_planes)) {
                    kit::fail("The grid has " + std::to_string(planes) +
                              " planes; most_planes allows " + std::to_string(b.most_planes) + ".");
                  }
                });
}

TEST(MatmulBatched, TakesMoreMatricesThanAGridHasPlanes) {
  RecordProperty("todo", 2);
  // CUDA refuses more than 65,535; a simulated batch of that size would take too long.
  const int batch = kit::work_scale(300, 70000);
  check({{2, 3, 4}, batch, -1, -1, -1, kit::work_scale(64, kMostPlanes)}, true);
}

TEST(MatmulBatched, CoversEveryExtent) {
  RecordProperty("todo", 1);
  kit::for_each("batch",
                std::vector<Batch>{{{33'001, 1, 0}, 1},
                                   {{1, 33'001, 0}, 1},
                                   {{5, 6, 4099}, 1},
                                   {{300, 70, 3}, 1},
                                   {{70, 300, 3}, 1}},
                [](const Batch& b) { check(b, true); });
}

TEST(MatmulBatched, MakesTheLargestBatches) {
  RecordProperty("todo", 2);
  // 2^20 rows are 65,536 tiles of 16, one more than a grid may have blocks in y.
  const std::vector<Batch> all = {
      {{1 << 20, 2047, 3}, 1}, {{2047, 1 << 20, 3}, 1}, {{7, 3, 5}, 1 << 20}};
  for (const Batch& asked : all) {
    std::ostringstream title;
    title << asked;
    kit::at_largest(title.str(), [&] {
      const Batch b = with_strides(asked);
      const size_t m = b.sizes.m, n = b.sizes.n, k = b.sizes.k;
      const auto d_a = kit::large_integers(b.batch * m * k, "a");
      const auto d_b = kit::large_integers(b.batch * k * n, "b");
      const auto d_c = kit::LargeArray<float>::output(b.batch * m * n, "c");
      kit::run([&] {
        launch_matmul_batched(d_a.get(), d_b.get(), d_c.get(), b.sizes.m, b.sizes.n, b.sizes.k,
                              b.batch, b.stride_a, b.stride_b, b.stride_c, b.most_planes);
      });
      kit::expect_at_ends(d_c, [&](size_t e) {
        const size_t z = e / (m * n), row = e % (m * n) / n, col = e % n;
        float sum = 0;
        for (size_t i = 0; i < k; ++i) {
          sum += d_a.at(z * m * k + row * k + i) * d_b.at(z * k * n + i * n + col);
        }
        return sum;
      });
    });
  }
}

TEST(MatmulBatched, ZerosPastTheEdgesDoNotMeetInfinity) {
  RecordProperty("todo", 1);
  kit::check_infinities<float>(
      [](const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
        launch_matmul_batched(d_a, d_b, d_c, m, n, k, 1, 0, 0, static_cast<long long>(m) * n, 1);
      });
}

TEST(MatmulBatched, ZeroTimesInfinityIsNoNumber) {
  RecordProperty("todo", 1);
  kit::check_special_factors(
      [](const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
        launch_matmul_batched(d_a, d_b, d_c, m, n, k, 1, 0, 0, static_cast<long long>(m) * n, 1);
      });
}

TEST(MatmulBatched, LeavesGapsBetweenMatricesAlone) {
  RecordProperty("todo", 1);
  kit::for_each(
      "batch",
      std::vector<Batch>{{{9, 33, 12}, 3, 200, 500, 300}, {{32, 32, 8}, 2, 256, 300, 1030}},
      [](const Batch& b) { check(b, true); });
}

TEST(MatmulBatched, SharesAMatrixWhoseStrideIsZero) {
  RecordProperty("todo", 1);
  kit::for_each("batch",
                std::vector<Batch>{{{10, 33, 20}, 4, 200, 0, 330}, {{40, 8, 20}, 3, 0, 160, 320}},
                [](const Batch& b) { check(b, true); });
}

// A batch that shares a matrix is one large product only where neither of the others has gaps.
TEST(MatmulBatched, GapsOfOneMatrixAreNotThoseOfTheOthers) {
  RecordProperty("todo", 1);
  const long long in_a = 10 * 20, in_b = 20 * 33, in_c = 10 * 33;
  std::vector<Batch> all;
  for (const long long a : {0LL, in_a, in_a + 7}) {
    for (const long long b : {0LL, in_b, in_b + 9}) {
      for (const long long c : {in_c, in_c + 5}) all.push_back({{10, 33, 20}, 4, a, b, c});
    }
  }
  kit::for_each("batch", all, [](const Batch& b) { check(b, true); });
}

TEST(MatmulBatched, AcceptsEmptyBatchesAndMatrices) {
  RecordProperty("todo", 2);
  kit::for_each("batch",
                std::vector<Batch>{{{3, 4, 5}, 0}, {{0, 4, 5}, 2}, {{3, 0, 5}, 2}, {{3, 4, 0}, 2}},
                [](const Batch& b) { check(b, true); });
  check({{3, 5, 7}, 2}, true);  // the same launcher must work here
}

TEST(MatmulBatched, RoundsAsFloatsDo) {
  RecordProperty("todo", 1);
  check({{20, 33, 200}, 3}, false, [](size_t n) { return kit::random_floats(n); });
}

TEST(MatmulBatched, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  check({{20, 33, 128}, 3}, true, [](size_t n) { return kit::precision_tripwire_floats(n); });
}

TEST(MatmulBatched, LaunchesOnceForTheWholeBatch) {
  RecordProperty("todo", 1);
  const kit::Run run = check({{32, 32, 32}, 40}, true);
  kit::budget("kernel launches", static_cast<double>(run.counters().launches), kit::at_most(1),
              "All matrices have the same shape, so one grid holds them: the third index of a "
              "block says which it works on");
}

TEST(MatmulBatched, MatricesMayLieFarApart) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;                // no card has the memory
  constexpr long long kStride = 1'200'000'000;  // two are too many for an int, four for an unsigned
  constexpr int kBatch = 5;
  const kit::MatmulSizes s{3, 5, 4};
  std::vector<kit::Part<float>> a, b, c;
  for (int z = 0; z < kBatch; ++z) {
    const size_t begin = static_cast<size_t>(z * kStride);
    a.emplace_back(begin, kit::random_integer_floats(static_cast<size_t>(s.m) * s.k));
    b.emplace_back(begin, kit::random_integer_floats(static_cast<size_t>(s.k) * s.n));
    const kit::MatmulReference one = kit::matmul_on_cpu(a.back().second, b.back().second, s);
    c.emplace_back(begin, std::vector<float>(one.c.begin(), one.c.end()));
  }
  const size_t all = static_cast<size_t>(kBatch * kStride);
  const auto d_a = kit::SparseBuffer<float>::input(all, a, "a");
  const auto d_b = kit::SparseBuffer<float>::input(all, b, "b");
  const auto d_c = kit::SparseBuffer<float>::output(all, "c");
  kit::run([&] {
    launch_matmul_batched(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k, kBatch, kStride, kStride,
                          kStride, kMostPlanes);
  });
  kit::expect_parts(d_c, c);
}

TEST(MatmulBatched, IsFastForManySmallMatrices) {
  RecordProperty("todo", 2);
  const int side = kit::work_scale(32, 64), batch = kit::work_scale(96, 1024);
  const size_t size = static_cast<size_t>(side) * side;
  kit::Speed speed;
  const auto a = speed.input<float>(batch * size, "a");
  const auto b = speed.input<float>(batch * size, "b");
  const auto c = speed.output<float>(batch * size, "c");
  speed.bytes(12.0 * batch * size).flops(2.0 * batch * size * side).whole_call();
  const auto stride = static_cast<long long>(size);
  speed.launch([&] {
    launch_matmul_batched(a.get(), b.get(), c.get(), side, side, side, batch, stride, stride,
                          stride, kMostPlanes);
  });
  speed.expect(
      c,
      [&](size_t i) {
        const size_t matrix = i / size * size, row = i % size / side, col = i % side;
        double sum = 0, scale = 0;
        for (int j = 0; j < side; ++j) {
          const double term = static_cast<double>(a.at(matrix + row * side + j)) *
                              b.at(matrix + static_cast<size_t>(j) * side + col);
          sum += term;
          scale += std::fabs(term);
        }
        return kit::Expected(sum, scale);
      },
      kit::Tolerance::units(16));
  speed.against(kit::stage("one launch per matrix",
                           [&] {
                             for (int z = 0; z < batch; ++z) {
                               launch_matmul_shared(a.get() + z * stride, b.get() + z * stride,
                                                    c.get() + z * stride, side, side, side);
                             }
                           }),
                kit::Bars(4, 20));
  speed.grade();
}

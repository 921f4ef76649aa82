#include "kit/largest.h"

#include <cstdio>

#include "failure_of.h"
#include "kernels.h"

using kit_tests::failure_of;

namespace {

constexpr int kLargeCount = 1 << 30;

// Doubles 2^30 elements with launch(x, y), or fails.
template <class Launch>
void check(const Launch& launch) {
  kit::at_largest("n = 2^30", [&] {
    const auto x = kit::large_floats(kLargeCount, "x");
    const auto y = kit::LargeArray<float>::output(kLargeCount, "y");
    kit::run([&] { launch(x.get(), y.get()); });
    kit::expect_at_ends(y, [&](size_t i) { return 2 * x.at(i); });
  });
}

size_t resident() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  size_t all = 0, pages = 0;
  const int read = std::fscanf(file, "%zu %zu", &all, &pages);
  std::fclose(file);
  return read == 2 ? pages * 4096 : 0;
}

}  // namespace

TEST(KitLargest, PassesWhatIsRightAtTheEnds) {
  const size_t before = resident();
  check([](const float* x, float* y) { launch_twice(x, y, kLargeCount); });
  EXPECT_LT(resident() - before, size_t{100} << 20);
}

// The last block doesn't make the last element here, and the first one not the first.
TEST(KitLargest, FindsTheEndsWhereTilesAreNumberedInOneDimension) {
  for (const int rows : {1 << 15, 1 << 10}) {
    kit::at_largest("upside down", [&] {
      const int cols = kLargeCount / rows;
      const auto x = kit::large_floats(kLargeCount, "x");
      const auto y = kit::LargeArray<float>::output(kLargeCount, "y");
      kit::run([&] { launch_twice_upside_down(x.get(), y.get(), rows, cols); });
      kit::expect_at_ends(
          y, [&](size_t i) { return 2 * x.at((rows - 1 - i / cols) * cols + i % cols); });
    });
  }
}

TEST(KitLargest, NamesTheLastElementWhereTheGridEndsTooEarly) {
  const std::string text = failure_of(
      [] { check([](const float* x, float* y) { launch_twice(x, y, kLargeCount - 5000); }); });
  EXPECT_NE(text.find("n = 2^30: At the largest size: y[1,073,741,823] was never written."),
            std::string::npos)
      << text;
}

// A launcher that copies: arrays of gigabytes on the host, of which a few pages are used.
TEST(KitLargest, TakesArraysOfTheHost) {
  constexpr size_t kBytes = size_t{kLargeCount} * sizeof(float);
  const size_t before = resident();
  const auto check_copies = [](kit::HostPages pages, size_t bytes) {
    kit::at_largest("n = 2^30", [&] {
      const auto x = kit::LargeHostFloats::input(kLargeCount, "x", pages);
      const auto y = kit::LargeHostFloats::output(kLargeCount, "y", pages);
      kit::run([&] {
        void *d_x = nullptr, *d_y = nullptr;
        cudaMalloc(&d_x, kBytes);
        cudaMalloc(&d_y, kBytes);
        cudaMemset(d_y, 0, kBytes);
        cudaMemcpyAsync(d_x, x.get(), kBytes, cudaMemcpyHostToDevice);
        launch_twice(static_cast<float*>(d_x), static_cast<float*>(d_y), kLargeCount);
        cudaMemcpy(y.get(), d_y, bytes, cudaMemcpyDeviceToHost);
        cudaFree(d_x);
        cudaFree(d_y);
      });
      kit::expect_at_ends(y, [&](size_t i) { return 2 * x.get()[i]; });
    });
  };
  for (const kit::HostPages pages : {kit::HostPages::kPageable, kit::HostPages::kPinned}) {
    check_copies(pages, kBytes);
    const std::string text = failure_of([&] { check_copies(pages, kBytes - sizeof(float)); });
    EXPECT_NE(text.find("At the largest size: y[1,073,741,823] is "), std::string::npos) << text;
  }
  EXPECT_LT(resident() - before, size_t{200} << 20);
}

// A matrix of a million short rows: the first and the last are copied, and those around powers of
// two, so that nothing takes gigabytes.
TEST(KitLargest, CopiesAndFillsTheEdgesOfManyRows) {
  constexpr size_t kRows = 1 << 20, kCols = 1001, kBefore = 3, kPitch = kBefore + kCols;
  const size_t before = resident();
  const auto check_rows = [](size_t rows) {
    kit::at_largest("rows", [&] {
      const auto x = kit::large_floats(kRows * kCols, "x");
      const auto y = kit::LargeArray<float>::output(kRows * kPitch, "y");
      kit::run([&] {
        cudaMemset(y.get(), 0, kRows * kPitch * sizeof(float));
        cudaMemcpy2D(y.get() + kBefore, kPitch * sizeof(float), x.get(), kCols * sizeof(float),
                     kCols * sizeof(float), rows, cudaMemcpyDeviceToDevice);
        cudaMemset2D(y.get(), kPitch * sizeof(float), 0, kBefore * sizeof(float), kRows);
      });
      kit::expect_at_ends(y, [&](size_t i) {
        const size_t row = i / kPitch, col = i % kPitch;
        return col < kBefore ? 0.0f : x.at(row * kCols + col - kBefore);
      });
    });
  };
  check_rows(kRows);
  const std::string text = failure_of([&] { check_rows(kRows - 1); });
  EXPECT_NE(text.find("At the largest size: y[1,052,770,303] is 0, "), std::string::npos) << text;
  EXPECT_LT(resident() - before, size_t{300} << 20);
}

// Threads enough for an element each, and the last element is a block's in the middle: it walks
// there in steps of the grid.
TEST(KitLargest, FollowsStridesToTheLastElement) {
  constexpr int kRows = 40'013, kCols = 5;
  const auto check_rows = [](int end) {
    kit::at_largest("rows", [end] {
      const auto x = kit::large_floats(size_t{kRows} * kCols, "x");
      const auto y = kit::LargeArray<float>::output(size_t{kRows} * kCols, "y");
      kit::run([&] { launch_twice_in_strides(x.get(), y.get(), kRows, kCols, end); });
      kit::expect_at_ends(y, [&](size_t i) { return 2 * x.at(i); });
    });
  };
  check_rows(kRows);
  const std::string text = failure_of([&] { check_rows(kRows - 1); });
  EXPECT_NE(text.find("y[200,064] was never written."), std::string::npos) << text;
}

TEST(KitLargest, NamesAWrongElementFarFromTheBeginning) {
  const std::string text = failure_of([] {
    check([](const float* x, float* y) {
      launch_twice(x, y, kLargeCount);
      launch_store(y, kLargeCount / 2, 100);
    });
  });
  EXPECT_NE(text.find("y[536,870,912] is 100, expected "), std::string::npos) << text;
}

TEST(KitLargest, NamesAnIndexThatOverflows) {
  const std::string text = failure_of([] {
    constexpr int kRows = 5, kCols = 32, kStride = 1 << 29;
    kit::at_largest("five rows far apart", [] {
      const size_t n = size_t{kRows} * kStride;
      const auto x = kit::large_floats(n, "x");
      const auto y = kit::LargeArray<float>::output(n, "y");
      kit::run([&] { launch_twice_rows(x.get(), y.get(), kRows, kCols, kStride, Index::kInt); });
    });
  });
  EXPECT_NE(text.find("Index overflow: the element is number"), std::string::npos) << text;
}

TEST(KitLargest, KeepsWhatIsNotWritten) {
  const auto update = [](size_t n_written) {
    kit::at_largest("in place", [&] {
      const auto x = kit::LargeArray<float>::inout(kLargeCount, "x", {1.0f, 2.0f, 3.0f});
      kit::run([&] { launch_twice(x.get(), x.get(), static_cast<int>(n_written)); });
      kit::expect_at_ends(x, [&](size_t i) { return 2 * x.at(i); });
    });
  };
  update(kLargeCount);
  EXPECT_NE(failure_of([&] { update(kLargeCount - 1); }).find("x[1,073,741,823] is 1, expected 2."),
            std::string::npos);
}

// The last element keeps its value, whether its block is there or not.
TEST(KitLargest, SeesThatNothingChangesAtTheEnd) {
  const auto update = [](size_t n_written) {
    kit::at_largest("in place", [&] {
      const auto x = kit::LargeArray<float>::inout(kLargeCount, "x", {1.0f, 2.0f, 3.0f});
      kit::run([&] { launch_twice(x.get(), x.get(), static_cast<int>(n_written)); });
      kit::expect_at_ends(x, [&](size_t i) { return i + 1 < kLargeCount ? 2 * x.at(i) : x.at(i); });
    });
  };
  update(kLargeCount - 1);
  const std::string text = failure_of([&] { update(kLargeCount - 5000); });
  EXPECT_NE(text.find("nothing changes at the end."), std::string::npos) << text;
}

TEST(KitLargest, WholeLaunchesRunAgainAfterwards) {
  check([](const float* x, float* y) { launch_twice(x, y, kLargeCount); });
  const std::vector<float> x = kit::random_floats(100'000);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run([&] { launch_twice(d_x.get(), d_y.get(), static_cast<int>(x.size())); });
  std::vector<float> twice;
  for (const float value : x) twice.push_back(2 * value);
  kit::expect_equal(d_y, twice);
}

TEST(KitLargest, DecidesNothingWhereAKernelReadsWhatAnotherLeftOut) {
  const std::string text = failure_of([] {
    check([](const float* x, float* y) {
      const auto between = kit::LargeArray<float>::output(kLargeCount, "between");
      launch_twice(x, between.get(), kLargeCount);
      launch_twice(between.get() + 5000, y, kLargeCount - 5000);
    });
  });
  EXPECT_EQ(text, "");
}

#include "kit/sparse.h"

#include <cstdio>

#include "failure_of.h"
#include "kernels.h"

using kit_tests::failure_of;

namespace {

// Rows of three elements, 2^30 + 8 elements apart: the third begins at element 2,147,483,664, the
// fifth at 4,294,967,328.
constexpr int kRows = 5, kCols = 3, kStride = (1 << 30) + 8;
constexpr size_t kSparseCount = size_t{kRows} * kStride;

void check(Index index) {
  std::vector<kit::Part<float>> x, twice;
  for (int row = 0; row < kRows; ++row) {
    x.emplace_back(size_t{kStride} * row, kit::random_floats(kCols));
    twice.push_back(x.back());
    for (float& value : twice.back().second) value *= 2;
  }
  const auto d_x = kit::SparseBuffer<float>::input(kSparseCount, x, "x");
  const auto d_y = kit::SparseBuffer<float>::output(kSparseCount, "y");
  kit::run([&] { launch_twice_rows(d_x.get(), d_y.get(), kRows, kCols, kStride, index); });
  kit::expect_parts(d_y, twice);
  kit::expect_parts(d_x, x);
}

// Resident memory of this process, in bytes.
size_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  size_t all = 0, pages = 0;
  const int read = std::fscanf(file, "%zu %zu", &all, &pages);
  std::fclose(file);
  return read == 2 ? pages * 4096 : 0;
}

}  // namespace

TEST(KitSparse, HoldsFiveThousandMillionElementsInLittleMemory) {
  const size_t before = resident_bytes();
  check(Index::k64);
  EXPECT_LT(resident_bytes() - before, size_t{100} << 20);
}

TEST(KitSparse, NamesAnIndexThatOverflows) {
  const std::string text = failure_of([] { check(Index::kInt); });
  EXPECT_NE(text.find("Index overflow: the element is number 2,147,483,664 of `x`"),
            std::string::npos)
      << text;
}

TEST(KitSparse, NamesAnElementThatIsNoneOfTheResult) {
  const std::string text = failure_of([] { check(Index::kUnsigned); });
  EXPECT_NE(text.find("y[32] was written, and is no element of the result"), std::string::npos)
      << text;
}

TEST(KitSparse, IsNoMemoryForSale) {
  size_t before = 0, all = 0, after = 0;
  cudaMemGetInfo(&before, &all);
  const auto d_x = kit::SparseBuffer<float>::output(kSparseCount, "x");
  cudaMemGetInfo(&after, &all);
  EXPECT_EQ(before, after);
}

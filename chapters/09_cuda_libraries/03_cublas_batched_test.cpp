// Tests of 09/03 cuBLAS, batched. The reference of one product, in double, is in test/matmul.h.
#include "03_cublas_batched.h"

#include <algorithm>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "support.h"

namespace {

constexpr float kGap = 1024.5f;  // stands between the matrices of c, and must stay

// Strides of -1: the matrices lie one behind the other.
struct Batch {
  kit::MatmulSizes sizes;
  int batch;
  long long stride_a = -1, stride_b = -1, stride_c = -1;
};
std::ostream& operator<<(std::ostream& out, const Batch& b) {
  out << b.batch << " of " << b.sizes;
  if (b.stride_a >= 0) out << ", strides " << b.stride_a << " " << b.stride_b << " " << b.stride_c;
  return out;
}

size_t size_a(const kit::MatmulSizes& s) { return static_cast<size_t>(s.m) * s.k; }
size_t size_b(const kit::MatmulSizes& s) { return static_cast<size_t>(s.k) * s.n; }
size_t size_c(const kit::MatmulSizes& s) { return static_cast<size_t>(s.m) * s.n; }

// Floats from the begin of the first matrix to the end of the last.
size_t length(int batch, long long stride, size_t size) {
  return batch == 0 ? 0 : (batch - 1) * stride + size;
}

std::vector<float> part(const std::vector<float>& all, size_t begin, size_t size) {
  return {all.begin() + begin, all.begin() + begin + size};
}

using Values = std::vector<float> (*)(size_t n);
std::vector<float> integers(size_t n) { return kit::random_integer_floats(n); }

kit::Run check_strided(Batch b, Values of_a = integers) {
  const kit::MatmulSizes s = b.sizes;
  if (b.stride_a < 0) b.stride_a = static_cast<long long>(size_a(s));
  if (b.stride_b < 0) b.stride_b = static_cast<long long>(size_b(s));
  if (b.stride_c < 0) b.stride_c = static_cast<long long>(size_c(s));
  const std::vector<float> a = of_a(length(b.batch, b.stride_a, size_a(s)));
  std::vector<float> w = integers(length(b.batch, b.stride_b, size_b(s)));
  if (of_a != integers) {
    for (float& value : w) value = value < 0 ? -1.0f : 1.0f;  // sums stay exact
  }
  std::vector<double> expected(length(b.batch, b.stride_c, size_c(s)), kGap);
  for (int z = 0; z < b.batch; ++z) {
    const std::vector<double> one = kit::matmul_on_cpu(part(a, z * b.stride_a, size_a(s)),
                                                       part(w, z * b.stride_b, size_b(s)), s)
                                        .c;
    std::copy(one.begin(), one.end(), expected.begin() + z * b.stride_c);
  }
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a", at_end);
  const auto d_b = kit::DeviceBuffer<float>::input(w, "b", at_end);
  const bool gaps = b.stride_c > static_cast<long long>(size_c(s));
  const auto d_c =
      gaps ? kit::DeviceBuffer<float>::inout(std::vector<float>(expected.size(), kGap), "c", at_end)
           : kit::DeviceBuffer<float>::output(expected.size(), "c", at_end);
  const StreamHandle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] {
    return status = launch_strided(handle.get(), s.m, s.n, s.k, d_a.get(), b.stride_a, d_b.get(),
                                   b.stride_b, d_c.get(), b.stride_c, b.batch);
  });
  expect_success("launch_strided", status);
  expect_no_wait("launch_strided");
  handle.expect_unchanged();
  kit::expect_near(d_c, expected, kit::Tolerance::absolute(0),
                   gaps ? kit::Shape() : kit::Shape(b.batch, s.m, s.n));
  return run;
}

// Products with one of `choices` matrices each, in a stream that waits for no other.
kit::Run check_chosen(const Batch& b, int choices) {
  const kit::MatmulSizes s = b.sizes;
  const std::vector<float> a = integers(b.batch * size_a(s)), w = integers(choices * size_b(s));
  const std::vector<int> which = kit::random_ints(b.batch, 0, choices - 1);
  std::vector<double> expected;
  for (int z = 0; z < b.batch; ++z) {
    const kit::MatmulReference one = kit::matmul_on_cpu(
        part(a, z * size_a(s), size_a(s)), part(w, which[z] * size_b(s), size_b(s)), s);
    expected.insert(expected.end(), one.c.begin(), one.c.end());
  }
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a", at_end);
  const auto d_b = kit::DeviceBuffer<float>::input(w, "b", at_end);
  const auto d_which = kit::DeviceBuffer<int>::input(which, "which", at_end);
  const auto d_c = kit::DeviceBuffer<float>::output(expected.size(), "c", at_end);
  const auto of_a = kit::DeviceBuffer<const float*>::output(b.batch, "products.a", at_end);
  const auto of_b = kit::DeviceBuffer<const float*>::output(b.batch, "products.b", at_end);
  const auto of_c = kit::DeviceBuffer<float*>::output(b.batch, "products.c", at_end);
  const StreamHandle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] {
    return status = launch_chosen(handle.get(), s.m, s.n, s.k, d_a.get(), d_b.get(), d_which.get(),
                                  d_c.get(), b.batch, {of_a.get(), of_b.get(), of_c.get()});
  });
  expect_success("launch_chosen", status);
  expect_no_wait("launch_chosen");
  handle.expect_unchanged();
  kit::expect_near(d_c, expected, kit::Tolerance::absolute(0), kit::Shape(b.batch, s.m, s.n));
  return run;
}

// The pointers alone, as numbers of elements from where all matrices of a kind begin.
void check_pointers(const Batch& b) {
  const kit::MatmulSizes s = b.sizes;
  constexpr int kChoices = 4;
  const std::vector<int> which = kit::random_ints(b.batch, 0, kChoices - 1);
  const auto d_a = kit::DeviceBuffer<float>::input(integers(b.batch * size_a(s)), "a");
  const auto d_b = kit::DeviceBuffer<float>::input(integers(kChoices * size_b(s)), "b");
  const auto d_which = kit::DeviceBuffer<int>::input(which, "which");
  const auto d_c = kit::DeviceBuffer<float>::output(b.batch * size_c(s), "c");
  const auto of_a = kit::DeviceBuffer<const float*>::output(b.batch, "products.a");
  const auto of_b = kit::DeviceBuffer<const float*>::output(b.batch, "products.b");
  const auto of_c = kit::DeviceBuffer<float*>::output(b.batch, "products.c");
  const StreamHandle handle;
  kit::run([&] {
    return launch_chosen(handle.get(), s.m, s.n, s.k, d_a.get(), d_b.get(), d_which.get(),
                         d_c.get(), b.batch, {of_a.get(), of_b.get(), of_c.get()});
  });
  std::vector<int> a, x, c, expected_a, expected_b, expected_c;
  for (int z = 0; z < b.batch; ++z) {
    expected_a.push_back(static_cast<int>(z * size_a(s)));
    expected_b.push_back(static_cast<int>(which[z] * size_b(s)));
    expected_c.push_back(static_cast<int>(z * size_c(s)));
  }
  for (const float* pointer : of_a.download()) a.push_back(static_cast<int>(pointer - d_a.get()));
  for (const float* pointer : of_b.download()) x.push_back(static_cast<int>(pointer - d_b.get()));
  for (const float* pointer : of_c.download()) c.push_back(static_cast<int>(pointer - d_c.get()));
  kit::expect_equal("products.a, in floats from d_a", a, expected_a);
  kit::expect_equal("products.b, in floats from d_b", x, expected_b);
  kit::expect_equal("products.c, in floats from d_c", c, expected_c);
}

// A sum of products of a row of a and a column of b; the matrices begin at these elements.
double product_of(const kit::LargeArray<float>& a, size_t begin_a, const kit::LargeArray<float>& b,
                  size_t begin_b, size_t element, const kit::MatmulSizes& s) {
  double sum = 0;
  for (int l = 0; l < s.k; ++l) {
    sum += static_cast<double>(a.at(begin_a + element / s.n * s.k + l)) *
           b.at(begin_b + static_cast<size_t>(l) * s.n + element % s.n);
  }
  return sum;
}

// Three products that lie further apart than an int counts; only what is touched takes room.
void check_far_apart(long long stride_a, long long stride_b, long long stride_c) {
  const kit::MatmulSizes s = {3, 2, 4};
  constexpr int kBatch = 3;
  const auto a = kit::large_integers(length(kBatch, stride_a, size_a(s)), "a");
  const auto b = kit::large_integers(length(kBatch, stride_b, size_b(s)), "b");
  const auto c = kit::LargeArray<float>::output(length(kBatch, stride_c, size_c(s)), "c");
  const StreamHandle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_strided(handle.get(), s.m, s.n, s.k, a.get(), stride_a, b.get(),
                                   stride_b, c.get(), stride_c, kBatch);
  });
  expect_success("launch_strided", status);
  kit::expect_at_ends(c, [&](size_t i) {
    const size_t z = i / stride_c;
    return product_of(a, z * stride_a, b, z * stride_b, i % stride_c, s);
  });
}

double products_called() {
  double calls = 0;
  for (const char* name :
       {"cublasSgemm", "cublasSgemmEx", "cublasGemmEx", "cublasSgemmBatched", "cublasGemmBatchedEx",
        "cublasSgemmStridedBatched", "cublasGemmStridedBatchedEx"}) {
    calls += static_cast<double>(kit::api_calls(name));
  }
  return calls;
}

}  // namespace

TEST(CublasBatched, MatricesMayLieFarApart) {
  RecordProperty("todo", 1);
  constexpr long long kFar = (1LL << 31) + 12;
  kit::at_largest("a stride of 2^31 + 12 from a to a", [] { check_far_apart(kFar, 8, 6); });
  kit::at_largest("a stride of 2^31 + 12 from c to c", [] { check_far_apart(12, 0, kFar); });
}

TEST(CublasBatched, MultipliesEveryMatrixOfTheBatch) {
  RecordProperty("todo", 1);
  kit::for_each(
      "batch",
      std::vector<Batch>{{{2, 3, 4}, 2}, {{33, 20, 40}, 3}, {{5, 70, 17}, 5}, {{1, 1, 1}, 31}},
      [](const Batch& b) { check_strided(b); });
}

TEST(CublasBatched, LeavesGapsBetweenMatricesAlone) {
  RecordProperty("todo", 1);
  kit::for_each(
      "batch",
      std::vector<Batch>{{{9, 33, 12}, 3, 200, 500, 300}, {{32, 32, 8}, 2, 256, 300, 1030}},
      [](const Batch& b) { check_strided(b); });
}

TEST(CublasBatched, SharesAMatrixWhoseStrideIsZero) {
  RecordProperty("todo", 1);
  kit::for_each("batch",
                std::vector<Batch>{{{10, 33, 20}, 4, 200, 0, 330}, {{40, 8, 20}, 3, 0, 160, 320}},
                [](const Batch& b) { check_strided(b); });
}

TEST(CublasBatched, KeepsFullPrecision) {
  RecordProperty("todo", 1);
  check_strided({{20, 33, 128}, 3}, [](size_t n) { return kit::precision_tripwire_floats(n); });
}

TEST(CublasBatched, ThePointersFollowTheChoice) {
  RecordProperty("todo", 2);
  kit::for_each("batch", std::vector<Batch>{{{2, 3, 4}, 5}, {{3, 5, 7}, 129}}, check_pointers);
}

// Choices whose places are numbers that no int holds.
TEST(CublasBatched, ChoosesAmongVeryManyMatrices) {
  RecordProperty("todo", 2);
  if (!kit::simulated()) return;
  const kit::MatmulSizes s = {1, 64, 64};
  const std::vector<int> which = {(1 << 19) + 5, 2, 1 << 20};
  const int batch = static_cast<int>(which.size());
  const std::vector<float> a = integers(batch * size_a(s));
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::large_integers(((size_t{1} << 20) + 1) * size_b(s), "b");
  const auto d_which = kit::DeviceBuffer<int>::input(which, "which");
  const auto d_c = kit::DeviceBuffer<float>::output(batch * size_c(s), "c");
  const auto of_a = kit::DeviceBuffer<const float*>::output(batch, "products.a");
  const auto of_b = kit::DeviceBuffer<const float*>::output(batch, "products.b");
  const auto of_c = kit::DeviceBuffer<float*>::output(batch, "products.c");
  const StreamHandle handle;
  std::vector<double> expected;
  for (int z = 0; z < batch; ++z) {
    std::vector<float> w;
    for (size_t i = 0; i < size_b(s); ++i) w.push_back(d_b.at(which[z] * size_b(s) + i));
    const std::vector<double> one = kit::matmul_on_cpu(part(a, z * size_a(s), size_a(s)), w, s).c;
    expected.insert(expected.end(), one.begin(), one.end());
  }
  kit::run([&] {
    return launch_chosen(handle.get(), s.m, s.n, s.k, d_a.get(), d_b.get(), d_which.get(),
                         d_c.get(), batch, {of_a.get(), of_b.get(), of_c.get()});
  });
  kit::expect_near(d_c, expected, kit::Tolerance::absolute(0), kit::Shape(batch, s.m, s.n));
}

// Their places are numbers that no int holds. Only the pointers are looked at: the products, which
// would take long, are refused.
TEST(CublasBatched, PointsToTheLastOfManyMatrices) {
  RecordProperty("todo", 2);
  if (!kit::simulated()) return;
  const kit::MatmulSizes s = {160, 160, 160};
  const int batch = 100'000;
  const std::vector<int> which(batch, 0);
  const auto d_a = kit::LargeArray<float>::output(batch * size_a(s), "a");
  const auto d_b = kit::LargeArray<float>::output(size_b(s), "b");
  const auto d_which = kit::DeviceBuffer<int>::input(which, "which");
  const auto d_c = kit::LargeArray<float>::output(batch * size_c(s), "c");
  const auto of_a = kit::DeviceBuffer<const float*>::output(batch, "products.a");
  const auto of_b = kit::DeviceBuffer<const float*>::output(batch, "products.b");
  const auto of_c = kit::DeviceBuffer<float*>::output(batch, "products.c");
  const StreamHandle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    wsim_fail_call(1, "cublasSgemm cublasGemm", ".cu");
    status = launch_chosen(handle.get(), s.m, s.n, s.k, d_a.get(), d_b.get(), d_which.get(),
                           d_c.get(), batch, {of_a.get(), of_b.get(), of_c.get()});
    wsim_fail_call(0, "", "");
    cudaStreamSynchronize(handle.stream());
  });
  expect_refusal("launch_chosen", status);
  std::vector<long long> a, c, expected_a, expected_c;
  for (int z = 0; z < batch; ++z) {
    expected_a.push_back(static_cast<long long>(z * size_a(s)));
    expected_c.push_back(static_cast<long long>(z * size_c(s)));
  }
  for (const float* pointer : of_a.download()) a.push_back(pointer - d_a.get());
  for (const float* pointer : of_c.download()) c.push_back(pointer - d_c.get());
  kit::expect_equal("products.a, in floats from d_a", a, expected_a);
  kit::expect_equal("products.c, in floats from d_c", c, expected_c);
}

TEST(CublasBatched, EveryProductChoosesItsMatrix) {
  RecordProperty("todo", 3);
  kit::for_each(
      "batch",
      std::vector<Batch>{{{1, 1, 1}, 1}, {{4, 3, 2}, 5}, {{16, 33, 20}, 9}, {{3, 5, 7}, 129}},
      [](const Batch& b) { check_chosen(b, 4); });
}

TEST(CublasBatched, ChoosesInTheStreamOfTheHandle) {
  RecordProperty("todo", 3);
  check_chosen({{8, 12, 20}, 40}, 7);
}

TEST(CublasBatched, AcceptsAnEmptyBatch) {
  RecordProperty("todo", 3);
  check_strided({{3, 4, 5}, 0});
  check_chosen({{3, 4, 5}, 0}, 2);
  check_chosen({{3, 4, 5}, 2}, 2);  // the same launcher must work here
}

TEST(CublasBatched, ReturnsWhatWasRefused) {
  RecordProperty("todo", 1);
  const auto d_all = kit::DeviceBuffer<float>::inout(std::vector<float>(100, 0.5f), "a, b and c");
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_strided(handle.get(), 4, 4, -1, d_all.get(), 16, d_all.get(), 16,
                                   d_all.get(), 16, 2);
  });
  expect_refusal("launch_strided", status);
}

TEST(CublasBatched, ReturnsWhatWasRefusedOfAChoice) {
  RecordProperty("todo", 3);
  const auto d_all = kit::DeviceBuffer<float>::inout(std::vector<float>(100, 0.5f), "a, b and c");
  const auto d_which = kit::DeviceBuffer<int>::input({0, 0}, "which");
  const auto of_a = kit::DeviceBuffer<const float*>::output(2, "products.a");
  const auto of_b = kit::DeviceBuffer<const float*>::output(2, "products.b");
  const auto of_c = kit::DeviceBuffer<float*>::output(2, "products.c");
  const Handle handle;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_chosen(handle.get(), 4, 4, -1, d_all.get(), d_all.get(), d_which.get(),
                                  d_all.get(), 2, {of_a.get(), of_b.get(), of_c.get()});
  });
  expect_refusal("launch_chosen", status);
}

TEST(CublasBatched, CallsOnceForTheWholeBatch) {
  RecordProperty("todo", 1);
  check_strided({{16, 16, 16}, 20});
  kit::budget("calls for a batch at strides", products_called(), kit::at_most(1),
              "All products have the same sizes and strides, so one call can say them all");
}

// cuRAND's host interface in the simulator: what the checks see of it. Its numbers are compared
// with those of an H200 by grader/tests/conformance.
#include <curand.h>

#include "library_fixture.h"

namespace {

constexpr size_t kCount = 256;

class CurandTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(curandCreateGenerator(&generator_, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
  }
  void TearDown() override {
    curandDestroyGenerator(generator_);
    LibraryTest::TearDown();
  }
  curandGenerator_t generator_ = nullptr;
};

TEST_F(CurandTest, NumbersAreWorkOfTheStream) {
  cudaStream_t queue = stream();
  float* x = device<float>(kCount);
  ASSERT_EQ(curandSetStream(generator_, queue), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandGenerateUniform(generator_, x, kCount), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(counters().global_store_bytes, 0u) << "nothing has asked for them yet";
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  EXPECT_EQ(counters().global_store_bytes, kCount * sizeof(float));
  for (const float value : host(x, kCount)) {
    EXPECT_GT(value, 0);
    EXPECT_LE(value, 1);
  }
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CurandTest, TheOrderOfCallsNotOfStreamsDecidesWhoGetsWhichNumbers) {
  float *first = device<float>(kCount), *second = device<float>(kCount);
  curandSetStream(generator_, stream());
  ASSERT_EQ(curandGenerateUniform(generator_, first, kCount), CURAND_STATUS_SUCCESS);
  // The simulator runs the stream that got its work last first.
  curandSetStream(generator_, stream());
  ASSERT_EQ(curandGenerateUniform(generator_, second, kCount), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  float* both = device<float>(2 * kCount);
  curandSetStream(generator_, nullptr);
  ASSERT_EQ(curandSetGeneratorOffset(generator_, 0), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandGenerateUniform(generator_, both, 2 * kCount), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(host(first, kCount), host(both, kCount));
  EXPECT_EQ(host(second, kCount), host(both + kCount, kCount));
}

TEST_F(CurandTest, HostMemoryNeedsAHostGenerator) {
  std::vector<float> x(kCount);
  EXPECT_EQ(curandGenerateUniform(generator_, x.data(), kCount), CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(findings(), Kinds{"memcheck/host-pointer"});
}

TEST_F(CurandTest, AnArrayThatIsTooShortIsFound) {
  double* x = device<double>(kCount);
  EXPECT_EQ(curandGenerateNormalDouble(generator_, x, kCount + 2, 0, 1),
            CURAND_STATUS_LAUNCH_FAILURE);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
}

TEST_F(CurandTest, SobolFillsOneDimensionAfterTheOther) {
  curandGenerator_t points = nullptr;
  ASSERT_EQ(curandCreateGenerator(&points, CURAND_RNG_QUASI_SOBOL32), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(curandSetQuasiRandomGeneratorDimensions(points, 2), CURAND_STATUS_SUCCESS);
  unsigned* x = device<unsigned>(8);
  ASSERT_EQ(curandGenerate(points, x, 8), CURAND_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(host(x, 8),
            (std::vector<unsigned>{0, 0x80000000, 0xc0000000, 0x40000000,  // 0, 1/2, 3/4, 1/4
                                   0, 0x80000000, 0x40000000, 0xc0000000}));
  EXPECT_EQ(curandGenerate(points, x, 7), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT_EQ(curandSetQuasiRandomGeneratorDimensions(points, 22), CURAND_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(findings(), Kinds{"api/not-simulated"});
  curandDestroyGenerator(points);
}

TEST_F(CurandTest, WhatIsNotThereSaysSo) {
  curandGenerator_t other = nullptr;
  EXPECT_EQ(curandCreateGenerator(&other, CURAND_RNG_PSEUDO_MTGP32), CURAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(curandSetGeneratorOrdering(generator_, CURAND_ORDERING_PSEUDO_SEEDED),
            CURAND_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(findings(), (Kinds{"api/not-simulated", "api/not-simulated"}));
}

}  // namespace

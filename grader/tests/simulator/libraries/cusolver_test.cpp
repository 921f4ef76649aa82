// cuSOLVER in the simulator: streams, checks and work space. That results and status codes are
// right is shown by grader/tests/conformance.
#include <cusolverDn.h>

#include <utility>

#include "library_fixture.h"

namespace {

constexpr int kRows = 8, kColumns = 3;

class CusolverTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(cusolverDnCreate(&handle_), CUSOLVER_STATUS_SUCCESS);
    ASSERT_EQ(cusolverDnSgeqrf_bufferSize(handle_, kRows, kColumns, nullptr, kRows, &work_size_),
              CUSOLVER_STATUS_SUCCESS);
    work_ = device<float>(work_size_);
    tau_ = device<float>(kColumns);
    info_ = device<int>(1);
  }
  void TearDown() override {
    cusolverDnDestroy(handle_);
    LibraryTest::TearDown();
  }
  // Columns (1, 1, ..., 1), (0, 1, 0, ...) and (0, 0, 1, ...).
  static float* matrix() {
    std::vector<float> a(kRows * kColumns, 0.0F);
    for (int i = 0; i < kRows; ++i) a[i] = 1;
    a[kRows + 1] = a[2 * kRows + 2] = 1;
    return device(a);
  }
  cusolverStatus_t factorise(float* a, int work_size) {
    return cusolverDnSgeqrf(handle_, kRows, kColumns, a, kRows, tau_, work_, work_size, info_);
  }
  cusolverDnHandle_t handle_ = nullptr;
  int work_size_ = 0;
  float *work_ = nullptr, *tau_ = nullptr;
  int* info_ = nullptr;
};

TEST_F(CusolverTest, RunsInTheStreamOfTheHandle) {
  cudaStream_t queue = stream();
  float* const a = matrix();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cusolverDnSetStream(handle_, queue), CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(factorise(a, work_size_), CUSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(counters().global_load_bytes, 0u) << "it has not run";
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  const std::vector<float> r = host(a, kRows * kColumns);
  EXPECT_FLOAT_EQ(r[0], -2.8284271F) << "the length of the first column, with the other sign";
  EXPECT_EQ(host(info_, 1)[0], 0);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CusolverTest, AResultThatNothingWaitedForIsARaceOfStreams) {
  cudaStream_t queue = stream();
  float* const a = matrix();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cusolverDnSetStream(handle_, queue), CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(factorise(a, work_size_), CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(cusolverDnSetStream(handle_, stream()), CUSOLVER_STATUS_SUCCESS);
  ASSERT_EQ(factorise(a, work_size_), CUSOLVER_STATUS_SUCCESS);
  cudaDeviceSynchronize();
  ASSERT_FALSE(findings().empty());
  EXPECT_EQ(findings().front(), "streamcheck/unordered-streams");
}

TEST_F(CusolverTest, MatricesAreCheckedAndMustHoldValues) {
  float* const empty = device<float>(kRows * kColumns);
  factorise(empty, work_size_);
  cudaDeviceSynchronize();
  EXPECT_EQ(findings(), Kinds{"initcheck/unwritten-operand"});
  wsim_clear_findings();
  float* const small = device(std::vector<float>(kRows * kColumns - 1, 1.0F));
  EXPECT_EQ(factorise(small, work_size_), CUSOLVER_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
}

TEST_F(CusolverTest, ATooSmallWorkSpaceIsRefusedAndNothingIsDone) {
  float* const a = matrix();
  EXPECT_EQ(factorise(a, work_size_ - 1), CUSOLVER_STATUS_INVALID_VALUE);
  EXPECT_NE(last_message().find("..._bufferSize"), std::string::npos) << last_message();
  EXPECT_EQ(host(a, 1)[0], 1);
}

TEST_F(CusolverTest, AHandleThatIsGoneIsRefused) {
  EXPECT_EQ(cusolverDnSetStream(nullptr, nullptr), CUSOLVER_STATUS_NOT_INITIALIZED);
  cusolverDnHandle_t gone = handle_;
  cusolverDnDestroy(handle_);
  EXPECT_EQ(cusolverDnSetStream(gone, nullptr), CUSOLVER_STATUS_NOT_INITIALIZED);
  ASSERT_EQ(cusolverDnCreate(&handle_), CUSOLVER_STATUS_SUCCESS);
}

}  // namespace

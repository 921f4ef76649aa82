// cuBLAS in the simulator: what the checks see of its calls. That results and status codes are
// right is shown by grader/tests/conformance.
#include <cublasXt.h>
#include <cublas_v2.h>

#include "library_fixture.h"

// As the simulator has it; our header does not declare it.
extern "C" int cublasCscal_v2();

namespace {

constexpr int kOrder = 8;

class CublasTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    cublasDestroy(handle_);
    LibraryTest::TearDown();
  }
  static float* ones(size_t count) { return device(std::vector<float>(count, 1)); }
  // C = A B of `order`, A with a leading dimension.
  cublasStatus_t product(const float* a, int lda, const float* b, float* c, float beta = 0,
                         int order = kOrder) {
    const float one = 1;
    return cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, order, order, order, &one, a, lda, b,
                       order, &beta, c, order);
  }
  cublasHandle_t handle_ = nullptr;
};

TEST_F(CublasTest, AResultForTheHostWaitsAndAllOtherWorkDoesNot) {
  float* x = ones(kOrder);
  const float two = 2;
  ASSERT_EQ(cublasSscal(handle_, kOrder, &two, x, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(counters().global_load_bytes, 0u) << "nothing has asked for the result yet";
  float sum = 0;
  ASSERT_EQ(cublasSasum(handle_, kOrder, x, 1, &sum), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(sum, 2 * kOrder);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CublasTest, AScalarOfTheHostIsTakenAtTheCallOneOfTheDeviceWhenItRuns) {
  float* x = ones(1);
  float factor = 3;
  ASSERT_EQ(cublasSscal(handle_, 1, &factor, x, 1), CUBLAS_STATUS_SUCCESS);
  factor = 100;
  float* on_device = device<float>(1);
  ASSERT_EQ(cudaMemset(on_device, 0, sizeof(float)), cudaSuccess);
  ASSERT_EQ(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  float* other = ones(1);
  ASSERT_EQ(cublasSaxpy(handle_, 1, on_device, x, 1, other, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(host(x, 1)[0], 3);
  EXPECT_EQ(host(other, 1)[0], 1);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CublasTest, VectorsOfTypesThatAreArguments) {
  const std::vector<uint16_t> halves = {0x3c00, 0x4000, 0x4200};  // 1, 2, 3
  uint16_t* x = device(halves);
  uint16_t result = 0;
  ASSERT_EQ(
      cublasDotEx(handle_, 3, x, CUDA_R_16F, 1, x, CUDA_R_16F, -1, &result, CUDA_R_16F, CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 0x4900);  // 1 * 3 + 2 * 2 + 3 * 1 = 10
  const float two = 2;
  ASSERT_EQ(cublasScalEx(handle_, 3, &two, CUDA_R_32F, x, CUDA_R_16F, 1, CUDA_R_32F),
            CUBLAS_STATUS_SUCCESS);
  uint16_t* sum = device(halves);
  ASSERT_EQ(
      cublasAxpyEx(handle_, 3, &two, CUDA_R_32F, x, CUDA_R_16F, 1, sum, CUDA_R_16F, 1, CUDA_R_32F),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(host(sum, 3), (std::vector<uint16_t>{0x4500, 0x4900, 0x4b80}));  // 5, 10, 15
  double* y = device(std::vector<double>{3, 0, 4});
  double length = 0, product = 0;
  ASSERT_EQ(cublasNrm2Ex(handle_, 3, y, CUDA_R_64F, 1, &length, CUDA_R_64F, CUDA_R_64F),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasDotcEx(handle_, 3, y, CUDA_R_64F, 1, y, CUDA_R_64F, 1, &product, CUDA_R_64F,
                         CUDA_R_64F),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(length, 5);
  EXPECT_EQ(product, 25);
  EXPECT_EQ(findings(), Kinds{});
  EXPECT_EQ(cublasNrm2Ex(handle_, 3, y, CUDA_R_64F, 1, &length, CUDA_R_64F, CUDA_R_32F),
            CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(CublasTest, TheWrongPointerModeIsFoundBothWays) {
  float* x = ones(kOrder);
  float* on_device = ones(1);
  EXPECT_EQ(cublasSscal(handle_, kOrder, on_device, x, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSdot(handle_, kOrder, x, 1, x, 1, on_device), CUBLAS_STATUS_INVALID_VALUE);
  ASSERT_EQ(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  const float one = 1;
  EXPECT_EQ(cublasSscal(handle_, kOrder, &one, x, 1), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(),
            (Kinds{"api/scalar-on-device", "api/scalar-on-device", "memcheck/host-pointer"}));
}

TEST_F(CublasTest, AMatrixThatIsSmallerThanItsLeadingDimensionSaysIsFound) {
  float* a = ones(kOrder * kOrder);
  EXPECT_EQ(product(a, kOrder + 1, a, ones(kOrder * kOrder)), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
  EXPECT_NE(last_message().find("as its matrix A"), std::string::npos) << last_message();
}

TEST_F(CublasTest, BytesBetweenColumnsAreNotTouched) {
  // Two rows of padding below every column: unwritten, and a stranger's.
  const int ld = kOrder + 2;
  float* a = device<float>(ld * kOrder);
  ASSERT_EQ(cudaMemset2D(a, ld * sizeof(float), 0, kOrder * sizeof(float), kOrder), cudaSuccess);
  ASSERT_EQ(product(a, ld, ones(kOrder * kOrder), ones(kOrder * kOrder)), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CublasTest, CIsReadOnlyWhereBetaIsNotZero) {
  float* a = ones(kOrder * kOrder);
  float* c = device<float>(kOrder * kOrder);
  ASSERT_EQ(product(a, kOrder, a, c, 1), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"initcheck/unwritten-operand"});
  wsim_clear_findings();
  float* d = device<float>(kOrder * kOrder);
  ASSERT_EQ(product(a, kOrder, a, d, 0), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(host(d, 1)[0], kOrder);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CublasTest, PointersOfABatchAreCheckedWhenItRuns) {
  float* a = ones(3 * kOrder * kOrder);
  float* c = device<float>(3 * kOrder * kOrder);
  std::vector<float*> to;
  for (int i = 0; i < 3; ++i) to.push_back(c + i * kOrder * kOrder);
  to[2] += 1;  // the last product reaches one element too far
  float** from = device(std::vector<float*>(3, a));
  const float one = 1, zero = 0;
  ASSERT_EQ(cublasSgemmBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kOrder, kOrder, kOrder, &one,
                               from, kOrder, from, kOrder, &zero, device(to), kOrder, 3),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
  EXPECT_NE(last_message().find("matrix C of product 2"), std::string::npos) << last_message();
  EXPECT_EQ(host(c + kOrder, 1)[0], kOrder) << "the first product is done";
}

TEST_F(CublasTest, PointersInHostMemoryAreFound) {
  float* a = ones(kOrder * kOrder);
  const std::vector<float*> from(1, a);
  const float one = 1, zero = 0;
  EXPECT_EQ(
      cublasSgemmBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, kOrder, kOrder, kOrder, &one,
                         from.data(), kOrder, from.data(), kOrder, &zero, from.data(), kOrder, 1),
      CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/host-pointer"});
}

TEST_F(CublasTest, AnIllegalParameterIsExplained) {
  float* a = ones(kOrder * kOrder);
  EXPECT_EQ(product(a, kOrder - 1, a, a), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), Kinds{"api/invalid-value"});
  EXPECT_NE(last_message().find("refuses parameter 8 behind the handle: lda = 7 is the distance "
                                "between columns, at least the 8 rows in memory"),
            std::string::npos)
      << last_message();
}

TEST_F(CublasTest, StreamsOfHandlesOrderItsWork) {
  float* x = ones(kOrder);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const float two = 2;
  cublasHandle_t other = nullptr;
  ASSERT_EQ(cublasCreate(&other), CUBLAS_STATUS_SUCCESS);
  cublasSetStream(handle_, stream());
  cublasSetStream(other, stream());
  cublasSscal(handle_, kOrder, &two, x, 1);
  cublasSscal(other, kOrder, &two, x, 1);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"streamcheck/unordered-streams"});
  cublasDestroy(other);
}

TEST_F(CublasTest, AHandleBelongsToTheDeviceOnWhichItWasMade) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  ASSERT_GE(devices, 2) << "GRADE_SIM_DEVICES=2";
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  float* x = ones(kOrder);  // on device 1
  const float two = 2;
  EXPECT_EQ(cublasSscal(handle_, kOrder, &two, x, 1), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/no-peer-access"});
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(CublasTest, AFunctionThatIsNotThereSaysSoOnce) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cublasCscal_v2(), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(findings(), Kinds{"api/not-simulated"});
  EXPECT_NE(last_message().find("cublasCscal_v2 at cublas_test.cpp:"), std::string::npos)
      << last_message();
}

TEST_F(CublasTest, DevicesShareTheBlocksOfAProductInHostMemory) {
  constexpr size_t kLarge = 64;
  const std::vector<float> a(kLarge * kLarge, 1);
  std::vector<float> c(kLarge * kLarge, -1);
  cublasXtHandle_t handle = nullptr;
  int devices[] = {0, 1};
  const float one = 1, zero = 0;
  ASSERT_EQ(cublasXtCreate(&handle), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasXtDeviceSelect(handle, 2, devices), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasXtSetBlockDim(handle, 16), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kLarge, kLarge, kLarge, &one, a.data(),
                          kLarge, a.data(), kLarge, &zero, c.data(), kLarge),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c, std::vector<float>(kLarge * kLarge, kLarge));
  bool used[2] = {};
  const int count = wsim_timeline_count();
  for (int i = 0; i < count; ++i) {
    wsim_timeline_item item{};
    ASSERT_EQ(wsim_get_timeline_item(i, &item), 0);
    if (std::string(item.name) == "cublasXtSgemm") used[item.device] = true;
  }
  EXPECT_TRUE(used[0] && used[1]);
  EXPECT_EQ(cublasXtDestroy(handle), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CublasTest, AResultForTheHostCannotBeCaptured) {
  float* x = ones(kOrder);
  cudaStream_t queue = stream();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cublasSetStream(handle_, queue);
  const float two = 2;
  float sum = 0;
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(queue, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cublasSscal(handle_, kOrder, &two, x, 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSasum(handle_, kOrder, x, 1, &sum), CUBLAS_STATUS_EXECUTION_FAILED);
  ASSERT_EQ(cudaStreamEndCapture(queue, &graph), cudaSuccess);
  size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
}

}  // namespace

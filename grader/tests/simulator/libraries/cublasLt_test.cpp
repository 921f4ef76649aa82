// cuBLASLt in the simulator: what the checks see of a product with an epilogue. That results and
// status codes are right is shown by grader/tests/conformance.
#include <cublasLt.h>

#include <utility>

#include "library_fixture.h"

namespace {

constexpr int kOrder = 8;

class CublasLtTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(cublasLtCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&layout_, CUDA_R_32F, kOrder, kOrder, kOrder);
  }
  void TearDown() override {
    cublasLtMatmulDescDestroy(operation_);
    cublasLtMatrixLayoutDestroy(layout_);
    cublasLtDestroy(handle_);
    LibraryTest::TearDown();
  }
  static float* filled(float value) { return device(std::vector<float>(kOrder * kOrder, value)); }
  void set_epilogue(cublasLtEpilogue_t epilogue, const float* bias) {
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                             sizeof epilogue),
              CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                             sizeof bias),
              CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t multiply(const float* a, const float* b, float* d, cudaStream_t stream) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(handle_, operation_, &one, a, layout_, b, layout_, &zero, d, layout_, d,
                          layout_, nullptr, nullptr, 0, stream);
  }
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t layout_ = nullptr;
};

TEST_F(CublasLtTest, RunsInTheStreamOfTheCallAndReadsBiasOnce) {
  std::vector<float> bias(kOrder, -kOrder);
  bias[3] = 1;
  set_epilogue(CUBLASLT_EPILOGUE_RELU_BIAS, device(bias));
  float *a = filled(1), *b = filled(0.5F), *d = device<float>(kOrder * kOrder);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  cudaStream_t queue = stream();
  ASSERT_EQ(multiply(a, b, d, queue), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(counters().global_load_bytes, 0u);
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  EXPECT_EQ(counters().global_load_bytes, (2 * kOrder * kOrder + kOrder) * sizeof(float));
  const std::vector<float> result = host(d, kOrder * kOrder);
  EXPECT_EQ(result[2], 0) << "4 - 8, clipped";
  EXPECT_EQ(result[3], 5);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CublasLtTest, AMissingOrShortBiasIsFound) {
  set_epilogue(CUBLASLT_EPILOGUE_BIAS, nullptr);
  float* a = filled(1);
  EXPECT_EQ(multiply(a, a, filled(0), nullptr), CUBLAS_STATUS_INVALID_VALUE);
  set_epilogue(CUBLASLT_EPILOGUE_BIAS, device<float>(kOrder - 1));
  EXPECT_EQ(multiply(a, a, filled(0), nullptr), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(), (Kinds{"api/invalid-value", "memcheck/out-of-bounds-copy"}));
}

// The same status as on an H200, at the call and not when the layout is made.
TEST_F(CublasLtTest, ALeadingDimensionThatIsTooSmallIsExplained) {
  cublasLtMatrixLayout_t narrow = nullptr;
  ASSERT_EQ(cublasLtMatrixLayoutCreate(&narrow, CUDA_R_32F, kOrder, kOrder, kOrder - 3),
            CUBLAS_STATUS_SUCCESS);
  std::swap(narrow, layout_);
  float* a = filled(1);
  EXPECT_EQ(multiply(a, a, filled(0), nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(findings(), Kinds{"api/invalid-value"});
  EXPECT_NE(last_message().find("its leading dimension, 5, is less than the 8 elements"),
            std::string::npos)
      << last_message();
  std::swap(narrow, layout_);
  cublasLtMatrixLayoutDestroy(narrow);
}

TEST_F(CublasLtTest, AnEpilogueThatIsNotThereSaysSo) {
  set_epilogue(CUBLASLT_EPILOGUE_GELU, nullptr);
  float* a = filled(1);
  EXPECT_EQ(multiply(a, a, filled(0), nullptr), CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(findings(), Kinds{"api/not-simulated"});
}

}  // namespace

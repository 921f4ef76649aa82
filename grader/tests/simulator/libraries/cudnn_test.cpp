// cuDNN in the simulator: what the checks see of its calls. That results and status codes are right
// is shown by grader/tests/conformance.
#include <cudnn.h>

#include "library_fixture.h"

namespace {

const float kOne = 1, kZero = 0;

class CudnnTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(cudnnCreate(&handle_), CUDNN_STATUS_SUCCESS);
    cudnnCreateTensorDescriptor(&x_);
    cudnnCreateTensorDescriptor(&y_);
    cudnnCreateFilterDescriptor(&w_);
    cudnnCreateConvolutionDescriptor(&convolution_);
    cudnnSetTensor4dDescriptor(x_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2, 8, 8);
    cudnnSetTensor4dDescriptor(y_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 6, 6);
    cudnnSetFilter4dDescriptor(w_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, 2, 3, 3);
    cudnnSetConvolution2dDescriptor(convolution_, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                    CUDNN_DATA_FLOAT);
  }
  void TearDown() override {
    cudnnDestroyTensorDescriptor(x_);
    cudnnDestroyTensorDescriptor(y_);
    cudnnDestroyFilterDescriptor(w_);
    cudnnDestroyConvolutionDescriptor(convolution_);
    cudnnDestroy(handle_);
    LibraryTest::TearDown();
  }
  static float* ones(size_t count) { return device(std::vector<float>(count, 1)); }
  cudnnStatus_t convolve(const float* x, const float* w, float* y,
                         cudnnConvolutionFwdAlgo_t algorithm, void* workspace, size_t bytes) {
    return cudnnConvolutionForward(handle_, &kOne, x_, x, w_, w, convolution_, algorithm, workspace,
                                   bytes, &kZero, y_, y);
  }
  static constexpr size_t kInput = 2 * 8 * 8, kFilter = 3 * 2 * 3 * 3, kOutput = 3 * 6 * 6;

  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t convolution_ = nullptr;
};

constexpr auto kImplicit = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
constexpr auto kFft = CUDNN_CONVOLUTION_FWD_ALGO_FFT;

TEST_F(CudnnTest, AConvolutionIsWorkOfTheStream) {
  cudaStream_t queue = stream();
  float *x = ones(kInput), *w = ones(kFilter), *y = device<float>(kOutput);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudnnSetStream(handle_, queue), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(convolve(x, w, y, kImplicit, nullptr, 0), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(counters().global_load_bytes, 0u);
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  EXPECT_EQ(counters().global_load_bytes, (kInput + kFilter) * sizeof(float));
  EXPECT_EQ(counters().global_store_bytes, kOutput * sizeof(float));
  EXPECT_EQ(host(y, kOutput)[7], 18);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CudnnTest, AnOutputThatIsTooSmallForItsDescriptorIsFound) {
  float* y = device<float>(kOutput - 1);
  EXPECT_EQ(convolve(ones(kInput), ones(kFilter), y, kImplicit, nullptr, 0),
            CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
  EXPECT_NE(last_message().find("as its output y"), std::string::npos) << last_message();
}

TEST_F(CudnnTest, AnOutputOfAnotherPaddingIsExplained) {
  cudnnSetTensor4dDescriptor(y_, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 3, 8, 8);
  EXPECT_EQ(convolve(ones(kInput), ones(kFilter), device<float>(3 * 64), kImplicit, nullptr, 0),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(findings(), Kinds{"api/bad-parameter"});
  EXPECT_NE(last_message().find("cudnnGetConvolution2dForwardOutputDim"), std::string::npos);
}

TEST_F(CudnnTest, ARefusedConvolutionHasNoOutputSize) {
  cudnnConvolutionDescriptor_t refused = nullptr;
  ASSERT_EQ(cudnnCreateConvolutionDescriptor(&refused), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(cudnnSetConvolution2dDescriptor(refused, -1, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                            CUDNN_DATA_FLOAT),
            CUDNN_STATUS_BAD_PARAM);
  int n = 0, c = 0, h = 0, w = 0;
  EXPECT_EQ(cudnnGetConvolution2dForwardOutputDim(refused, x_, w_, &n, &c, &h, &w),
            CUDNN_STATUS_BAD_PARAM);
  cudnnDestroyConvolutionDescriptor(refused);
}

TEST_F(CudnnTest, AnAlgorithmNeedsItsWorkspace) {
  size_t bytes = 0;
  ASSERT_EQ(
      cudnnGetConvolutionForwardWorkspaceSize(handle_, x_, w_, convolution_, y_, kFft, &bytes),
      CUDNN_STATUS_SUCCESS);
  ASSERT_GT(bytes, 0u);
  float *x = ones(kInput), *w = ones(kFilter), *y = device<float>(kOutput);
  EXPECT_EQ(convolve(x, w, y, kFft, nullptr, 0), CUDNN_STATUS_BAD_PARAM);
  // The program says it is large enough, and it is not.
  EXPECT_EQ(convolve(x, w, y, kFft, device<char>(bytes / 2), bytes), CUDNN_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(convolve(x, w, y, kFft, device<char>(bytes), bytes), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(host(y, kOutput)[0], 18);
  EXPECT_EQ(findings(), (Kinds{"api/bad-parameter", "memcheck/out-of-bounds-copy"}));
}

TEST_F(CudnnTest, AScalarOfTheDeviceIsFound) {
  float* x = ones(kInput);
  EXPECT_EQ(cudnnScaleTensor(handle_, x_, x, ones(1)), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(findings(), Kinds{"api/scalar-on-device"});
}

TEST_F(CudnnTest, AnOutputIsReadOnlyIfBetaIsNotZero) {
  float* x = ones(kInput);
  ASSERT_EQ(cudnnTransformTensor(handle_, &kOne, x_, x, &kZero, x_, device<float>(kInput)),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
  ASSERT_EQ(cudnnTransformTensor(handle_, &kOne, x_, x, &kOne, x_, device<float>(kInput)),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"initcheck/unwritten-operand"});
}

TEST_F(CudnnTest, StridesDecideWhatIsRead) {
  // Every second column of a wider image; the others are unwritten.
  float* x = device<float>(2 * kInput);
  ASSERT_EQ(cudaMemset2D(x, 2 * sizeof(float), 0, sizeof(float), kInput), cudaSuccess);
  cudnnTensorDescriptor_t wide = nullptr;
  cudnnCreateTensorDescriptor(&wide);
  cudnnSetTensor4dDescriptorEx(wide, CUDNN_DATA_FLOAT, 1, 2, 8, 8, 256, 128, 16, 2);
  ASSERT_EQ(cudnnTransformTensor(handle_, &kOne, wide, x, &kZero, x_, device<float>(kInput)),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
  cudnnDestroyTensorDescriptor(wide);
}

TEST_F(CudnnTest, DescriptorsAreCounted) {
  const uint64_t made = wsim_api_calls("cudnnCreateFilterDescriptor");
  const uint64_t destroyed = wsim_api_calls("cudnnDestroyFilterDescriptor");
  cudnnFilterDescriptor_t filter = nullptr;
  ASSERT_EQ(cudnnCreateFilterDescriptor(&filter), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(wsim_api_calls("cudnnCreateFilterDescriptor"), made + 1);
  EXPECT_EQ(wsim_api_calls("cudnnDestroyFilterDescriptor"), destroyed);
  ASSERT_EQ(cudnnDestroyFilterDescriptor(filter), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(wsim_api_calls("cudnnDestroyFilterDescriptor"), destroyed + 1);
}

TEST_F(CudnnTest, ASearchListsUsableAlgorithmsFirstAndTheirTimes) {
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  ASSERT_EQ(cudnnFindConvolutionForwardAlgorithm(handle_, x_, w_, convolution_, y_,
                                                 CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(count, CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
  EXPECT_EQ(found[0].status, CUDNN_STATUS_SUCCESS);
  EXPECT_NE(found[count - 1].status, CUDNN_STATUS_SUCCESS);
  for (int i = 1; i < count; ++i) {
    if (found[i].status != CUDNN_STATUS_SUCCESS) break;
    EXPECT_GE(found[i].time, found[i - 1].time);
  }
}

}  // namespace

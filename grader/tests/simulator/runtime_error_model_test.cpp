// Errors behave as on an H200 with CUDA 13.0, where the expected values were measured.
#include <array>
#include <cstring>

#include "exec/launch.h"
#include "runtime_fixture.h"

void launch_compute(float* to, int rounds, int blocks, int threads, cudaStream_t stream);

namespace warplings::sim {
namespace {

// Launches may execute so many warp instructions.
class SpentBudget : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    before_ = engine_options().max_warp_instructions;
    engine_options().max_warp_instructions = 2000;
  }
  void TearDown() override {
    engine_options().max_warp_instructions = before_;
    RuntimeTest::TearDown();
  }
  // Of a kernel with four or more instructions in a round, or what was found.
  static std::string launch(int rounds, int blocks) {
    launch_compute(device<float>(1), rounds, blocks, 32, nullptr);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) return "";
    EXPECT_EQ(error, cudaErrorLaunchTimeout);
    return last_finding().message;
  }

 private:
  uint64_t before_ = 0;
};

TEST_F(SpentBudget, ABlockThatDoesNotEndIsEndless) {
  const std::string message = launch(100'000, 1);
  EXPECT_NE(message.find("Does the loop there ever end"), std::string::npos) << message;
}

TEST_F(SpentBudget, ManyBlocksThatEndAreNot) {
  EXPECT_EQ(launch(50, 20), "");  // more than one budget
}

TEST_F(SpentBudget, TooManyOfThemAreCalledLong) {
  const std::string message = launch(50, 5000);
  EXPECT_NE(message.find("of its 5000 blocks have ended, so this is no endless loop"),
            std::string::npos)
      << message;
}

class ErrorModel : public RuntimeTest {};

TEST_F(ErrorModel, AKernelFaultSticksUntilTheDeviceIsReset) {
  launch_null_store();
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "a fault is not known at the launch";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorIllegalAddress);
  launch_blocks(1, 1);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
}

TEST_F(ErrorModel, WorkAfterAFaultDoesNotRun) {
  int* value = pinned<int>(1);
  *value = 5;
  launch_null_store();
  launch_increment(value);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(*value, 5);
}

TEST_F(ErrorModel, ImpossibleConfigurationsAreRefusedAtTheLaunch) {
  const std::array<std::array<dim3, 2>, 7> bad = {{{dim3(1), dim3(0)},
                                                   {dim3(0), dim3(1)},
                                                   {dim3(1), dim3(1025)},
                                                   {dim3(1), dim3(1, 1, 65)},
                                                   {dim3(1), dim3(64, 32)},
                                                   {dim3(1, 65536), dim3(1)},
                                                   {dim3(1, 1, 65536), dim3(1)}}};
  for (const auto& [grid, block] : bad) {
    FindingLog::instance().clear();
    launch_blocks(grid, block);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue) << grid.x << " " << block.x;
    EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "such an error does not stick";
  }
  EXPECT_EQ(findings(), Kinds{}) << "the error itself is enough; a note explains it";
  EXPECT_NE(last_finding().message.find("a grid has at most 65535"), std::string::npos)
      << last_finding().message;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  launch_blocks(dim3(1), dim3(1024));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(ErrorModel, LaunchBoundsAreALimit) {
  launch_bounded(128);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  launch_bounded(129);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST_F(ErrorModel, MoreThan48KiBOfSharedMemoryMustBeAskedFor) {
  launch_blocks(1, 32, 49152);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  launch_blocks(1, 32, 49153);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);

  const void* kernel = big_shared_kernel();  // 16384 bytes of its own
  int* null = nullptr;
  void* arguments[] = {&null};
  EXPECT_EQ(cudaLaunchKernel(kernel, 1, 32, arguments, 40000, nullptr), cudaErrorInvalidValue);
  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(cudaFuncSetAttribute(kernel, attribute, 232448), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, attribute, 232448 - 16384), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(kernel, 1, 32, arguments, 40000, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, attribute, -1), cudaErrorInvalidValue);
}

TEST_F(ErrorModel, CooperativeGridsMustFitTheDevice) {
  int* null = nullptr;
  void* arguments[] = {&null};
  EXPECT_EQ(cudaLaunchCooperativeKernel(big_shared_kernel(), dim3(100000), dim3(256), arguments, 0,
                                        nullptr),
            cudaErrorCooperativeLaunchTooLarge);
}

TEST_F(ErrorModel, UnknownFunctionsAndHandlesAreRefused) {
  int not_a_kernel = 0;
  EXPECT_EQ(cudaLaunchKernel(&not_a_kernel, 1, 1, nullptr, 0, nullptr),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(nullptr, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
}

TEST_F(ErrorModel, CopiesCheckTheDirection) {
  int host[16] = {};
  int* a = device<int>(16);
  int* b = device<int>(16);
  cudaMemset(a, 0, 64);
  cudaMemset(b, 0, 64);
  EXPECT_EQ(cudaMemcpy(a, host, 64, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host, a, 64, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, host, 64, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, host, 64, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, b, 64, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host, a, 64, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(a, host, 64, static_cast<cudaMemcpyKind>(9)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(findings(),
            (Kinds{"memcheck/host-pointer", "memcheck/host-pointer", "memcheck/host-pointer"}));
}

TEST_F(ErrorModel, CopiesStayInsideTheAllocation) {
  char host[256] = {};
  char* a = device<char>(100);
  EXPECT_EQ(cudaMemcpy(a, host, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_NE(last_finding().message.find("1 byte too many"), std::string::npos)
      << last_finding().message;
  EXPECT_EQ(cudaMemcpy(a + 50, host, 60, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(a, 0, 101), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(a, 0, 0), cudaSuccess);
  cudaFree(a);
  EXPECT_EQ(cudaMemcpy(host, a, 100, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(last_finding().kind, "use-after-free");
  EXPECT_EQ(last_finding().where.short_name().substr(0, 27), "runtime_error_model_test.cp");
}

TEST_F(ErrorModel, FreesAreChecked) {
  int* a = device<int>(16);
  int on_stack = 0;
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(a + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(a), cudaSuccess);
  EXPECT_EQ(cudaFree(a), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(&on_stack), cudaErrorInvalidValue);
  int* p = pinned<int>(4);
  EXPECT_EQ(cudaFree(p), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(p), cudaSuccess);
  EXPECT_EQ(findings(), (Kinds{"memcheck/free-of-interior", "memcheck/double-free",
                               "memcheck/free-of-other-memory", "memcheck/free-of-other-memory"}));
}

TEST_F(ErrorModel, AllocationsReportWhatTheyCannotDo) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMalloc(&pointer, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&pointer, 4, 7), cudaErrorInvalidValue);
}

TEST_F(ErrorModel, EventsWithoutATimeHaveNone) {
  cudaEvent_t a, b, untimed;
  float ms = 0;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
  cudaEventRecord(a, nullptr);
  launch_blocks(1, 1);
  cudaEventRecord(b, nullptr);
  cudaEventRecord(untimed, nullptr);
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, b), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(b), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, b), cudaSuccess);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, a, untimed), cudaErrorInvalidResourceHandle);
}

TEST_F(ErrorModel, NamesAndTextsAreThoseOfCuda) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(ErrorModel, TheDeviceLooksLikeAnH200) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(properties.multiProcessorCount, 132);
  EXPECT_EQ(properties.major, 9);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
            cudaSuccess);
  EXPECT_EQ(value, 232448);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big_shared_kernel(), 256, 20000),
            cudaSuccess);
  EXPECT_EQ(blocks, 6) << "shared memory of 16384 + 20000 + 1024 bytes per block";
}

}  // namespace
}  // namespace warplings::sim

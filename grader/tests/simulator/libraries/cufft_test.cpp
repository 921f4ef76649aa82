// cuFFT in the simulator: its calls are work of a stream, checked and counted like kernels. That
// its results are right is shown by grader/tests/conformance.
#include <cufft.h>

#include "library_fixture.h"

namespace {

constexpr int kPoints = 64;

class CufftTest : public LibraryTest {
 protected:
  void TearDown() override {
    for (const cufftHandle plan : plans_) cufftDestroy(plan);
    LibraryTest::TearDown();
  }
  cufftHandle plan(cufftType type, int batch = 1) {
    cufftHandle made = 0;
    EXPECT_EQ(cufftPlan1d(&made, kPoints, type, batch), CUFFT_SUCCESS);
    plans_.push_back(made);
    return made;
  }
  static cufftComplex* ones(size_t count) {
    return device(std::vector<cufftComplex>(count, cufftComplex{1, 0}));
  }

 private:
  std::vector<cufftHandle> plans_;
};

TEST_F(CufftTest, RunsWhenItsStreamGetsThereAndInItsOrder) {
  cufftComplex* x = ones(kPoints);
  cudaStream_t queue = stream();
  const cufftHandle transform = plan(CUFFT_C2C);
  ASSERT_EQ(cufftSetStream(transform, queue), CUFFT_SUCCESS);
  // Twice forward turns the order round and multiplies by n.
  ASSERT_EQ(cufftExecC2C(transform, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cufftExecC2C(transform, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  EXPECT_EQ(counters().global_load_bytes, 0u) << "nothing has asked for the result yet";
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  EXPECT_EQ(host(x, kPoints)[5].x, static_cast<float>(kPoints));
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CufftTest, AMissingDependencyBetweenStreamsIsFound) {
  cufftComplex* x = ones(kPoints);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const cufftHandle first = plan(CUFFT_C2C), second = plan(CUFFT_C2C);
  cufftSetStream(first, stream());
  cufftSetStream(second, stream());
  ASSERT_EQ(cufftExecC2C(first, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cufftExecC2C(second, x, x, CUFFT_INVERSE), CUFFT_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"streamcheck/unordered-streams"});
  EXPECT_NE(last_message().find("CufftExecC2C at cufft_test.cpp:"), std::string::npos)
      << last_message();
}

TEST_F(CufftTest, HostMemoryIsRefused) {
  std::vector<cufftComplex> x(kPoints);
  EXPECT_EQ(cufftExecC2C(plan(CUFFT_C2C), x.data(), x.data(), CUFFT_FORWARD), CUFFT_EXEC_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/host-pointer"});
}

TEST_F(CufftTest, AnOutputThatIsTooSmallIsFound) {
  float* x = device(std::vector<float>(kPoints));
  // n / 2 + 1 values come out, not n / 2.
  cufftComplex* y = device<cufftComplex>(kPoints / 2);
  EXPECT_EQ(cufftExecR2C(plan(CUFFT_R2C), x, y), CUFFT_EXEC_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
  EXPECT_NE(last_message().find("8 bytes too many. Nothing was done. Do the sizes"),
            std::string::npos)
      << last_message();
}

TEST_F(CufftTest, InPlaceRealTransformsNeedPaddedRows) {
  float* unpadded = device(std::vector<float>(2 * kPoints));
  EXPECT_EQ(cufftExecR2C(plan(CUFFT_R2C, 2), unpadded, reinterpret_cast<cufftComplex*>(unpadded)),
            CUFFT_EXEC_FAILED);
  EXPECT_EQ(findings(), Kinds{"memcheck/out-of-bounds-copy"});
}

TEST_F(CufftTest, UnwrittenInputIsFoundAndTheOutputCountsAsWritten) {
  cufftComplex* x = device<cufftComplex>(kPoints);
  cufftComplex* y = device<cufftComplex>(kPoints);
  ASSERT_EQ(cudaMemset(x, 0, 60 * sizeof(cufftComplex)), cudaSuccess);
  ASSERT_EQ(cufftExecC2C(plan(CUFFT_C2C), x, y, CUFFT_FORWARD), CUFFT_SUCCESS);
  host(y, kPoints);
  EXPECT_EQ(findings(), Kinds{"initcheck/unwritten-operand"});
  EXPECT_NE(last_message().find("reads 32 of 512 bytes of its input"), std::string::npos)
      << last_message();
}

TEST_F(CufftTest, ComplexToRealSpoilsItsInput) {
  cufftComplex* spectrum = ones(kPoints / 2 + 1);
  float* x = device<float>(kPoints);
  const cufftHandle transform = plan(CUFFT_C2R);
  ASSERT_EQ(cufftExecC2R(transform, spectrum, x), CUFFT_SUCCESS);
  host(x, kPoints);
  EXPECT_EQ(findings(), Kinds{});
  ASSERT_EQ(cufftExecC2R(transform, spectrum, x), CUFFT_SUCCESS);
  host(x, kPoints);
  EXPECT_EQ(findings(), Kinds{"initcheck/unwritten-operand"});
}

TEST_F(CufftTest, FreedMemoryIsFoundWhenTheWorkRuns) {
  cufftComplex* x = ones(kPoints);
  cudaStream_t queue = stream();
  const cufftHandle transform = plan(CUFFT_C2C);
  cufftSetStream(transform, queue);
  ASSERT_EQ(cufftExecC2C(transform, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cudaFreeAsync(x, nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  ASSERT_FALSE(findings().empty());
  EXPECT_EQ(findings()[0], "memcheck/use-after-free");
}

TEST_F(CufftTest, CountsItsTrafficAndItsCalls) {
  cufftComplex* x = ones(2 * kPoints);
  float* y = device<float>(2 * kPoints);
  wsim_reset_counters();
  ASSERT_EQ(cufftExecC2R(plan(CUFFT_C2R, 2), x, y), CUFFT_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counters().global_load_bytes, 2 * (kPoints / 2 + 1) * sizeof(cufftComplex));
  EXPECT_EQ(counters().global_store_bytes, 2 * kPoints * sizeof(float));
  EXPECT_EQ(counters().global_store_sectors, 2 * kPoints * sizeof(float) / 32);
  EXPECT_EQ(counters().launches, 0u);
  EXPECT_EQ(wsim_api_calls("cufftExecC2R"), 1u);
  ASSERT_EQ(wsim_line_count(), 1);
  wsim_line_counters line;
  ASSERT_EQ(wsim_get_line(0, &line), 0);
  EXPECT_STREQ(line.kernel, "cufftExecC2R");
  EXPECT_GT(line.line, 0);
}

TEST_F(CufftTest, IsCapturedIntoAGraph) {
  cufftComplex* x = ones(kPoints);
  cudaStream_t queue = stream();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const cufftHandle transform = plan(CUFFT_C2C);
  cufftSetStream(transform, queue);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(queue, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cufftExecC2C(transform, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cudaStreamEndCapture(queue, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(exec, queue), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(queue), cudaSuccess);
  EXPECT_EQ(host(x, kPoints)[0].x, static_cast<float>(kPoints));
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CufftTest, AMissingWorkAreaIsExplained) {
  cufftHandle made = 0;
  size_t size = 0;
  ASSERT_EQ(cufftCreate(&made), CUFFT_SUCCESS);
  ASSERT_EQ(cufftSetAutoAllocation(made, 0), CUFFT_SUCCESS);
  ASSERT_EQ(cufftMakePlan2d(made, 32, 32, CUFFT_C2C, &size), CUFFT_SUCCESS);
  ASSERT_GT(size, 0u);
  cufftComplex* x = ones(32 * 32);
  EXPECT_EQ(cufftExecC2C(made, x, x, CUFFT_FORWARD), CUFFT_NO_WORKSPACE);
  EXPECT_EQ(findings(), Kinds{"api/no-workspace"});
  ASSERT_EQ(cufftSetWorkArea(made, device<char>(size)), CUFFT_SUCCESS);
  EXPECT_EQ(cufftExecC2C(made, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  cufftDestroy(made);
}

TEST_F(CufftTest, APlanOfAnotherTypeIsFound) {
  cufftComplex* x = ones(kPoints);
  EXPECT_EQ(cufftExecR2C(plan(CUFFT_C2C), &x->x, x), CUFFT_INVALID_TYPE);
  EXPECT_EQ(findings(), Kinds{"api/plan-of-other-type"});
}

TEST_F(CufftTest, TakesModelledTime) {
  cufftComplex* x = ones(1 << 16);
  cufftHandle large = 0;
  ASSERT_EQ(cufftPlan1d(&large, 1 << 10, CUFFT_C2C, 64), CUFFT_SUCCESS);
  ASSERT_EQ(cufftExecC2C(large, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  wsim_timeline_item item{};
  const int count = wsim_timeline_count();
  ASSERT_EQ(wsim_get_timeline_item(count - 1, &item), 0);
  EXPECT_STREQ(item.kind, "library call");
  EXPECT_STREQ(item.name, "cufftExecC2C");
  // 512 KiB read and written, at less than 10 TB/s.
  EXPECT_GT(item.end - item.start, 1e-7);
  cufftDestroy(large);
}

}  // namespace

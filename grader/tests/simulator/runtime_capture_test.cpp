// Stream capture: calls become nodes, and what capture forbids is refused as CUDA refuses it.
#include <thread>
#include <vector>

#include "runtime_fixture.h"

namespace warplings::sim {
namespace {

class Capture : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaStreamCreate(&a_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&b_), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), cudaSuccess);
    value_ = pinned<int>(1);
    *value_ = 0;
  }
  void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaStreamBeginCapture(a_, mode), cudaSuccess);
  }
  cudaError_t end() {
    graph_ = nullptr;
    return cudaStreamEndCapture(a_, &graph_);
  }
  size_t nodes() const {
    size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
    return count;
  }
  size_t edges() const {
    size_t count = 0;
    EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count), cudaSuccess);
    return count;
  }
  void launch(int times) const {
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaSuccess);
    for (int i = 0; i < times; ++i) ASSERT_EQ(cudaGraphLaunch(exec, a_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(a_), cudaSuccess);
    ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
  cudaStream_t a_ = nullptr, b_ = nullptr;
  cudaEvent_t event_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  int* value_ = nullptr;
};

TEST_F(Capture, CallsBecomeNodesAndRunOncePerLaunch) {
  begin();
  launch_increment(value_, a_);
  launch_increment(value_, a_);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(nodes(), 2u);
  EXPECT_EQ(edges(), 1u);
  cudaDeviceSynchronize();
  EXPECT_EQ(*value_, 0) << "nothing runs while it is captured";
  launch(3);
  EXPECT_EQ(*value_, 6);
}

TEST_F(Capture, CopiesFillsAndHostFunctionsAreCaptured) {
  int* there = device<int>(1);
  bool called = false;
  begin();
  cudaMemsetAsync(there, 1, 4, a_);
  cudaMemcpyAsync(value_, there, 4, cudaMemcpyDeviceToHost, a_);
  cudaLaunchHostFunc(
      a_, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(nodes(), 3u);
  launch(1);
  EXPECT_EQ(*value_, 0x01010101);
  EXPECT_TRUE(called);
}

TEST_F(Capture, AnEventBringsAnotherStreamIntoTheGraphAndBack) {
  begin();
  launch_store(value_, 1, a_);
  cudaEventRecord(event_, a_);
  ASSERT_EQ(cudaStreamWaitEvent(b_, event_, 0), cudaSuccess);
  cudaStreamCaptureStatus status;
  ASSERT_EQ(cudaStreamIsCapturing(b_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  launch_increment(value_, b_);
  cudaEventRecord(event_, b_);
  ASSERT_EQ(cudaStreamWaitEvent(a_, event_, 0), cudaSuccess);
  launch_increment(value_, a_);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(nodes(), 3u);
  // The last node waits for what its stream did and for the event.
  EXPECT_EQ(edges(), 3u);
  launch(1);
  EXPECT_EQ(*value_, 3);
  ASSERT_EQ(cudaStreamIsCapturing(b_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
}

TEST_F(Capture, AStreamThatIsNotJoinedIsAnError) {
  begin();
  cudaEventRecord(event_, a_);
  cudaStreamWaitEvent(b_, event_, 0);
  launch_increment(value_, b_);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph_, nullptr);
}

TEST_F(Capture, UnsafeCallsAreRefusedAndSpoilTheCapture) {
  begin();
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaMemsetAsync(value_, 0, 4, a_), cudaErrorStreamCaptureInvalidated);
  cudaStreamCaptureStatus status;
  ASSERT_EQ(cudaStreamIsCapturing(a_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess) << "the capture is over";
}

TEST_F(Capture, RelaxedCaptureAllowsUnsafeCalls) {
  begin(cudaStreamCaptureModeRelaxed);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(Capture, AThreadMayExchangeItsMode) {
  begin(cudaStreamCaptureModeThreadLocal);
  cudaError_t elsewhere = cudaErrorUnknown;
  std::thread([&] {
    void* pointer = nullptr;
    elsewhere = cudaMalloc(&pointer, 4);
  }).join();
  EXPECT_EQ(elsewhere, cudaSuccess) << "the capture is another thread's own";
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  ASSERT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 4), cudaSuccess);
  cudaThreadExchangeStreamCaptureMode(&mode);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(Capture, GlobalCaptureBindsOtherThreadsToo) {
  begin();
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] {
    void* pointer = nullptr;
    elsewhere = cudaMalloc(&pointer, 4);
  }).join();
  EXPECT_EQ(elsewhere, cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, OnlyTheThreadThatBeganEndsIt) {
  begin();
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(a_, &graph_); }).join();
  EXPECT_EQ(elsewhere, cudaErrorStreamCaptureWrongThread);
  EXPECT_EQ(end(), cudaSuccess);
}

TEST_F(Capture, TheDefaultStreamCannotBeTiedToACapture) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  begin();
  launch_increment(value_);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, WorkOutsideOfTheGraphCannotBeWaitedFor) {
  cudaEventRecord(event_, b_);
  begin();
  EXPECT_EQ(cudaStreamWaitEvent(a_, event_, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, ACapturedEventCannotBeAskedOrAwaited) {
  begin(cudaStreamCaptureModeRelaxed);
  cudaEventRecord(event_, a_);
  EXPECT_EQ(cudaEventQuery(event_), cudaErrorCapturedEvent);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, TwoCapturesCannotMerge) {
  begin();
  ASSERT_EQ(cudaStreamBeginCapture(b_, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaEventRecord(event_, a_);
  EXPECT_EQ(cudaStreamWaitEvent(b_, event_, 0), cudaErrorStreamCaptureMerge);
  EXPECT_EQ(cudaStreamEndCapture(b_, &graph_), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, SynchronisingACapturedStreamIsRefused) {
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaStreamSynchronize(a_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, EndingTheWrongStreamOrTooOftenIsAnError) {
  EXPECT_EQ(end(), cudaErrorIllegalState);
  begin();
  EXPECT_EQ(cudaStreamBeginCapture(a_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  cudaEventRecord(event_, a_);
  cudaStreamWaitEvent(b_, event_, 0);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(b_, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Capture, CaptureInfoNamesTheGraphAndWhatComesNext) {
  begin();
  launch_increment(value_, a_);
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* tips = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  size_t count = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo(a_, &status, &id, &graph, &tips, &data, &count), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_GT(id, 0u);
  ASSERT_EQ(count, 1u);
  cudaGraphNodeType type;
  ASSERT_EQ(cudaGraphNodeGetType(tips[0], &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  // Without dependencies, the next node is a root.
  ASSERT_EQ(cudaStreamUpdateCaptureDependencies(a_, nullptr, nullptr, 0,
                                                cudaStreamSetCaptureDependencies),
            cudaSuccess);
  launch_increment(value_, a_);
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined)
      << "nothing leads from the first node to the end";
}

TEST_F(Capture, MemoryOfAStreamBecomesMemoryNodes) {
  begin();
  void* pointer = nullptr;
  ASSERT_EQ(cudaMallocAsync(&pointer, 4, a_), cudaSuccess);
  launch_store(static_cast<int*>(pointer), 9, a_);
  launch_copy(value_, static_cast<int*>(pointer), a_);
  ASSERT_EQ(cudaFreeAsync(pointer, a_), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(nodes(), 4u);
  launch(2);
  EXPECT_EQ(*value_, 9);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(Capture, AGraphLaunchInsideOfACaptureIsAChild) {
  begin();
  launch_increment(value_, a_);
  ASSERT_EQ(end(), cudaSuccess);
  cudaGraphExec_t inner = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&inner, graph_, 0), cudaSuccess);
  begin();
  ASSERT_EQ(cudaGraphLaunch(inner, a_), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(inner, a_), cudaSuccess);
  ASSERT_EQ(end(), cudaSuccess);
  EXPECT_EQ(nodes(), 2u);
  launch(1);
  EXPECT_EQ(*value_, 2);
}

}  // namespace
}  // namespace warplings::sim

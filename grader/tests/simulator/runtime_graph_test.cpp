// Graphs built node by node, their instances, and the order in which nodes run.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime_fixture.h"

const void* counter_symbol();

namespace warplings::sim {
namespace {

class Graph : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  }
  void TearDown() override {
    cudaDeviceReset();  // a faulted device would refuse to destroy the graph
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    for (Mark* mark : marks_) delete mark;
    RuntimeTest::TearDown();
  }

  struct Mark {
    std::string* log;
    char letter;
  };
  cudaHostNodeParams mark(char letter) {
    marks_.push_back(new Mark{&log_, letter});
    const auto append = [](void* pointer) {
      const auto* entry = static_cast<Mark*>(pointer);
      *entry->log += entry->letter;
    };
    return {append, marks_.back()};
  }
  cudaGraphNode_t host(char letter, std::vector<cudaGraphNode_t> after = {},
                       cudaGraph_t graph = nullptr) {
    const cudaHostNodeParams params = mark(letter);
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddHostNode(&node, graph == nullptr ? graph_ : graph, after.data(),
                                   after.size(), &params),
              cudaSuccess);
    return node;
  }
  cudaGraphExec_t instantiate(unsigned long long flags = 0) const {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, flags), cudaSuccess);
    return exec;
  }
  std::string run(cudaGraphExec_t exec) {
    log_.clear();
    EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
    EXPECT_EQ(log_, "") << "a launch only enqueues";
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return log_;
  }

  // A kernel node that stores `value`.
  struct Store {
    int* to;
    int value;
    void* arguments[2] = {&to, &value};
    cudaKernelNodeParams params() {
      return {store_kernel(), dim3(1), dim3(1), 0, arguments, nullptr};
    }
  };

  cudaGraph_t graph_ = nullptr;
  std::string log_;
  std::vector<Mark*> marks_;
};

TEST_F(Graph, NodesRunInTheOrderOfTheirEdges) {
  const auto a = host('a');
  const auto b = host('b', {a});
  const auto c = host('c', {a});
  host('d', {b, c});
  // Between b and c nothing decides: the one that was added last runs first.
  EXPECT_EQ(run(instantiate()), "acbd");
}

TEST_F(Graph, AMissingEdgeShows) {
  host('1');
  host('2');
  EXPECT_EQ(run(instantiate()), "21");
}

TEST_F(Graph, AnInstanceKeepsWhatTheGraphHadWhenItWasMade) {
  const auto node = host('a');
  cudaGraphExec_t exec = instantiate();
  const cudaHostNodeParams other = mark('b');
  ASSERT_EQ(cudaGraphHostNodeSetParams(node, &other), cudaSuccess);
  EXPECT_EQ(run(exec), "a");
  EXPECT_EQ(run(instantiate()), "b");
  ASSERT_EQ(cudaGraphExecHostNodeSetParams(exec, node, &other), cudaSuccess);
  EXPECT_EQ(run(exec), "b");
}

TEST_F(Graph, KernelNodesTakeNewParameters) {
  Store store{device<int>(1), 5};
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams params = store.params();
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  cudaGraphExec_t exec = instantiate();
  store.value = 6;  // the arguments were copied
  run(exec);
  int value = 0;
  cudaMemcpy(&value, store.to, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(value, 5);
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(exec, node, &params), cudaSuccess);
  run(exec);
  cudaMemcpy(&value, store.to, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(value, 6);
  cudaKernelNodeParams read{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(node, &read), cudaSuccess);
  EXPECT_EQ(read.func, store_kernel());
  EXPECT_EQ(read.gridDim.x, 1u);
  EXPECT_EQ(*static_cast<int*>(read.kernelParams[1]), 5);
}

TEST_F(Graph, AKernelNodeThatNoDeviceCouldRunIsRefused) {
  Store store{device<int>(1), 5};
  cudaKernelNodeParams params = store.params();
  params.blockDim = dim3(2048);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaErrorInvalidValue);
}

TEST_F(Graph, CopiesFillsAndSymbolsAreNodes) {
  int* there = device<int>(4);
  int* host_copy = pinned<int>(4);
  cudaMemsetParams fill{};
  fill.dst = there;
  fill.value = 0x01020304;
  fill.elementSize = 4;
  fill.width = 4;
  fill.height = 1;
  cudaGraphNode_t set = nullptr, copy = nullptr, symbol = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&set, graph_, nullptr, 0, &fill), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph_, &set, 1, host_copy, there, 16,
                                     cudaMemcpyDeviceToHost),
            cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNodeFromSymbol(&symbol, graph_, &copy, 1, host_copy, counter_symbol(),
                                             4, 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  run(instantiate());
  EXPECT_EQ(host_copy[0], 41);
  EXPECT_EQ(host_copy[3], 0x01020304);
  cudaMemcpy3DParms read{};
  ASSERT_EQ(cudaGraphMemcpyNodeGetParams(copy, &read), cudaSuccess);
  EXPECT_EQ(read.srcPtr.ptr, there);
  EXPECT_EQ(read.extent.width, 16u);
  cudaMemsetParams fill_read{};
  ASSERT_EQ(cudaGraphMemsetNodeGetParams(set, &fill_read), cudaSuccess);
  EXPECT_EQ(fill_read.width, 4u);
  EXPECT_EQ(fill_read.elementSize, 4u);
}

TEST_F(Graph, AChildRunsAsAWholeWhereItsNodeStands) {
  cudaGraph_t child = nullptr;
  ASSERT_EQ(cudaGraphCreate(&child, 0), cudaSuccess);
  const auto x = host('x', {}, child);
  host('y', {x}, child);
  const auto before = host('1');
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph_, &before, 1, child), cudaSuccess);
  host('2', {node});
  ASSERT_EQ(cudaGraphDestroy(child), cudaSuccess) << "the node has a copy";
  cudaGraphExec_t exec = instantiate();
  EXPECT_EQ(run(exec), "1xy2");

  cudaGraph_t inside = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &inside), cudaSuccess);
  size_t count = 1;
  cudaGraphNode_t root = nullptr;
  ASSERT_EQ(cudaGraphGetRootNodes(inside, &root, &count), cudaSuccess);
  const cudaHostNodeParams other = mark('z');
  ASSERT_EQ(cudaGraphExecHostNodeSetParams(exec, root, &other), cudaSuccess);
  EXPECT_EQ(run(exec), "1zy2");
}

TEST_F(Graph, EdgesAreReadAddedAndRemoved) {
  const auto a = host('a'), b = host('b'), c = host('c');
  const cudaGraphNode_t from[] = {a, b}, to[] = {b, c};
  ASSERT_EQ(cudaGraphAddDependencies(graph_, from, to, nullptr, 2), cudaSuccess);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, from, to, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(run(instantiate()), "abc");
  size_t count = 0;
  ASSERT_EQ(cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  cudaGraphNode_t before = nullptr;
  ASSERT_EQ(cudaGraphNodeGetDependencies(c, &before, nullptr, &count), cudaSuccess);
  EXPECT_EQ(before, b);
  ASSERT_EQ(cudaGraphRemoveDependencies(graph_, from, to, nullptr, 1), cudaSuccess);
  EXPECT_EQ(run(instantiate()), "bca");
  ASSERT_EQ(cudaGraphDestroyNode(b), cudaSuccess);
  EXPECT_EQ(run(instantiate()), "ca");
}

TEST_F(Graph, ACycleCannotBeInstantiated) {
  const auto a = host('a');
  const auto b = host('b', {a});
  ASSERT_EQ(cudaGraphAddDependencies(graph_, &b, &a, nullptr, 1), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph_, 0), cudaErrorInvalidValue);
}

TEST_F(Graph, ACloneIsIndependentAndKnowsItsOriginals) {
  const auto a = host('a');
  cudaGraph_t clone = nullptr;
  ASSERT_EQ(cudaGraphClone(&clone, graph_), cudaSuccess);
  cudaGraphNode_t twin = nullptr;
  ASSERT_EQ(cudaGraphNodeFindInClone(&twin, a, clone), cudaSuccess);
  EXPECT_NE(twin, a);
  host('b');
  size_t count = 0;
  ASSERT_EQ(cudaGraphGetNodes(clone, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(cudaGraphDestroy(clone), cudaSuccess);
}

TEST_F(Graph, AnUpdateNeedsTheSameForm) {
  const auto a = host('a');
  host('b', {a});
  cudaGraphExec_t exec = instantiate();
  cudaGraph_t same = nullptr;
  ASSERT_EQ(cudaGraphCreate(&same, 0), cudaSuccess);
  const auto c = host('c', {}, same);
  const auto d = host('d', {c}, same);
  cudaGraphExecUpdateResultInfo info{};
  ASSERT_EQ(cudaGraphExecUpdate(exec, same, &info), cudaSuccess);
  EXPECT_EQ(run(exec), "cd");
  ASSERT_EQ(cudaGraphRemoveDependencies(same, &c, &d, nullptr, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, same, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(info.errorNode, d);
  EXPECT_EQ(run(exec), "cd") << "nothing changed";
  ASSERT_EQ(cudaGraphDestroy(same), cudaSuccess);
}

TEST_F(Graph, ANodeCanBeSwitchedOff) {
  int* there = device<int>(1);
  cudaMemset(there, 0, 4);
  Store store{there, 5};
  cudaGraphNode_t node = nullptr;
  const cudaKernelNodeParams params = store.params();
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &params), cudaSuccess);
  cudaGraphExec_t exec = instantiate();
  ASSERT_EQ(cudaGraphNodeSetEnabled(exec, node, 0), cudaSuccess);
  run(exec);
  int value = 9;
  cudaMemcpy(&value, there, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(value, 0);
  unsigned enabled = 1;
  ASSERT_EQ(cudaGraphNodeGetEnabled(exec, node, &enabled), cudaSuccess);
  EXPECT_EQ(enabled, 0u);
}

TEST_F(Graph, AnEventNodeStandsForItsLaunch) {
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  const auto a = host('a');
  cudaGraphNode_t record = nullptr;
  ASSERT_EQ(cudaGraphAddEventRecordNode(&record, graph_, &a, 1, event), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(instantiate(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(log_, "a");
}

TEST_F(Graph, AnEventWaitNodeHoldsTheLaunchBack) {
  cudaStream_t other;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  cudaGraphNode_t wait = nullptr;
  ASSERT_EQ(cudaGraphAddEventWaitNode(&wait, graph_, nullptr, 0, event), cudaSuccess);
  host('g', {wait});
  cudaGraphExec_t exec = instantiate();
  const cudaHostNodeParams first = mark('s');
  ASSERT_EQ(cudaLaunchHostFunc(other, first.fn, first.userData), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event, other), cudaSuccess);
  EXPECT_EQ(run(exec), "sg");
}

TEST_F(Graph, MemoryNodesAllocateAtEveryLaunch) {
  cudaMemAllocNodeParams alloc{};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = 4;
  cudaGraphNode_t make = nullptr, work = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&make, graph_, nullptr, 0, &alloc), cudaSuccess);
  Store store{static_cast<int*>(alloc.dptr), 3};
  const cudaKernelNodeParams params = store.params();
  ASSERT_EQ(cudaGraphAddKernelNode(&work, graph_, &make, 1, &params), cudaSuccess);
  cudaGraphExec_t exec = instantiate();
  cudaGraphExec_t second = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&second, graph_, 0), cudaErrorNotSupported);
  cudaGraph_t clone = nullptr;
  EXPECT_EQ(cudaGraphClone(&clone, graph_), cudaErrorNotSupported);
  run(exec);
  uint64_t used = 0;
  ASSERT_EQ(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 4u);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue) << "it is still allocated";
  ASSERT_EQ(cudaFreeAsync(alloc.dptr, nullptr), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaFree(alloc.dptr), cudaSuccess);
  ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  exec = instantiate(cudaGraphInstantiateFlagAutoFreeOnLaunch);
  run(exec);
  EXPECT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(Graph, MemoryOfAGraphMayNotBeUsedAfterItsFreeNode) {
  cudaMemAllocNodeParams alloc{};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  alloc.bytesize = 4;
  cudaGraphNode_t make = nullptr, end = nullptr, work = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&make, graph_, nullptr, 0, &alloc), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&end, graph_, &make, 1, alloc.dptr), cudaSuccess);
  Store store{static_cast<int*>(alloc.dptr), 3};
  const cudaKernelNodeParams params = store.params();
  ASSERT_EQ(cudaGraphAddKernelNode(&work, graph_, &end, 1, &params), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(instantiate(), nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(findings(), Kinds{"memcheck/use-after-free-write"});
}

TEST_F(Graph, ConditionalNodesAreRefusedInWords) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &params), cudaErrorNotSupported);
  EXPECT_NE(last_finding().message.find("conditional node"), std::string::npos);
}

TEST_F(Graph, ItsPictureHasEveryNodeAndEdge) {
  const auto a = host('a');
  Store store{device<int>(1), 5};
  const cudaKernelNodeParams params = store.params();
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddKernelNode(&node, graph_, &a, 1, &params), cudaSuccess);
  const std::string path = ::testing::TempDir() + "graph.dot";
  ASSERT_EQ(cudaGraphDebugDotPrint(graph_, path.c_str(), cudaGraphDebugDotFlagsVerbose),
            cudaSuccess);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("kernel store"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("\"0\" -> \"1\";"), std::string::npos) << text.str();
  std::remove(path.c_str());
}

TEST_F(Graph, UserObjectsLiveAsLongAsTheGraphsThatKeepThem) {
  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  const auto count = [](void* counter) { ++*static_cast<int*>(counter); };
  ASSERT_EQ(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  cudaGraph_t keeper = nullptr;
  ASSERT_EQ(cudaGraphCreate(&keeper, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphRetainUserObject(keeper, object, 1, 0), cudaSuccess);
  ASSERT_EQ(cudaUserObjectRelease(object, 1), cudaSuccess);
  EXPECT_EQ(destroyed, 0);
  ASSERT_EQ(cudaGraphDestroy(keeper), cudaSuccess);
  EXPECT_EQ(destroyed, 1);
}

}  // namespace
}  // namespace warplings::sim

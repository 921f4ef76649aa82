// cuDNN's graph interface in the simulator: fusion, engines, and what is refused. That a layer
// comes out right is shown by exercises 09/07, 08 and 11 and their variants.
#include <cudnn.h>

#include "library_fixture.h"
#include "warplings/script.h"

namespace {

using Node = cudnnBackendDescriptor_t;

class CudnnGraphTest : public LibraryTest {
 protected:
  void SetUp() override {
    LibraryTest::SetUp();
    ASSERT_EQ(cudnnCreate(&handle_), CUDNN_STATUS_SUCCESS);
  }
  void TearDown() override {
    for (const Node node : nodes_) cudnnBackendDestroyDescriptor(node);
    cudnnDestroy(handle_);
    LibraryTest::TearDown();
  }

  Node make(cudnnBackendDescriptorType_t kind) {
    Node node = nullptr;
    EXPECT_EQ(cudnnBackendCreateDescriptor(kind, &node), CUDNN_STATUS_SUCCESS);
    nodes_.push_back(node);
    return node;
  }
  template <class T>
  static cudnnStatus_t set(Node node, cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, const std::vector<T>& values) {
    return cudnnBackendSetAttribute(node, name, type, static_cast<int64_t>(values.size()),
                                    values.data());
  }
  // 1 x channels x 2 x 2 floats.
  Node tensor(int64_t id, int64_t channels, bool is_virtual, bool channels_last) {
    const Node node = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    set<int64_t>(node, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {id});
    set<cudnnDataType_t>(node, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE,
                         {CUDNN_DATA_FLOAT});
    set<int64_t>(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, {16});
    set<int64_t>(node, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, {1, channels, 2, 2});
    set<int64_t>(node, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64,
                 channels_last ? std::vector<int64_t>{4 * channels, 1, 2 * channels, channels}
                               : std::vector<int64_t>{4 * channels, 4, 2, 1});
    cudnnBackendSetAttribute(node, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1,
                             &is_virtual);
    EXPECT_EQ(cudnnBackendFinalize(node), CUDNN_STATUS_SUCCESS);
    return node;
  }
  Node pointwise(cudnnPointwiseMode_t mode, Node x, Node b, Node y) {
    const Node how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    set<cudnnPointwiseMode_t>(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, {mode});
    set<cudnnDataType_t>(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
                         {CUDNN_DATA_FLOAT});
    cudnnBackendFinalize(how);
    const Node node = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set<Node>(node, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              {how});
    set<Node>(node, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {x});
    if (b != nullptr) {
      set<Node>(node, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {b});
    }
    set<Node>(node, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {y});
    EXPECT_EQ(cudnnBackendFinalize(node), CUDNN_STATUS_SUCCESS);
    return node;
  }
  cudnnStatus_t graph_of(const std::vector<Node>& operations, Node* graph) {
    *graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set<cudnnHandle_t>(*graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, {handle_});
    set(*graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, operations);
    return cudnnBackendFinalize(*graph);
  }
  std::vector<Node> engines(Node graph) {
    const Node heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    set<Node>(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              {graph});
    set<cudnnBackendHeurMode_t>(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE,
                                {CUDNN_HEUR_MODE_A});
    EXPECT_EQ(cudnnBackendFinalize(heuristic), CUDNN_STATUS_SUCCESS);
    int64_t count = 0;
    cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr);
    std::vector<Node> found;
    for (int64_t i = 0; i < count; ++i) found.push_back(make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                             CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count, found.data());
    return found;
  }
  // What finalizing a plan says of each engine in turn; *plan is the first that works.
  std::vector<cudnnStatus_t> compile(Node graph, Node* plan, int64_t* workspace) {
    std::vector<cudnnStatus_t> said;
    *plan = nullptr;
    for (const Node engine : engines(graph)) {
      const Node made = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      set<cudnnHandle_t>(made, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, {handle_});
      set<Node>(made, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                {engine});
      said.push_back(cudnnBackendFinalize(made));
      if (said.back() != CUDNN_STATUS_SUCCESS || *plan != nullptr) continue;
      *plan = made;
      int64_t count = 0;
      cudnnBackendGetAttribute(made, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                               &count, workspace);
    }
    return said;
  }
  cudnnStatus_t run(Node plan, const std::vector<int64_t>& ids, const std::vector<void*>& arrays,
                    void* workspace) {
    const Node pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, ids);
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, arrays);
    set<void*>(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace});
    const cudnnStatus_t finished = cudnnBackendFinalize(pack);
    return finished == CUDNN_STATUS_SUCCESS ? cudnnBackendExecute(handle_, plan, pack) : finished;
  }
  // y = max(0, x * x), through a virtual tensor, of `channels` channels in the usual order.
  Node square_and_cut(int64_t channels, bool channels_last, Node* plan, int64_t* workspace,
                      std::vector<cudnnStatus_t>* said) {
    const Node x = tensor('x', channels, false, channels_last);
    const Node square = tensor('s', channels, true, channels_last);
    const Node y = tensor('y', channels, false, channels_last);
    Node graph = nullptr;
    EXPECT_EQ(graph_of({pointwise(CUDNN_POINTWISE_MUL, x, x, square),
                        pointwise(CUDNN_POINTWISE_RELU_FWD, square, nullptr, y)},
                       &graph),
              CUDNN_STATUS_SUCCESS);
    *said = compile(graph, plan, workspace);
    return graph;
  }

  cudnnHandle_t handle_ = nullptr;
  std::vector<Node> nodes_;
};

TEST_F(CudnnGraphTest, WhatLiesBetweenOperationsMovesNoByte) {
  Node plan = nullptr;
  int64_t workspace = -1;
  std::vector<cudnnStatus_t> said;
  square_and_cut(2, false, &plan, &workspace, &said);
  ASSERT_NE(plan, nullptr);
  float* const x = device(std::vector<float>{1, -2, 3, -4, 5, -6, 7, -8});
  float* const y = device<float>(8);
  void* const space = device<char>(static_cast<size_t>(workspace) + 1);
  wsim_reset_counters();
  ASSERT_EQ(run(plan, {'x', 'y'}, {x, y}, space), CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(counters().global_load_bytes, 8 * sizeof(float));
  EXPECT_EQ(host(y, 8), (std::vector<float>{1, 4, 9, 16, 25, 36, 49, 64}));
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(CudnnGraphTest, NotEveryEngineTakesEveryGraph) {
  Node plan = nullptr;
  int64_t workspace = -1;
  std::vector<cudnnStatus_t> said;
  constexpr cudnnStatus_t kYes = CUDNN_STATUS_SUCCESS, kNo = CUDNN_STATUS_NOT_SUPPORTED;
  square_and_cut(2, false, &plan, &workspace, &said);
  EXPECT_EQ(said, (std::vector<cudnnStatus_t>{kNo, kNo, kYes}));
  EXPECT_GT(workspace, 0);
  square_and_cut(2, true, &plan, &workspace, &said);
  EXPECT_EQ(said, (std::vector<cudnnStatus_t>{kNo, kYes, kYes}));
  EXPECT_EQ(workspace, 0);
  square_and_cut(16, true, &plan, &workspace, &said);
  EXPECT_EQ(said, (std::vector<cudnnStatus_t>{kYes, kYes, kYes}));
  EXPECT_EQ(findings(), Kinds{}) << "that an engine declines is no mistake";
}

TEST_F(CudnnGraphTest, AScriptTurnsTheListOfEngines) {
  Node plan = nullptr;
  int64_t workspace = -1;
  std::vector<cudnnStatus_t> said;
  wsim_script_turned_lists(1);
  square_and_cut(2, false, &plan, &workspace, &said);
  wsim_script_turned_lists(0);
  EXPECT_EQ(said, (std::vector<cudnnStatus_t>{CUDNN_STATUS_SUCCESS, CUDNN_STATUS_NOT_SUPPORTED,
                                              CUDNN_STATUS_NOT_SUPPORTED}));
}

TEST_F(CudnnGraphTest, ArraysMustBeThere) {
  Node plan = nullptr;
  int64_t workspace = -1;
  std::vector<cudnnStatus_t> said;
  square_and_cut(2, true, &plan, &workspace, &said);
  float* const x = device(std::vector<float>(12, 1.0F));
  EXPECT_EQ(run(plan, {'x'}, {x}, nullptr), CUDNN_STATUS_BAD_PARAM);
  EXPECT_NE(last_message().find("no array for the tensor 121"), std::string::npos)
      << last_message();
}

// A test of its own, as one place says a thing once.
TEST_F(CudnnGraphTest, ArraysMustBeAligned) {
  Node plan = nullptr;
  int64_t workspace = -1;
  std::vector<cudnnStatus_t> said;
  square_and_cut(2, true, &plan, &workspace, &said);
  float* const x = device(std::vector<float>(12, 1.0F));
  float* const y = device<float>(12);
  EXPECT_EQ(run(plan, {'x', 'y'}, {x + 1, y}, nullptr), CUDNN_STATUS_BAD_PARAM);
  EXPECT_NE(last_message().find("alignment"), std::string::npos) << last_message();
  char text[200] = "";
  cudnnGetLastErrorString(text, sizeof text);
  EXPECT_NE(std::string(text).find("alignment"), std::string::npos) << text;
}

TEST_F(CudnnGraphTest, AGraphThatReadsWhatNothingComputesIsRefused) {
  const Node x = tensor('x', 2, true, false), y = tensor('y', 2, false, false);
  Node graph = nullptr;
  EXPECT_EQ(graph_of({pointwise(CUDNN_POINTWISE_RELU_FWD, x, nullptr, y)}, &graph),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_NE(last_message().find("virtual tensor 120"), std::string::npos) << last_message();
}

TEST_F(CudnnGraphTest, DescriptorsAreFinishedBeforeOthersUseThem) {
  const Node y = tensor('y', 2, false, false);
  const Node x = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  EXPECT_EQ(cudnnBackendFinalize(x), CUDNN_STATUS_BAD_PARAM);
  EXPECT_NE(last_message().find("CUDNN_ATTR_TENSOR_UNIQUE_ID"), std::string::npos);
  const Node operation = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  const Node how = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  set<Node>(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            {how});
  set<Node>(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {x});
  set<Node>(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, {y});
  EXPECT_EQ(cudnnBackendFinalize(operation), CUDNN_STATUS_BAD_PARAM);
  EXPECT_NE(last_message().find("not finalized"), std::string::npos) << last_message();
  const int64_t late = 7;
  EXPECT_EQ(cudnnBackendSetAttribute(y, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &late),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(cudnnBackendSetAttribute(x, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &late),
            CUDNN_STATUS_BAD_PARAM);
}

}  // namespace

// Tests of 09/07 cuDNN, activation.
#include "07_cudnn_activation.h"

#include <cmath>

#include "09_cuda_libraries/test/cudnn.h"
#include "09_cuda_libraries/test/cudnn_graph.h"
#include "kit/kit.h"
#include "warplings/script.h"

static std::ostream& operator<<(std::ostream& out, const TensorSizes& s) {
  return out << s.n << " x " << s.h << " x " << s.w << " x " << s.c;
}

namespace {

size_t size_of(const TensorSizes& s) { return static_cast<size_t>(s.n * s.h * s.w * s.c); }

// No two sizes alike, a single pixel, a row, a column, and more than a block of threads.
const std::vector<TensorSizes>& awkward_tensors() {
  static const std::vector<TensorSizes> all = {
      {2, 8, 3, 5}, {1, 8, 1, 1}, {1, 16, 1, 7}, {4, 24, 2, 1}, {3, 8, 17, 13}};
  return all;
}

std::vector<float> random_halves(size_t count) {
  return floats(halves(kit::random_floats(count, -4, 4)));
}

// Reference, in double.
std::vector<double> tanh_on_cpu(const std::vector<float>& x) {
  std::vector<double> result;
  for (const float value : x) result.push_back(std::tanh(static_cast<double>(value)));
  return result;
}

// A half near 1 is off by up to 2.4e-4, and a card's own instruction for tanh by 5e-4 more.
void expect_tanh(const kit::DeviceBuffer<__half>& d_y, const std::vector<float>& x,
                 const TensorSizes& s) {
  kit::expect_near(
      "y (images and rows, columns, channels)", floats(d_y.download()), tanh_on_cpu(x),
      kit::Tolerance::absolute(2e-3),
      kit::Shape(static_cast<int>(s.n * s.h), static_cast<int>(s.w), static_cast<int>(s.c)));
}

// Whole numbers of a finished descriptor. A card is not asked.
std::vector<int> numbers(Node node, cudnnBackendAttributeName_t name, int count) {
  std::vector<int64_t> found(static_cast<size_t>(count), -1);
  int64_t there = 0;
  cudnnBackendGetAttribute(node, name, CUDNN_TYPE_INT64, count, &there, found.data());
  return {found.begin(), found.end()};
}
Node node_of(Node node, cudnnBackendAttributeName_t name, int64_t* count) {
  Node found = nullptr;
  *count = 0;
  cudnnBackendGetAttribute(node, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, count, &found);
  return found;
}

void expect_attributes(Node tensor, const TensorSizes& s) {
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  int64_t count = 0;
  cudnnBackendGetAttribute(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &count,
                           &type);
  if (type != CUDNN_DATA_HALF) kit::fail("The tensor does not hold halves, CUDNN_DATA_HALF.");
  const auto as_int = [](std::vector<int64_t> v) { return std::vector<int>(v.begin(), v.end()); };
  expect_settings("The tensor", {"its name"}, numbers(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1),
                  {'q'});
  expect_settings("The tensor", {"its alignment in bytes"},
                  numbers(tensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1), {16});
  expect_settings("The tensor",
                  {"the number of images", "the number of channels", "the number of rows",
                   "the number of columns"},
                  numbers(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, 4), as_int({s.n, s.c, s.h, s.w}));
  expect_settings("The tensor",
                  {"the stride of images", "the stride of channels", "the stride of rows",
                   "the stride of columns"},
                  numbers(tensor, CUDNN_ATTR_TENSOR_STRIDES, 4),
                  as_int({s.h * s.w * s.c, 1, s.w * s.c, s.c}));
}

// Runs the first plan of a graph of two tensors, made by the test itself.
void run_on(CudnnGraph& graph, Node operations, int64_t x_name, const __half* d_x, int64_t y_name,
            __half* d_y) {
  const std::vector<OwnPlan> plans = plans_of(graph, operations);
  if (plans.empty()) {
    kit::fail("No plan can be made of a graph of one tanh with these tensors.");
    return;
  }
  const auto d_workspace =
      kit::DeviceBuffer<char>::output(static_cast<size_t>(plans[0].workspace), "workspace");
  expect_success("cudnnBackendExecute, called by the test,",
                 own_call(graph, plans[0].node, {x_name, y_name},
                          {const_cast<__half*>(d_x), static_cast<void*>(d_y)}, d_workspace.get()));
}

void check_tensor(const TensorSizes& s) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  Node x = nullptr;
  const cudnnStatus_t status = describe_tensor('q', s, &x);
  expect_success("describe_tensor", status);
  if (status != CUDNN_STATUS_SUCCESS) return;
  if (x == nullptr) {
    kit::fail("describe_tensor returned a success and left *tensor a nullptr: no descriptor.");
    return;
  }
  graph.take(status, x);
  if (kit::simulated()) expect_attributes(x, s);
  const std::vector<float> values = random_halves(size_of(s));
  const auto d_x = kit::DeviceBuffer<__half>::input(halves(values), "x");
  const auto d_y = kit::DeviceBuffer<__half>::output(values.size(), "y");
  const Node y = own_tensor(graph, 'y', s.n, s.c, s.h, s.w);
  run_on(graph, own_tanh(graph, x, y), 'q', d_x.get(), 'y', d_y.get());
  expect_tanh(d_y, values, s);
}

cudnnStatus_t refusal_of_tensor(const TensorSizes& s) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  own_tensor(graph, kX, s.n, s.c, s.h, s.w);
  return graph.status();
}

cudnnStatus_t refusal_of_graph(const TensorSizes& s) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  const Node x = own_tensor(graph, kX, s.n, s.c, s.h, s.w);
  own_list(graph, own_tanh(graph, x, own_tensor(graph, kY, s.n, s.c, s.h, s.w)));
  return graph.status();
}

// The operation of the graph, as far as the simulator says what was set.
void expect_one_tanh(Node operations) {
  int64_t count = 0;
  const Node operation = node_of(operations, CUDNN_ATTR_OPERATIONGRAPH_OPS, &count);
  expect_settings("The graph", {"the number of its operations"}, {static_cast<int>(count)}, {1});
  const Node how = node_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &count);
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_IDENTITY;
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  cudnnBackendGetAttribute(how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &count,
                           &mode);
  cudnnBackendGetAttribute(how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &count,
                           &type);
  if (mode != CUDNN_POINTWISE_TANH_FWD) {
    kit::fail("The operation's mode is not CUDNN_POINTWISE_TANH_FWD.");
  }
  if (type != CUDNN_DATA_FLOAT) {
    kit::fail("The operation does not compute in floats: its CUDNN_ATTR_POINTWISE_MATH_PREC.");
  }
}

// A plan of the learner's, with its workspace.
struct Built {
  Built(const CudnnHandle& handle, const TensorSizes& s)
      : tanh(handle.get()), status(build_tanh(s, &tanh)) {
    expect_success("build_tanh", status);
    if (status != CUDNN_STATUS_SUCCESS) return;
    if (tanh.plan == nullptr) {
      kit::fail("build_tanh returned a success and left tanh->plan a nullptr.");
    } else {
      cudaMalloc(&workspace, static_cast<size_t>(std::max<int64_t>(tanh.workspace, 1)));
    }
  }
  ~Built() { cudaFree(workspace); }
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;
  bool ok() const { return workspace != nullptr; }

  CompiledGraph tanh;
  cudnnStatus_t status;
  void* workspace = nullptr;
};

// One call of a plan, on arrays of its own. x arrives in the stream, right before the call.
void check_call(const Built& built, const CudnnHandle& handle, const TensorSizes& s) {
  const std::vector<float> x = random_halves(size_of(s));
  const auto d_from = kit::DeviceBuffer<__half>::input(halves(x), "a copy of x");
  const auto d_x = kit::DeviceBuffer<__half>::output(x.size(), "x");
  const auto d_y = kit::DeviceBuffer<__half>::output(x.size(), "y");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    cudaMemcpyAsync(d_x.get(), d_from.get(), x.size() * sizeof(__half), cudaMemcpyDeviceToDevice,
                    handle.stream());
    return status = launch_tanh(built.tanh, d_x.get(), built.workspace, d_y.get());
  });
  expect_success("launch_tanh", status);
  expect_no_wait("launch_tanh");
  handle.expect_unchanged();
  expect_tanh(d_y, x, s);
}

// The plan that the header asks for, of a graph that the test describes.
void check_plan(const TensorSizes& s) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  const Node x = own_tensor(graph, kX, s.n, s.c, s.h, s.w);
  const std::vector<OwnPlan> plans =
      plans_of(graph, own_tanh(graph, x, own_tensor(graph, kY, s.n, s.c, s.h, s.w)));
  const Built built(handle, s);
  if (!built.ok() || plans.empty()) return;
  expect_settings("tanh", {"workspace"}, {static_cast<int>(built.tanh.workspace)},
                  {static_cast<int>(plans[0].workspace)});
}

}  // namespace

TEST(CudnnActivation, DescribesATensor) {
  // contract: without gaps and with channels last
  // contract: c is a multiple of 8
  // contract: *tensor: a new, finished descriptor of an array of these sizes
  // contract: The caller destroys it
  RecordProperty("todo", 1);
  kit::for_each("tensor", awkward_tensors(), check_tensor);
}

TEST(CudnnActivation, ReturnsWhatWasRefused) {
  // contract: If cuDNN refuses anything: nullptr, nothing is left behind
  RecordProperty("todo", 1);
  kit::for_each("tensor", std::vector<TensorSizes>{{2, 8, 3, 5}, {0, 8, 3, 5}, {2, 8, -3, 5}},
                [](const TensorSizes& s) {
                  int somewhere = 0;
                  Node tensor = &somewhere;
                  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
                  kit::run([&] {
                    tensor = &somewhere;
                    status = describe_tensor(kX, s, &tensor);
                    if (status == CUDNN_STATUS_SUCCESS) cudnnBackendDestroyDescriptor(tensor);
                    return status;
                  });
                  const cudnnStatus_t expected = refusal_of_tensor(s);
                  if (status != expected) {
                    kit::fail(std::string("describe_tensor returned ") +
                              cudnnGetErrorString(status) + ", but cuDNN says " +
                              cudnnGetErrorString(expected) + " to this tensor.");
                  } else if (status != CUDNN_STATUS_SUCCESS && tensor != nullptr) {
                    kit::fail("describe_tensor left something else than a nullptr in *tensor.");
                  }
                });
}

TEST(CudnnActivation, DescribesTheHyperbolicTangent) {
  // contract: The names of the two tensors
  // contract: A finished graph of one operation: kY is the hyperbolic tangent of kX
  // contract: All of its descriptors belong to `graph`
  RecordProperty("todo", 2);
  const TensorSizes s = {1, 8, 1, 1};
  const std::vector<float> x = {-30, -3, -1, -0.25f, 0, 0.5f, 2, 30};
  const CudnnHandle handle;
  const auto d_x = kit::DeviceBuffer<__half>::input(halves(x), "x");
  const auto d_y = kit::DeviceBuffer<__half>::output(x.size(), "y");
  CudnnGraph graph(handle.get());
  const Node operations = describe_tanh(graph, s);
  expect_success("One of the calls of describe_tanh", graph.status());
  if (!graph.ok()) return;
  if (kit::simulated()) expect_one_tanh(operations);
  run_on(graph, operations, kX, d_x.get(), kY, d_y.get());
  expect_tanh(d_y, x, s);
}

TEST(CudnnActivation, LeavesNoDescriptorOfAGraph) {
  // contract: All of its descriptors belong to `graph`
  RecordProperty("todo", 2);
  const CudnnHandle handle;
  kit::run([&] {
    CudnnGraph graph(handle.get());
    describe_tanh(graph, {2, 8, 3, 5});
    return graph.status();
  });
}

TEST(CudnnActivation, TakesTheFirstPlanThatCanBeMade) {
  // contract: tanh->plan: a plan of the first configuration
  // contract: tanh->workspace: the bytes that it needs
  // contract: That a plan of some configuration is refused when it is finalized is no such status
  RecordProperty("todo", 3);
  kit::for_each("tensor", std::vector<TensorSizes>{{2, 8, 3, 5}, {2, 16, 3, 5}}, check_plan);
}

// No version of cuDNN promises an order.
TEST(CudnnActivation, TakesTheFirstOfAListInAnotherOrder) {
  // contract: tanh->plan: a plan of the first configuration
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  wsim_script_turned_lists(1);
  check_plan({2, 16, 3, 5});
  wsim_script_turned_lists(0);
}

TEST(CudnnActivation, TheFirstRefusalEndsTheBuild) {
  // contract: Returns the first status that is no success
  // contract: tanh->plan stays a nullptr then
  RecordProperty("todo", 3);
  const CudnnHandle handle;
  kit::for_each(
      "tensor", std::vector<TensorSizes>{{2, 8, 3, 5}, {0, 8, 3, 5}}, [&](const TensorSizes& s) {
        cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
        bool has_plan = false;
        kit::run([&] {
          CompiledGraph tanh(handle.get());
          status = build_tanh(s, &tanh);
          has_plan = tanh.plan != nullptr;
          return status;
        });
        // Of an empty tensor a card's cuDNN takes the description, and has no engine for it (H200,
        // 2026-11-28); ours refuses the description.
        const cudnnStatus_t refused = refusal_of_graph(s);
        const cudnnStatus_t expected =
            refused == CUDNN_STATUS_SUCCESS && s.n == 0 ? CUDNN_STATUS_NOT_SUPPORTED : refused;
        if (status != expected) {
          kit::fail(std::string("build_tanh returned ") + cudnnGetErrorString(status) +
                    ", but what cuDNN says first is " + cudnnGetErrorString(expected) + ".");
        } else if (has_plan != (status == CUDNN_STATUS_SUCCESS)) {
          kit::fail(has_plan ? "build_tanh failed and left a plan."
                             : "build_tanh returned a success and left no plan.");
        }
      });
}

TEST(CudnnActivation, AppliesItToTensors) {
  // contract: y = tanh(x) by this plan, as work of the stream of the graph's handle
  // contract: d_x, d_y: arrays as described, in device memory
  // contract: Does not wait, and leaves no descriptor behind
  RecordProperty("todo", 4);
  kit::for_each("tensor", awkward_tensors(), [](const TensorSizes& s) {
    const CudnnHandle handle;
    const Built built(handle, s);
    if (built.ok()) check_call(built, handle, s);
  });
}

TEST(CudnnActivation, OnePlanServesManyArrays) {
  // contract: d_workspace: tanh.workspace bytes
  RecordProperty("todo", 4);
  const TensorSizes s = {2, 16, 4, 3};  // an engine that needs a workspace
  const CudnnHandle handle;
  const Built built(handle, s);
  for (int call = 0; call < 3 && built.ok(); ++call) check_call(built, handle, s);
}

// A plan belongs to its sizes, for as long as it is there.
TEST(CudnnActivation, TwoPlansAreThereAtTheSameTime) {
  RecordProperty("todo", 4);
  const TensorSizes one = {2, 16, 4, 3}, other = {3, 8, 5, 7};
  const CudnnHandle handle;
  const Built first(handle, one), second(handle, other);
  if (!first.ok() || !second.ok()) return;
  kit::Cases cases;
  cases.run("the plan that was made first", [&] { check_call(first, handle, one); });
  cases.run("the plan that was made second", [&] { check_call(second, handle, other); });
}

// A card need not look at addresses; the simulator does.
TEST(CudnnActivation, SaysThatTheCallWasRefused) {
  // contract: Returns the first status that is no success
  RecordProperty("todo", 4);
  if (!kit::simulated()) return;
  const CudnnHandle handle;
  const Built built(handle, {1, 8, 1, 3});
  if (!built.ok()) return;
  const auto d_x = kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(64, 0.5f)), "x");
  const auto d_y = kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(64, 0.5f)), "y");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {  // 2 bytes behind a multiple of 16
    return status = launch_tanh(built.tanh, d_x.get() + 1, built.workspace, d_y.get());
  });
  expect_refusal("launch_tanh", status);
}

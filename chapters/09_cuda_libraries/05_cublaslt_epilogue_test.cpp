// Tests of 09/05 cuBLASLt, a fused layer.
#include "05_cublaslt_epilogue.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "support.h"
#include "warplings/script.h"

namespace {

constexpr size_t kWorkspace = 1 << 20;  // bytes

struct Sizes {
  int batch, in, out;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.batch << " rows, " << s.in << " inputs, " << s.out << " outputs";
}

// x: batch x in, w: out x in, bias: out; row-major.
struct Data {
  std::vector<float> x, w, bias;
};
Data integers(const Sizes& s) {
  return {kit::random_integer_floats(s.batch * s.in), kit::random_integer_floats(s.out * s.in),
          kit::random_integer_floats(s.out, -64, 64)};
}
Data reals(const Sizes& s) {
  return {kit::random_floats(s.batch * s.in), kit::random_floats(s.out * s.in),
          kit::random_floats(s.out)};
}

// Reference in double; `scale` is what the rounding errors are proportional to.
struct Reference {
  std::vector<double> y, scale;
};
Reference layer_on_cpu(const Sizes& s, const Data& data) {
  Reference out;
  for (int row = 0; row < s.batch; ++row) {
    for (int col = 0; col < s.out; ++col) {
      double sum = data.bias[col], scale = std::fabs(data.bias[col]);
      for (int i = 0; i < s.in; ++i) {
        const double term = static_cast<double>(data.x[row * s.in + i]) * data.w[col * s.in + i];
        sum += term;
        scale += std::fabs(term);
      }
      out.y.push_back(std::max(0.0, sum));
      out.scale.push_back(scale);
    }
  }
  return out;
}

// A handle, a stream that waits for no other, and a layer of the learner's.
class Setting {
 public:
  Setting() {
    expect_success("cublasLtCreate", cublasLtCreate(&handle_));
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
  }
  ~Setting() {
    for (cublasLtMatrixLayout_t layout : {layer.w, layer.x, layer.y}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
    if (layer.product != nullptr) cublasLtMatmulDescDestroy(layer.product);
    cublasLtDestroy(handle_);
    cudaStreamDestroy(stream_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  // Fails the case and returns false if the layer cannot be described.
  bool describe(const Sizes& s, const float* d_bias, size_t workspace = kWorkspace) {
    const cublasStatus_t matrices = describe_matrices(s.batch, s.in, s.out, &layer);
    expect_success("describe_matrices", matrices);
    if (layer.w == nullptr || layer.x == nullptr || layer.y == nullptr) {
      return kit::fail("describe_matrices left a layout of w, x or y unmade.");
    }
    const cublasStatus_t product = describe_product(d_bias, &layer);
    expect_success("describe_product", product);
    const cublasStatus_t chosen = choose_algorithm(handle_, workspace, &layer);
    expect_success("choose_algorithm", chosen);
    for (const cublasStatus_t status : {matrices, product, chosen}) {
      if (status != CUBLAS_STATUS_SUCCESS) return false;
    }
    return true;
  }
  cublasLtHandle_t handle() const { return handle_; }
  cudaStream_t stream() const { return stream_; }

  Layer layer;

 private:
  cublasLtHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

// The layer for one set of data; x arrives in the stream, right before the call.
kit::Run check(const Sizes& s, const Data& data, bool exact, size_t workspace = kWorkspace) {
  const auto d_from = kit::DeviceBuffer<float>::input(data.x, "a copy of x");
  const auto d_x = kit::DeviceBuffer<float>::output(data.x.size(), "x");
  const auto d_w = kit::DeviceBuffer<float>::input(data.w, "w");
  const auto d_bias = kit::DeviceBuffer<float>::input(data.bias, "bias");
  const auto d_y = kit::DeviceBuffer<float>::output(static_cast<size_t>(s.batch) * s.out, "y");
  const auto d_space = kit::DeviceBuffer<char>::output(workspace, "workspace");
  Setting setting;
  if (!setting.describe(s, d_bias.get(), workspace)) return {};
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const kit::Run run = kit::run([&] {
    cudaMemcpyAsync(d_x.get(), d_from.get(), data.x.size() * sizeof(float),
                    cudaMemcpyDeviceToDevice, setting.stream());
    status = launch_layer(setting.handle(), setting.layer, d_x.get(), d_w.get(), d_y.get(),
                          d_space.get(), workspace, setting.stream());
    cudaStreamSynchronize(setting.stream());
  });
  expect_success("launch_layer", status);
  const Reference expected = layer_on_cpu(s, data);
  kit::expect_near(d_y, expected.y,
                   exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, expected.scale),
                   kit::Shape(s.batch, s.out));
  return run;
}

// What a layout says: -1 where it has no answer.
template <class Value>
long long read(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute) {
  Value value = 0;
  size_t written = 0;
  const cublasStatus_t status =
      cublasLtMatrixLayoutGetAttribute(layout, attribute, &value, sizeof(value), &written);
  return status == CUBLAS_STATUS_SUCCESS ? static_cast<long long>(value) : -1;
}

void check_layout(const char* name, cublasLtMatrixLayout_t layout, long long rows,
                  long long columns) {
  if (layout == nullptr) {
    kit::fail(std::string("describe_matrices did not make the layout of ") + name + ".");
    return;
  }
  const long long got[] = {read<uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS),
                           read<uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS),
                           read<int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD)};
  if (got[0] == rows && got[1] == columns && got[2] == rows) return;
  const auto text = [](long long a, long long b, long long ld) {
    return std::to_string(a) + " x " + std::to_string(b) + " with leading dimension " +
           std::to_string(ld);
  };
  kit::fail(std::string("The layout of ") + name + " is " + text(got[0], got[1], got[2]) +
            ", expected " + text(rows, columns, rows) +
            ": a row of ours is a column of cuBLASLt's, and its length the distance to the next.");
}

}  // namespace

TEST(CublasltEpilogue, DescribesRowMajorMatricesByColumns) {
  RecordProperty("todo", 1);
  kit::for_each("layer", std::vector<Sizes>{{5, 7, 3}, {1, 1, 1}, {64, 784, 10}},
                [](const Sizes& s) {
                  Setting setting;
                  expect_success("describe_matrices",
                                 describe_matrices(s.batch, s.in, s.out, &setting.layer));
                  check_layout("x", setting.layer.x, s.in, s.batch);
                  check_layout("w", setting.layer.w, s.in, s.out);
                  check_layout("y", setting.layer.y, s.out, s.batch);
                });
}

TEST(CublasltEpilogue, DescribesTheProduct) {
  RecordProperty("todo", 2);
  const auto d_bias = kit::DeviceBuffer<float>::input({1, 2, 3}, "bias");
  Setting setting;
  expect_success("describe_product", describe_product(d_bias.get(), &setting.layer));
  if (setting.layer.product == nullptr) {
    kit::fail("describe_product left layer->product unmade.");
    return;
  }
  const auto attribute = [&](cublasLtMatmulDescAttributes_t which, auto value) {
    size_t written = 0;
    expect_success("cublasLtMatmulDescGetAttribute",
                   cublasLtMatmulDescGetAttribute(setting.layer.product, which, &value,
                                                  sizeof(value), &written));
    return value;
  };
  if (attribute(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N) != CUBLAS_OP_T ||
      attribute(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T) != CUBLAS_OP_N) {
    kit::fail("The first operand, w, is to be transposed and the second, x, not: TRANSA alone.");
  }
  if (attribute(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT) !=
      CUBLASLT_EPILOGUE_RELU_BIAS) {
    kit::fail("The epilogue is not the one that adds a bias and then takes the maximum with 0.");
  }
  const float* const none = nullptr;
  if (attribute(CUBLASLT_MATMUL_DESC_BIAS_POINTER, none) != d_bias.get()) {
    kit::fail(
        "CUBLASLT_MATMUL_DESC_BIAS_POINTER does not hold d_bias. The attribute is the pointer "
        "itself: `set` takes d_bias as its value.");
  }
}

// The kit lets the first call of each function fail, then the second, and so on.
TEST(CublasltEpilogue, SaysWhatCouldNotBeDescribed) {
  RecordProperty("todo", 2);
  const auto d_bias = kit::DeviceBuffer<float>::input({1, 2, 3}, "bias");
  kit::run([&] {
    Setting setting;
    return describe_matrices(5, 7, 3, &setting.layer);
  });
  kit::run([&] {
    Setting setting;
    return describe_product(d_bias.get(), &setting.layer);
  });
}

TEST(CublasltEpilogue, ChoosesAnAlgorithmOrSaysThatThereIsNone) {
  RecordProperty("todo", 3);
  const auto d_bias = kit::DeviceBuffer<float>::input({1, 2, 3}, "bias");
  Setting setting;
  if (!setting.describe({5, 7, 3}, d_bias.get())) return;
  kit::run([&] { return choose_algorithm(setting.handle(), kWorkspace, &setting.layer); });
  // x of another width: cuBLASLt refuses, and the learner's function has to say so.
  cublasLtMatrixLayoutDestroy(setting.layer.x);
  expect_success("cublasLtMatrixLayoutCreate",
                 cublasLtMatrixLayoutCreate(&setting.layer.x, CUDA_R_32F, 8, 5, 8));
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] { return status = choose_algorithm(setting.handle(), kWorkspace, &setting.layer); });
  if (status == CUBLAS_STATUS_SUCCESS) {
    kit::fail(
        "choose_algorithm returned a success for a w with rows of 7 and an x with rows of 8. "
        "Return the status of cublasLtMatmulAlgoGetHeuristic, and CUBLAS_STATUS_NOT_SUPPORTED if "
        "it has 0 results: otherwise the algorithm is not set.");
  }
  if (kit::api_calls("cublasLtMatmulPreferenceCreate") >
      kit::api_calls("cublasLtMatmulPreferenceDestroy")) {
    kit::fail(
        "choose_algorithm left its preference behind when cuBLASLt refused: every way out has to "
        "pass cublasLtMatmulPreferenceDestroy.");
  }
}

// Simulator only: cuBLASLt has these algorithms, by their workspaces, as long as this object lives.
class Algorithms {
 public:
  explicit Algorithms(const std::vector<size_t>& workspaces) {
    wsim_script_algorithms(workspaces.data(), static_cast<int>(workspaces.size()));
  }
  ~Algorithms() { wsim_script_algorithms(nullptr, -1); }
  Algorithms(const Algorithms&) = delete;
  Algorithms& operator=(const Algorithms&) = delete;
};

TEST(CublasltEpilogue, SaysThatNothingIsProposed) {
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;  // a GPU has an algorithm for every layer
  const Algorithms few({2 * kWorkspace});
  const auto d_bias = kit::DeviceBuffer<float>::input({1, 2, 3}, "bias");
  Setting setting;
  expect_success("describe_matrices", describe_matrices(5, 7, 3, &setting.layer));
  expect_success("describe_product", describe_product(d_bias.get(), &setting.layer));
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] { return status = choose_algorithm(setting.handle(), kWorkspace, &setting.layer); });
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) {
    kit::fail(
        "With another answer of the library: every algorithm needs more than `workspace` bytes, so "
        "cublasLtMatmulAlgoGetHeuristic is a success with 0 results. choose_algorithm returned " +
        std::string(cublasGetStatusName(status)) + ", not CUBLAS_STATUS_NOT_SUPPORTED.");
  }
  if (kit::api_calls("cublasLtMatmulPreferenceCreate") >
      kit::api_calls("cublasLtMatmulPreferenceDestroy")) {
    kit::fail(
        "choose_algorithm left its preference behind where cuBLASLt proposes no algorithm: every "
        "way out has to pass cublasLtMatmulPreferenceDestroy.");
  }
}

TEST(CublasltEpilogue, TheProductIsGivenAnAlgorithmThatTheWorkspaceAllows) {
  RecordProperty("todo", 4);
  if (!kit::simulated()) return;
  const Sizes s = {5, 33, 20};
  const auto first_of = [&](const std::vector<size_t>& workspaces, size_t workspace, int expected) {
    const Algorithms several(workspaces);
    check(s, integers(s), true, workspace);
    const int used = wsim_used_algorithm();
    if (used < 0) {
      kit::fail(
          "With another answer of the library: cuBLASLt has three algorithms, of which the first "
          "needs more than `workspace` bytes. The product was given none of them: hand it the one "
          "that choose_algorithm has kept in the layer.");
    } else if (used != expected) {
      kit::fail("With another answer of the library: cuBLASLt has " +
                std::to_string(workspaces.size()) +
                " algorithms, the best one first, and the product was given number " +
                std::to_string(used) + ", counted from 0. Number " + std::to_string(expected) +
                " is the first that needs at most `workspace` bytes.");
    }
  };
  first_of({2 * kWorkspace, kWorkspace / 2, 0}, kWorkspace, 1);
  first_of({2 * kWorkspace, 0, kWorkspace / 2}, kWorkspace, 1);
  first_of({kWorkspace + 1, kWorkspace, 0}, kWorkspace, 1);  // all of it
  first_of({3 * kWorkspace, 0}, 4 * kWorkspace, 0);
  first_of({kWorkspace, 0}, 256, 1);
}

TEST(CublasltEpilogue, AddsTheBiasAndTakesTheMaximumWithZero) {
  RecordProperty("todo", 4);
  // One input of 0: y is the bias where that is positive, in every row.
  check({3, 1, 5}, {{0, 0, 0}, {1, 1, 1, 1, 1}, {1, -2, 3, -4, 5}}, true);
  // No bias, so that signs come from the sums alone.
  check({2, 2, 2}, {{1, 2, 3, 4}, {1, 1, -1, 0}, {0, 0}}, true);
}

TEST(CublasltEpilogue, ReturnsWhatWasRefused) {
  RecordProperty("todo", 4);
  const auto d_all = kit::DeviceBuffer<float>::inout(std::vector<float>(100, 0.5f), "w, x and y");
  const auto d_bias = kit::DeviceBuffer<float>::input({1, 2, 3}, "bias");
  const auto d_space = kit::DeviceBuffer<char>::output(kWorkspace, "workspace");
  Setting setting;
  if (!setting.describe({5, 7, 3}, d_bias.get())) return;
  // y of another width than w gives it.
  cublasLtMatrixLayoutDestroy(setting.layer.y);
  expect_success("cublasLtMatrixLayoutCreate",
                 cublasLtMatrixLayoutCreate(&setting.layer.y, CUDA_R_32F, 4, 5, 4));
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_layer(setting.handle(), setting.layer, d_all.get(), d_all.get(),
                                 d_all.get(), d_space.get(), kWorkspace, setting.stream());
  });
  expect_refusal("launch_layer", status);
}

TEST(CublasltEpilogue, LayersOfEveryShape) {
  RecordProperty("todo", 4);
  kit::for_each(
      "layer",
      std::vector<Sizes>{
          {2, 4, 3}, {33, 17, 65}, {1, 1, 1}, {32, 31, 33}, {1, 65, 40}, {40, 33, 1}, {64, 64, 10}},
      [](const Sizes& s) { check(s, integers(s), true); });
}

TEST(CublasltEpilogue, KeepsFullPrecision) {
  RecordProperty("todo", 4);
  const Sizes s = {20, 200, 33};
  check(s, reals(s), false);
}

TEST(CublasltEpilogue, OneDescriptionServesEveryCall) {
  RecordProperty("todo", 4);
  const Sizes s = {5, 33, 20};
  const Data first = integers(s);
  const auto d_w = kit::DeviceBuffer<float>::input(first.w, "w");
  const auto d_bias = kit::DeviceBuffer<float>::input(first.bias, "bias");
  const auto d_space = kit::DeviceBuffer<char>::output(kWorkspace, "workspace");
  Setting setting;
  if (!setting.describe(s, d_bias.get())) return;
  kit::for_each("call", std::vector<int>{1, 2, 3}, [&](int) {
    Data data = integers(s);
    data.w = first.w;
    data.bias = first.bias;
    const auto d_x = kit::DeviceBuffer<float>::input(data.x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(static_cast<size_t>(s.batch) * s.out, "y");
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    kit::run([&] {
      status = launch_layer(setting.handle(), setting.layer, d_x.get(), d_w.get(), d_y.get(),
                            d_space.get(), kWorkspace, setting.stream());
      cudaStreamSynchronize(setting.stream());
      return status;
    });
    expect_success("launch_layer", status);
    kit::expect_near(d_y, layer_on_cpu(s, data).y, kit::Tolerance::absolute(0),
                     kit::Shape(s.batch, s.out));
  });
}

TEST(CublasltEpilogue, WritesEachOutputOnce) {
  RecordProperty("todo", 4);
  const Sizes s = {40, 48, 64};
  const kit::Run run = check(s, integers(s), true);
  kit::budget(
      "bytes stored per output",
      kit::ratio(static_cast<double>(run.counters().global_store_bytes), 1.0 * s.batch * s.out),
      kit::at_most(4),
      "The epilogue works on sums in registers: y is written once, and never read");
}

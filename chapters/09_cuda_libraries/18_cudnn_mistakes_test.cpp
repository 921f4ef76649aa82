// Tests of 09/18 cuDNN, three mistakes.
#include "18_cudnn_mistakes.h"

#include <algorithm>

#include "09_cuda_libraries/test/cudnn.h"
#include "09_cuda_libraries/test/cudnn_graph.h"
#include "kit/kit.h"

// As in "1 x 7 x 9 x 8, 16 filters 3 x 3, pad 1 1, stride 2".
static std::ostream& operator<<(std::ostream& out, const StridedLayer& l) {
  return out << l.n << " x " << l.h << " x " << l.w << " x " << l.c << ", " << l.k << " filters "
             << l.r << " x " << l.s << ", pad " << l.pad_h << " " << l.pad_w << ", stride "
             << l.stride;
}

namespace {

struct Outcome {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  UsedPlan used;
};

// Small integers, whose sums are exact in halves. An engine that transforms rounds a little.
Outcome check_layer(const StridedLayer& l, size_t bytes) {
  const std::vector<float> x =
      kit::random_integer_floats(static_cast<size_t>(l.n) * l.h * l.w * l.c, -2, 2);
  const std::vector<float> f =
      kit::random_integer_floats(static_cast<size_t>(l.k) * l.r * l.s * l.c, -2, 2);
  const std::vector<double> expected = convolution_on_cpu(x, f, l);
  const auto d_x = kit::DeviceBuffer<__half>::input(halves(x), "x");
  const auto d_f = kit::DeviceBuffer<__half>::input(halves(f), "f");
  const auto d_y = kit::DeviceBuffer<__half>::output(expected.size(), "y");
  const auto d_workspace = kit::DeviceBuffer<char>::output(bytes, "workspace");
  const CudnnHandle handle;
  Outcome outcome;
  kit::run([&] {
    outcome.used = {};
    return outcome.status = run_layer(handle.get(), l, d_x.get(), d_f.get(), d_workspace.get(),
                                      bytes, d_y.get(), &outcome.used);
  });
  expect_success("run_layer", outcome.status);
  kit::expect_near("y (images and rows, columns, channels)", floats(d_y.download()), expected,
                   kit::Tolerance::absolute(0.5), kit::Shape(l.n * rows_of(l), cols_of(l), l.k));
  return outcome;
}

// Every configuration of which a plan can be made, in the order of the list.
std::vector<UsedPlan> plans_of_layer(const StridedLayer& l) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  std::vector<UsedPlan> found;
  for (const OwnPlan& each : plans_of(graph, own_convolution(graph, l, 1, 2, 3))) {
    found.push_back({each.number, each.workspace});
  }
  return found;
}

std::string in_words(const UsedPlan& plan) {
  return plan.number < 0 ? "none"
                         : "number " + std::to_string(plan.number) + ", which needs " +
                               std::to_string(plan.workspace) + " bytes";
}

void check_choice(const StridedLayer& l, size_t bytes) {
  UsedPlan expected;
  for (const UsedPlan& each : plans_of_layer(l)) {
    if (expected.number < 0 && each.workspace <= static_cast<int64_t>(bytes)) expected = each;
  }
  if (expected.number < 0) return;  // a card may have no plan for so little
  const UsedPlan used = check_layer(l, bytes).used;
  if (used.number == expected.number && used.workspace == expected.workspace) return;
  kit::fail("run_layer says that it used this configuration: " + in_words(used) +
            ". The first of the list that works with " + std::to_string(bytes) +
            " bytes of workspace is " + in_words(expected) + ".");
}

// As many bytes as any plan of the layer needs.
size_t enough_for(const StridedLayer& l) {
  int64_t most = 0;
  for (const UsedPlan& each : plans_of_layer(l)) most = std::max(most, each.workspace);
  return static_cast<size_t>(most);
}

}  // namespace

TEST(CudnnMistakes, SaysWhatWasRefused) {
  RecordProperty("todo", 1);
  // No images; no filters; filters that are larger than the image with its padding.
  kit::for_each(
      "x",
      std::vector<StridedLayer>{{0, 8, 6, 6, 8, 3, 3, 1, 1, 1},
                                {1, 8, 6, 6, 0, 3, 3, 1, 1, 1},
                                {1, 8, 4, 6, 8, 7, 3, 1, 1, 1}},
      [](const StridedLayer& l) {
        // Room for whatever would be computed.
        const auto d_halves =
            kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(4000, 0.5f)), "x, f and y");
        const CudnnHandle handle;
        Outcome outcome;
        kit::run([&] {
          return outcome.status = run_layer(handle.get(), l, d_halves.get(), d_halves.get(),
                                            nullptr, 0, d_halves.get(), &outcome.used);
        });
        if (outcome.status == CUDNN_STATUS_SUCCESS) {
          kit::fail(
              "run_layer returned a success for a layer that cuDNN refuses. A status "
              "that nobody reads leaves y as it was, and the program goes on with it.");
        } else if (outcome.status != refusal_of(l)) {
          kit::fail(std::string("run_layer returned ") + cudnnGetErrorString(outcome.status) +
                    ", but what failed first said " + cudnnGetErrorString(refusal_of(l)) +
                    ": later calls fail for the sake of the first.");
        }
      });
}

// A card need not look at addresses; the simulator does.
TEST(CudnnMistakes, SaysThatTheCallWasRefused) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  const StridedLayer l = {1, 16, 5, 4, 16, 1, 1, 0, 0, 1};
  const auto d_halves =
      kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(4000, 0.5f)), "x, f and y");
  const auto d_workspace = kit::DeviceBuffer<char>::output(1 << 16, "workspace");
  const CudnnHandle handle;
  Outcome outcome;
  kit::run([&] {
    // x begins 2 bytes behind a multiple of 16.
    return outcome.status =
               run_layer(handle.get(), l, d_halves.get() + 1, d_halves.get(), d_workspace.get(),
                         1 << 16, d_halves.get() + 2000, &outcome.used);
  });
  if (outcome.status != CUDNN_STATUS_SUCCESS) return;
  kit::fail(
      "run_layer returned a success, although cuDNN refused to execute the plan: x does not begin "
      "at a multiple of 16 bytes here. y is as it was, and nobody knows.");
}

TEST(CudnnMistakes, FiltersWithoutPadding) {
  RecordProperty("todo", 2);
  kit::for_each(
      "x",
      std::vector<StridedLayer>{{2, 16, 7, 9, 32, 3, 3, 0, 0, 1}, {1, 16, 5, 4, 16, 1, 1, 0, 0, 2}},
      [](const StridedLayer& l) { check_layer(l, enough_for(l)); });
}

TEST(CudnnMistakes, FiltersWithPadding) {
  RecordProperty("todo", 2);
  kit::for_each("x",
                std::vector<StridedLayer>{{2, 16, 7, 9, 32, 3, 3, 1, 1, 1},
                                          {1, 16, 6, 8, 16, 5, 3, 2, 0, 1},
                                          {3, 16, 9, 5, 16, 3, 3, 1, 1, 2}},
                [](const StridedLayer& l) { check_layer(l, enough_for(l)); });
}

TEST(CudnnMistakes, AsksWhetherAnEngineWorks) {
  RecordProperty("todo", 3);
  // 8 channels, and no padding, so that this is asked by itself.
  kit::for_each(
      "x",
      std::vector<StridedLayer>{{2, 8, 9, 8, 16, 3, 3, 0, 0, 1}, {1, 24, 5, 6, 8, 1, 1, 0, 0, 1}},
      [](const StridedLayer& l) { check_choice(l, enough_for(l)); });
}

TEST(CudnnMistakes, ChoosesWithinTheWorkspace) {
  RecordProperty("todo", 3);
  const StridedLayer layer = {2, 16, 20, 18, 16, 3, 3, 0, 0, 1};
  const size_t most = enough_for(layer);
  kit::for_each("bytes of workspace",
                std::vector<size_t>{most, most > 0 ? most - 1 : 0, most / 2, 0},
                [&](size_t bytes) { check_choice(layer, bytes); });
}

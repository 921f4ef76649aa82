// Tests of 12/16 Faster than PyTorch.
#include "16_faster_than_pytorch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "02_linear.h"
#include "03_cross_entropy.h"
#include "04_sgd_update.h"
#include "06_conv_forward.h"
#include "07_conv_backward.h"
#include "09_batch_norm.h"
#include "10_relu_pool.h"
#include "11_train_step.h"
#include "12_mnist_cnn/test/network.h"
#include "12_mnist_cnn/test/train_step.h"
#include "kit/kit.h"
#include "kit/libraries/script.h"
#include "kit/parts.h"
#include "kit/speed/speed.h"

namespace {

using kit::sizes_of;

void expect_success(const char* what, cudaError_t error) {
  if (error != cudaSuccess) kit::fail(std::string(what) + " returned " + cudaGetErrorName(error));
}

// n images and n labels, as a batch lies in memory.
struct Batch {
  std::vector<float> images;
  std::vector<uint8_t> labels;

  // Each image has a brightness and a contrast of its own, so that sums over the batch matter.
  Batch(const Network& net, int n) {
    for (int i = 0; i < n; ++i) {
      const float mean = kit::random_floats(1, -0.5f, 1.5f)[0];
      for (float value : kit::random_floats(net.image * net.image)) images.push_back(mean + value);
    }
    for (int label : kit::random_ints(n, 0, net.classes - 1)) labels.push_back(label);
  }
  std::vector<unsigned char> bytes() const {
    const auto* first = reinterpret_cast<const unsigned char*>(images.data());
    std::vector<unsigned char> all(first, first + images.size() * sizeof(float));
    all.insert(all.end(), labels.begin(), labels.end());
    return all;
  }
};

// A step with its streams and two pinned batches, h_batch[k] being the one that slot k gets.
class Trainer {
 public:
  FusedStep step = {};
  StepStreams streams = {};
  unsigned char* h_batch[2] = {};

  Trainer(const Network& net, int n, float rate) {
    kit::run("preparing a step", [&] {
      expect_success("make_step", make_step(net, n, n, rate, &step));
      expect_success("make_streams", make_streams(&streams));
      for (unsigned char*& memory : h_batch) cudaMallocHost(&memory, step.batch_bytes);
      cudaDeviceSynchronize();
    });
  }
  ~Trainer() {
    cudaDeviceSynchronize();
    for (cudaGraphExec_t graph : graphs_) {
      if (graph != nullptr) cudaGraphExecDestroy(graph);
    }
    free_streams(streams);
    for (unsigned char* memory : h_batch) cudaFreeHost(memory);
    free_step(&step);
  }
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  void write(int slot, const Batch& batch) {
    const std::vector<unsigned char> bytes = batch.bytes();
    std::copy(bytes.begin(), bytes.end(), h_batch[slot]);
  }
  // Brings the first batch to slot 0; afterwards every step brings the one after it.
  void begin(const std::vector<float>& parameters) {
    expect_success("write_parameters", write_parameters(step, parameters.data()));
    cudaMemcpyAsync(step.batch[0], h_batch[0], step.batch_bytes, cudaMemcpyHostToDevice,
                    streams.main);
    launch_moments(step, 0, streams.main);
    cudaStreamSynchronize(streams.main);
  }
  void enqueue(int slot) { enqueue_step(step, slot, h_batch[1 - slot], streams); }
  bool record() {
    for (int slot = 0; slot < 2; ++slot) {
      cudaGraph_t graph = nullptr;
      const cudaError_t error = record_step(step, slot, h_batch[1 - slot], streams, &graph);
      if (error != cudaSuccess || graph == nullptr) {
        cudaDeviceSynchronize();
        kit::fail(std::string("record_step returned ") + cudaGetErrorName(error) +
                  (graph == nullptr ? " and no graph." : "."));
        return false;
      }
      expect_success("cudaGraphInstantiate", cudaGraphInstantiate(&graphs_[slot], graph, 0));
      cudaGraphDestroy(graph);
    }
    return true;
  }
  void replay(int slot) {
    expect_success("cudaGraphLaunch", cudaGraphLaunch(graphs_[slot], streams.main));
  }
  std::vector<float> parameters() const {
    std::vector<float> values(parameters_of(step.network).total);
    expect_success("read_parameters", read_parameters(step, values.data()));
    return values;
  }

 private:
  cudaGraphExec_t graphs_[2] = {};
};

// || got - expected || / || expected || over some positions.
double distance(const std::vector<double>& got, const std::vector<double>& expected, size_t first,
                size_t count) {
  double error = 0, norm = 0;
  for (size_t i = first; i < first + count; ++i) {
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}

void expect_close(const Network& net, const std::vector<double>& got,
                  const std::vector<double>& expected, double all, double each,
                  const std::string& what) {
  const auto compare = [&](const std::string& name, size_t first, size_t count, double most) {
    const double error = distance(got, expected, first, count);
    if (error <= most) return;  // not error > most: a NaN must fail
    kit::fail(what + " of " + name + " is wrong by " + std::to_string(error) +
              " of its length (at most " + std::to_string(most) + ").");
  };
  for (const kit::NetworkTensor& t : kit::network_tensors(sizes_of(net))) {
    compare(t.name, t.offset, t.size, each);
  }
  compare("all parameters together", 0, expected.size(), all);
}

// What a node of a graph waits for.
std::vector<cudaGraphNode_t> nodes_before(cudaGraphNode_t node) {
  size_t count = 0;
#if CUDART_VERSION >= 13000
  cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  cudaGraphNodeGetDependencies(node, nodes.data(), nullptr, &count);
#else
  cudaGraphNodeGetDependencies(node, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  cudaGraphNodeGetDependencies(node, nodes.data(), &count);
#endif
  return nodes;
}

// The graph of one step, recorded here whatever record_step does.
class StepGraph {
 public:
  explicit StepGraph(Trainer& trainer) {
    cudaStreamBeginCapture(trainer.streams.main, cudaStreamCaptureModeThreadLocal);
    trainer.enqueue(0);
    expect_success("cudaStreamEndCapture", cudaStreamEndCapture(trainer.streams.main, &graph_));
    if (graph_ == nullptr) return;
    size_t count = 0;
    cudaGraphGetNodes(graph_, nullptr, &count);
    nodes_.resize(count);
    cudaGraphGetNodes(graph_, nodes_.data(), &count);
    for (cudaGraphNode_t node : nodes_) before_[node] = nodes_before(node);
  }
  ~StepGraph() {
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  StepGraph(const StepGraph&) = delete;
  StepGraph& operator=(const StepGraph&) = delete;

  static bool is(cudaGraphNode_t node, cudaGraphNodeType type) {
    cudaGraphNodeType found = cudaGraphNodeTypeEmpty;
    cudaGraphNodeGetType(node, &found);
    return found == type;
  }
  int count(cudaGraphNodeType type) const {
    return std::count_if(nodes_.begin(), nodes_.end(),
                         [&](cudaGraphNode_t node) { return is(node, type); });
  }
  // Kernels on the longest way from a start to this node, itself included.
  int chain(cudaGraphNode_t node) const {
    int longest = 0;
    for (cudaGraphNode_t earlier : before_.at(node)) longest = std::max(longest, chain(earlier));
    return longest + (is(node, cudaGraphNodeTypeKernel) ? 1 : 0);
  }
  int longest_chain() const {
    int longest = 0;
    for (cudaGraphNode_t node : nodes_) longest = std::max(longest, chain(node));
    return longest;
  }
  bool waits_for(cudaGraphNode_t node, cudaGraphNode_t other) const {
    for (cudaGraphNode_t earlier : before_.at(node)) {
      if (earlier == other || waits_for(earlier, other)) return true;
    }
    return false;
  }
  // Kernels that must have ended before a copy starts or wait until it has.
  int kernels_tied_to_copies() const {
    std::set<cudaGraphNode_t> tied;
    for (cudaGraphNode_t copy : nodes_) {
      if (!is(copy, cudaGraphNodeTypeMemcpy)) continue;
      for (cudaGraphNode_t kernel : nodes_) {
        if (!is(kernel, cudaGraphNodeTypeKernel)) continue;
        if (waits_for(copy, kernel) || waits_for(kernel, copy)) tied.insert(kernel);
      }
    }
    return static_cast<int>(tied.size());
  }

 private:
  cudaGraph_t graph_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
  std::map<cudaGraphNode_t, std::vector<cudaGraphNode_t>> before_;
};

void copy_in(void* d_to, const void* from, size_t bytes) {
  cudaMemcpy(d_to, from, bytes, cudaMemcpyHostToDevice);
  cudaDeviceSynchronize();  // pageable memory: the call may return before the last bytes arrive
}

// What linear_pooled must leave in pool2 and from2, for outputs of the second convolution `conv2`
// ([n][half][half][channels], the values' mean being far from 0).
struct Pooled {
  std::vector<double> value;
  std::vector<uint8_t> from;
};
Pooled pooled_on_cpu(const Network& net, int n, const std::vector<float>& conv2,
                     const std::vector<float>& gamma, const std::vector<float>& beta) {
  const int half = net.image / 2, quarter = net.image / 4, channels = net.channels2;
  const size_t pixels = size_t(n) * half * half;
  Pooled out;
  std::vector<double> mean(channels), inv_std(channels);
  for (int c = 0; c < channels; ++c) {
    double square = 0;
    for (size_t i = 0; i < pixels; ++i) mean[c] += conv2[i * channels + c] / double(pixels);
    for (size_t i = 0; i < pixels; ++i) {
      const double d = conv2[i * channels + c] - mean[c];
      square += d * d / double(pixels);
    }
    inv_std[c] = 1 / std::sqrt(square + 1e-5);
  }
  for (int i = 0; i < n * quarter * quarter; ++i) {
    const int image = i / (quarter * quarter), cell = i % (quarter * quarter);
    for (int c = 0; c < channels; ++c) {
      double best = 0;
      uint8_t from = 4;
      for (int s = 0; s < 4; ++s) {
        const int row = cell / quarter * 2 + s / 2, col = cell % quarter * 2 + s % 2;
        const double x = conv2[((size_t(image) * half + row) * half + col) * channels + c];
        const double z = gamma[c] * (x - mean[c]) * inv_std[c] + beta[c];
        if (z > best) {
          best = z;
          from = s;
        }
      }
      out.value.push_back(best);
      out.from.push_back(from);
    }
  }
  return out;
}

// Runs the kernel on given outputs of the second convolution and checks what it leaves. Windows of
// equal pixels tell nothing about which of them wins.
void check_linear_pooled(int n, bool equal_windows) {
  const Network net = kNarrowNetwork;
  const Parameters p = parameters_of(net);
  const int half = net.image / 2, channels = net.channels2, cells = half * half / 4;
  std::vector<float> conv2(size_t(n) * half * half * channels);
  const std::vector<int> steps = kit::random_ints(conv2.size(), -4, 4);  // few: equal ones meet
  for (size_t i = 0; i < conv2.size(); ++i) {
    const size_t col = i / channels % half, row = i / channels / half % half;
    const size_t twin = i - ((row % 2) * half + col % 2) * channels;
    const bool first = row % 2 == 0 && col % 2 == 0;
    conv2[i] = equal_windows && !first ? conv2[twin] : 3.0f + 0.25f * steps[i];
  }
  std::vector<float> parameters = kit::random_parameters(sizes_of(net));
  // Half of the channels fall as their input rises.
  for (int c = 0; c < channels; c += 2) parameters[p.bn2_gamma.offset + c] *= -1.0f;
  std::vector<double> sums(2 * channels);
  for (size_t i = 0; i < conv2.size(); ++i) {
    sums[i % channels] += conv2[i];
    sums[channels + i % channels] += double(conv2[i]) * conv2[i];
  }
  const float* gamma = &parameters[p.bn2_gamma.offset];
  const float* beta = &parameters[p.bn2_beta.offset];
  const Pooled expected =
      pooled_on_cpu(net, n, conv2, {gamma, gamma + channels}, {beta, beta + channels});
  Trainer trainer(net, n, 0.0f);
  const FusedStep& step = trainer.step;
  kit::run([&] {
    expect_success("write_parameters", write_parameters(step, parameters.data()));
    copy_in(step.conv2, conv2.data(), conv2.size() * sizeof(float));
    copy_in(step.sums2, sums.data(), sums.size() * sizeof(double));
    launch_linear_pooled(step, trainer.streams.main);
  });
  std::vector<float> pool2(expected.value.size());
  std::vector<uint8_t> from(pool2.size());
  std::vector<float> parts(size_t(step.splits) * n * net.hidden);
  cudaMemcpy(pool2.data(), step.pool2, pool2.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(from.data(), step.from2, from.size(), cudaMemcpyDeviceToHost);
  cudaMemcpy(parts.data(), step.hidden, parts.size() * sizeof(float), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < pool2.size(); ++i) {
    const std::string where = "[image " + std::to_string(i / (cells * channels)) + "][cell " +
                              std::to_string(i / channels % cells) + "][channel " +
                              std::to_string(i % channels) + "]";
    if (!(std::fabs(pool2[i] - expected.value[i]) <= 1e-5)) {
      kit::fail("pool2" + where + " is " + std::to_string(pool2[i]) + ", expected " +
                std::to_string(expected.value[i]) + ".");
      return;
    }
    if (!equal_windows && from[i] != expected.from[i]) {
      kit::fail("from2" + where + " is " + std::to_string(from[i]) + ", expected " +
                std::to_string(expected.from[i]) +
                ": the pixel that won, or 4 if none is above 0.");
      return;
    }
  }
  for (int i = 0; i < n * net.hidden; ++i) {
    double got = 0, sum = 0;
    for (int s = 0; s < step.splits; ++s) got += parts[size_t(s) * n * net.hidden + i];
    const int image = i / net.hidden, o = i % net.hidden;
    for (int f = 0; f < net.features(); ++f) {
      sum += expected.value[(size_t(image) * cells + f % cells) * channels + f / cells] *
             parameters[p.linear1_w.offset + size_t(o) * net.features() + f];
    }
    if (!(std::fabs(got - sum) <= 2e-5)) {
      kit::fail("The parts of hidden[" + std::to_string(image) + "][" + std::to_string(o) +
                "] add up to " + std::to_string(got) + ", expected " + std::to_string(sum) + ".");
      return;
    }
  }
}

// The gradients of one step: with a large rate the old parameters do not round them.
void check_gradients(const Network& net, int n) {
  constexpr float kRate = 1024;
  const std::vector<float> start = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), start);
  const Batch batch = kit::decided_batch(reference, 1e-6, [&] { return Batch(net, n); });
  const double loss = reference.forward(batch.images, batch.labels);
  const std::vector<double> expected = reference.backward();
  Trainer trainer(net, n, kRate);
  trainer.write(0, batch);
  trainer.write(1, batch);
  kit::run([&] {
    trainer.begin(start);
    trainer.enqueue(0);
    cudaStreamSynchronize(trainer.streams.main);
  });
  const std::vector<float> end = trainer.parameters();
  std::vector<double> got(end.size());
  for (size_t i = 0; i < got.size(); ++i) got[i] = (double(start[i]) - end[i]) / kRate;
  expect_close(net, got, expected, 1e-5, 1e-5, "The gradient");
  float found = 0;
  cudaMemcpy(&found, trainer.step.loss, sizeof(float), cudaMemcpyDeviceToHost);
  if (!(std::fabs(found - loss) <= 1e-5 * loss)) {
    kit::fail("The loss is " + std::to_string(found) + ", expected " + std::to_string(loss) + ".");
  }
}

// Ten steps of small rate, each on another batch, as graphs: how far each moves the parameters.
void check_ten_steps(const Network& net, int n) {
  constexpr int kSteps = 10;
  constexpr float kRate = 0.01f;
  std::vector<std::vector<float>> states = {kit::random_parameters(sizes_of(net))};
  kit::DoubleNetwork reference(sizes_of(net), states[0]);
  std::vector<Batch> batches;
  for (int i = 0; i <= kSteps; ++i) batches.emplace_back(net, n);
  Trainer trainer(net, n, kRate);
  kit::run([&] {
    trainer.write(0, batches[0]);
    trainer.begin(states[0]);
    if (!trainer.record()) return;
    for (int i = 0; i < kSteps; ++i) {
      trainer.write((i + 1) % 2, batches[i + 1]);
      trainer.replay(i % 2);
      cudaStreamSynchronize(trainer.streams.main);
      states.push_back(trainer.parameters());
    }
  });
  const auto batch_of = [&](size_t step) -> const Batch& { return batches[step]; };
  kit::expect_steps_alike(reference, states, batch_of, kRate, kit::network_tensors(sizes_of(net)));
}

// What each exercise's launchers take in a step of 12/11 that has been made before, by what they
// are given there. A launcher that calls another exercise's is charged with it.
std::vector<kit::StepPart> parts_of(const TrainStep& step) {
  constexpr double kSlice = 33;  // in the simulator: four multiprocessors for the narrow network
  const Network& net = step.network;
  const Parameters p = parameters_of(net);
  const Activations a = activations_of(net, step.n, step.workspace);
  const auto w = [&](const Tensor& tensor) { return step.parameters + tensor.offset; };
  const auto dw = [&](const Tensor& tensor) { return step.gradients + tensor.offset; };
  const int n = step.n, c1 = net.channels1, c2 = net.channels2;
  const int side1 = net.image, side2 = side1 / 2, area1 = side1 * side1, area2 = side2 * side2;
  const int features = net.features(), hidden = net.hidden, classes = net.classes;
  std::vector<kit::StepPart> parts;
  double layers = 0;
  const auto add = [&](const char* name, const std::function<void()>& launch) {
    parts.push_back({std::string("12_mnist_cnn/") + name, kit::device_seconds(launch, kSlice)});
    layers += parts.back().seconds;
  };
  add("02_linear", [&] {
    launch_linear_forward(a.pool2, w(p.linear1_w), w(p.linear1_b), a.hidden, n, features, hidden);
    launch_linear_forward(a.relu, w(p.linear2_w), w(p.linear2_b), a.logits, n, hidden, classes);
    launch_linear_backward(a.relu, w(p.linear2_w), a.dlogits, a.drelu, dw(p.linear2_w),
                           dw(p.linear2_b), n, hidden, classes);
    launch_linear_backward(a.pool2, w(p.linear1_w), a.dhidden, a.dpool2, dw(p.linear1_w),
                           dw(p.linear1_b), n, features, hidden);
  });
  add("03_cross_entropy",
      [&] { launch_cross_entropy(a.logits, step.labels, step.loss, a.dlogits, n, classes); });
  add("04_sgd_update",
      [&] { launch_sgd_update(step.parameters, step.gradients, 0.0f, static_cast<int>(p.total)); });
  add("06_conv_forward", [&] {
    launch_conv_forward(step.images, w(p.conv1_w), a.conv1, n, 1, side1, side1, c1);
    launch_conv_forward(a.pool1, w(p.conv2_w), a.conv2, n, c1, side2, side2, c2);
  });
  add("07_conv_backward", [&] {
    launch_conv_backward(a.pool1, w(p.conv2_w), a.dconv2, a.dpool1, dw(p.conv2_w), a.scratch, n, c1,
                         side2, side2, c2);
    launch_conv_backward(step.images, w(p.conv1_w), a.dconv1, nullptr, dw(p.conv1_w), a.scratch, n,
                         1, side1, side1, c1);
  });
  add("09_batch_norm", [&] {
    launch_batch_norm_forward(a.conv1, w(p.bn1_gamma), w(p.bn1_beta), a.norm1, a.mean1, a.inv_std1,
                              a.scratch, n, c1, area1);
    launch_batch_norm_forward(a.conv2, w(p.bn2_gamma), w(p.bn2_beta), a.norm2, a.mean2, a.inv_std2,
                              a.scratch, n, c2, area2);
    launch_batch_norm_backward(a.conv2, w(p.bn2_gamma), a.mean2, a.inv_std2, a.dnorm2, a.dconv2,
                               dw(p.bn2_gamma), dw(p.bn2_beta), a.scratch, n, c2, area2);
    launch_batch_norm_backward(a.conv1, w(p.bn1_gamma), a.mean1, a.inv_std1, a.dnorm1, a.dconv1,
                               dw(p.bn1_gamma), dw(p.bn1_beta), a.scratch, n, c1, area1);
  });
  add("10_relu_pool", [&] {
    launch_relu_pool_forward(a.norm1, a.pool1, n, c1, side1, side1);
    launch_relu_pool_forward(a.norm2, a.pool2, n, c2, side2, side2);
    launch_relu_pool_backward(a.norm2, a.dpool2, a.dnorm2, n, c2, side2, side2);
    launch_relu_pool_backward(a.norm1, a.dpool1, a.dnorm1, n, c1, side1, side1);
  });
  // What the step launches besides its layers.
  const double whole = kit::device_seconds([&] { launch_train_step(step, 0.0f); }, kSlice);
  parts.push_back({"12_mnist_cnn/11_train_step", std::max(0.0, whole - layers)});
  return parts;
}

}  // namespace

// The step that the fused one replaces. Its layers are the learner's own where they are passed, and
// no fast step counts as trained with kernels of one's own if most of them are not.
TEST(FasterThanPytorch, TrainsWithTheKernelsThatYouWrote) {
  const Network net = kit::simulated() ? kNarrowNetwork : kMnistNetwork;
  constexpr float kRate = 0.01f;
  const std::vector<float> start = kit::random_parameters(sizes_of(net));
  const kit::ImageBatch batch = kit::random_batch(net, 64);
  const kit::StepArrays<TrainStep> arrays(net, start, batch);
  std::vector<std::vector<float>> states;
  const kit::Run run = kit::run([&] {
    cudaMemcpy(arrays.step.parameters, start.data(), start.size() * sizeof(float),
               cudaMemcpyHostToDevice);
    states = {start};
    for (int i = 0; i < 3; ++i) {
      launch_train_step(arrays.step, kRate);
      states.push_back(arrays.parameters.download());
    }
  });
  if (!run.ok()) return;
  kit::DoubleNetwork reference(sizes_of(net), start);
  const auto batch_of = [&](size_t) -> const kit::ImageBatch& { return batch; };
  kit::expect_steps_alike(reference, states, batch_of, kRate, kit::network_tensors(sizes_of(net)));
  kit::report_parts(parts_of(arrays.step), 0.5);
}

TEST(FasterThanPytorch, NormalisesWhatTheLinearLayerLoads) {
  RecordProperty("todo", 1);
  check_linear_pooled(7, true);
}

TEST(FasterThanPytorch, PoolsWhatTheLinearLayerLoads) {
  RecordProperty("todo", 2);
  kit::for_each("images", std::vector<int>{1, 66}, [](int n) { check_linear_pooled(n, false); });
}

TEST(FasterThanPytorch, BringsTheNextBatch) {
  RecordProperty("todo", 3);
  const int n = 5;
  Trainer trainer(kNarrowNetwork, n, 0.01f);
  const Batch now(kNarrowNetwork, n), next(kNarrowNetwork, n);
  trainer.write(0, now);
  trainer.write(1, next);
  kit::run([&] {
    trainer.begin(kit::random_parameters(sizes_of(kNarrowNetwork)));
    trainer.enqueue(0);
    cudaStreamSynchronize(trainer.streams.main);
  });
  const std::vector<unsigned char> expected = next.bytes();
  std::vector<unsigned char> got(expected.size());
  cudaMemcpy(got.data(), trainer.step.batch[1], got.size(), cudaMemcpyDeviceToHost);
  if (got != expected) {
    kit::fail("After a step with slot 0, step.batch[1] is not the batch at h_next.");
    return;
  }
  double moments[kMoments] = {}, sum = 0;
  cudaMemcpy(moments, trainer.step.moments[1], sizeof moments, cudaMemcpyDeviceToHost);
  for (const float value : next.images) sum += value;
  if (!(std::fabs(moments[4] - sum) <= 1e-3)) {  // tap 4 is the pixel itself
    kit::fail("After a step with slot 0, step.moments[1] are not those of the batch at h_next.");
  }
}

TEST(FasterThanPytorch, CopiesBesideTheStep) {
  RecordProperty("todo", 3);
  Trainer trainer(kNarrowNetwork, 5, 0.01f);
  const StepGraph graph(trainer);
  if (graph.count(cudaGraphNodeTypeMemcpy) != 1) {
    kit::fail("A step has " + std::to_string(graph.count(cudaGraphNodeTypeMemcpy)) +
              " copies, not one: the next batch, from h_next.");
    return;
  }
  kit::budget("kernels tied to the copy", graph.kernels_tied_to_copies(), kit::at_most(1),
              "The copy and the moments of what it brings belong in streams.copy. No other kernel "
              "of the step waits for them, and they wait for none");
}

TEST(FasterThanPytorch, LetsGradientsRunSideBySide) {
  RecordProperty("todo", 4);
  Trainer trainer(kNarrowNetwork, 5, 0.01f);
  const StepGraph graph(trainer);
  kit::budget("kernels one after another", graph.longest_chain(), kit::at_most(6),
              "Convolutions, linear layer, head, its gradient, one convolution gradient, update: "
              "the weight gradients run beside them, in streams.branch");
}

TEST(FasterThanPytorch, HasTheGradientsOfTheReference) {
  RecordProperty("todo", 4);
  // Small batches, batches that are cut in another way, and images that no block gets alone.
  kit::for_each("images", std::vector<int>{3, 70, 280},
                [](int n) { check_gradients(kNarrowNetwork, n); });
}

TEST(FasterThanPytorch, HasTheGradientsOfTheReferenceAtFullSize) {
  RecordProperty("todo", 4);
  if (!kit::simulated()) check_gradients(kMnistNetwork, 16);  // too much work for a simulator
}

TEST(FasterThanPytorch, RecordsAStepOfFewKernels) {
  RecordProperty("todo", 5);
  Trainer trainer(kNarrowNetwork, 5, 0.01f);
  cudaGraph_t graph = nullptr;
  kit::run([&] {
    const cudaError_t error =
        record_step(trainer.step, 0, trainer.h_batch[1], trainer.streams, &graph);
    cudaDeviceSynchronize();
    expect_success("record_step", error);
  });
  if (graph == nullptr) {
    kit::fail("record_step left no graph.");
    return;
  }
  size_t count = 0;
  cudaGraphGetNodes(graph, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  cudaGraphGetNodes(graph, nodes.data(), &count);
  const auto kernels = std::count_if(nodes.begin(), nodes.end(), [](cudaGraphNode_t node) {
    return StepGraph::is(node, cudaGraphNodeTypeKernel);
  });
  cudaGraphDestroy(graph);
  kit::budget("kernels per step", static_cast<double>(kernels), kit::at_most(12),
              "At batch 64 a step is as long as its launches are many");
  if (kernels < 9) kit::fail("A step has nine kernels; the graph has fewer.");
}

TEST(FasterThanPytorch, TrainsAsTheReferenceDoes) {
  RecordProperty("todo", 5);
  check_ten_steps(kNarrowNetwork, 16);
}

TEST(FasterThanPytorch, TrainsAsTheReferenceDoesAtFullSize) {
  RecordProperty("todo", 5);
  if (!kit::simulated()) check_ten_steps(kMnistNetwork, 32);  // too much work for a simulator
}

// On a GPU: as many steps as PyTorch does in a process of its own, at the same time of day.
TEST(FasterThanPytorch, IsFastAtBatch64) {
  RecordProperty("todo", 5);
  if (kit::simulated()) return;  // a framework has no time there; the budgets above do its work
  constexpr int kBatch = 64, kSteps = 100;
  Trainer trainer(kMnistNetwork, kBatch, 0.01f);
  const Batch first(kMnistNetwork, kBatch);
  trainer.write(0, first);
  trainer.write(1, Batch(kMnistNetwork, kBatch));
  const std::vector<float> start = kit::random_parameters(sizes_of(kMnistNetwork));
  trainer.begin(start);
  if (!trainer.record()) return;
  kit::Script pytorch("16_faster_than_pytorch_baseline.py",
                      {"--serve", "--batch", std::to_string(kBatch)});
  const std::string steps = " " + std::to_string(kSteps);
  kit::Speed speed;
  speed.whole_call().flops(7.08e6 * kBatch * kSteps).launch([&] {
    for (int i = 0; i < kSteps; ++i) trainer.replay(i % 2);
  });
  speed.against(kit::script("PyTorch eager", pytorch, "eager" + steps), kit::Bars(1.0));
  speed.against(kit::script("PyTorch's fastest mode", pytorch, "fastest" + steps),
                kit::Bars(1.0, 1.0, 3.0));
  speed.grade();
  // An even number of steps later, slot 0 is next: the graph that was timed still trains.
  expect_success("write_parameters", write_parameters(trainer.step, start.data()));
  trainer.replay(0);
  cudaStreamSynchronize(trainer.streams.main);
  kit::DoubleNetwork reference(sizes_of(kMnistNetwork), start);
  const auto batch_of = [&](size_t) -> const Batch& { return first; };
  kit::expect_steps_alike(reference, {start, trainer.parameters()}, batch_of, 0.01f,
                          kit::network_tensors(sizes_of(kMnistNetwork)));
}

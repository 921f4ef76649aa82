// Tests of 12/10 training step. The reference is kit/network.h: the same network in double, tested
// against finite differences.
#include "10_train_step.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/network.h"

namespace {

kit::NetworkSizes sizes_of(const Network& n) {
  return {n.image, n.channels1, n.channels2, n.hidden, n.classes};
}

// The narrow network in the simulator, the whole one on a GPU.
Network network() { return kit::simulated() ? kNarrowNetwork : kMnistNetwork; }

struct Batch {
  std::vector<float> images;
  std::vector<uint8_t> labels;
};
Batch random_batch(const Network& net, int n) {
  Batch batch{kit::random_floats(static_cast<size_t>(n) * net.image * net.image), {}};
  for (const int label : kit::random_ints(n, 0, net.classes - 1)) {
    batch.labels.push_back(static_cast<uint8_t>(label));
  }
  return batch;
}

// A batch on which no ReLU and no window of the double network is nearly undecided: a right kernel
// may round a tie the other way, and then its gradients are those of another loss.
Batch decided_batch(kit::DoubleNetwork& reference, const Network& net, int n) {
  for (;;) {
    const Batch batch = random_batch(net, n);
    reference.forward(batch.images, batch.labels);
    if (reference.margin() > 4e-6) return batch;
  }
}

// The arrays of a step of n images.
struct Arrays {
  kit::DeviceBuffer<float> images, parameters, gradients, loss, workspace;
  kit::DeviceBuffer<uint8_t> labels;
  TrainStep step;
  Arrays(const Network& net, const std::vector<float>& weights, const Batch& batch)
      : images(kit::DeviceBuffer<float>::input(batch.images, "images")),
        parameters(kit::DeviceBuffer<float>::inout(weights, "parameters")),
        gradients(kit::DeviceBuffer<float>::output(weights.size(), "gradients")),
        loss(kit::DeviceBuffer<float>::output(1, "loss")),
        workspace(kit::DeviceBuffer<float>::output(
            workspace_size(net, static_cast<int>(batch.labels.size())), "workspace")),
        labels(kit::DeviceBuffer<uint8_t>::input(batch.labels, "labels")),
        step{net,
             static_cast<int>(batch.labels.size()),
             images.get(),
             labels.get(),
             parameters.get(),
             gradients.get(),
             loss.get(),
             workspace.get()} {}
};

// Part of a flat array.
template <class T>
std::vector<T> part_of(const std::vector<T>& all, const kit::NetworkTensor& tensor) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(tensor.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(tensor.size)};
}

// Copies part of the workspace, which the kit knows as a whole.
std::vector<float> logits_of(const Arrays& arrays) {
  const TrainStep& step = arrays.step;
  const Activations a = activations_of(step.network, step.n, step.workspace);
  const std::vector<float> all = arrays.workspace.download();
  const auto begin = all.begin() + (a.logits - step.workspace);
  return {begin, begin + step.n * step.network.classes};
}

// One gradient: the loss, and the gradients of the last `count` tensors against the reference.
// Those next to the loss come first: they are what the others are made from.
void check_gradients(const Network& net, int n, int count = kTensors) {
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const Batch batch = decided_batch(reference, net, n);
  const Arrays arrays(net, weights, batch);
  kit::run([&] {
    launch_forward(arrays.step);
    launch_backward(arrays.step);
  });
  const double loss = reference.forward(batch.images, batch.labels);
  kit::expect_near(arrays.loss, {loss}, kit::Tolerance::relative(1e-5));
  const std::vector<double> expected = reference.backward();
  const std::vector<float> got = arrays.gradients.download();
  const std::vector<kit::NetworkTensor> tensors = kit::network_tensors(sizes_of(net));
  for (int i = kTensors - 1; i >= kTensors - count; --i) {
    kit::expect_norm_near("gradient of " + tensors[i].name, part_of(got, tensors[i]),
                          part_of(expected, tensors[i]), 1e-5);
  }
}

const std::vector<Network> kNetworks = {{4, 5, 6, 8, 3}, {8, 3, 5, 7, 4}, kNarrowNetwork};
std::string name_of(const Network& net) {
  return "image " + std::to_string(net.image) + ", channels " + std::to_string(net.channels1) +
         " and " + std::to_string(net.channels2);
}

}  // namespace

TEST(TrainStep, GoesForwardToTheLogits) {
  RecordProperty("todo", 2);
  kit::Cases cases;
  for (const Network& net : kNetworks) {
    cases.run(name_of(net), [&] {
      const std::vector<float> weights = kit::random_parameters(sizes_of(net));
      kit::DoubleNetwork reference(sizes_of(net), weights);
      const Batch batch = decided_batch(reference, net, 3);
      const Arrays arrays(net, weights, batch);
      kit::run([&] { launch_forward(arrays.step); });
      kit::expect_norm_near("logits", logits_of(arrays), reference.logits(), 1e-5);
    });
  }
}

TEST(TrainStep, HandsTheGradientThroughTheHiddenReLU) {
  RecordProperty("todo", 1);
  check_gradients(kNetworks[1], 4, 4);  // those of the linear layers
}

TEST(TrainStep, GradientsOfEveryTensorAreThoseOfTheDoubleNetwork) {
  RecordProperty("todo", 3);
  kit::Cases cases;
  for (const Network& net : kNetworks) {
    cases.run(name_of(net), [&] { check_gradients(net, 12); });
  }
  cases.run("larger batch", [&] { check_gradients(network(), kit::work_scale(8, 32)); });
}

TEST(TrainStep, TenStepsMoveTheParametersAsInDouble) {
  RecordProperty("todo", 4);
  const Network net = network();
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const Batch batch = random_batch(net, 8);
  const Arrays arrays(net, weights, batch);
  kit::run([&] {
    for (int i = 0; i < 10; ++i) launch_train_step(arrays.step, 0.01f);
  });
  for (int i = 0; i < 10; ++i) {
    reference.forward(batch.images, batch.labels);
    reference.update(reference.backward(), static_cast<double>(0.01f));
  }
  std::vector<float> moved = arrays.parameters.download();
  std::vector<double> expected = reference.parameters();
  for (size_t i = 0; i < moved.size(); ++i) {
    moved[i] -= weights[i];
    expected[i] -= static_cast<double>(weights[i]);
  }
  for (const kit::NetworkTensor& tensor : kit::network_tensors(sizes_of(net))) {
    kit::expect_norm_near("update of " + tensor.name + " after 10 steps", part_of(moved, tensor),
                          part_of(expected, tensor), 3e-2);
  }
  kit::expect_norm_near("update of all parameters after 10 steps", moved, expected, 1e-2);
}

TEST(TrainStep, TheLossIsOfTheParametersBeforeTheUpdate) {
  RecordProperty("todo", 4);
  const Network net = kNetworks[1];
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const Batch batch = random_batch(net, 6);
  const Arrays arrays(net, weights, batch);
  kit::run([&] { launch_train_step(arrays.step, 0.05f); });
  kit::expect_near(arrays.loss, {reference.forward(batch.images, batch.labels)},
                   kit::Tolerance::relative(1e-5));
}

TEST(TrainStep, RepeatsItself) {
  RecordProperty("todo", 4);
  const Network net = kNetworks[1];
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  const Batch batch = random_batch(net, 17);
  std::vector<std::vector<float>> results;
  kit::for_each_block_order([&] {
    const Arrays arrays(net, weights, batch);
    kit::run([&] {
      for (int i = 0; i < 2; ++i) launch_train_step(arrays.step, 0.05f);
    });
    results.push_back(arrays.parameters.download());
    kit::expect_equal("parameters, bit by bit as in the first run", results.back(), results[0]);
  });
}

TEST(TrainStep, AllocatesNothing) {
  RecordProperty("todo", 4);
  const Network net = kNetworks[1];
  const Arrays arrays(net, kit::random_parameters(sizes_of(net)), random_batch(net, 2));
  const kit::Run run = kit::run([&] { launch_train_step(arrays.step, 0.05f); });
  kit::budget("allocations per step",
              static_cast<double>(kit::api_calls("cudaMalloc") + kit::api_calls("cudaMallocAsync")),
              kit::at_most(0),
              "The workspace has room for everything: a step that allocates waits for the device");
  kit::expect_no_leak(run);
}

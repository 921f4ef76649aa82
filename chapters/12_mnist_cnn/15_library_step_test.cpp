// Tests of 12/15 library step. The reference is test/network.h: the same network in double.
#include "15_library_step.h"

#include <cmath>

#include "12_mnist_cnn/test/network.h"
#include "12_mnist_cnn/test/train_step.h"
#include "kit/kit.h"

namespace {

using kit::sizes_of;

// The narrow network in the simulator, the whole one on a GPU.
Network network() { return kit::simulated() ? kNarrowNetwork : kMnistNetwork; }

void expect_done(const char* function, bool done) {
  if (!done) kit::fail(std::string(function) + " returned false: a call of a library failed.");
}

// Pixels with a mean of 2.
kit::ImageBatch decided_batch(kit::DoubleNetwork& reference, const Network& net, int n) {
  return kit::decided_batch(reference, 4e-6, [&] { return kit::random_batch(net, n, 1, 3); });
}

using Arrays = kit::StepArrays<TrainStep>;

// Reference of the layers of a block after its convolution: x is n x c x side x side.
std::vector<double> normalised_and_pooled(const std::vector<float>& x,
                                          const std::vector<float>& gamma,
                                          const std::vector<float>& beta, int n, int c, int side) {
  const int pixels = side * side, half = side / 2;
  std::vector<double> out(static_cast<size_t>(n) * c * half * half, 0);
  for (int k = 0; k < c; ++k) {
    double mean = 0, variance = 0;
    const auto at = [&](int image, int i) { return double(x[(image * c + k) * pixels + i]); };
    for (int i = 0; i < n * pixels; ++i) mean += at(i / pixels, i % pixels) / (n * pixels);
    for (int i = 0; i < n * pixels; ++i) {
      variance += std::pow(at(i / pixels, i % pixels) - mean, 2) / (n * pixels);
    }
    for (int i = 0; i < n * pixels; ++i) {
      const int image = i / pixels, row = i % pixels / side, col = i % side;
      const double z =
          gamma[k] * (at(image, i % pixels) - mean) / std::sqrt(variance + kNormEpsilon) + beta[k];
      double& best = out[((image * c + k) * half + row / 2) * half + col / 2];
      best = std::max(best, z);
    }
  }
  return out;
}

// One linear layer with asymmetric sizes.
struct Linear {
  int n = 5, in = 7, out = 3;
  std::vector<float> x = kit::random_floats(n * in), w = kit::random_floats(out * in),
                     b = kit::random_floats(out), dy = kit::random_floats(n * out);
  // classes = out, hidden = in: the second linear layer of this network.
  Network net = {4, 2, 3, in, out};
};

}  // namespace

TEST(LibraryStep, NormalisesAndPoolsABlock) {
  RecordProperty("todo", 1);
  const Network net = {8, 3, 5, 7, 4};
  const int n = 3, c = net.channels1;
  const std::vector<float> x = kit::random_floats(n * 64, 1, 3), w = kit::random_floats(c * 9),
                           gamma = kit::random_floats(c), beta = kit::random_floats(c);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_w = kit::DeviceBuffer<float>::input(w, "w");
  const auto d_gamma = kit::DeviceBuffer<float>::input(gamma, "gamma");
  const auto d_beta = kit::DeviceBuffer<float>::input(beta, "beta");
  const auto d_conv = kit::DeviceBuffer<float>::output(n * c * 64, "conv");
  const auto d_relu = kit::DeviceBuffer<float>::output(n * c * 64, "relu");
  const auto d_pooled = kit::DeviceBuffer<float>::output(n * c * 16, "pooled");
  const auto d_mean = kit::DeviceBuffer<float>::output(c, "mean");
  const auto d_inv_std = kit::DeviceBuffer<float>::output(c, "inv_std");
  const Libraries libraries(net, n);
  expect_done("Libraries", libraries.ready());
  const BlockArrays arrays = {d_x.get(),     d_conv.get(), d_relu.get(), d_pooled.get(), d_w.get(),
                              d_gamma.get(), d_beta.get(), d_mean.get(), d_inv_std.get()};
  bool done = false;
  kit::run([&] { return done = launch_block_forward(libraries, libraries.block[0], arrays); });
  expect_done("launch_block_forward", done);
  kit::expect_near(d_pooled, normalised_and_pooled(d_conv.download(), gamma, beta, n, c, 8),
                   kit::Tolerance::absolute(1e-5));
}

TEST(LibraryStep, MultipliesRowMajorMatrices) {
  RecordProperty("todo", 3);
  const Linear l;
  const auto d_x = kit::DeviceBuffer<float>::input(l.x, "x");
  const auto d_w = kit::DeviceBuffer<float>::input(l.w, "w");
  const auto d_b = kit::DeviceBuffer<float>::input(l.b, "b");
  const auto d_y = kit::DeviceBuffer<float>::output(l.n * l.out, "y");
  const Libraries libraries(l.net, l.n);
  bool done = false;
  kit::run([&] {
    return done = launch_dense_forward(libraries, libraries.linear[1], d_x.get(), d_w.get(),
                                       d_b.get(), d_y.get());
  });
  expect_done("launch_dense_forward", done);
  std::vector<double> expected;
  for (int i = 0; i < l.n; ++i) {
    for (int o = 0; o < l.out; ++o) {
      double sum = l.b[o];
      for (int k = 0; k < l.in; ++k) sum += double(l.x[i * l.in + k]) * l.w[o * l.in + k];
      expected.push_back(sum);
    }
  }
  kit::expect_near(d_y, expected, kit::Tolerance::absolute(1e-6));
}

TEST(LibraryStep, MultipliesBackwards) {
  RecordProperty("todo", 4);
  const Linear l;
  const auto d_x = kit::DeviceBuffer<float>::input(l.x, "x");
  const auto d_w = kit::DeviceBuffer<float>::input(l.w, "w");
  const auto d_dy = kit::DeviceBuffer<float>::input(l.dy, "dy");
  const auto d_dx = kit::DeviceBuffer<float>::output(l.n * l.in, "dx");
  const auto d_dw = kit::DeviceBuffer<float>::output(l.out * l.in, "dw");
  const auto d_db = kit::DeviceBuffer<float>::output(l.out, "db");
  const Libraries libraries(l.net, l.n);
  bool done = false;
  kit::run([&] {
    return done = launch_dense_backward(libraries, libraries.linear[1], d_x.get(), d_w.get(),
                                        d_dy.get(), d_dx.get(), d_dw.get(), d_db.get());
  });
  expect_done("launch_dense_backward", done);
  std::vector<double> dx(l.n * l.in), dw(l.out * l.in), db(l.out);
  for (int i = 0; i < l.n * l.out; ++i) {
    const int row = i / l.out, o = i % l.out;
    db[o] += l.dy[i];
    for (int k = 0; k < l.in; ++k) {
      dx[row * l.in + k] += double(l.dy[i]) * l.w[o * l.in + k];
      dw[o * l.in + k] += double(l.dy[i]) * l.x[row * l.in + k];
    }
  }
  kit::expect_near(d_dx, dx, kit::Tolerance::absolute(1e-6));
  kit::expect_near(d_dw, dw, kit::Tolerance::absolute(1e-6));
  kit::expect_near(d_db, db, kit::Tolerance::absolute(1e-6));
}

TEST(LibraryStep, HasTheGradientsOfTheReference) {
  RecordProperty("todo", 2);
  const Network net = network();
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const kit::ImageBatch batch = decided_batch(reference, net, kit::work_scale(6, 16));
  const Arrays arrays(net, weights, batch);
  const Libraries libraries(net, arrays.step.n);
  bool done = false;
  kit::run([&] { return done = launch_library_step(libraries, arrays.step, 0.01f); });
  expect_done("launch_library_step", done);
  kit::expect_near(arrays.loss, {reference.forward(batch.images, batch.labels)},
                   kit::Tolerance::relative(1e-5));
  const std::vector<double> expected = reference.backward();
  kit::expect_tensors_near("gradient", arrays.gradients.download(), expected,
                           kit::network_tensors(sizes_of(net)), 1e-5);
}

TEST(LibraryStep, MovesTheParametersAsInDouble) {
  RecordProperty("todo", 5);
  constexpr int kSteps = 10;
  constexpr float kRate = 0.015f;
  const Network net = network();
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const kit::ImageBatch batch = decided_batch(reference, net, kit::work_scale(6, 16));
  const Arrays arrays(net, weights, batch);
  const Libraries libraries(net, arrays.step.n);
  std::vector<std::vector<float>> states;
  kit::run([&] {
    states = {weights};
    for (int i = 0; i < kSteps; ++i) {
      expect_done("launch_library_step", launch_library_step(libraries, arrays.step, kRate));
      states.push_back(arrays.parameters.download());
    }
  });
  const auto same_batch = [&](size_t) -> const kit::ImageBatch& { return batch; };
  kit::expect_steps_alike(reference, states, same_batch, kRate,
                          kit::network_tensors(sizes_of(net)));
  // Of the last step, of the parameters before its update.
  const std::vector<float>& last = states[states.size() - 2];
  reference.parameters().assign(last.begin(), last.end());
  const double loss = reference.forward(batch.images, batch.labels);
  kit::expect_near(arrays.loss, {loss}, kit::Tolerance::relative(1e-4));
}

TEST(LibraryStep, AllocatesNothing) {
  RecordProperty("todo", 5);
  const Network net = kNarrowNetwork;
  const std::vector<float> weights = kit::random_parameters(sizes_of(net));
  kit::DoubleNetwork reference(sizes_of(net), weights);
  const Arrays arrays(net, weights, decided_batch(reference, net, 2));
  const Libraries libraries(net, 2);
  bool done = false;
  const kit::Run run =
      kit::run([&] { return done = launch_library_step(libraries, arrays.step, 0.01f); });
  expect_done("launch_library_step", done);
  kit::budget("allocations per step",
              static_cast<double>(kit::api_calls("cudaMalloc") + kit::api_calls("cudaMallocAsync")),
              kit::at_most(0),
              "The workspace has room for everything: a step that allocates waits for the device");
  kit::expect_no_leak(run);
}

// Tests of 12/05 MLP first.
#include "05_mlp_first.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

#include "04_sgd_update.h"
#include "12_mnist_cnn/test/digits.h"
#include "kit/kit.h"

namespace {

using Values = std::vector<double>;

// The network on the CPU, in double. `w` has the parameters in their order.
struct Reference {
  Mlp mlp;
  Values w;
  Values hidden, logits;  // of the last forward(), n x hidden and n x classes

  void forward(const std::vector<float>& x, int n) {
    hidden.assign(n * mlp.hidden, 0);
    logits.assign(n * mlp.classes, 0);
    for (int i = 0; i < n * mlp.hidden; ++i) {
      const int h = i % mlp.hidden, image = i / mlp.hidden;
      hidden[i] = w[mlp.b1() + h];
      for (int j = 0; j < mlp.in; ++j) hidden[i] += w[h * mlp.in + j] * x[image * mlp.in + j];
    }
    for (int i = 0; i < n * mlp.classes; ++i) {
      const int c = i % mlp.classes, image = i / mlp.classes;
      logits[i] = w[mlp.b2() + c];
      for (int h = 0; h < mlp.hidden; ++h) {
        logits[i] +=
            w[mlp.w2() + c * mlp.hidden + h] * std::max(hidden[image * mlp.hidden + h], 0.0);
      }
    }
  }

  // Loss and, into `g`, the derivatives of all parameters.
  double backward(const std::vector<float>& x, const std::vector<uint8_t>& labels, int n,
                  Values* g) const {
    double loss = 0;
    g->assign(w.size(), 0);
    for (int image = 0; image < n; ++image) {
      const double* row = logits.data() + image * mlp.classes;
      const double max = *std::max_element(row, row + mlp.classes);
      double sum = 0;
      for (int c = 0; c < mlp.classes; ++c) sum += std::exp(row[c] - max);
      loss += (std::log(sum) - (row[labels[image]] - max)) / n;
      Values dhidden(mlp.hidden);
      for (int c = 0; c < mlp.classes; ++c) {
        const double d = (std::exp(row[c] - max) / sum - (c == labels[image])) / n;
        (*g)[mlp.b2() + c] += d;
        for (int h = 0; h < mlp.hidden; ++h) {
          const double value = hidden[image * mlp.hidden + h];
          (*g)[mlp.w2() + c * mlp.hidden + h] += d * std::max(value, 0.0);
          if (value > 0) dhidden[h] += d * w[mlp.w2() + c * mlp.hidden + h];
        }
      }
      for (int h = 0; h < mlp.hidden; ++h) {
        (*g)[mlp.b1() + h] += dhidden[h];
        for (int j = 0; j < mlp.in; ++j) {
          (*g)[h * mlp.in + j] += dhidden[h] * x[image * mlp.in + j];
        }
      }
    }
    return loss;
  }
};

Values doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

// First weights: each layer within +-1 / sqrt of its inputs. The first hidden value is exactly 0
// for every image, and hands no derivative back.
std::vector<float> first_weights(const Mlp& mlp) {
  const float bound1 = 1 / std::sqrt(static_cast<float>(mlp.in));
  const float bound2 = 1 / std::sqrt(static_cast<float>(mlp.hidden));
  std::vector<float> w = kit::random_floats(mlp.w2(), -bound1, bound1);
  const std::vector<float> second =
      kit::random_floats(mlp.parameters() - mlp.w2(), -bound2, bound2);
  w.insert(w.end(), second.begin(), second.end());
  std::fill_n(w.begin(), mlp.in, 0.0f);
  w[mlp.b1()] = 0;
  return w;
}

struct Batch {
  Mlp mlp;
  int n;
};
std::ostream& operator<<(std::ostream& out, const Batch& b) {
  return out << b.mlp.in << " to " << b.mlp.hidden << " to " << b.mlp.classes << ", n = " << b.n;
}
std::vector<Batch> batches() { return {{{20, 7, 10}, 5}, {{3, 33, 4}, 37}, {{144, 32, 10}, 32}}; }

enum class Check { kForward, kBackward };

void check(const Batch& b, Check what) {
  const Mlp& mlp = b.mlp;
  const std::vector<float> x = kit::random_floats(b.n * mlp.in), w = first_weights(mlp);
  std::vector<uint8_t> labels;
  for (const int label : kit::random_ints(b.n, 0, mlp.classes - 1)) {
    labels.push_back(static_cast<uint8_t>(label));
  }
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_w = kit::DeviceBuffer<float>::input(w, "parameters");
  const auto d_labels = kit::DeviceBuffer<uint8_t>::input(labels, "labels");
  const auto d_work = kit::DeviceBuffer<float>::output(MlpWorkspace::size(mlp, b.n), "workspace");
  const auto d_loss = kit::DeviceBuffer<float>::output(1, "loss");
  const auto d_g = kit::DeviceBuffer<float>::output(w.size(), "gradients");
  const MlpWorkspace work(mlp, b.n, d_work.get());
  kit::run([&] {
    launch_mlp_forward(mlp, d_w.get(), d_x.get(), b.n, work);
    if (what == Check::kForward) return;
    launch_mlp_backward(mlp, d_w.get(), d_x.get(), d_labels.get(), b.n, work, d_loss.get(),
                        d_g.get());
  });
  Reference reference{mlp, doubles(w), {}, {}};
  reference.forward(x, b.n);
  if (what == Check::kForward) {
    const std::vector<float> all = d_work.download();
    const auto part = [&](const float* d_part, size_t size) {
      const float* begin = all.data() + (d_part - d_work.get());
      return std::vector<float>(begin, begin + size);
    };
    Values positive = reference.hidden;
    for (double& value : positive) value = std::max(value, 0.0);
    const kit::Shape wide(b.n, mlp.hidden);
    kit::expect_near("hidden of the workspace", part(work.hidden, positive.size()),
                     reference.hidden, kit::Tolerance::absolute(1e-5), wide);
    kit::expect_near("relu of the workspace", part(work.relu, positive.size()), positive,
                     kit::Tolerance::absolute(1e-5), wide);
    kit::expect_near("logits", part(work.logits, reference.logits.size()), reference.logits,
                     kit::Tolerance::absolute(1e-5), kit::Shape(b.n, mlp.classes));
    return;
  }
  Values g;
  const double loss = reference.backward(x, labels, b.n, &g);
  kit::expect_near(d_loss, {loss}, kit::Tolerance::absolute(1e-6));
  const std::vector<float> got = d_g.download();
  const size_t ends[] = {0, mlp.b1(), mlp.w2(), mlp.b2(), mlp.parameters()};
  const char* names[] = {"dw1", "db1", "dw2", "db2"};
  for (int t = 0; t < 4; ++t) {
    const auto from = static_cast<long>(ends[t]), to = static_cast<long>(ends[t + 1]);
    kit::expect_norm_near(names[t], {got.begin() + from, got.begin() + to},
                          {g.begin() + from, g.begin() + to}, 1e-5);
  }
}

// A set in pinned memory, normalised, as load_dataset makes it.
struct Digits : Dataset {
  Digits(int n, int side, uint64_t seed) {
    const kit::DigitSet digits = kit::random_digits(n, side, seed);
    count = n;
    rows = cols = side;
    mean = 40;
    deviation = 70;
    cudaMallocHost(&images, digits.images.size() * sizeof(float));
    cudaMallocHost(&labels, digits.labels.size());
    for (size_t i = 0; i < digits.images.size(); ++i)
      images[i] = (digits.images[i] - mean) / deviation;
    std::copy(digits.labels.begin(), digits.labels.end(), labels);
  }
  ~Digits() { free_dataset(this); }
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
};

struct Trained {
  std::vector<float> w, losses;
};
Trained train(const Mlp& mlp, const Dataset& set, const MlpTraining& how,
              const std::vector<float>& w) {
  const auto d_w = kit::DeviceBuffer<float>::inout(w, "parameters");
  Trained trained{{}, std::vector<float>(how.epochs * (set.count / how.batch), -1)};
  cudaError_t error = cudaSuccess;
  const kit::Run run =
      kit::run([&] { return error = train_mlp(mlp, set, how, d_w.get(), trained.losses.data()); });
  if (error != cudaSuccess) kit::fail(std::string("train_mlp returned ") + cudaGetErrorName(error));
  kit::expect_no_leak(run);
  trained.w = d_w.download();
  return trained;
}

}  // namespace

TEST(MlpFirst, GoesForwardThroughBothLayers) {
  RecordProperty("todo", 2);
  kit::for_each("network", batches(), [](const Batch& b) { check(b, Check::kForward); });
}

TEST(MlpFirst, HandsTheDerivativeBackThroughRelu) {
  RecordProperty("todo", 1);
  // dw2 and db2 do not depend on it; dw1 and db1 do.
  check({{30, 64, 10}, 16}, Check::kBackward);
}

TEST(MlpFirst, GoesBackwardThroughBothLayers) {
  RecordProperty("todo", 3);
  kit::for_each("network", batches(), [](const Batch& b) { check(b, Check::kBackward); });
}

TEST(MlpFirst, CoversEveryExtent) {
  RecordProperty("todo", 2);
  // More hidden values than a block has threads, and more images than a grid may have blocks in y.
  check({{2, 1500, 3}, 3}, Check::kForward);
  check({{2, 1500, 3}, 3}, Check::kBackward);
  check({{2, 3, 2}, 70'001}, Check::kForward);
}

TEST(MlpFirst, TakesTheStepsThatTheBatchesAskFor) {
  RecordProperty("todo", 4);
  const Digits set(40, 12, 1);
  const Mlp mlp = {144, 16, 10};
  const MlpTraining how = {16, 3, 0.1f, 5};  // 2 steps in each epoch; 8 images wait
  const std::vector<float> w = first_weights(mlp);
  const Trained trained = train(mlp, set, how, w);
  Reference reference{mlp, doubles(w), {}, {}};
  Values losses;
  for (int epoch = 0; epoch < how.epochs; ++epoch) {
    std::vector<int> order(set.count);
    shuffle(order.data(), set.count, how.seed, epoch);
    for (int first = 0; first + how.batch <= set.count; first += how.batch) {
      std::vector<float> x;
      std::vector<uint8_t> labels;
      for (int i = first; i < first + how.batch; ++i) {
        const float* image = set.images + order[i] * 144;
        x.insert(x.end(), image, image + 144);
        labels.push_back(set.labels[order[i]]);
      }
      Values g;
      reference.forward(x, how.batch);
      losses.push_back(reference.backward(x, labels, how.batch, &g));
      for (size_t i = 0; i < g.size(); ++i) reference.w[i] -= how.rate * g[i];
    }
  }
  kit::expect_near("losses", trained.losses, losses, kit::Tolerance::absolute(1e-4));
  std::vector<float> update;
  Values expected;
  for (size_t i = 0; i < w.size(); ++i) {
    update.push_back(trained.w[i] - w[i]);
    expected.push_back(reference.w[i] - w[i]);
  }
  kit::expect_norm_near("all parameters, after less before", update, expected, 1e-3);
}

TEST(MlpFirst, ASetSmallerThanABatchIsNoError) {
  RecordProperty("todo", 4);
  const Digits set(5, 12, 3);
  const Mlp mlp = {144, 16, 10};
  const std::vector<float> w = first_weights(mlp);
  const Trained trained = train(mlp, set, {6, 2, 0.1f, 5}, w);
  kit::expect_equal("all parameters, of which no step was made,", trained.w, w);
  // As many images as a batch has are a whole one.
  const Trained one = train(mlp, set, {5, 1, 0.1f, 5}, w);
  if (one.w == w) kit::fail("A set of 5 images has one batch of 5, and no parameter has changed.");
}

TEST(MlpFirst, LearnsDigits) {
  RecordProperty("todo", 4);
  const int side = kit::work_scale(12, 28), count = kit::work_scale(320, 2000);
  const Digits set(count, side, 2);
  const Mlp mlp = {side * side, kit::work_scale(32, 128), 10};
  const MlpTraining how = {32, kit::work_scale(10, 5), 0.2f, 9};
  const Trained trained = train(mlp, set, how, first_weights(mlp));
  const int steps = count / how.batch;
  double first = 0, last = 0;  // mean losses of the first and the last epoch
  for (int i = 0; i < steps; ++i) {
    first += trained.losses[i] / steps;
    last += trained.losses[trained.losses.size() - 1 - i] / steps;
  }
  if (!(last < 0.35 * first)) {
    kit::fail("The mean loss went from " + std::to_string(first) + " in the first epoch to " +
              std::to_string(last) + " in the last one; below 0.35 of it is usual.");
  }
}

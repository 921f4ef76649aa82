// Tests of 12/03 Cross-entropy.
#include "03_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/same_bits.h"

namespace {

struct Batch {
  int n, classes;
};
std::ostream& operator<<(std::ostream& out, const Batch& b) {
  return out << b.n << " x " << b.classes;
}

struct Inputs {
  std::vector<float> logits;    // n x classes
  std::vector<uint8_t> labels;  // n
};

// Reference in double. `spread` of a row is the distance between its largest and smallest logit:
// exp(x - max) is off by as many units of the last place as x - max is large.
struct Reference {
  double loss = 0, loss_scale = 0;
  std::vector<double> dlogits, dlogits_scale;  // n x classes
};
Reference cross_entropy_on_cpu(const Inputs& in, const Batch& b) {
  Reference r;
  for (int i = 0; i < b.n; ++i) {
    const float* x = in.logits.data() + i * b.classes;
    const double max = *std::max_element(x, x + b.classes);
    const double spread = max - *std::min_element(x, x + b.classes);
    double sum = 0;
    for (int c = 0; c < b.classes; ++c) sum += std::exp(x[c] - max);
    r.loss += (std::log(sum) - (x[in.labels[i]] - max)) / b.n;
    r.loss_scale += (1 + spread) / b.n;
    for (int c = 0; c < b.classes; ++c) {
      const double p = std::exp(x[c] - max) / sum, one = c == in.labels[i] ? 1 : 0;
      r.dlogits.push_back((p - one) / b.n);
      r.dlogits_scale.push_back((1 + spread) * (p + one) / b.n);
    }
  }
  return r;
}

// Logits up to +-range around `middle`.
Inputs random_batch(const Batch& b, float range, float middle = 0) {
  Inputs in{kit::random_floats(b.n * b.classes, middle - range, middle + range), {}};
  for (const int label : kit::random_ints(b.n, 0, std::min(b.classes - 1, 255))) {
    in.labels.push_back(static_cast<uint8_t>(label));
  }
  return in;
}

struct Outputs {
  kit::DeviceBuffer<float> loss, dlogits;
  kit::Run run;
};
Outputs cross_entropy(const Inputs& in, const Batch& b) {
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_logits = kit::DeviceBuffer<float>::input(in.logits, "logits", at_end);
  const auto d_labels = kit::DeviceBuffer<uint8_t>::input(in.labels, "labels", at_end);
  Outputs out{kit::DeviceBuffer<float>::output(1, "loss", at_end),
              kit::DeviceBuffer<float>::output(in.logits.size(), "dlogits", at_end),
              {}};
  out.run = kit::run([&] {
    launch_cross_entropy(d_logits.get(), d_labels.get(), out.loss.get(), out.dlogits.get(), b.n,
                         b.classes);
  });
  return out;
}

int units_of(const Batch& b) { return b.classes <= 10 ? 8 : b.classes; }

void check_loss(const Inputs& in, const Batch& b) {
  const Reference r = cross_entropy_on_cpu(in, b);
  kit::expect_near(cross_entropy(in, b).loss, {r.loss},
                   kit::Tolerance::units(units_of(b), {r.loss_scale}));
}
void check_derivatives(const Inputs& in, const Batch& b) {
  const Reference r = cross_entropy_on_cpu(in, b);
  kit::expect_near(cross_entropy(in, b).dlogits, r.dlogits,
                   // below 1e-30 a probability may become 0
                   {1e-30, 0, static_cast<double>(units_of(b)), r.dlogits_scale},
                   kit::Shape(b.n, b.classes));
}

}  // namespace

TEST(CrossEntropy, OneImageHasTheLossOfItsLabel) {
  RecordProperty("todo", 1);
  kit::for_each("logits", std::vector<Batch>{{1, 10}, {1, 2}, {1, 1}, {1, 37}},
                [](const Batch& b) { check_loss(random_batch(b, 4), b); });
}

TEST(CrossEntropy, DerivativesAreProbabilitiesLessTheLabel) {
  RecordProperty("todo", 2);
  kit::for_each("logits",
                std::vector<Batch>{
                    {1, 10}, {1, 2}, {1, 1}, {3, 10}, {33, 37}, {50, 256}, {3, 300}, {2, 1025}},
                [](const Batch& b) { check_derivatives(random_batch(b, 4), b); });
}

TEST(CrossEntropy, TakesTheMeanOverTheBatch) {
  RecordProperty("todo", 3);
  kit::for_each("logits",
                std::vector<Batch>{
                    {2, 10}, {31, 3}, {32, 3}, {33, 3}, {1000, 2}, {1024, 2}, {1025, 2}, {2500, 2}},
                [](const Batch& b) {
                  const Inputs in = random_batch(b, 4);
                  check_loss(in, b);
                  check_derivatives(in, b);
                });
}

TEST(CrossEntropy, TakesLongBatches) {
  RecordProperty("todo", 3);
  const Batch b = {65'537, 2};
  const Inputs in = random_batch(b, 4);
  check_loss(in, b);
  check_derivatives(in, b);
}

TEST(CrossEntropy, TakesMoreClassesThanSharedMemoryHolds) {
  RecordProperty("todo", 2);
  const Batch b = {2, 70'001};
  const Inputs in = random_batch(b, 4);
  check_loss(in, b);
  check_derivatives(in, b);
}

TEST(CrossEntropy, LogitsFarFromZeroOverflowNothing) {
  RecordProperty("todo", 1);
  kit::for_each("logits around", std::vector<int>{10000, -10000, 100, -100}, [](int middle) {
    const Batch b = {20, 10};
    const Inputs in = random_batch(b, 4, static_cast<float>(middle));
    check_loss(in, b);
    check_derivatives(in, b);
  });
  // Whatever a search for the largest begins with, finite logits may be less.
  kit::for_each("logits", std::vector<float>{-3.4e38f, -2e30f, 3.4e38f}, [](float logit) {
    const Inputs in = {std::vector<float>(6, logit), {0, 2}};
    check_loss(in, {2, 3});
    check_derivatives(in, {2, 3});
  });
}

// exp of the distance to any other logit overflows.
TEST(CrossEntropy, TheLargestLogitMayBeAnyOfTheRow) {
  RecordProperty("todo", 1);
  constexpr int kClasses = 6;
  Inputs in = random_batch({kClasses, kClasses}, 4);
  for (int i = 0; i < kClasses; ++i) in.logits[i * kClasses + i] = 300;
  check_loss(in, {kClasses, kClasses});
  check_derivatives(in, {kClasses, kClasses});
}

TEST(CrossEntropy, ALabelThatSeemsImpossibleHasAFiniteLoss) {
  RecordProperty("todo", 2);
  // p of the label is exp(-200), which is 0 in float, and log 0 is no loss.
  const Inputs in = {{0.0f, 200.0f, -3.0f, 150.0f, 0.0f, 1.0f}, {0, 1}};
  check_loss(in, {2, 3});
  check_derivatives(in, {2, 3});
}

TEST(CrossEntropy, ALossMayBeNearlyTheGreatestFloat) {
  RecordProperty("todo", 2);
  const Inputs in = {{3e38f, 0.0f}, {1}};
  check_loss(in, {1, 2});
  check_derivatives(in, {1, 2});
}

// Finite differences of the double reference, not of the kernel: their steps need no room here.
TEST(CrossEntropy, FiniteDifferencesAgree) {
  RecordProperty("todo", 2);
  const Batch b = {5, 7};
  Inputs in = random_batch(b, 2);
  const std::vector<float> got = cross_entropy(in, b).dlogits.download();
  std::vector<double> expected;
  constexpr float kStep = 1.0f / 256;
  for (float& logit : in.logits) {
    const float middle = logit;
    logit = middle + kStep;
    const double step_up = logit, above = cross_entropy_on_cpu(in, b).loss;
    logit = middle - kStep;
    const double step_down = logit, below = cross_entropy_on_cpu(in, b).loss;
    logit = middle;
    expected.push_back((above - below) / (step_up - step_down));
  }
  // The third derivative leaves kStep squared / 6, times less than 1 / n.
  kit::expect_near("dlogits against finite differences", got, expected,
                   kit::Tolerance::absolute(1e-6));
}

TEST(CrossEntropy, HasTheSameBitsAtEveryRun) {
  RecordProperty("todo", 3);
  // The sum of two blocks is the same in either order, so there are many of them.
  kit::for_each(
      "logits", std::vector<Batch>{{1500, 3}, {20'011, 2}, {9000, 10}}, [](const Batch& b) {
        const Inputs in = random_batch(b, 4);
        kit::expect_same_bits("loss, and then dlogits,", [&] {
          const Outputs out = cross_entropy(in, b);
          // One in each block may be a ticket; which block has it then, the orders vary.
          const kit::Counters counters = out.run.counters();
          uint64_t blocks = 0;
          for (const kit::Launch& launch : out.run.launches()) blocks += launch.blocks();
          const auto atomics =
              static_cast<double>(counters.atomics_global + counters.atomics_shared);
          kit::budget("atomic operations per block",
                      atomics / static_cast<double>(std::max<uint64_t>(blocks, 1)), kit::at_most(1),
                      "Which warp adds first changes from run to run, and with it the last digits");
          return kit::joined({out.loss, out.dlogits});
        });
      });
}

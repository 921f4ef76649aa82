// Tests of 10/05 data parallel.
#include "05_data_parallel.h"

#include <cmath>

#include "02_all_reduce_support.h"
#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

constexpr float kRate = 0.05f;

struct Case {
  int devices, rows, features, steps;
  float rate = kRate;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.rows << ", features = " << c.features << ", devices = " << c.devices
             << ", steps = " << c.steps << ", rate = " << c.rate;
}

// All rows of a training set: x is rows x features, y has one value per row.
struct Data {
  std::vector<float> x, y, w;
};
Data random_data(int rows, int features) {
  return {kit::random_floats(static_cast<size_t>(rows) * features), kit::random_floats(rows),
          kit::random_floats(features)};
}

// Reference in double: gradient descent with all rows. w has `features` elements.
std::vector<double> train_on_cpu(const Data& data, int features, float rate, int steps) {
  std::vector<double> w(data.w.begin(), data.w.end());
  const size_t rows = data.y.size();
  for (int step = 0; step < steps; ++step) {
    std::vector<double> gradient(features, 0);
    for (size_t row = 0; row < rows; ++row) {
      const float* x = &data.x[row * features];
      double error = -static_cast<double>(data.y[row]);
      for (int f = 0; f < features; ++f) error += x[f] * w[f];
      for (int f = 0; f < features; ++f) gradient[f] += 2 * error * x[f];
    }
    for (int f = 0; f < features; ++f) w[f] -= rate * gradient[f] / static_cast<double>(rows);
  }
  return w;
}

struct Split {
  int rows, devices;
};
std::ostream& operator<<(std::ostream& out, const Split& split) {
  return out << split.rows << ", devices = " << split.devices;
}
std::vector<int> row_counts(const Split& split) {
  std::vector<int> counts;
  for (int d = 0; d < split.devices; ++d) {
    counts.push_back(split.rows / split.devices + (d < split.rows % split.devices ? 1 : 0));
  }
  return counts;
}

// counts[d]: rows of device d, one after the other.
kit::Run check(const Case& c, const std::vector<int>& counts) {
  const Data data = random_data(c.rows, c.features);
  std::vector<std::vector<float>> x, y;
  size_t begin = 0;
  for (const int count : counts) {
    const size_t end = begin + count;
    x.emplace_back(data.x.begin() + begin * c.features, data.x.begin() + end * c.features);
    y.emplace_back(data.y.begin() + begin, data.y.begin() + end);
    begin = end;
  }
  const Ranks ranks(c.devices);
  const Streams streams(c.devices);
  const auto d_x = PerDevice<float>::input(x, "d_x");
  const auto d_y = PerDevice<float>::input(y, "d_y");
  const auto d_w =
      PerDevice<float>::inout(std::vector<std::vector<float>>(c.devices, data.w), "d_w");
  const auto d_gradient = PerDevice<float>::output(c.devices, c.features, "d_gradient");
  std::vector<Shard> shards;
  for (int d = 0; d < c.devices; ++d) {
    shards.push_back({d_x.get()[d], d_y.get()[d], counts[d], d_w.get()[d], d_gradient.get()[d],
                      ranks[d], streams[d]});
  }
  const kit::Run run = run_call(
      "train", [&] { return train(shards.data(), c.devices, c.features, c.rate, c.steps); });
  const std::vector<double> expected = train_on_cpu(data, c.features, c.rate, c.steps);
  for (int d = 0; d < c.devices; ++d) {
    kit::expect_near(d_w[d], expected, kit::Tolerance::absolute(2e-6 * c.steps));
  }
  // Replicas that differ in their last bits drift apart.
  for (int d = 1; d < c.devices; ++d) kit::expect_equal(d_w[d], d_w[0].download());
  return run;
}

}  // namespace

TEST(DataParallel, SharesOutTheRows) {
  RecordProperty("todo", 1);
  kit::for_each("rows",
                std::vector<Split>{{7, 1},
                                   {7, 2},
                                   {7, 3},
                                   {8, 4},
                                   {2, 4},
                                   {1'000'003, 8},
                                   {0, 3},
                                   {3, 16},
                                   {16'777'213, 5},
                                   {2'147'483'646, 7},
                                   {2'147'483'647, 8}},
                [](const Split& split) {
                  int begin = 0;
                  for (int d = 0; d < split.devices; ++d) {
                    const Range got = rows_of(split.rows, split.devices, d);
                    const int end = begin + row_counts(split)[d];
                    if (got.begin != begin || got.end != end) {
                      kit::fail("Device " + std::to_string(d) + " has rows [" +
                                std::to_string(got.begin) + ", " + std::to_string(got.end) +
                                "), expected [" + std::to_string(begin) + ", " +
                                std::to_string(end) + ").");
                    }
                    begin = end;
                  }
                });
}

TEST(DataParallel, ManyDevicesEqualOneLargeBatch) {
  RecordProperty("todo", 2);
  std::vector<Case> cases;
  for (const int devices : device_counts()) {
    cases.push_back({devices, 12 * devices, 5, 1});
    cases.push_back({devices, 20 * devices, 33, 3});
    cases.push_back({devices, 8 * devices, 3, 2, 0.25f / devices});
  }
  kit::for_each("rows", cases, [](const Case& c) { check(c, row_counts({c.rows, c.devices})); });
}

TEST(DataParallel, DevicesMayHaveDifferentNumbersOfRows) {
  RecordProperty("todo", 2);
  check({2, 40, 7, 2}, {30, 10});
  check({2, 20, 7, 1}, {20, 0});
  check({2, 1, 3, 1}, {1, 0});
  // Its gradient is 0 in every step, whatever the sum of the step before has left there.
  check({2, 20, 7, 3}, {0, 20});
  // The fewest and the most features.
  check({2, 9, 1, 2}, {5, 4});
  check({2, 8, kMostFeatures, 1}, {4, 4});
}

TEST(DataParallel, SendsTheGradientOncePerStep) {
  RecordProperty("todo", 2);
  kit::for_each("devices", device_counts(), [](int devices) {
    const Case c = {devices, 24 * devices, 120, 2};
    const kit::Run run = check(c, row_counts({c.rows, c.devices}));
    const double gradient = c.features * sizeof(float);
    for (int d = 0; d < devices; ++d) {
      kit::budget("bytes over a link, per step and byte of the gradient",
                  kit::ratio(link_use(d).bytes, c.steps * gradient),
                  kit::at_most(2.0 * (devices - 1) / devices),
                  "One all-reduce of the gradient per step; rows and weights stay where they are");
    }
    double passes = 0;
    for (const kit::Launch& launch : run.launches()) {
      passes += launch.kernel.find("linear_gradient") != std::string::npos ? 1 : 0;
    }
    kit::budget("passes over the rows, per step and device", passes / (c.steps * devices),
                kit::at_most(1), "A step reads every row once, on its own device");
  });
}

TEST(DataParallel, IsFast) {
  RecordProperty("todo", 2);
  const int devices = kit::simulated() ? 2 : kit::device_count();
  const int features = kit::work_scale(32, 256), steps = kit::work_scale(1, 10);
  const int rows = kit::work_scale(64, 1 << 20);  // of each device: 1 GiB on a GPU
  const Ranks ranks(devices);
  const Streams streams(devices);
  kit::Speed speed;
  std::vector<kit::SpeedBuffer<float>> x, y, w, gradient;
  for (int d = 0; d < devices; ++d) {
    const kit::OnDevice scope(d);
    const std::string of_device = "[" + std::to_string(d) + "]";
    const size_t values = static_cast<size_t>(rows) * features;
    x.push_back(speed.input<float>(values, ("d_x" + of_device).c_str()));
    y.push_back(speed.input<float>(rows, ("d_y" + of_device).c_str()));
    w.push_back(speed.output<float>(features, ("d_w" + of_device).c_str()));
    gradient.push_back(speed.output<float>(features, ("d_gradient" + of_device).c_str()));
  }
  // All devices begin with the same weights: zeros.
  const auto shards = [&] {
    std::vector<Shard> all;
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      cudaMemsetAsync(w[d].get(), 0, features * sizeof(float), streams[d]);
      all.push_back(
          {x[d].get(), y[d].get(), rows, w[d].get(), gradient[d].get(), ranks[d], streams[d]});
    }
    return all;
  };
  // Least bytes of one device; the others work beside it.
  speed.whole_call().bytes(4.0 * rows * features * steps);
  speed.launch([&] { train(shards().data(), devices, features, kRate, steps); });
  // Weak scaling: n devices with n times the rows, in the time that one needs for its own. The
  // calls of the host decide for the few rows of the simulator.
  speed.against(kit::limit("one device with its rows",
                           [&] {
                             const Shard alone = shards()[0];
                             train_alone(alone, features, kRate, steps);
                           })
                    .on_gpu_only(),
                kit::Bars(0.6, 0.8, 0.9));
  speed.grade();
}

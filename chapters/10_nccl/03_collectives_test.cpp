// Tests of 10/03 collectives.
#include "03_collectives.h"

#include <cmath>

#include "02_all_reduce_support.h"
#include "kit/kit.h"
#include "kit/mistake.h"

namespace {

struct Case {
  int devices, part;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.part << ", devices = " << c.devices;
}
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int devices : device_counts()) {
    for (const int part : {1, 33, 257}) all.push_back({devices, part});
  }
  return all;
}

// No power of two and none that is like another: a rate that is written down, or taken for
// positive, shows.
float rate_of(const Case& c) { return c.part == 1 ? 0.25f : c.part == 33 ? 1.7f : -0.3f; }

// Reference in double: w - rate * mean of the gradients. w, and the gradient of each device, have
// devices * part elements. `scale` is what the rounding errors are proportional to.
struct Reference {
  std::vector<double> w, scale;
};
Reference step_on_cpu(const std::vector<float>& w, const std::vector<std::vector<float>>& gradients,
                      float rate) {
  Reference out;
  const std::vector<double> sum = sum_over_devices(gradients);
  for (size_t i = 0; i < w.size(); ++i) {
    double scale = std::fabs(w[i]);
    for (const auto& gradient : gradients) scale += std::fabs(rate * gradient[i]);
    out.w.push_back(w[i] - rate * sum[i] / static_cast<double>(gradients.size()));
    out.scale.push_back(scale);
  }
  return out;
}

void check_broadcast(int devices, int n, int root) {
  const Ranks ranks(devices);
  const Streams streams(devices);
  const auto w = random_per_device(devices, n);
  const auto d_w = PerDevice<float>::inout(w, "d_w");
  run_call("broadcast_weights", [&] {
    return broadcast_weights(d_w.get(), n, root, ranks.data(), streams.data(), devices);
  });
  const kit::Mistake first("they are those of device 0, and the root is another",
                           [&] { return std::vector<double>(w[0].begin(), w[0].end()); });
  for (int d = 0; d < devices; ++d) kit::expect_equal(d_w[d], w[root]);
}

// Which weights of a device are looked at: all, or those that it has updated itself.
enum class Look { kAll, kOwnPart };

void check_step(const Case& c, Look look) {
  const Ranks ranks(c.devices);
  const Streams streams(c.devices);
  const int n = c.devices * c.part;
  const std::vector<float> w = kit::random_floats(n);
  std::vector<std::vector<float>> gradients;
  for (int d = 0; d < c.devices; ++d) gradients.push_back(kit::random_floats(n));
  const auto d_w = PerDevice<float>::inout(std::vector<std::vector<float>>(c.devices, w), "d_w");
  const auto d_g = PerDevice<float>::input(gradients, "d_g");
  const auto d_part = PerDevice<float>::output(c.devices, c.part, "d_part");
  run_call("sharded_step", [&] {
    return sharded_step(d_w.get(), d_g.get(), d_part.get(), c.part, rate_of(c), ranks.data(),
                        streams.data(), c.devices);
  });
  const Reference expected = step_on_cpu(w, gradients, rate_of(c));
  for (int d = 0; d < c.devices; ++d) {
    const int begin = look == Look::kAll ? 0 : d * c.part;
    const int end = look == Look::kAll ? n : begin + c.part;
    const std::vector<float> got = d_w[d].download();
    const kit::Mistake sum("they are a step by the sum of the gradients, not by their mean", [&] {
      std::vector<double> steps;
      for (int i = begin; i < end; ++i) {
        steps.push_back(w[i] + c.devices * (expected.w[i] - w[i]));
      }
      return steps;
    });
    const std::string what = look == Look::kAll ? "w" : "part " + std::to_string(d) + " of w";
    kit::expect_near(
        what + " on device " + std::to_string(d), {got.begin() + begin, got.begin() + end},
        {expected.w.begin() + begin, expected.w.begin() + end},
        kit::Tolerance::units(4, {expected.scale.begin() + begin, expected.scale.begin() + end}));
  }
}

}  // namespace

TEST(Collectives, EveryDeviceGetsTheWeightsOfTheRoot) {
  RecordProperty("todo", 1);
  kit::for_each("devices", device_counts(), [](int devices) {
    for (int root = 0; root < devices; ++root) check_broadcast(devices, 33 * root + 1, root);
  });
}

TEST(Collectives, ADeviceUpdatesItsPart) {
  RecordProperty("todo", 2);
  kit::for_each("part", cases(), [](const Case& c) { check_step(c, Look::kOwnPart); });
}

TEST(Collectives, EveryDeviceHasAllPartsAfterwards) {
  RecordProperty("todo", 3);
  kit::for_each("part", cases(), [](const Case& c) { check_step(c, Look::kAll); });
}

TEST(Collectives, LinksCarryEachPartOnce) {
  RecordProperty("todo", 3);
  kit::for_each("devices", device_counts(), [](int devices) {
    const int part = 300;
    check_step({devices, part}, Look::kAll);
    for (int d = 0; d < devices; ++d) {
      kit::budget("floats over a link, per weight",
                  kit::ratio(link_use(d).bytes / sizeof(float), devices * part),
                  kit::at_most(2.0 * (devices - 1) / devices),
                  "A reduce-scatter and an all-gather each send (n - 1) / n of the array; calls "
                  "for single parts, or whole arrays where a part is used, send more");
    }
  });
}

TEST(Collectives, UpdatesTheLongestParts) {
  RecordProperty("todo", 2);
  kit::at_largest("parts of 2^30 - 1 weights on 2 devices", [] {
    constexpr int kDevices = 2, kPart = (1 << 30) - 1;
    constexpr size_t kWeights = size_t{kDevices} * kPart;
    constexpr float kRate = 0.5f;
    const Ranks ranks(kDevices);
    const Streams streams(kDevices);
    const std::vector<float> values = kit::random_integer_floats(kit::kPeriod);
    std::vector<kit::LargeArray<float>> w, g, part;
    std::vector<float*> d_w, d_g, d_part;
    for (int d = 0; d < kDevices; ++d) {
      const kit::OnDevice scope(d);
      const std::string of = "[" + std::to_string(d) + "]";
      w.push_back(kit::LargeArray<float>::inout(kWeights, ("d_w" + of).c_str(), values));
      g.push_back(kit::LargeArray<float>::input(kWeights, ("d_g" + of).c_str(),
                                                kit::random_integer_floats(kit::kPeriod, 1, 8)));
      part.push_back(kit::LargeArray<float>::output(kPart, ("d_part" + of).c_str()));
      d_w.push_back(w[d].get());
      d_g.push_back(g[d].get());
      d_part.push_back(part[d].get());
    }
    ncclResult_t result = ncclSuccess;
    kit::run([&] {
      result = sharded_step(d_w.data(), d_g.data(), d_part.data(), kPart, kRate, ranks.data(),
                            streams.data(), kDevices);
    });
    expect_success("sharded_step", result);
    const auto expected = [&](size_t i) {
      return w[0].at(i) - kRate * (g[0].at(i) + g[1].at(i)) / kDevices;  // exact
    };
    for (int d = 0; d < kDevices; ++d) {
      kit::expect_at_ends(w[d], expected);
      // Every gradient is positive, so each weight changes: the last of the own part, too, whose
      // block has run, however many there are.
      const size_t last = (d + 1) * size_t{kPart} - 1;
      float got = 0;
      uint8_t written[sizeof(float)];
      w[d].memory().peek(last * sizeof(float), &got, sizeof(got), written);
      if (got == expected(last) || wsim_cut_launches() > 0) continue;
      kit::fail("At the largest size: the last weight of part " + std::to_string(d) + ", d_w[" +
                std::to_string(d) + "][" + std::to_string(last) + "], is " + std::to_string(got) +
                ", expected " + std::to_string(expected(last)) +
                ". Look at the grid of `update`: a part may have any number of blocks, not only "
                "65,535.");
      return;
    }
  });
}

TEST(Collectives, TakesMoreWeightsThanAnIntCounts) {
  RecordProperty("todo", 1);
  kit::at_largest("2^32 + 105 weights on each of 2 devices", [] {
    const size_t n = (size_t{1} << 32) + 105;
    const Ranks ranks(2);
    const Streams streams(2);
    const auto d_w = kit::LargeArray<float>::output(n, "d_w[0]");
    const kit::OnDevice scope(1);
    const auto d_root = kit::large_integers(n, "d_w[1]");
    const kit::OnDevice caller(0);
    float* const both[] = {d_w.get(), d_root.get()};
    run_call("broadcast_weights",
             [&] { return broadcast_weights(both, n, 1, ranks.data(), streams.data(), 2); });
    kit::expect_at_ends(d_w, [&](size_t i) { return d_root.at(i); });
  });
}

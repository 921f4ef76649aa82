// Tests of 05/01 divergence.
#include "01_divergence.h"

#include <set>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

// Reference in double: n samples, left and right in turn. No sample leaves [-1, 1] by more than the
// spring swings, so errors are measured in units of 1.
std::vector<double> channels_on_cpu(const std::vector<float>& x) {
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) {
    y.push_back(i % 2 == 0 ? left_channel<double>(x[i]) : right_channel<double>(x[i]));
  }
  return y;
}

kit::Run check(int n, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> x = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", placement);
  const kit::Run run = kit::run([&] { launch_process_channels(d_x.get(), d_y.get(), n); });
  kit::expect_near(d_y, channels_on_cpu(x), kit::Tolerance::absolute(4e-6));
  return run;
}

// Which way each lane of a warp goes.
struct Paths {
  const char* name;
  std::vector<int> way;  // 32 values
};
std::ostream& operator<<(std::ostream& out, const Paths& paths) { return out << paths.name; }

std::vector<Paths> paths_of_a_warp() {
  Paths same{"all lanes one way", {}}, parity{"even and odd lanes", {}};
  Paths one{"lane 31 alone", {}}, four{"four ways", {}}, all{"32 ways", {}};
  for (int lane = 0; lane < 32; ++lane) {
    same.way.push_back(7);
    parity.way.push_back(lane % 2);
    one.way.push_back(lane == 31 ? 5 : 2);
    four.way.push_back(lane / 3 % 4);
    all.way.push_back(31 - lane);
  }
  return {same, parity, one, four, all};
}

}  // namespace

TEST(Divergence, ThePredictedPassesAreTheCountedOnes) {
  RecordProperty("todo", 1);
  kit::for_each("warp", paths_of_a_warp(), [](const Paths& paths) {
    const auto d_path = kit::DeviceBuffer<int>::input(paths.way, "path");
    const auto d_passes = kit::DeviceBuffer<int>::inout({0}, "passes");
    kit::run([&] { launch_count_passes(d_path.get(), d_passes.get()); });
    const int counted = d_passes.download()[0];
    const int predicted = predicted_passes(paths.way.data());
    if (predicted != counted) {
      kit::fail("You predicted " + std::to_string(predicted) +
                " passes through the branch; the warp made " + std::to_string(counted) +
                ". Lanes that take the same way go together, the ways one after the other.");
    }
  });
}

TEST(Divergence, ABranchIsNoLaunch) {
  RecordProperty("todo", 1);
  kit::for_each("branches", std::vector<int>{0, 1, 2, 32}, [](int branches) {
    // The kernel that counts the passes has 32 branches; every kernel here is launched once.
    if (predicted_launches(branches) != 1) {
      kit::fail("You predicted " + std::to_string(predicted_launches(branches)) +
                " launches. A branch is an instruction inside a kernel: it costs a warp passes, "
                "never a launch. The test above counts 32 passes in one launch.");
    }
  });
}

TEST(Divergence, ProcessesEachSampleByItsChannel) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(n); });
}

TEST(Divergence, StaysInsideItsArrays) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{63, 64, 65, 1025, 1},
                [](int n) { check(n, kit::Placement::kAtEnd); });
}

TEST(Divergence, AcceptsNoElements) {
  RecordProperty("todo", 2);
  check(0);
  check(1);  // the same launcher must work when there is a sample
}

TEST(Divergence, KeepsTheLanesOfAWarpTogether) {
  RecordProperty("todo", 2);
  const kit::Run run = check(kit::work_scale(1 << 12, 1 << 18));
  const kit::Counters& c = run.counters();
  kit::budget("average active lanes", kit::ratio(c.thread_instructions, c.warp_instructions),
              kit::at_least(30),
              "A warp whose lanes go two ways runs both, each with a part of its lanes");
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(1),
              "Both channels fit into one kernel: a branch needs no launch of its own");
}

TEST(Divergence, TakesTheLargestArrays) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const auto x = kit::large_floats(n, "x");
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_process_channels(x.get(), y.get(), n); });
    kit::expect_at_ends(
        y,
        [&](size_t i) {
          return i % 2 == 0 ? left_channel<double>(x.at(i)) : right_channel<double>(x.at(i));
        },
        kit::Tolerance::absolute(4e-6));
  });
}

TEST(Divergence, IsFasterThanABranchInEveryWarp) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 14, 1 << 26);
  kit::Speed speed;
  const auto x = speed.input<float>(n, "x");
  const auto y = speed.output<float>(n, "y");
  speed.bytes(8.0 * n).flops(4.0 * kSteps * n).slice(33);
  speed.launch([&] { launch_process_channels(x.get(), y.get(), n); });
  speed.expect(
      y,
      [&](size_t i) {
        const double sample = x.at(i);
        return i % 2 == 0 ? left_channel<double>(sample) : right_channel<double>(sample);
      },
      kit::Tolerance::absolute(4e-6));
  speed.against(kit::stage("a branch in every warp",
                           [&] { launch_process_channels_divergent(x.get(), y.get(), n); }),
                kit::Bars(1.5, 1.8));
  speed.grade();
}

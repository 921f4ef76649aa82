// Tests of 02/09 one thread to grid.
#include "09_one_thread_to_grid.h"

#include <cmath>
#include <cstdio>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"
#include "kit/speed/speed.h"

namespace {

constexpr int kBlock = 256;  // threads

using Launcher = void (*)(const float*, const float*, float*, int);

// The additions of one size, ready to be launched in three ways.
struct Additions {
  int n;
  std::vector<float> a, b;
  kit::DeviceBuffer<float> d_a, d_b;

  explicit Additions(int n_)
      : n(n_),
        a(kit::random_floats(n)),
        b(kit::random_floats(n)),
        d_a(kit::DeviceBuffer<float>::input(a, "a")),
        d_b(kit::DeviceBuffer<float>::input(b, "b")) {}

  // Reference: n elements. One float addition has one correct result.
  std::vector<float> on_cpu() const {
    std::vector<float> c(n);
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
    return c;
  }

  kit::Run run(Launcher launcher, const char* what = "") const {
    const auto d_c = kit::DeviceBuffer<float>::output(n, "c");
    const kit::Run run = kit::run(what, [&] { launcher(d_a.get(), d_b.get(), d_c.get(), n); });
    kit::expect_equal(d_c, on_cpu());
    return run;
  }

  double milliseconds(Launcher launcher) const {
    const auto d_c = kit::DeviceBuffer<float>::output(n, "c");
    return kit::milliseconds([&] { launcher(d_a.get(), d_b.get(), d_c.get(), n); });
  }
};

struct NamedLauncher {
  const char* name;
  Launcher launch;
};
std::ostream& operator<<(std::ostream& out, const NamedLauncher& launcher) {
  return out << launcher.name;
}

const std::vector<NamedLauncher>& launchers() {
  static const std::vector<NamedLauncher> all = {{"one thread", launch_one_thread},
                                                 {"one block", launch_one_block},
                                                 {"full grid", launch_full_grid}};
  return all;
}

// What the three launches did, as the reader of the course wants to see it.
void print_counts(int n, const kit::Run runs[3]) {
  std::printf("%d additions, counted by the simulator:\n", n);
  std::printf("  %-10s %8s %18s %13s\n", "launch", "blocks", "warp instructions", "active lanes");
  for (int k = 0; k < 3; ++k) {
    const kit::Counters& c = runs[k].counters();
    std::printf("  %-10s %8llu %18llu %13.1f\n", launchers()[k].name,
                static_cast<unsigned long long>(c.blocks),
                static_cast<unsigned long long>(c.warp_instructions),
                kit::ratio(c.thread_instructions, c.warp_instructions));
  }
}

}  // namespace

TEST(OneThreadToGrid, PredictionsAreMade) {
  // contract: What you expect, before you run it
  RecordProperty("todo", 1);
  if (!(predicted_instruction_ratio() >= 1.0) || predicted_blocks(1000) < 1) {
    kit::fail(
        "Write down first what you expect: kInstructionRatio and predicted_blocks are still "
        "0. Any guess from 1 upwards will do to go on; it is compared at the end.");
  }
}

TEST(OneThreadToGrid, TheKernelIsRightInEveryLaunch) {
  // contract: c = a + b, three times with the same kernel; n from 1 to 2^30
  RecordProperty("todo", 2);
  kit::for_each("launch", launchers(), [](const NamedLauncher& launcher) {
    kit::for_each("n", kit::awkward_sizes(),
                  [&launcher](int n) { Additions(n).run(launcher.launch); });
  });
}

TEST(OneThreadToGrid, OneThreadAndOneBlockAreThat) {
  // contract: <<<1, 1>>>
  // contract: <<<1, 256>>>
  RecordProperty("todo", 2);
  const kit::Run thread = Additions(1000).run(launch_one_thread);
  kit::expect_grid_of(thread, dim3(1));
  kit::expect_blocks_of(thread, dim3(1));
  const kit::Run block = Additions(1000).run(launch_one_block);
  kit::expect_grid_of(block, dim3(1));
  kit::expect_blocks_of(block, dim3(kBlock));
}

TEST(OneThreadToGrid, AllThreeLaunchTheSameKernel) {
  // contract: three times with the same kernel
  RecordProperty("todo", 3);
  std::string first;
  for (const NamedLauncher& launcher : launchers()) {
    const kit::Run run = Additions(1000).run(launcher.launch, launcher.name);
    for (const kit::Launch& launch : run.launches()) {
      if (first.empty()) first = launch.kernel;
      if (launch.kernel == first) continue;
      kit::fail(std::string("The launch called \"") + launcher.name + "\" is of the kernel " +
                launch.kernel + ", and not of " + first +
                ". One kernel does for all three, so that what differs is the grid alone.");
      return;
    }
  }
}

TEST(OneThreadToGrid, AGridAddsTheLargestArrays) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const auto a = kit::large_floats(n, "a");
    const auto b = kit::large_floats(n, "b");
    const auto c = kit::LargeArray<float>::output(n, "c");
    const kit::Run run = kit::run([&] { launch_full_grid(a.get(), b.get(), c.get(), n); });
    kit::expect_at_ends(c, [&](size_t i) { return a.at(i) + b.at(i); });
    const uint64_t threads = run.launches().empty() ? 0 : run.launches()[0].threads();
    if (threads < static_cast<uint64_t>(n)) {
      kit::fail("The full grid has " + std::to_string(threads) +
                " threads, fewer than elements: each of them has one of its own.");
    }
  });
}

TEST(OneThreadToGrid, MovesOnlyWhatItUses) {
  RecordProperty("todo", 2);
  const kit::Run run = Additions(1 << 14).run(launch_one_block);
  kit::budget("useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
              "In one round of the loop neighbouring threads must use neighbouring elements",
              &kit::Counters::global_load_sectors);
}

TEST(OneThreadToGrid, TheFullGridHasAThreadPerElement) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{1 << 14, 1025, 1}, [](int n) {
    const kit::Run run = Additions(n).run(launch_full_grid);
    kit::budget("blocks of the full grid", static_cast<double>(run.counters().blocks),
                kit::at_least((n + kBlock - 1) / kBlock),
                "One thread per element in blocks of 256, so that every multiprocessor gets work");
    kit::budget("bytes loaded per element",
                kit::ratio(static_cast<double>(run.counters().global_load_bytes), n),
                kit::at_most(8), "One float of a and one of b make one element of c",
                &kit::Counters::global_load_bytes);
  });
}

TEST(OneThreadToGrid, ThePredictionOfTheBlocksHolds) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1 << 25, 1025, 256, 1, (1 << 24) + 1, 1 << 30}, [](int n) {
    const int blocks = (n - 1) / kBlock + 1;
    if (predicted_blocks(n) != blocks) {
      kit::fail("You predicted " + std::to_string(predicted_blocks(n)) + " blocks; " +
                std::to_string(n) + " additions, one per thread, 256 threads per block, need " +
                std::to_string(blocks) + ".");
    }
  });
}

TEST(OneThreadToGrid, ThePredictionOfTheInstructionsHolds) {
  RecordProperty("todo", 1);
  const Additions additions(kit::work_scale(1 << 15, 1 << 25));
  kit::Run runs[3];
  for (int k = 0; k < 3; ++k) runs[k] = additions.run(launchers()[k].launch, launchers()[k].name);
  if (!kit::simulated()) {  // a GPU counts nothing, but it has a clock
    std::printf("%d additions, timed on this device:\n", additions.n);
    for (const NamedLauncher& launcher : launchers()) {
      std::printf("  %-10s %10.3f ms\n", launcher.name, additions.milliseconds(launcher.launch));
    }
    EXPECT_NEAR(predicted_instruction_ratio(), 32, 3.2) << "A warp has 32 threads.";
    return;
  }
  print_counts(additions.n, runs);
  const double counted =
      kit::ratio(runs[0].counters().warp_instructions, runs[1].counters().warp_instructions);
  const double predicted = predicted_instruction_ratio();
  if (!(std::abs(predicted - counted) <= 0.1 * counted)) {
    kit::fail("You predicted that <<<1, 1>>> issues " + std::to_string(predicted) +
              " times as many warp instructions as <<<1, 256>>>; the simulator counted " +
              std::to_string(counted) +
              " times. One warp instruction serves all the active threads of one warp.");
  }
}

TEST(OneThreadToGrid, TheFullGridIsTenTimesAsFastAsOneBlock) {
  RecordProperty("todo", 3);
  const int n = kit::work_scale(1 << 16, 1 << 25);
  kit::Speed speed;
  const auto a = speed.input<float>(n, "a");
  const auto b = speed.input<float>(n, "b");
  const auto c = speed.output<float>(n, "c");
  // Not sliced: one block of a slice of the card would be compared with few others.
  speed.bytes(12.0 * n).flops(1.0 * n);
  speed.launch([&] { launch_full_grid(a.get(), b.get(), c.get(), n); });
  speed.expect(
      c, [&](size_t i) { return a.at(i) + b.at(i); }, kit::Tolerance::absolute(0));
  speed.against(kit::stage("one block", [&] { launch_one_block(a.get(), b.get(), c.get(), n); }),
                kit::Bars(10));
  speed.grade();
}

// Tests of 06/06 CUDA graph.
#include "06_cuda_graph.h"

#include "kit/kit.h"
#include "kit/speed/speed.h"
#include "kit/stream.h"

namespace {

// Reference in double: kRods rods of the same length, `steps` time steps.
std::vector<double> diffuse_on_cpu(const std::vector<float>& start, int steps) {
  std::vector<double> now(start.begin(), start.end()), next = now;
  const size_t n = start.size() / kRods;
  for (int step = 0; step < steps; ++step) {
    for (size_t i = 0; i < now.size(); ++i) {
      const bool is_end = i % n == 0 || i % n == n - 1;
      next[i] = is_end ? now[i] : 0.5 * now[i] + 0.25 * (now[i - 1] + now[i + 1]);
    }
    now.swap(next);
  }
  return now;
}

// Temperatures are at most 1, a step rounds three times at most, and means never grow an error.
kit::Tolerance tolerance(int steps, size_t n) {
  return kit::Tolerance::units(1.5 * steps, std::vector<double>(n, 1.0));
}

void expect_success(const char* function, cudaError_t error) {
  if (error == cudaSuccess) return;
  kit::fail(std::string(function) + " returned " + cudaGetErrorName(error) + ".");
}

// Rods of n points with their graph.
struct Diffusion {
  std::vector<float> start;
  kit::Stream stream;
  kit::DeviceBuffer<float> d_a, d_b;
  Rods rods;
  uint64_t graphs_made = 0, graphs_destroyed = 0;
  uint64_t starts = 0;  // calls of the replays that start work

  explicit Diffusion(int n)
      : start(kit::random_floats(kRods * n)),
        d_a(kit::DeviceBuffer<float>::inout(start, "d_a")),
        d_b(kit::DeviceBuffer<float>::output(kRods * n, "d_b")),
        rods{d_a.get(), d_b.get(), n, nullptr} {
    cudaError_t error = cudaSuccess;
    kit::run("building the graph", [&] {
      error = build_steps(&rods, stream.get());
      graphs_made = wsim_api_calls("cudaStreamEndCapture") + wsim_api_calls("cudaGraphCreate") +
                    wsim_api_calls("cudaGraphClone");
      graphs_destroyed = wsim_api_calls("cudaGraphDestroy");
      cudaStreamSynchronize(stream.get());
      return error;
    });
    expect_success("build_steps", error);
  }
  ~Diffusion() { release_steps(&rods); }
  Diffusion(const Diffusion&) = delete;
  Diffusion& operator=(const Diffusion&) = delete;

  kit::Run replay(int times) {
    return kit::run("replaying it", [&] {
      for (int i = 0; i < times; ++i) expect_success("run_steps", run_steps(rods, stream.get()));
      starts = wsim_api_calls("__cudaLaunchKernel") + wsim_api_calls("cudaLaunchKernel") +
               wsim_api_calls("cudaGraphLaunch");
      const uint64_t waits = wsim_api_calls("cudaStreamSynchronize") +
                             wsim_api_calls("cudaDeviceSynchronize") +
                             wsim_api_calls("cudaEventSynchronize");
      if (waits > 0) kit::fail("run_steps waited for the device. The caller waits when it must.");
    });
  }
};

}  // namespace

TEST(CudaGraph, RecordingRunsNothing) {
  RecordProperty("todo", 1);
  const Diffusion diffusion(100);
  // The device buffer is unchanged, bit for bit.
  kit::expect_equal(diffusion.d_a, diffusion.start);
}

TEST(CudaGraph, RecordingLeavesTheScratchAlone) {
  RecordProperty("todo", 1);
  constexpr int kPoints = 100;
  const kit::Stream stream;
  const std::vector<float> a = kit::random_floats(kRods * kPoints);
  const std::vector<float> b = kit::random_floats(kRods * kPoints);
  const auto d_a = kit::DeviceBuffer<float>::inout(a, "d_a");
  const auto d_b = kit::DeviceBuffer<float>::inout(b, "d_b");
  kit::run("building the graph", [&] {
    Rods rods{d_a.get(), d_b.get(), kPoints, nullptr};
    const cudaError_t error = build_steps(&rods, stream.get());
    cudaDeviceSynchronize();
    if (rods.replay != nullptr) cudaGraphExecDestroy(rods.replay);
    return error;
  });
  kit::expect_equal(d_a, a);
  kit::expect_equal(d_b, b);
}

TEST(CudaGraph, TheReplayIsPrepared) {
  RecordProperty("todo", 2);
  const Diffusion diffusion(100);
  if (diffusion.rods.replay == nullptr) {
    kit::fail("build_steps left rods->replay empty: cudaGraphInstantiate makes it from the graph.");
  }
  if (kit::simulated() && diffusion.graphs_destroyed != diffusion.graphs_made) {
    kit::fail("Graphs are needed no longer once rods->replay exists. build_steps made " +
              std::to_string(diffusion.graphs_made) + " and destroyed " +
              std::to_string(diffusion.graphs_destroyed) + " of them: cudaGraphDestroy.");
  }
}

// Here the replay goes back at once, so that nothing may stay: also where a call of build_steps
// fails, as the kit tries.
TEST(CudaGraph, NothingElseIsLeftBehind) {
  RecordProperty("todo", 2);
  constexpr int kPoints = 100;
  const kit::Stream stream;
  const auto d_a = kit::DeviceBuffer<float>::inout(kit::random_floats(kRods * kPoints), "d_a");
  const auto d_b = kit::DeviceBuffer<float>::output(kRods * kPoints, "d_b");
  cudaError_t error = cudaSuccess;
  kit::run("building the graph", [&] {
    Rods rods{d_a.get(), d_b.get(), kPoints, nullptr};
    error = build_steps(&rods, stream.get());
    if (rods.replay != nullptr) cudaGraphExecDestroy(rods.replay);
    return error;
  });
  expect_success("build_steps", error);
}

TEST(CudaGraph, OneReplayIsFiftySteps) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{2, 3, 31, 128, 129, 1025}, [](int n) {
    Diffusion diffusion(n);
    diffusion.replay(1);
    kit::expect_near(diffusion.d_a, diffuse_on_cpu(diffusion.start, kSteps),
                     tolerance(kSteps, kRods * n));
  });
}

// Every kernel takes a millisecond longer: the replay is as long as its longest chain.
TEST(CudaGraph, TheRodsWaitForEachOtherNowhere) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  constexpr double kSlow = 1e-3;  // seconds
  Diffusion diffusion(64);
  double length = 0;
  kit::run([&] {
    const std::vector<double> slow(kRods * kSteps, kSlow);
    wsim_slow_kernels(slow.data(), static_cast<int>(slow.size()));
    const double begin = wsim_timeline_now();
    run_steps(diffusion.rods, diffusion.stream.get());
    cudaStreamSynchronize(diffusion.stream.get());
    length = wsim_timeline_now() - begin;
    wsim_slow_kernels(nullptr, 0);
  });
  kit::budget("time steps one after the other", length / kSlow, kit::at_most(kSteps + 0.5),
              "A step waits for the step before it of its own rod, and for nothing of the other: "
              "the second rod begins when the first does");
}

TEST(CudaGraph, ReplaysFollowEachOther) {
  RecordProperty("todo", 3);
  Diffusion diffusion(300);
  diffusion.replay(3);
  kit::expect_near(diffusion.d_a, diffuse_on_cpu(diffusion.start, 3 * kSteps),
                   tolerance(3 * kSteps, kRods * 300));
}

TEST(CudaGraph, AReplayIsOneCall) {
  RecordProperty("todo", 3);
  Diffusion diffusion(64);
  const kit::Run run = diffusion.replay(1);
  kit::budget("calls that start work, per replay", static_cast<double>(diffusion.starts),
              kit::at_most(1), "The launches were recorded; cudaGraphLaunch starts all of them");
  if (kit::simulated() && run.counters().launches == 0) kit::fail("A replay ran no kernel.");
}

TEST(CudaGraph, SaysThatAReplayCouldNotBegin) {
  RecordProperty("todo", 3);
  constexpr int kPoints = 100;
  const kit::Stream stream;
  const std::vector<float> start = kit::random_floats(kRods * kPoints);
  const auto d_a = kit::DeviceBuffer<float>::inout(start, "d_a");
  const auto d_b = kit::DeviceBuffer<float>::output(kRods * kPoints, "d_b");
  Rods rods{d_a.get(), d_b.get(), kPoints, nullptr};
  expect_success("build_steps", build_steps(&rods, stream.get()));
  kit::run("replaying it", [&] { return run_steps(rods, stream.get()); });
  release_steps(&rods);
  kit::expect_near(d_a, diffuse_on_cpu(start, kSteps), tolerance(kSteps, kRods * kPoints));
}

TEST(CudaGraph, ReleasingTwiceIsHarmlessAndLeavesNothing) {
  RecordProperty("todo", 3);
  Diffusion diffusion(64);
  uint64_t destroyed = 0;
  kit::run("releasing it", [&] {
    expect_success("release_steps", release_steps(&diffusion.rods));
    expect_success("release_steps", release_steps(&diffusion.rods));
    destroyed = wsim_api_calls("cudaGraphExecDestroy");
  });
  if (diffusion.rods.replay != nullptr || (kit::simulated() && destroyed != 1)) {
    kit::fail(
        "After release_steps, rods->replay must be empty and the executable graph destroyed, once: "
        "cudaGraphExecDestroy.");
  }
}

TEST(CudaGraph, IsFast) {
  RecordProperty("todo", 3);
  constexpr int kPoints = 128;  // one block: the kernel is as short as a kernel can be
  kit::Speed speed;
  const auto start = speed.input<float>(kRods * kPoints, "start");
  const auto end = speed.output<float>(kRods * kPoints, "end");
  Diffusion diffusion(kPoints);
  const cudaStream_t stream = diffusion.stream.get();
  // A graph knows the addresses that it was recorded with, so the temperatures are brought there.
  const auto between_copies = [&](const std::function<void()>& steps) {
    const size_t bytes = kRods * kPoints * sizeof(float);
    cudaMemcpyAsync(diffusion.rods.d_a, start.get(), bytes, cudaMemcpyDeviceToDevice, stream);
    steps();
    cudaMemcpyAsync(end.get(), diffusion.rods.d_a, bytes, cudaMemcpyDeviceToDevice, stream);
  };
  speed.whole_call();
  speed.launch([&] { between_copies([&] { run_steps(diffusion.rods, stream); }); });
  speed.expect(
      end,
      [&](size_t i) {
        std::vector<float> from(kRods * kPoints);
        for (size_t k = 0; k < from.size(); ++k) from[k] = start.at(k);
        return kit::Expected(diffuse_on_cpu(from, kSteps)[i], 1.0);
      },
      kit::Tolerance::units(1.5 * kSteps));
  const auto one_by_one = [&] {
    between_copies([&] { launch_all_steps(diffusion.rods, stream); });
  };
  // Measured on an H200 (2026-11-21): 2.4 times for a graph that is one chain of 100 kernels, 4.3
  // to 5.5 times for two chains of 50.
  speed.against(kit::stage("100 launches", one_by_one), kit::Bars(1.3, 2.0, 2.5));
  speed.grade();
}

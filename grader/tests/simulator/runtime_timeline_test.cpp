// Modelled time: what overlaps and what does not, on the modelled device.
#include <warplings/sim.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "profile/timeline.h"
#include "profile/timeline_model.h"
#include "profile/timeline_report.h"
#include "runtime_fixture.h"

void launch_compute(float* to, int rounds, int blocks, int threads, cudaStream_t stream);
void launch_read_clocks(long long* to, cudaStream_t stream);
void launch_spin(long long cycles, cudaStream_t stream);

namespace warplings::sim {
namespace {

constexpr int kMultiprocessors = 132;
constexpr size_t kMegabyte = 1 << 20;

class ModelledTime : public RuntimeTest {
 protected:
  static cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&made, flags), cudaSuccess);
    return made;
  }
  static cudaEvent_t event() {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaEventCreate(&made), cudaSuccess);
    return made;
  }
  // Seconds on the timeline, from one synchronisation to the next.
  static double length_of(const std::function<void()>& work) {
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const double begin = wsim_timeline_now();
    work();
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return wsim_timeline_now() - begin;
  }
  static double ms_between(cudaEvent_t first, cudaEvent_t second) {
    float ms = -1;
    EXPECT_EQ(cudaEventElapsedTime(&ms, first, second), cudaSuccess);
    return ms;
  }
  // Code is loaded at the first launch.
  static void warm_up(float* to) {
    launch_compute(to, 1, 1, 32, nullptr);
    cudaDeviceSynchronize();
  }
};

struct Chunks {
  static constexpr size_t kBytes = 4 * kMegabyte;
  char *host_in, *host_out, *on_device;
  explicit Chunks(char* in, char* out, char* device)
      : host_in(in), host_out(out), on_device(device) {}
  // Copy in, a kernel of about the same length, copy out.
  void run(const std::vector<cudaStream_t>& streams) const {
    for (size_t i = 0; i < 3; ++i) {
      const cudaStream_t s = streams[i % streams.size()];
      cudaMemcpyAsync(on_device + i * kBytes, host_in + i * kBytes, kBytes, cudaMemcpyHostToDevice,
                      s);
      launch_compute(reinterpret_cast<float*>(on_device), 6000, kMultiprocessors, 128, s);
      cudaMemcpyAsync(host_out + i * kBytes, on_device + i * kBytes, kBytes, cudaMemcpyDeviceToHost,
                      s);
    }
  }
};

TEST_F(ModelledTime, ChunksOnThreeStreamsOverlap) {
  const Chunks chunks(pinned<char>(3 * Chunks::kBytes), pinned<char>(3 * Chunks::kBytes),
                      device<char>(3 * Chunks::kBytes));
  cudaMemset(chunks.on_device, 0, 3 * Chunks::kBytes);
  warm_up(reinterpret_cast<float*>(chunks.on_device));
  const std::vector<cudaStream_t> streams = {stream(), stream(), stream()};
  const double serial = length_of([&] { chunks.run({streams[0]}); });
  const double overlapped = length_of([&] { chunks.run(streams); });
  EXPECT_GE(serial / overlapped, 1.25);
  EXPECT_LE(serial / overlapped, 3.0) << "there are two copy engines and one device";
}

TEST_F(ModelledTime, StreamsThatAreWaitedForOneByOneOverlapAsMuch) {
  const Chunks chunks(pinned<char>(3 * Chunks::kBytes), pinned<char>(3 * Chunks::kBytes),
                      device<char>(3 * Chunks::kBytes));
  cudaMemset(chunks.on_device, 0, 3 * Chunks::kBytes);
  warm_up(reinterpret_cast<float*>(chunks.on_device));
  const std::vector<cudaStream_t> streams = {stream(), stream(), stream()};
  const double together = length_of([&] { chunks.run(streams); });
  const double one_by_one = length_of([&] {
    chunks.run(streams);
    for (const cudaStream_t s : streams) cudaStreamSynchronize(s);
  });
  // Each wait of the host costs it something.
  EXPECT_NEAR(one_by_one, together, 4 * timeline_model().wake);
}

TEST_F(ModelledTime, TheDefaultStreamOverlapsNothing) {
  const Chunks chunks(pinned<char>(3 * Chunks::kBytes), pinned<char>(3 * Chunks::kBytes),
                      device<char>(3 * Chunks::kBytes));
  cudaMemset(chunks.on_device, 0, 3 * Chunks::kBytes);
  warm_up(reinterpret_cast<float*>(chunks.on_device));
  const double one = length_of([&] { chunks.run({stream()}); });
  const double in_default = length_of([&] { chunks.run({nullptr}); });
  EXPECT_NEAR(in_default / one, 1.0, 0.01);
  // Blocking streams with work of the default stream in between do not overlap either.
  const std::vector<cudaStream_t> blocking = {stream(cudaStreamDefault), nullptr};
  const double mixed = length_of([&] { chunks.run(blocking); });
  EXPECT_GE(mixed / one, 0.99);
}

TEST_F(ModelledTime, CopiesInBothDirectionsOverlapButNotInOne) {
  const size_t bytes = 16 * kMegabyte;
  char *first = pinned<char>(bytes), *second = pinned<char>(bytes);
  char *a = device<char>(bytes), *b = device<char>(bytes);
  cudaMemset(b, 0, bytes);
  cudaStream_t s = stream(), t = stream();
  const auto in = [&](char* to, char* from, cudaStream_t where) {
    cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, where);
  };
  const double one = length_of([&] { in(a, first, s); });
  const double same_way = length_of([&] {
    in(a, first, s);
    in(b, second, t);
  });
  const double both_ways = length_of([&] {
    in(a, first, s);
    cudaMemcpyAsync(second, b, bytes, cudaMemcpyDeviceToHost, t);
  });
  EXPECT_GT(same_way, 1.9 * one);
  EXPECT_LT(both_ways, 1.1 * one);
}

TEST_F(ModelledTime, PageableMemoryIsCopiedMoreSlowly) {
  const size_t bytes = 16 * kMegabyte;
  std::vector<char> pageable(bytes, 1);
  char* page_locked = pinned<char>(bytes);
  char* to = device<char>(bytes);
  const double slow =
      length_of([&] { cudaMemcpy(to, pageable.data(), bytes, cudaMemcpyHostToDevice); });
  const double fast =
      length_of([&] { cudaMemcpy(to, page_locked, bytes, cudaMemcpyHostToDevice); });
  EXPECT_GE(slow / fast, 1.3);
  const double rate = timeline_model().pinned_rate;
  EXPECT_NEAR(static_cast<double>(bytes) / fast, rate, 0.1 * rate);
}

TEST_F(ModelledTime, KernelsOverlapIfTheDeviceHoldsBoth) {
  float* to = device<float>(1);
  warm_up(to);
  cudaStream_t s = stream(), t = stream();
  // How much longer two take than one, in lengths of one without the host's part of it.
  const auto more_for_two = [&](int blocks, int rounds) {
    const TimelineModel& model = timeline_model();
    const double one = length_of([&] { launch_compute(to, rounds, blocks, 256, s); });
    const double both = length_of([&] {
      launch_compute(to, rounds, blocks, 256, s);
      launch_compute(to, rounds, blocks, 256, t);
    });
    return (both - one) / (one - model.launch - model.launch_latency - model.wake);
  };
  // The second launch alone comes later than the first, by what a launch costs the host.
  EXPECT_LT(more_for_two(kMultiprocessors / 2, 4000), 0.5);
  EXPECT_GT(more_for_two(kMultiprocessors * 8, 1000), 0.9)
      << "2048 threads on every multiprocessor";
}

TEST_F(ModelledTime, AGraphOfTinyKernelsIsFasterThanItsLaunches) {
  float* to = device<float>(1);
  warm_up(to);
  cudaStream_t s = stream();
  const auto launches = [&] {
    for (int i = 0; i < 100; ++i) launch_compute(to, 1, 1, 32, s);
  };
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
  launches();
  ASSERT_EQ(cudaStreamEndCapture(s, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const double one_by_one = length_of(launches);
  const double as_graph = length_of([&] { cudaGraphLaunch(executable, s); });
  EXPECT_GE(one_by_one / as_graph, 1.3);
  // The host is what 100 launches wait for, the gaps between its nodes what the graph does.
  const TimelineModel& model = timeline_model();
  EXPECT_LE(one_by_one / as_graph, model.launch / (model.kernel_least + model.graph_gap));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(ModelledTime, EventsMeasureWhatLiesBetween) {
  const auto bytes = static_cast<size_t>(timeline_model().pinned_rate * 1e-3);
  char* from = pinned<char>(bytes);
  char* to = device<char>(bytes);
  cudaEvent_t start = event(), stop = event();
  cudaStream_t s = stream();
  cudaEventRecord(start, s);
  cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s);
  cudaEventRecord(stop, s);
  float ms = 0;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaErrorNotReady);
  cudaEventSynchronize(stop);
  EXPECT_NEAR(ms_between(start, stop), 1.0, 0.02);
}

TEST_F(ModelledTime, EventsOfAnotherStreamSeeTheWait) {
  float* to = device<float>(1);
  warm_up(to);
  cudaStream_t s = stream(), t = stream();
  cudaEvent_t begin = event(), reached = event(), end = event();
  cudaEventRecord(begin, s);
  launch_compute(to, 20000, kMultiprocessors, 256, s);
  cudaEventRecord(reached, s);
  cudaStreamWaitEvent(t, reached, 0);
  cudaEventRecord(end, t);
  cudaDeviceSynchronize();
  EXPECT_GT(ms_between(begin, reached), 0.01);
  EXPECT_GE(ms_between(begin, end), ms_between(begin, reached));
}

TEST_F(ModelledTime, TheFirstLaunchLoadsTheCode) {
  float* to = device<float>(1);
  Timeline::instance().forget_loaded_code();
  const auto launch = [&] { launch_compute(to, 1, 1, 32, nullptr); };
  const double first = length_of(launch);
  EXPECT_NEAR(first - length_of(launch), timeline_model().first_launch, 1e-9);
}

TEST_F(ModelledTime, PollingEnds) {
  float* to = device<float>(1);
  cudaStream_t s = stream();
  cudaEvent_t done = event();
  launch_compute(to, 1000, 1, 32, s);
  cudaEventRecord(done, s);
  int polls = 0;
  while (cudaEventQuery(done) == cudaErrorNotReady) ++polls;
  EXPECT_GT(polls, 0);
  EXPECT_EQ(cudaStreamQuery(s), cudaSuccess);
  EXPECT_GE(wsim_timeline_now(), 1000 * 4 / 1.98e9) << "the host has seen the end";
}

TEST_F(ModelledTime, IsTheSameEveryTime) {
  const Chunks chunks(pinned<char>(3 * Chunks::kBytes), pinned<char>(3 * Chunks::kBytes),
                      device<char>(3 * Chunks::kBytes));
  cudaMemset(chunks.on_device, 0, 3 * Chunks::kBytes);
  warm_up(reinterpret_cast<float*>(chunks.on_device));
  const std::vector<cudaStream_t> streams = {stream(), stream(), stream()};
  const double first = length_of([&] { chunks.run(streams); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(length_of([&] { chunks.run(streams); }), first, 1e-9);
  }
}

TEST_F(ModelledTime, ItemsSayWhatRanWhereAndWhen) {
  const size_t bytes = kMegabyte;
  char* from = pinned<char>(bytes);
  char* to = device<char>(bytes);
  cudaStream_t s = stream();
  cudaDeviceSynchronize();
  wsim_reset_counters();
  cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s);
  launch_compute(reinterpret_cast<float*>(to), 10, 1, 32, s);
  cudaStreamSynchronize(s);
  ASSERT_EQ(wsim_timeline_count(), 2);
  wsim_timeline_item copy, kernel;
  ASSERT_EQ(wsim_get_timeline_item(0, &copy), 0);
  ASSERT_EQ(wsim_get_timeline_item(1, &kernel), 0);
  EXPECT_EQ(wsim_get_timeline_item(2, &copy), -1);
  EXPECT_STREQ(copy.kind, "copy to device");
  EXPECT_EQ(copy.bytes, bytes);
  EXPECT_STREQ(kernel.kind, "kernel");
  EXPECT_NE(std::strstr(kernel.name, "compute"), nullptr) << kernel.name;
  EXPECT_STREQ(kernel.stream, copy.stream);
  EXPECT_LE(copy.issued, copy.start);
  EXPECT_LT(copy.start, copy.end);
  EXPECT_LE(copy.end, kernel.start);
  EXPECT_LE(kernel.end, wsim_timeline_now());
  EXPECT_STREQ(wsim_timeline_label(), "modelled (H200)");
}

TEST_F(ModelledTime, ThePictureIsNoWiderThanATerminal) {
  const Chunks chunks(pinned<char>(3 * Chunks::kBytes), pinned<char>(3 * Chunks::kBytes),
                      device<char>(3 * Chunks::kBytes));
  cudaMemset(chunks.on_device, 0, 3 * Chunks::kBytes);
  warm_up(reinterpret_cast<float*>(chunks.on_device));
  wsim_reset_counters();
  chunks.run({stream(), stream(), stream()});
  cudaDeviceSynchronize();
  const std::string picture = timeline_picture(Timeline::instance());
  size_t begin = 0;
  for (size_t end; (end = picture.find('\n', begin)) != std::string::npos; begin = end + 1) {
    EXPECT_LE(end - begin, 80u) << picture.substr(begin, end - begin);
  }
  EXPECT_EQ(picture.rfind("modelled (H200)", 0), 0u) << picture;
  for (const char* part : {"host", ">>", "##", "<<", "ww", "saved by overlap"}) {
    EXPECT_NE(picture.find(part), std::string::npos) << part << "\n" << picture;
  }
  const std::string trace = timeline_trace(Timeline::instance());
  EXPECT_NE(trace.find("\"traceEvents\""), std::string::npos);
  EXPECT_NE(trace.find("\"cat\": \"copy to host\""), std::string::npos);
}

TEST_F(ModelledTime, ClocksInAKernelCountCycles) {
  long long* to = device<long long>(3);
  long long first[2], second[2];
  for (long long* result : {first, second}) {
    launch_read_clocks(to, nullptr);
    ASSERT_EQ(cudaMemcpy(result, to, sizeof first, cudaMemcpyDeviceToHost), cudaSuccess);
  }
  // 100 dependent multiply-adds of 4 cycles, and the loop around them.
  EXPECT_GE(first[0], 100 * 4);
  EXPECT_LE(first[0], 100 * 40);
  EXPECT_EQ(first[0], second[0]) << "the same every time";
  EXPECT_GT(second[1], first[1]) << "nanoseconds go on from kernel to kernel";
}

TEST_F(ModelledTime, AKernelThatWaitsOnItsClockTakesThatLong) {
  cudaStream_t s = stream(), t = stream();
  launch_spin(1, s);
  constexpr long long kCycles = 1980 * 1000;  // one millisecond
  const double one = length_of([&] { launch_spin(kCycles, s); });
  EXPECT_NEAR(one, 1e-3, 0.02e-3);
  const double two = length_of([&] {
    launch_spin(kCycles, s);
    launch_spin(kCycles, t);
  });
  EXPECT_LT(two, 1.05 * one);
}

}  // namespace
}  // namespace warplings::sim

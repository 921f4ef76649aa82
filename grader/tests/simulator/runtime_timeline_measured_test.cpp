// The experiments of grader/tests/gpu/timeline_constants.cu in modelled time, against what they
// gave on the modelled card.
#include <warplings/sim.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime_fixture.h"

void launch_empty(cudaStream_t stream);
void launch_spin(long long cycles, cudaStream_t stream);

namespace warplings::sim {
namespace {

constexpr int kCalls = 200;
constexpr long long kBusy = 4'000'000;  // cycles: longer than the host needs for kCalls of anything

class MeasuredTime : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    std::ifstream file(WARPLINGS_MEASURED_TIMES);
    ASSERT_TRUE(file) << WARPLINGS_MEASURED_TIMES;
    figures_ = nlohmann::json::parse(file).at("figures");
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    launch_empty(stream_);
    launch_spin(1, stream_);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  // The model's constants are rounded to three digits; a kernel also takes what it executes.
  void expect_measured(const char* name, double modelled) const {
    const double measured = figures_.at(name).get<double>();
    EXPECT_NEAR(modelled, measured, 0.03 * measured) << name;
  }
  // Seconds of the host.
  static double host_time(const std::function<void()>& work) {
    const double begin = wsim_timeline_now();
    work();
    return wsim_timeline_now() - begin;
  }
  // ... for each of kCalls calls while the device is busy.
  double host_cost(const std::function<void()>& call) const {
    launch_spin(kBusy, stream_);
    const double seconds = host_time([&] {
      for (int i = 0; i < kCalls; ++i) call();
    });
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return seconds / kCalls;
  }
  // Seconds of the device, with everything enqueued before it begins.
  double device_time(const std::function<void()>& work) const {
    cudaEvent_t start, stop;
    EXPECT_EQ(cudaEventCreate(&start), cudaSuccess);
    EXPECT_EQ(cudaEventCreate(&stop), cudaSuccess);
    launch_spin(kBusy, stream_);
    EXPECT_EQ(cudaEventRecord(start, stream_), cudaSuccess);
    work();
    EXPECT_EQ(cudaEventRecord(stop, stream_), cudaSuccess);
    EXPECT_EQ(cudaEventSynchronize(stop), cudaSuccess);
    float ms = 0;
    EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(stop), cudaSuccess);
    return 1e-3 * ms;
  }
  double time_of_kernels(int count) const {
    return device_time([&] {
      for (int i = 0; i < count; ++i) launch_empty(stream_);
    });
  }

  nlohmann::json figures_;
  cudaStream_t stream_ = nullptr;
};

TEST_F(MeasuredTime, CallsCostTheHostWhatTheyDidOnTheCard) {
  char* to = device<char>(4096);
  char* from = pinned<char>(4096);
  cudaEvent_t event;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  expect_measured("call", host_cost([] {
                    int current = 0;
                    cudaGetDevice(&current);
                  }));
  expect_measured("launch", host_cost([&] { launch_empty(stream_); }) -
                                figures_.at("call").get<double>());  // push of the configuration
  expect_measured("copy_call", host_cost([&] {
                    cudaMemcpyAsync(to, from, 4096, cudaMemcpyHostToDevice, stream_);
                  }));
  expect_measured("event_call", host_cost([&] { cudaEventRecord(event, stream_); }));
  void* memory = nullptr;
  expect_measured("allocate", host_time([&] { cudaMalloc(&memory, 4096); }));
  cudaStream_t made;
  expect_measured("create", host_time([&] { cudaStreamCreate(&made); }));
  expect_measured("launch_and_wait", host_time([&] {
                    launch_empty(stream_);
                    cudaStreamSynchronize(stream_);
                  }));
}

TEST_F(MeasuredTime, EmptyKernelsFollowEachOtherAsOnTheCard) {
  expect_measured("kernel_least_plus_gap", (time_of_kernels(201) - time_of_kernels(1)) / 200);
  cudaStream_t other;
  cudaEvent_t there, back;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&there), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&back), cudaSuccess);
  const double turns = device_time([&] {
    for (int i = 0; i < kCalls / 2; ++i) {
      launch_empty(stream_);
      cudaEventRecord(there, stream_);
      cudaStreamWaitEvent(other, there, 0);
      launch_empty(other);
      cudaEventRecord(back, other);
      cudaStreamWaitEvent(stream_, back, 0);
    }
  });
  expect_measured("kernel_least_plus_gap_plus_stream_gap", turns / kCalls);
}

TEST_F(MeasuredTime, AGraphCostsWhatItDidOnTheCard) {
  constexpr int kNodes = 1000;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  for (int i = 0; i < kNodes; ++i) launch_empty(stream_);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  expect_measured("instantiate_node",
                  host_time([&] { cudaGraphInstantiate(&executable, graph, 0); }) / kNodes);
  expect_measured("kernel_least_plus_graph_gap",
                  device_time([&] { cudaGraphLaunch(executable, stream_); }) / kNodes);
  expect_measured("graph_launch_of_1000", host_time([&] { cudaGraphLaunch(executable, stream_); }));
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(MeasuredTime, CopiesRunAsFastAsOnTheCard) {
  constexpr size_t kBytes = 32 << 20;
  char* to = device<char>(kBytes);
  char* page_locked = pinned<char>(kBytes);
  std::vector<char> pageable(kBytes, 1);
  cudaMemset(to, 0, kBytes);
  const auto rate = [](double seconds) { return static_cast<double>(kBytes) / seconds; };
  const auto copy = [&](void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    return device_time([&] { cudaMemcpyAsync(target, source, bytes, kind, stream_); });
  };
  const auto blocking = [&](void* target, const void* source, cudaMemcpyKind kind) {
    return rate(host_time([&] { cudaMemcpy(target, source, kBytes, kind); }));
  };
  expect_measured("copy_latency", copy(to, page_locked, 4, cudaMemcpyHostToDevice));
  expect_measured("pinned_rate_to_device",
                  rate(copy(to, page_locked, kBytes, cudaMemcpyHostToDevice)));
  expect_measured("pinned_rate_to_host",
                  rate(copy(page_locked, to, kBytes, cudaMemcpyDeviceToHost)));
  expect_measured("pageable_rate_to_device", blocking(to, pageable.data(), cudaMemcpyHostToDevice));
  expect_measured("pageable_rate_to_host", blocking(pageable.data(), to, cudaMemcpyDeviceToHost));
  expect_measured("host_rate", blocking(page_locked, pageable.data(), cudaMemcpyHostToHost));
}

}  // namespace
}  // namespace warplings::sim

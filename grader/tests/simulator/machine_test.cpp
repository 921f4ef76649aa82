// Machines: each has its own memory, streams, findings, counters, model and options.
#include "core/machine.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/finding.h"
#include "core/gpu_model.h"
#include "exec/launch.h"
#include "memory/device_memory.h"
#include "profile/counters.h"
#include "ptx/module.h"
#include "warplings/sim.h"

namespace warplings::sim {
namespace {

constexpr unsigned kThreads = 64;

// Every thread writes its number to one word of shared memory, and what it reads there to out[tid].
constexpr const char* kRacy = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry racy(.param .u64 racy_in, .param .u64 racy_out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 word[4];
  ld.param.u64 %rd1, [racy_out];
  mov.u32 %r1, %tid.x;
  st.shared.u32 [word], %r1;
  ld.shared.u32 %r2, [word];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
})";

// out[tid] = in[tid] + in[tid], where nobody has written `in`.
constexpr const char* kCareless = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry careless(.param .u64 careless_in, .param .u64 careless_out) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [careless_in];
  ld.param.u64 %rd2, [careless_out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  add.u32 %r3, %r2, %r2;
  st.global.u32 [%rd5], %r3;
  ret;
})";

// A program in steps, so that two can be interleaved. Its machine must be the current one.
class Program {
 public:
  Program(const char* ptx, const char* kernel) : ptx_(ptx), kernel_(kernel) {}

  void prepare() {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&in_), kBytes), cudaSuccess);
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&out_), kBytes), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    module_ = load_module(ptx::parse(ptx_, "machine_test.ptx"));
  }
  void launch() {
    const Kernel* kernel = find_kernel(module_, kernel_);
    ASSERT_NE(kernel, nullptr);
    std::vector<uint8_t> arguments(kernel->param_bytes);
    std::memcpy(arguments.data(), &in_, sizeof in_);
    std::memcpy(arguments.data() + sizeof in_, &out_, sizeof out_);
    LaunchConfig config;
    config.block.x = kThreads;
    EXPECT_EQ(run_kernel(*kernel, config, arguments.data()), LaunchStatus::kOk);
  }
  // Everything that a machine can say of what ran on it.
  std::string report() {
    std::vector<unsigned> values(kThreads);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), out_, kBytes, cudaMemcpyDeviceToHost, stream_),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    std::string text;
    for (const unsigned value : values) text += std::to_string(value) + " ";
    for (const Finding& finding : FindingLog::instance().snapshot()) {
      text += "\n" + finding.check + "/" + finding.kind + " " + std::to_string(finding.count) +
              ": " + finding.message;
    }
    wsim_counters counters{};
    wsim_read_counters(&counters);
    text += "\n" + std::to_string(counters.launches) + " launches, " +
            std::to_string(counters.warp_instructions) + " instructions, " +
            std::to_string(counters.shared_load_requests) + " shared loads, " +
            std::to_string(wsim_api_calls("cudaMalloc")) + " allocations, " +
            std::to_string(wsim_timeline_now()) + " s on " + gpu_model().name;
    return text;
  }

 private:
  static constexpr size_t kBytes = kThreads * sizeof(unsigned);
  const char* ptx_;
  const char* kernel_;
  unsigned* in_ = nullptr;
  unsigned* out_ = nullptr;
  cudaStream_t stream_ = nullptr;
  LoadedModule* module_ = nullptr;
};

std::string alone(const char* ptx, const char* kernel, const Options& options) {
  Machine machine(options);
  const Machine::Use use(machine);
  Program program(ptx, kernel);
  program.prepare();
  program.launch();
  program.launch();
  return program.report();
}

TEST(Machines, GiveTheReportsThatEachGivesAlone) {
  Options small;
  small.model = "t4";
  const std::string racy_alone = alone(kRacy, "racy", Options());
  const std::string careless_alone = alone(kCareless, "careless", small);
  EXPECT_NE(racy_alone.find("racecheck/"), std::string::npos) << racy_alone;
  EXPECT_NE(careless_alone.find("initcheck/"), std::string::npos) << careless_alone;

  Machine first(Options{}), second(small);
  Program racy(kRacy, "racy"), careless(kCareless, "careless");
  const auto on = [](Machine& machine, auto step) {
    const Machine::Use use(machine);
    step();
  };
  on(first, [&] { racy.prepare(); });
  on(second, [&] { careless.prepare(); });
  on(first, [&] { racy.launch(); });
  on(second, [&] { careless.launch(); });
  on(second, [&] { careless.launch(); });
  on(first, [&] { racy.launch(); });
  on(second, [&] { EXPECT_EQ(careless.report(), careless_alone); });
  on(first, [&] { EXPECT_EQ(racy.report(), racy_alone); });
}

TEST(Machines, GiveTheReportsThatEachGivesAloneWhileAnotherRuns) {
  constexpr int kTimes = 5;
  Options small;
  small.model = "t4";
  const std::string racy_alone = alone(kRacy, "racy", Options());
  const std::string careless_alone = alone(kCareless, "careless", small);
  std::thread other([&] {
    for (int i = 0; i < kTimes; ++i) EXPECT_EQ(alone(kRacy, "racy", Options()), racy_alone);
  });
  for (int i = 0; i < kTimes; ++i) EXPECT_EQ(alone(kCareless, "careless", small), careless_alone);
  other.join();
}

TEST(Machines, DoWhatTheirOptionsSay) {
  Options options;
  options.checks = options.counters = false;
  options.devices = 3;
  options.memory = 1 << 20;
  Machine machine(options);
  const Machine::Use use(machine);
  Program program(kRacy, "racy");
  program.prepare();
  program.launch();
  EXPECT_TRUE(FindingLog::instance().snapshot().empty());
  EXPECT_EQ(CounterStore::instance().totals().warp_instructions, 0u);
  int devices = 0;
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  EXPECT_EQ(devices, 3);
  void* too_much = nullptr;
  EXPECT_EQ(cudaMalloc(&too_much, 2 << 20), cudaErrorMemoryAllocation);
}

TEST(Machines, GiveTheirMemoryBack) {
  const uint64_t usual = DeviceMemory::instance().base();
  for (size_t i = 0; i < 2 * DeviceMemory::kMostArenas; ++i) {
    Machine machine{Options()};
    const Machine::Use use(machine);
    void* pointer = nullptr;
    ASSERT_EQ(cudaMalloc(&pointer, 1024), cudaSuccess);
    EXPECT_NE(DeviceMemory::instance().base(), usual);
    EXPECT_EQ(DeviceMemory::instance().bytes_in_use(), 1024u);
  }
  EXPECT_EQ(DeviceMemory::instance().base(), usual);
}

}  // namespace
}  // namespace warplings::sim

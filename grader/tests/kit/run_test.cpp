#include "failure_of.h"
#include "kernels.h"
#include "kit/context.h"
#include "kit/host_code.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;

kit::Run twice(int n) {
  const std::vector<float> x = kit::random_floats(n);
  std::vector<float> expected;
  for (const float value : x) expected.push_back(2 * value);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  const kit::Run run = kit::run([&] { launch_twice(d_x.get(), d_y.get(), n); });
  kit::expect_equal(d_y, expected);
  return run;
}

}  // namespace

TEST(KitRun, CountsWhatTheLauncherDid) {
  const kit::Run run = twice(100);
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run.launches().size(), 1u);
  const kit::Launch& launch = run.launches()[0];
  EXPECT_EQ(launch.kernel, "twice");
  EXPECT_EQ(launch.blocks(), 2u);
  EXPECT_EQ(launch.threads(), 128u);
  EXPECT_EQ(kit::base_name(launch.file), "kernels.cu");
  EXPECT_GT(launch.line, 0);
  EXPECT_EQ(run.counters().global_load_bytes, 400u);
  EXPECT_EQ(run.counters().global_store_bytes, 400u);
}

TEST(KitRun, StartsCountingAfresh) {
  twice(100);
  EXPECT_EQ(twice(32).counters().global_load_bytes, 128u);
}

TEST(KitRun, SumsUpTheSimulatedWork) {
  const uint64_t before = kit::context().thread_instructions;
  twice(64);
  twice(64);  // the work of a run is added when the next one begins
  EXPECT_GT(kit::context().thread_instructions, before);
}

TEST(KitRun, ReportsARefusedLaunch) {
  const std::string message =
      failure_of([] { kit::run("no threads", [] { launch_nothing_with_zero_threads(); }); });
  EXPECT_TRUE(contains(message, "no threads: ")) << message;
  EXPECT_TRUE(twice(10).ok()) << "a refused launch does not break the device";
}

// What CUDA 13 says about a block of 0 threads.
TEST(KitRun, AcceptsAnExpectedError) {
  kit::expect_cuda_error(cudaErrorInvalidValue);
  EXPECT_TRUE(kit::run([] { launch_nothing_with_zero_threads(); }).ok());
}

TEST(KitRun, RefusesTheAbsenceOfAnExpectedError) {
  kit::expect_cuda_error(cudaErrorInvalidValue);
  const std::string message = failure_of([] { kit::run([] {}); });
  EXPECT_TRUE(contains(message, "must end with cudaErrorInvalidValue")) << message;
}

TEST(KitRun, AQueryOfUnfinishedWorkIsNoFailure) {
  const auto y = kit::DeviceBuffer<float>::output(4, "y");
  const auto x = kit::DeviceBuffer<float>::input(std::vector<float>(4, 1.0f), "x");
  cudaEvent_t done = nullptr;
  ASSERT_EQ(cudaEventCreate(&done), cudaSuccess);
  int unfinished = 0;
  const kit::Run run = kit::run([&] {
    launch_twice(x.get(), y.get(), 4);
    cudaEventRecord(done);
    while (cudaEventQuery(done) == cudaErrorNotReady) ++unfinished;
  });
  EXPECT_TRUE(run.ok()) << unfinished;
  cudaEventDestroy(done);
}

TEST(KitRun, RecoversFromAFault) {
  const auto x = kit::DeviceBuffer<float>::inout(std::vector<float>(4), "x");
  EXPECT_NE(failure_of([&] { kit::run([&] { launch_store(x.get(), 1 << 28, 1); }); }), "");
  EXPECT_TRUE(twice(10).ok());
}

TEST(KitRun, SaysThatNothingWasLaunched) {
  const auto y = kit::DeviceBuffer<float>::output(4, "y");
  const std::string message = failure_of([&] {
    kit::run([] {});
    kit::expect_equal(y, std::vector<float>(4));
  });
  EXPECT_TRUE(contains(message, "No element of y was ever written.")) << message;
  EXPECT_TRUE(contains(message, "No kernel was launched.")) << message;
}

// A status or a size that is wrong needs no kernel to be right.
TEST(KitRun, SpeaksOfNoLaunchWhereNoResultIsWrong) {
  const std::string message = failure_of([] {
    kit::run([] {});
    kit::fail("The number of rows is 1, expected 4.");
  });
  EXPECT_TRUE(contains(message, "expected 4.")) << message;
  EXPECT_FALSE(contains(message, "No kernel was launched.")) << message;
}

TEST(KitRun, SummarisesTheLaunch) {
  const auto x = kit::DeviceBuffer<float>::input(std::vector<float>(200, 1.0f), "x");
  const auto y = kit::DeviceBuffer<float>::output(200, "y");
  const std::string message = failure_of([&] {
    kit::run("n = 200", [&] { launch_twice(x.get(), y.get(), 128); });
    kit::expect_equal(y, std::vector<float>(200, 2.0f));
  });
  EXPECT_TRUE(contains(message,
                       "n = 200: 72 of 200 elements of y are wrong: the last 72 were never "
                       "written."))
      << message;
  EXPECT_TRUE(contains(message, "has 2 blocks of 64 threads = 128 threads.")) << message;
}

TEST(KitRun, NoticesLeaks) {
  kit::Run run;
  const std::string left = failure_of([&] { run = kit::run([] { launch_and_leak(2); }); });
  EXPECT_TRUE(contains(left, "Left behind: 2 allocations of device memory")) << left;
  EXPECT_EQ(run.leaked_allocations(), 2u);
  EXPECT_EQ(run.leaked_bytes(), 2000u);
  const std::string message = failure_of([&] { kit::expect_no_leak(run); });
  EXPECT_TRUE(contains(message, "2 allocations (2000 bytes)")) << message;
  EXPECT_TRUE(kit::expect_no_leak(twice(10)));
}

TEST(KitRun, CountsCallsOfTheRuntime) {
  failure_of([] { kit::run([] { launch_and_leak(3); }); });
  EXPECT_EQ(kit::api_calls("cudaMalloc"), 3u);
}

TEST(KitRun, ReportsExceptions) {
  const std::string message =
      failure_of([] { kit::run([] { throw std::runtime_error("out of ideas"); }); });
  EXPECT_TRUE(contains(message, "The launcher threw an exception: out of ideas")) << message;
}

TEST(KitRun, CodeOfTheHostNeedsNoDevice) {
  int device = -1;
  EXPECT_TRUE(kit::expect_host_code("asks", [&] { device = kit::current_device(); }));
  EXPECT_EQ(device, 0);
  const auto d_y = kit::DeviceBuffer<float>::output(2, "y");
  const std::string message = failure_of(
      [&] { kit::expect_host_code("launch_store", [&] { launch_store(d_y.get(), 1, 3.0f); }); });
  EXPECT_NE(message.find("launch_store calls CUDA or launches a kernel."), std::string::npos)
      << message;
}

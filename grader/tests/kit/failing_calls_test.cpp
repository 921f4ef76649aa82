// Launchers that return a status: each of their calls fails once.
#include "failure_of.h"
#include "kernels.h"
#include "kit/context.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {

constexpr int kCount = 100;

// `factor`: of the expected values.
kit::Run twice(Care care, int* runs = nullptr, float factor = 2) {
  const std::vector<float> x = kit::random_floats(kCount);
  std::vector<float> expected;
  for (const float value : x) expected.push_back(factor * value);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  const kit::Run run = kit::run([&] {
    if (runs != nullptr) ++*runs;
    return twice_by_copy(d_x.get(), d_y.get(), kCount, care);
  });
  kit::expect_equal(d_y, expected);
  return run;
}

void expect_failure(Care care, const std::string& call, const std::string& reason) {
  const std::string text = failure_of([care] { twice(care); });
  EXPECT_NE(text.find(call + " at kernels.cu:"), std::string::npos) << text;
  EXPECT_NE(text.find(reason), std::string::npos) << text;
}

}  // namespace

TEST(KitFailingCalls, EachCallFailsOnceAndTheLastRunCounts) {
  int runs = 0;
  const kit::Run run = twice(kCareful, &runs);
  ASSERT_TRUE(run.ok());
  // With other values twice; none, cudaMalloc, cudaMemcpy, the launch, cudaMemsetAsync, and none.
  EXPECT_EQ(runs, 2 + 6);
  EXPECT_EQ(run.launches().size(), 1u);
  EXPECT_EQ(kit::api_calls("cudaMemcpy"), 1u);
}

TEST(KitFailingCalls, AreMadeOnceForEachTestAndLine) {
  int runs = 0;
  for (int i = 0; i < 3; ++i) twice(kCareful, &runs);
  EXPECT_EQ(runs, (2 + 6) + 2 * (2 + 1));
}

TEST(KitFailingCalls, FindADroppedStatus) {
  expect_failure(kDropsTheMemset, "cudaMemsetAsync", "reported success all the same");
}

TEST(KitFailingCalls, FindALaunchThatNobodyAskedAbout) {
  expect_failure(kDropsTheLaunch, "the launch", "cudaGetLastError()");
}

TEST(KitFailingCalls, FindMemoryThatIsLeftBehindOnTheWayOut) {
  expect_failure(kLeaksOnError, "cudaMemcpy", "Left behind: 1 allocation of device memory");
}

TEST(KitFailingCalls, FindAFunctionThatGoesOn) {
  expect_failure(kUsesWhatIsNotThere, "cudaMalloc", "The function did not stop there");
}

// What the undisturbed run does wrong comes first, however it treats calls that fail.
TEST(KitFailingCalls, WrongValuesAreToldBeforeThem) {
  const std::string text = failure_of([] { twice(kDropsTheMemset, nullptr, 3); });
  EXPECT_EQ(text.find("A call that fails"), std::string::npos) << text;
  EXPECT_NE(text.find("y[0]"), std::string::npos) << text;
}

TEST(KitFailingCalls, FindingsAreToldBeforeThem) {
  const std::string text = failure_of([] {
    const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(kCount), "x");
    const auto d_y = kit::DeviceBuffer<float>::output(kCount / 2, "y");  // half as long
    kit::run([&] { return twice_by_copy(d_x.get(), d_y.get(), kCount, kDropsTheMemset); });
  });
  EXPECT_EQ(text.find("A call that fails"), std::string::npos) << text;
  EXPECT_NE(text.find("kernels.cu:"), std::string::npos) << text;
}

// What an undisturbed run leaves behind is no matter of calls that fail.
TEST(KitFailingCalls, WhatEachRunLeavesBehindIsToldBeforeThem) {
  const auto d_x = kit::DeviceBuffer<float>::input(std::vector<float>(kCount, 1.0f), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(kCount, "y");
  std::vector<void*> left;
  const std::string text = failure_of([&] {
    kit::run([&] {
      left.emplace_back();
      cudaMalloc(&left.back(), 64);
      return twice_by_copy(d_x.get(), d_y.get(), kCount, kDropsTheMemset);
    });
    kit::report_class_problem();
  });
  for (void* memory : left) cudaFree(memory);
  EXPECT_EQ(text.find("A call that fails"), std::string::npos) << text;
  EXPECT_NE(text.find("Left behind: 1 allocation"), std::string::npos) << text;
}

TEST(KitFailingCalls, SayThatWithoutThemAllWentWell) {
  const std::string text = failure_of([] { twice(kDropsTheMemset); });
  EXPECT_NE(text.find("after a run without that had gone well"), std::string::npos) << text;
}

TEST(KitFailingCalls, LaunchersThatReturnNothingAreNotAsked) {
  const std::vector<float> x(kCount, 1.0f);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  int runs = 0;
  kit::run([&] {
    ++runs;
    launch_twice(d_x.get(), d_y.get(), kCount);
  });
  EXPECT_EQ(runs, 2 + 1);  // with other values twice
}

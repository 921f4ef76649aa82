// Launchers that return a status: each of their calls fails once.
#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {

constexpr int kCount = 100;

kit::Run twice(Care care, int* runs = nullptr) {
  const std::vector<float> x = kit::random_floats(kCount);
  std::vector<float> expected;
  for (const float value : x) expected.push_back(2 * value);
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
  // With other values twice; cudaMalloc, cudaMemcpy, the launch, cudaMemsetAsync, and none.
  EXPECT_EQ(runs, 2 + 5);
  EXPECT_EQ(run.launches().size(), 1u);
  EXPECT_EQ(kit::api_calls("cudaMemcpy"), 1u);
}

TEST(KitFailingCalls, AreMadeOnceForEachTestAndLine) {
  int runs = 0;
  for (int i = 0; i < 3; ++i) twice(kCareful, &runs);
  EXPECT_EQ(runs, (2 + 5) + 2 * (2 + 1));
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

#include <cmath>

#include "failure_of.h"
#include "kernels.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;
}  // namespace

TEST(KitBudget, HoldsAtItsLimit) {
  EXPECT_TRUE(kit::budget("x", 5, kit::at_most(5), "five is allowed"));
  EXPECT_TRUE(kit::budget("x", 5, kit::at_least(5), "five is enough"));
}

TEST(KitBudget, FailsBeyondItsLimitWithTheReason) {
  const std::string message =
      failure_of([] { kit::budget("sectors", 32, kit::at_most(5), "Read neighbours"); });
  EXPECT_TRUE(contains(message, "sectors: 32, at most 5 allowed. Read neighbours.")) << message;
  EXPECT_NE(failure_of([] { kit::budget("x", 4, kit::at_least(5), "more"); }), "");
}

TEST(KitBudget, FailsForNan) {
  EXPECT_NE(failure_of([] { kit::budget("x", std::nan(""), kit::at_most(5), "why"); }), "");
  EXPECT_NE(failure_of([] { kit::budget("x", std::nan(""), kit::at_least(5), "why"); }), "");
}

TEST(KitBudget, NamesTheLineThatSpendsTheMost) {
  const auto y = kit::DeviceBuffer<float>::output(4096, "y");
  const std::string message = failure_of([&] {
    const kit::Run run = kit::run([&] { launch_scattered(y.get(), 4096); });
    kit::budget(
        "sectors per store",
        kit::ratio(run.counters().global_store_sectors, run.counters().global_store_requests),
        kit::at_most(4), "Neighbouring threads write neighbouring elements",
        &kit::Counters::global_store_sectors);
  });
  EXPECT_TRUE(contains(message, "sectors per store: 32, at most 4 allowed.")) << message;
  EXPECT_TRUE(contains(message, "100 % of it is spent at kernels.cu:")) << message;
}

TEST(KitBudget, CountsCopiesOnTheDevice) {
  constexpr int kCount = 1024;
  const auto x = kit::DeviceBuffer<float>::input(kit::random_floats(kCount), "x");
  const auto between = kit::DeviceBuffer<float>::output(kCount, "between");
  const auto y = kit::DeviceBuffer<float>::output(kCount, "y");
  const auto message_of = [&](const std::function<void()>& launch) {
    return failure_of([&] {
      const kit::Run run = kit::run(launch);
      kit::budget("reads of each element",
                  static_cast<double>(run.counters().global_load_bytes) / (4 * kCount),
                  kit::at_most(1), "Once", &kit::Counters::global_load_bytes);
    });
  };
  EXPECT_EQ(message_of([&] { launch_twice(x.get(), y.get(), kCount); }), "");
  const std::string message =
      message_of([&] { launch_twice_and_copy(x.get(), between.get(), y.get(), kCount); });
  EXPECT_TRUE(contains(message, "reads of each element: 2, at most 1 allowed.")) << message;
  EXPECT_TRUE(contains(message, "What cudaMemcpyAsync at kernels.cu:")) << message;
}

TEST(KitBudget, IsSilentAfterAFailure) {
  EXPECT_EQ(kit_tests::failures_of([] {
              kit::fail("wrong.");
              kit::budget("x", 6, kit::at_most(5), "why");
            }).size(),
            1u);
}

TEST(KitBudget, KnowsTheUsefulShare) {
  kit::Counters counters = {};
  counters.global_load_sectors = 3;
  counters.global_store_sectors = 1;
  counters.global_load_unique_bytes = 32;
  counters.global_store_unique_bytes = 32;
  EXPECT_DOUBLE_EQ(kit::useful_share(counters), 0.5);
  EXPECT_DOUBLE_EQ(kit::useful_share(kit::Counters{}), 0);
}

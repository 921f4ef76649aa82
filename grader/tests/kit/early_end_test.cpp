// A program that ends before its tests do must not pass, and must not take its message with it.
#include <csignal>
#include <cstdlib>

#include "kit/kit.h"

namespace {

void fail_then(void (*end)()) {
  kit::for_each("n", std::vector<int>{1, 2}, [&](int n) {
    if (n == 1) kit::fail("the first case is wrong.");
    if (n == 2) end();
  });
}

}  // namespace

TEST(KitEarlyEnd, ExitIsAFailure) {
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(1), "The program ended early");
}

TEST(KitEarlyEnd, ExitShowsTheFailureSoFar) {
  EXPECT_EXIT(fail_then([] { std::exit(0); }), testing::ExitedWithCode(1),
              "the first case is wrong");
}

TEST(KitEarlyEnd, AbortShowsTheFailureSoFar) {
  EXPECT_EXIT(fail_then([] { std::abort(); }), testing::KilledBySignal(SIGABRT),
              "the first case is wrong");
}

// What the self-test makes of the output of its programs.
#include "cli/gates/report.h"

#include <gtest/gtest.h>

namespace grade {
namespace {

TEST(SkippedTests, AreThoseOfTheOutputWithTheirReasons) {
  const std::vector<Item> items = skipped_tests("grader/cli",
                                                "[ RUN      ] One.Runs\n"
                                                "[       OK ] One.Runs (3 ms)\n"
                                                "[ RUN      ] Two.Waits/0\n"
                                                "two_test.cpp:7: Skipped\n"
                                                "there is no python3\n"
                                                "\n"
                                                "[  SKIPPED ] Two.Waits/0 (0 ms)\n"
                                                "[  PASSED  ] 1 test.\n"
                                                "[  SKIPPED ] 1 test, listed below:\n"
                                                "[  SKIPPED ] Two.Waits/0\n");
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].state, Item::State::kSkipped);
  EXPECT_EQ(items[0].name, "grader/cli Two.Waits/0");
  EXPECT_EQ(items[0].message, "there is no python3");
}

TEST(SkippedTests, AreNoneWhereAllRan) {
  EXPECT_TRUE(skipped_tests("p", "[       OK ] One.Runs (3 ms)\n[  PASSED  ] 1 test.\n").empty());
  EXPECT_TRUE(skipped_tests("p", "").empty());
}

}  // namespace
}  // namespace grade

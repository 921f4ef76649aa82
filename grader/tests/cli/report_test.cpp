// What the self-test makes of the output of its programs.
#include "cli/gates/report.h"

#include <gtest/gtest.h>

#include "cli/gates/ctest_report.h"
#include "course/error.h"

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

// As ctest 3.25 writes it.
constexpr char kReport[] = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)"
	tests="5">
	<testcase name="grader/a b" classname="grader/a b" time="0.25" status="run">
		<system-out>two_test.cpp:7: Skipped
a &lt;&amp;&gt; b
[  SKIPPED ] Two.Waits (0 ms)
</system-out>
	</testcase>
	<testcase name="skip" classname="skip" time="0.02" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out>looking for it
no python3
</system-out>
	</testcase>
	<testcase name="slow" classname="slow" time="0.97" status="fail">
		<failure message=""/>
		<system-out>still at it
</system-out>
	</testcase>
	<testcase name="gone" classname="gone" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
		<system-out>Unable to find executable: /x</system-out>
	</testcase>
</testsuite>
)xml";

TEST(CTestReport, BecomesItems) {
  const auto ends = ends_of_failed_tests(
      "    Start 4: slow\n1/4 Test #1: grader/a b .......   Passed    0.25 sec\n"
      "2/4 Test #2: skip .............***Skipped   0.02 sec\n"
      "3/4 Test #4: slow .............***Timeout   1.01 sec\n");
  const std::vector<Item> items = items_of_ctest(kReport, ends);
  ASSERT_EQ(items.size(), 5u);
  EXPECT_EQ(items[0].name, "grader/a b");
  EXPECT_EQ(items[0].state, Item::State::kPassed);
  EXPECT_EQ(items[0].seconds, 0.25);
  EXPECT_EQ(items[1].state, Item::State::kSkipped);
  EXPECT_EQ(items[1].message, "a <&> b");
  EXPECT_EQ(items[2].state, Item::State::kSkipped);
  EXPECT_EQ(items[2].message, "no python3");
  EXPECT_EQ(items[3].state, Item::State::kFailed);
  EXPECT_EQ(items[3].message, "Timeout\nstill at it");
  EXPECT_EQ(items[4].state, Item::State::kFailed);
  EXPECT_NE(items[4].message.find("Unable to find executable: /x"), std::string::npos);
  EXPECT_EQ(last_line(items), "1 passed, 2 failed, 2 skipped\n");
}

TEST(CTestReport, IsRefusedWhereItIsCutShort) {
  EXPECT_THROW(items_of_ctest("", {}), course::Error);
  EXPECT_THROW(items_of_ctest(std::string(kReport).substr(0, 300), {}), course::Error);
}

}  // namespace
}  // namespace grade

// Regular expressions of the C library, as the command line uses them.
#include "course/pattern.h"

#include <gtest/gtest.h>

namespace course {
namespace {

TEST(Pattern, FindsTheGroupsAndWhatFollows) {
  const Pattern pattern("^([a-z]+)( [0-9]+|): ");
  const auto match = pattern.find("size 12: a: b");
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->groups, (std::vector<std::string>{"size 12: ", "size", " 12"}));
  EXPECT_EQ(match->rest, "a: b");
  EXPECT_EQ(pattern.find("size: x")->groups[2], "");
  EXPECT_FALSE(pattern.matches("12: x"));
}

TEST(Pattern, LeavesTheGroupsOfEveryMatch) {
  const Pattern link("!?\\[([^]]*)\\]\\([^)]*\\)");
  EXPECT_EQ(link.leave_groups("see [one](a.md), ![two](b.png)."), "see one, two.");
  EXPECT_EQ(link.leave_groups("no link [here]"), "no link [here]");
  EXPECT_EQ(link.leave_groups(""), "");
}

// The start of the rest is not the start of the text.
TEST(Pattern, AnchorsHoldForTheTextAlone) {
  EXPECT_EQ(Pattern("^(a)b").leave_groups("ababab"), "aabab");
}

}  // namespace
}  // namespace course

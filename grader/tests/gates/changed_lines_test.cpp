// How much of a solution is new.
#include "cli/gates/changed_lines.h"

#include <gtest/gtest.h>

#include "course/error.h"

namespace {

using grade::changed_lines;

TEST(ChangedLines, CountsLinesThatAreNewOrDiffer) {
  EXPECT_EQ(changed_lines("a;\nb;\nc;\n", "a;\nx;\nc;\nd;\n", "s.cu"), 2);
  EXPECT_EQ(changed_lines("a;\nb;\nc;\n", "a;\nc;\n", "s.cu"), 0);
  EXPECT_EQ(changed_lines("", "a;\n", "s.cu"), 1);
}

TEST(ChangedLines, CountsNeitherCommentsNorIndentation) {
  EXPECT_EQ(changed_lines("// 1\na;  // x\n\nb;\n", "// 2\n\n  a;  // y\n  b;\n// end\n", "s.cu"),
            0);
}

TEST(ChangedLines, CountsTheSolutionNotTheStarter) {
  const std::string before = "a;\n//~ // TODO(1): write.\n//~ x;\n//~begin 1\nb;\n//~end\n";
  const std::string after = "a;\n//~ // TODO(1): other.\n//~begin 1\nb;\nc;\n//~end\n";
  EXPECT_EQ(changed_lines(before, after, "s.cu"), 1);
}

TEST(ChangedLines, NamesTheFileOfABrokenMarker) {
  try {
    changed_lines("//~begin 1\na;\n", "a;\n", "s.cu");
    FAIL() << "an unclosed region is an error";
  } catch (const course::Error& error) {
    EXPECT_NE(std::string(error.what()).find("s.cu"), std::string::npos) << error.what();
  }
}

}  // namespace

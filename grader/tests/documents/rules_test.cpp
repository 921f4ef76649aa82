// The rules of pages below docs/, each shown to refuse what breaks it.
#include <gtest/gtest.h>

#include "cli/gates/documents.h"

namespace grade {
namespace {

TEST(Words, ThatSayNothingAreRefusedButNotInCode) {
  EXPECT_EQ(document_problems("This is simply wrong.\n", "p").size(), 1u);
  EXPECT_EQ(document_problems("| a | of course |\n", "p").size(), 1u);
  EXPECT_TRUE(
      document_problems("The name `just` is code, and adjust is no such word.\n", "p").empty());
}

TEST(Blocks, SayWhatKeepsThemTrue) {
  const std::string block = "```console\n$ ls\n```\n";
  EXPECT_EQ(document_problems(block, "p").size(), 1u);
  EXPECT_EQ(document_problems("<!-- runs -->\n" + block, "p").size(), 1u);
  for (const char* mark : {"run", "not run: needs a GPU", "from: file a.cu", "saved as: a.cu"}) {
    EXPECT_TRUE(document_problems("<!-- " + std::string(mark) + " -->\n\n" + block, "p").empty())
        << mark;
  }
  EXPECT_EQ(document_problems("<!-- run -->\n```console\nls\n```\n", "p").size(), 1u);
}

TEST(Blocks, AreCommandsAndTheirOutput) {
  const auto blocks = fenced_blocks_of(
      "text\n<!-- run -->\n```console\n$ one\na\nb\n$ two\n> more\n(exit status 99)\n```\n");
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].line, 3);
  EXPECT_EQ(blocks[0].mark, "run");
  const auto commands = commands_of(blocks[0]);
  ASSERT_EQ(commands.size(), 2u);
  EXPECT_EQ(commands[0].command, "one");
  EXPECT_EQ(commands[0].output, "a\nb\n");
  EXPECT_EQ(commands[1].command, "two\nmore");
  EXPECT_EQ(commands[1].status, 99);
}

}  // namespace
}  // namespace grade

// The rules of pages below docs/, each shown to refuse what breaks it.
#include <gtest/gtest.h>

#include "cli/gates/documents.h"

namespace grade {
namespace {

std::string repeated(const std::string& word, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += (i == 0 ? "" : " ") + word;
  return text;
}

TEST(Sentences, HaveAtMostThirtyWords) {
  EXPECT_TRUE(document_problems(repeated("word", 30) + ".\n", "p").empty());
  const auto problems = document_problems("First.\n\n" + repeated("word", 31) + ".\n", "p");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].rfind("p:3: a sentence of 31 words", 0), 0u) << problems[0];
}

TEST(Sentences, EndWithTheirParagraphTheirItemAndTheirColon) {
  const std::string half = repeated("word", 20);
  for (const std::string& between : {std::string("\n\n"), std::string("\n- "), std::string(": ")}) {
    EXPECT_TRUE(document_problems(half + between + half + "\n", "p").empty()) << between;
  }
  EXPECT_EQ(document_problems(half + "\n" + half + "\n", "p").size(), 1u);
}

TEST(Sentences, CountCodeAsOneWordAndOfALinkItsText) {
  const std::string code = "`" + repeated("x", 40) + "` [two words](" + repeated("y", 9) + ") ";
  EXPECT_TRUE(document_problems(code + repeated("word", 27) + "\n", "p").empty());
}

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
  for (const char* mark : {"run", "not run: needs a GPU", "from: file a.cu"}) {
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

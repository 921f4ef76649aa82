#include "course/starter.h"

#include <gtest/gtest.h>

namespace course {
namespace {

constexpr char kSolution[] =
    "#include \"x.h\"\n"
    "__global__ void f(float* a) {\n"
    "  //~ // TODO(1): Write it.\n"
    "  //~\n"
    "  //~begin 1\n"
    "  a[0] = 1;\n"
    "  //~end\n"
    "}\n"
    "  //~begin 2\n"
    "  int grid = 2;\n"
    "  //~end\n"
    "  //~ int grid = 0;  // TODO(2): More.\n";

std::string error_of(const std::string& text, const std::string& file = "s.cu") {
  try {
    parse_marked(text, file);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Starter, EmitsStarterOnlyLinesAtTheirIndentationAndCutsRegions) {
  EXPECT_EQ(starter_text(kSolution, "s.cu"),
            "#include \"x.h\"\n"
            "__global__ void f(float* a) {\n"
            "  // TODO(1): Write it.\n"
            "\n"
            "}\n"
            "  int grid = 0;  // TODO(2): More.\n");
}

TEST(Starter, UsesHashMarkersInPython) {
  EXPECT_EQ(
      starter_text("def f():\n    #~ pass  # TODO(1)\n    #~begin 1\n    return 1\n    #~end\n",
                   "s.py"),
      "def f():\n    pass  # TODO(1)\n");
}

TEST(Starter, LeavesAFileWithoutMarkersAlone) {
  EXPECT_EQ(starter_text("a\n\n b\n", "s.cu"), "a\n\n b\n");
}

TEST(Starter, AddsTheMissingLastLineEnd) { EXPECT_EQ(starter_text("a", "s.cu"), "a\n"); }

TEST(UntouchedTodos, AreThoseWhoseLinesAreAllThere) {
  const MarkedSource source = parse_marked(kSolution, "s.cu");
  const std::string starter = starter_text(source);
  EXPECT_EQ(untouched_todos(source, starter), (std::vector<int>{1, 2}));
  std::string begun = starter;  // below the comment, which stays
  begun.insert(begun.find("}"), "  a[0] = 2;\n");
  EXPECT_EQ(untouched_todos(source, begun), std::vector<int>{2});
  std::string second = starter;
  second.replace(second.find("grid = 0"), 8, "grid = 7");
  EXPECT_EQ(untouched_todos(source, second), std::vector<int>{1});
  EXPECT_EQ(untouched_todos(source, ""), std::vector<int>{});
}

TEST(Ablation, RevertsOneTodoAndKeepsEveryLineNumber) {
  const MarkedSource source = parse_marked(kSolution, "s.cu");
  EXPECT_EQ(source.todos, 2);
  EXPECT_EQ(ablation_text(source, 1),
            "#include \"x.h\"\n__global__ void f(float* a) {\n  // TODO(1): Write it.\n\n\n\n\n}\n"
            "\n  int grid = 2;\n\n\n");
  EXPECT_EQ(ablation_text(source, 2),
            "#include \"x.h\"\n__global__ void f(float* a) {\n\n\n\n  a[0] = 1;\n\n}\n\n\n\n"
            "  int grid = 0;  // TODO(2): More.\n");
}

TEST(Ablation, SeveralRegionsOfOneTodoAreRevertedTogether) {
  const MarkedSource source =
      parse_marked("//~begin 1\na\n//~end\nb\n//~begin 1\nc\n//~end\n", "s.cu");
  EXPECT_EQ(ablation_text(source, 1), "\n\n\nb\n\n\n\n");
}

TEST(MarkerErrors, NameTheFileAndTheLine) {
  EXPECT_EQ(error_of("a\n//~begin 1\nb\n"), "s.cu:2: this //~begin 1 has no //~end.");
  EXPECT_EQ(error_of("a\n//~end\n"), "s.cu:2: //~end without a //~begin before it.");
  EXPECT_EQ(error_of("//~begin 1\n//~begin 2\n//~end\n//~end\n"),
            "s.cu:2: //~begin inside the region that line 1 opened; regions do not nest, close it "
            "with //~end first.");
  EXPECT_EQ(error_of("//~begin\n//~end\n"),
            "s.cu:1: malformed marker: //~begin needs the number of its TODO, such as \"//~begin "
            "1\".");
  EXPECT_EQ(error_of("int a;  //~ int b;\n"),
            "s.cu:1: the marker //~ must be the first text of its line.");
  EXPECT_EQ(error_of("//~start 1\n"),
            "s.cu:1: malformed marker \"//~start 1\"; write \"//~ text\", \"//~begin N\" or "
            "\"//~end\".");
}

TEST(MarkerErrors, NumbersHaveNoGap) {
  EXPECT_EQ(error_of("//~begin 2\n//~end\n"),
            "s.cu: there is a region for TODO 2 but none for TODO 1; number the regions 1, 2, 3 "
            "without a gap.");
}

TEST(MarkerErrors, AStarterOnlyLineTouchesARegion) {
  EXPECT_NE(error_of("a\n//~ b\nc\n//~begin 1\n//~end\n").find("s.cu:2: this starter-only line"),
            std::string::npos);
}

}  // namespace
}  // namespace course

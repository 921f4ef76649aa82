#include "course/mutants.h"

#include <gtest/gtest.h>

namespace course {
namespace {

constexpr char kMutants[] =
    "# comment\n"
    "mutant: too few blocks\n"
    "expect: Add.CoversAll\n"
    "find:\n"
    "|  int grid = (n + 1) / 2;\n"
    "put:\n"
    "|  int grid = n / 2;\n"
    "|  // and more\n"
    "\n"
    "\n"
    "mutant: slow\n"
    "expect: budget:bytes per element\n"
    "only: yes\n"
    "find:\n"
    "|a\n"
    "put:\n"
    "\n"
    "mutant: races\n"
    "expect: finding:racecheck/write-write\n"
    "find:\n"
    "|a\n"
    "put:\n"
    "|b\n";

std::string error_of_mutants(const std::string& text) {
  try {
    parse_mutants(text, "mutants.txt");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Derived text(const std::string& name, const std::string& body) {
  Derived one;
  one.name = name;
  one.title = name;
  one.text = body;
  one.file = name + "/s.cu";
  return one;
}

TEST(Mutants, ReadsBlocks) {
  const auto mutants = parse_mutants(kMutants, "mutants.txt");
  ASSERT_EQ(mutants.size(), 3u);
  EXPECT_EQ(mutants[0].sentence, "too few blocks");
  EXPECT_EQ(mutants[0].expect.name, "Add.CoversAll");
  EXPECT_EQ(mutants[0].put, "  int grid = n / 2;\n  // and more\n");
  EXPECT_EQ(mutants[0].line, 2);
  EXPECT_FALSE(mutants[0].only);
  EXPECT_EQ(mutants[1].expect.what, Expectation::What::kBudget);
  EXPECT_EQ(mutants[1].expect.name, "bytes per element");
  EXPECT_TRUE(mutants[1].only);
  EXPECT_EQ(mutants[1].put, "");
  EXPECT_EQ(mutants[2].expect.name, "racecheck");
  EXPECT_EQ(mutants[2].expect.kind, "write-write");
}

TEST(Mutants, ErrorsNameTheLine) {
  EXPECT_EQ(error_of_mutants("mutant: a\nfind:\n|x\nput:\n|y\n"),
            "mutants.txt:1: mutant \"a\" has no \"expect:\".");
  EXPECT_EQ(error_of_mutants("mutant: a\nexpect: A.B\nput:\n|y\n"),
            "mutants.txt:1: mutant \"a\" has no \"find:\" with lines after '|'.");
  EXPECT_EQ(error_of_mutants("mutant: a\ncolour: red\n"),
            "mutants.txt:2: unknown key \"colour\"; the keys are mutant, expect, only, find, put.");
  EXPECT_EQ(error_of_mutants("|x\n"),
            "mutants.txt:1: a line with '|' belongs below \"find:\" or \"put:\".");
  EXPECT_EQ(error_of_mutants("mutant: a\nmutant: b\n"),
            "mutants.txt:2: a mutant begins inside another; separate them by an empty line.");
}

TEST(Mutate, ReplacesWholeLinesThatOccurOnce) {
  const Mutant mutant = parse_mutants(kMutants, "mutants.txt")[2];
  EXPECT_EQ(mutate("x\na\nxa\n", mutant, "mutants.txt"), "x\nb\nxa\n");
  EXPECT_THROW(mutate("a\na\n", mutant, "mutants.txt"), Error);
  try {
    mutate("c\n", mutant, "mutants.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("occur 0 times in the solution, expected exactly once"),
        std::string::npos)
        << error.what();
  }
}

TEST(Combine, IncludesBeforeTheNamespaceAndUndefinesMacros) {
  EXPECT_EQ(
      combine({text("a", "#include \"s.h\"\n#define TWICE(x) (2 * x)\nint f();\n"),
               text("b", "#include \"s.h\"\n#include <cmath>\n")}),
      "// Made by ./grade dev derive; do not edit.\n"
      "#include \"s.h\"\n"
      "namespace a {\n#line 1 \"a/s.cu\"\n\n#define TWICE(x) (2 * x)\nint f();\n}  // namespace a\n"
      "#undef TWICE\n#include <cmath>\n"
      "namespace b {\n#line 1 \"b/s.cu\"\n\n\n}  // namespace b\n");
}

TEST(Combine, TextsBehindTheFirstSeeWhatAnyOfThemIncludes) {
  const std::string file = combine({text("a", "int a;\n"), text("b", "std::vector<int> b;\n"),
                                    text("c", "#include <vector>\n")});
  EXPECT_LT(file.find("int a;"), file.find("#include <vector>"));
  EXPECT_LT(file.find("#include <vector>"), file.find("std::vector<int> b;"));
}

TEST(Launchers, MatchByDemangledName) {
  const std::vector<Derived> derived = {text("a", ""), text("b", "")};
  const auto launchers =
      match_launchers({"_Z6launchPfi", "cudaMalloc"},
                      {"_ZN1a6launchEPfi", "_ZN1b6launchEPfi", "_ZN1a5otherEv"}, derived);
  ASSERT_EQ(launchers.size(), 1u);
  EXPECT_EQ(launchers[0].name, "launch(float*, int)");
  EXPECT_EQ(launchers[0].targets,
            (std::vector<std::string>{"_ZN1a6launchEPfi", "_ZN1b6launchEPfi"}));
  EXPECT_NE(dispatch_source(launchers, derived).find("_ZN1b6launchEPfi"), std::string::npos);
}

TEST(Launchers, ATextThatLacksOneIsNamed) {
  const std::vector<Derived> derived = {text("a", ""), text("b", "")};
  try {
    match_launchers({"_Z6launchPfi"}, {"_ZN1a6launchEPfi"}, derived);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "b/s.cu: \"b\" does not define launch(float*, int), which the test calls; define it "
              "as the solution does.");
  }
}

TEST(Plants, EveryFunctionGetsAWayInAndAnOptionOfTheLinker) {
  const std::vector<std::string> functions = {"_Z6launchPfi", "_Z4freePf"};
  const std::string source = plant_source(functions);
  EXPECT_NE(source.find("ENTRY(\"_Z6launchPfi\", \"0\");"), std::string::npos) << source;
  EXPECT_NE(source.find("asm(\"__real__Z4freePf\");"), std::string::npos) << source;
  EXPECT_EQ(plant_options(functions), "-Wl,--wrap=_Z6launchPfi\n-Wl,--wrap=_Z4freePf\n");
}

}  // namespace
}  // namespace course

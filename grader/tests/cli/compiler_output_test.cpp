// Messages of nvcc, g++ and the linker, as they were printed by them.
#include "cli/compiler_output.h"

#include <gtest/gtest.h>

namespace grade {
namespace {

constexpr const char* kRoot = "/course";
constexpr const char* kFile = "/course/chapters/02_vector_add/01_vector_add.cu";

TEST(CompilerOutput, SourcesThatTakeLongAreKnown) {
  EXPECT_EQ(slow_headers("#include <cub/block/block_scan.cuh>\n"), "CUB");
  EXPECT_EQ(slow_headers("// sorts\n#include <thrust/sort.h>\n"), "Thrust");
  EXPECT_EQ(slow_headers("#include \"cutlass/cutlass.h\"\n"), "CUTLASS");
  EXPECT_EQ(slow_headers("#include <algorithm>\n// thrust is not used\n"), "");
}

TEST(CompilerOutput, NvccErrorsKeepTheirSourceLine) {
  const auto found = parse_compiler_output(
      "[1/2] Building CUDA object x.o\n"
      "FAILED: x.o \n"
      "/usr/local/cuda/bin/nvcc -o x.o -c /course/chapters/02_vector_add/01_vector_add.cu\n"
      "/course/chapters/02_vector_add/01_vector_add.cu(9): error: identifier \"j\" is undefined\n"
      "    c[i] = a[j];\n"
      "             ^\n"
      "\n"
      "/course/chapters/02_vector_add/01_vector_add.cu(8): warning #177-D: variable \"k\" was "
      "declared but never referenced\n"
      "    int k;\n"
      "        ^\n"
      "\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
      "\n"
      "1 error detected in the compilation of \"x.cu\".\n"
      "ninja: build stopped: subcommand failed.\n",
      kRoot, kFile);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].file, "chapters/02_vector_add/01_vector_add.cu");
  EXPECT_EQ(found[0].line, 9);
  EXPECT_EQ(found[0].message, "identifier \"j\" is undefined");
  ASSERT_EQ(found[0].context.size(), 2u);
  EXPECT_EQ(found[0].context[0], "    c[i] = a[j];");
  EXPECT_FALSE(found[1].is_error);
  EXPECT_EQ(found[1].line, 8);
}

TEST(CompilerOutput, ErrorsOfTheLearnersFileComeFirst) {
  const auto found = parse_compiler_output(
      "/usr/include/a.h(3): error: first\n\n"
      "/course/chapters/02_vector_add/01_vector_add.cu(4): error: second\n\n",
      kRoot, kFile);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].message, "second");
}

TEST(CompilerOutput, RepeatedMessagesAreSaidOnce) {
  const std::string line =
      "/course/chapters/02_vector_add/01_vector_add.cu(4): error: expected a \";\"\n";
  EXPECT_EQ(parse_compiler_output(line + line, kRoot, kFile).size(), 1u);
}

TEST(CompilerOutput, HostCompilerLinkerAndAssemblerAreUnderstood) {
  const auto host = parse_compiler_output(
      "/course/chapters/02_vector_add/01_vector_add.cu:7:3: error: 'x' was not declared\n"
      "    7 |   x = 1;\n",
      kRoot, kFile);
  ASSERT_EQ(host.size(), 1u);
  EXPECT_EQ(host[0].line, 7);
  EXPECT_EQ(host[0].context.size(), 1u);
  const auto linker = parse_compiler_output(
      "/usr/bin/ld: t.o: in function `check(int)':\n"
      "/course/t.cpp:30: undefined reference to `launch_vector_add(float const*, int)'\n"
      "collect2: error: ld returned 1 exit status\n",
      kRoot, kFile);
  ASSERT_EQ(linker.size(), 1u);
  EXPECT_EQ(linker[0].message, "undefined reference to \"launch_vector_add(float const*, int)\"");
  const auto ptxas = parse_compiler_output(
      "ptxas error   : Entry function 'k' uses too much shared data\n", kRoot, kFile);
  ASSERT_EQ(ptxas.size(), 1u);
  EXPECT_TRUE(ptxas[0].is_error);
}

}  // namespace
}  // namespace grade

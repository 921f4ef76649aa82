// What learners really write, compiled by nvcc and run by the simulator, through the real `grade`.
#include <gtest/gtest.h>

#include "course/text.h"
#include "pty_session.h"
#include "real_course.h"

namespace grade::test {
namespace {

constexpr const char* kGrid = "  const int grid = (n + kBlock - 1) / kBlock;\n";
constexpr const char* kLaunch = "    vector_add<<<grid, kBlock>>>(d_a, d_b, d_c, n);\n";
constexpr const char* kInclude = "#include \"01_vector_add.h\"\n";
constexpr const char* kGuard = "  if (i < n) {\n";

class RealKernels : public testing::Test {
 protected:
  Ran grade(const std::string& text) {
    course_.save(text, RealCourse::kVectorAdd);
    course_.set("GRADE_TIME_LIMIT", "10");
    Ran ran = course_.grade({"run"});
    EXPECT_LE(widest(ran.out), 80u) << ran.out;
    return ran;
  }

  // Fails with these words on the screen, spaces and line ends aside.
  void expect_fails(const std::string& text, const std::vector<std::string>& words) {
    const Ran ran = grade(text);
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    EXPECT_EQ(course_.progress().find("passed "), std::string::npos);
    std::string flat;
    for (const char c : ran.out) {
      const char plain = c == '\n' ? ' ' : c;
      if (plain != ' ' || flat.empty() || flat.back() != ' ') flat += plain;
    }
    for (const std::string& part : words) {
      EXPECT_NE(flat.find(part), std::string::npos) << part << "\n--- in\n" << ran.out;
    }
  }

  static std::string with_launch(const std::string& code) {
    return RealCourse::solution_with(kLaunch, code);
  }

  RealCourse course_;
};

TEST_F(RealKernels, SolutionCopiedOverTheStarterPasses) {
  const Ran ran = grade(RealCourse::solution_with(kGrid, kGrid));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("PASS  all"), std::string::npos) << ran.out;
  EXPECT_NE(course_.progress().find("passed 02_vector_add/01_vector_add"), std::string::npos);
}

TEST_F(RealKernels, OneBlockTooFewNamesTheSizeAndTheLaunch) {
  expect_fails(RealCourse::solution_with(kGrid, "  const int grid = n / kBlock;\n"),
               {"CoversSizesThatAreNotBlockMultiples, n = ", "was never written",
                "next ./grade hint (TODO 2)"});
}

TEST_F(RealKernels, FileThatDoesNotCompileShowsTheFirstError) {
  expect_fails(RealCourse::solution_with(kGrid, "  const int grid = (n + kBlok - 1) / kBlock\n"),
               {"It does not compile. 01_vector_add.cu:", "kBlok"});
}

TEST_F(RealKernels, MissingLauncherIsALinkError) {
  expect_fails(std::string(kInclude) + "void launch_vector(int) {}\n",
               {"It does not compile.", "undefined reference to \"launch_vector_add("});
}

TEST_F(RealKernels, EndlessLoopInAKernelIsStopped) {
  expect_fails(RealCourse::solution_with(kGuard, "  while (true) {\n"),
               {"has not ended; it was stopped at 01_vector_add.cu:13", "block 0"});
}

TEST_F(RealKernels, EndlessLoopOnTheHostIsStopped) {
  expect_fails(with_launch("    for (volatile int k = 0;;) k = k + 1;\n"),
               {"FAIL AddsEveryElementOfFullBlocks Still running after 10 s"});
}

TEST_F(RealKernels, KernelThatNeverLaunchesIsSaid) {
  expect_fails(with_launch("    (void)d_a, (void)d_b, (void)d_c;\n"), {"No kernel was launched."});
}

TEST_F(RealKernels, WrongLaunchConfigurationIsSaid) {
  expect_fails(with_launch("    vector_add<<<1, 4096>>>(d_a, d_b, d_c, n);\n"),
               {"4096 threads in x; a block has at most 1024. The kernel did not run."});
}

TEST_F(RealKernels, AccessOutOfBoundsIsFound) {
  expect_fails(RealCourse::solution_with(kGuard, "  if (i <= n) {\n"),
               {"of `b`, which has 1025 elements", "01_vector_add.cu:"});
}

TEST_F(RealKernels, SegmentationFaultOnTheHostIsNamed) {
  expect_fails(with_launch("    volatile int* null = nullptr;\n    *null = 1;\n"),
               {"The program crashed: segmentation fault."});
}

TEST_F(RealKernels, DevicePointerReadOnTheHostIsNamed) {
  expect_fails(with_launch("    volatile float x = d_a[0];\n    (void)x;\n"),
               {"Host code at 01_vector_add.cu:", "is device memory"});
}

TEST_F(RealKernels, StackOverflowOnTheHostIsNamed) {
  const std::string code =
      RealCourse::solution_with(kInclude, std::string(kInclude) +
                                              "int deeper(volatile int* p) {\n"
                                              "  volatile int here[1024] = {*p};\n"
                                              "  return *p == 0 ? 0 : deeper(here) + here[0];\n"
                                              "}\n");
  std::string text = code;
  const size_t at = text.find(kLaunch);
  text.insert(at, "    volatile int one = 1;\n    deeper(&one);\n");
  expect_fails(text, {"Endless recursion ends so too."});
}

TEST_F(RealKernels, ExitAndAbortAreNoPass) {
  const auto including = [](const std::string& text) { return "#include <cstdlib>\n" + text; };
  expect_fails(including(with_launch("    std::exit(0);\n")),
               {"FAIL AddsEveryElementOfFullBlocks The program ended here"});
  expect_fails(including(with_launch("    std::abort();\n")), {"The program crashed: abort."});
}

TEST_F(RealKernels, ExitBeforeMainIsNoPass) {
  expect_fails("#include <cstdlib>\n" + RealCourse::solution_with(kGrid, kGrid) +
                   "struct Early { Early() { std::exit(0); } } early;\n",
               {"The program ended outside its tests"});
}

TEST_F(RealKernels, UncaughtExceptionIsNamed) {
  expect_fails("#include <stdexcept>\n" + with_launch("    throw std::runtime_error(\"mine\");\n"),
               {"exception", "mine"});
}

TEST_F(RealKernels, ForgedResultsAreNotRead) {
  expect_fails(
      "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n" +
          with_launch("    std::puts(\"[  PASSED  ] 5 tests.\");\n"
                      "    const char line[] = \"{\\\"nonce\\\":1,\\\"event\\\":\\\"done\\\","
                      "\\\"passed\\\":5,\\\"failed\\\":0}\\n\";\n"
                      "    for (int fd = 3; fd < 64; ++fd) {\n"
                      "      if (write(fd, line, sizeof line - 1) < 0) continue;\n"
                      "    }\n"
                      "    std::exit(0);\n"),
      {"FAIL AddsEveryElementOfFullBlocks The program ended here"});
}

TEST_F(RealKernels, PrintfWithoutEndIsStopped) {
  expect_fails("#include <cstdio>\n" + with_launch("    for (;;) std::printf(\"%4000d\\n\", 1);\n"),
               {"printed more than 64 MB"});
}

TEST_F(RealKernels, TooMuchMemoryIsNamed) {
  course_.set("GRADE_MEMORY_LIMIT_MB", "600");
  expect_fails("#include <cstdlib>\n#include <cstring>\n" +
                   with_launch("    for (;;) std::memset(std::malloc(1 << 24), 1, 1 << 24);\n"),
               {"MB of memory."});
}

TEST_F(RealKernels, DeviceMemoryThatIsNotThereIsNamed) {
  expect_fails(with_launch("    float* huge = nullptr;\n"
                           "    cudaMalloc(&huge, size_t{1} << 50);\n"
                           "    vector_add<<<grid, kBlock>>>(d_a, d_b, huge, n);\n"),
               {"writes a null pointer", "was the buffer allocated"});
}

TEST_F(RealKernels, WhatAKernelPrintsIsShownEvenBeforeACrash) {
  const std::string prints =
      "#include <cstdio>\n" +
      with_launch(
          "    vector_add<<<grid, kBlock>>>(d_a, d_b, d_c, n);\n"
          "    cudaDeviceSynchronize();\n    std::printf(\"from the host\\n\");\n"
          "    *reinterpret_cast<volatile int*>(1) = 0;\n");
  const std::string text =
      course::replace_all(prints, "c[i] = a[i] + b[i];",
                          "c[i] = a[i] + b[i]; if (i == 0) printf(\"from thread %d\\n\", i);");
  expect_fails(text, {"It printed: from thread 0 from the host"});
}

TEST_F(RealKernels, WatchModeGradesAnEditInAPseudoTerminal) {
  PtySession session(course_, {});
  EXPECT_TRUE(session.wait_for("Any key begins.", 60)) << session.screen().text();
  session.type(" ");
  EXPECT_TRUE(session.wait_for("q: quit", 60)) << session.screen().text();
  EXPECT_TRUE(session.screen().shows("FAIL  ")) << session.screen().text();
  course_.save(RealCourse::solution_with(kGrid, kGrid), RealCourse::kVectorAdd);
  EXPECT_TRUE(session.wait_for("PASS  all", 60)) << session.screen().text();
  EXPECT_TRUE(session.wait_for("1 of 1"));
  EXPECT_EQ(session.screen().scrolled(), 0) << session.screen().text();
  session.type("q");
  EXPECT_EQ(session.wait_for_end(), 0);
}

}  // namespace
}  // namespace grade::test

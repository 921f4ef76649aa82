// "links" of course.json: whose kernels of earlier exercises a learner's program is linked with,
// and that the verdict says it.
#include "cli/linked_kernels.h"

#include <gtest/gtest.h>

#include "course/text.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kSecond = "01_begin/02_second";
constexpr const char* kSolved =
    "// mine\n//! test Scratch.Adds 1\n//! print one\n"
    "//! test Scratch.CoversTheTail 2\n";

class LinkedKernels : public testing::Test {
 protected:
  LinkedKernels() {
    const fs::path file = course_.root() / "chapters/course.json";
    const std::string with_links =
        course::replace_all(read_file(file), "\"title\": \"Second\"",
                            "\"title\": \"Second\", \"links\": [\"01_begin/01_first\"]");
    write_file(file, with_links);
    course_.save(kSolved, kSecond);
  }

  std::string own_kernels() const {
    return read_file(course_.root() / "build/sim/own_kernels.txt");
  }

  ScratchCourse course_;
};

TEST_F(LinkedKernels, AreTheSolutionsUntilTheExerciseIsPassed) {
  const Ran ran = course_.grade({"run", kSecond});
  EXPECT_NE(ran.out.find("with  the solution's of 01_first"), std::string::npos) << ran.out;
  EXPECT_EQ(own_kernels(), "");
}

TEST_F(LinkedKernels, AreTheLearnersOnceItIsPassed) {
  course_.save(kSolved);
  ASSERT_EQ(course_.grade({"run", ScratchCourse::kFirst}).status, 0);
  const Ran ran = course_.grade({"run", kSecond});
  EXPECT_NE(ran.out.find("with  your kernels of 01_first"), std::string::npos) << ran.out;
  EXPECT_EQ(own_kernels(), "01_begin/01_first\n");
  const Ran json = course_.grade({"run", "--json", kSecond});
  EXPECT_NE(json.out.find(R"({"exercise": "01_begin/01_first", "kernels": "learner"})"),
            std::string::npos)
      << json.out;
}

TEST_F(LinkedKernels, AreTheSolutionsAgainAfterAReset) {
  course_.save(kSolved);
  ASSERT_EQ(course_.grade({"run", ScratchCourse::kFirst}).status, 0);
  course_.grade({"run", kSecond});
  ASSERT_EQ(course_.grade({"reset", "--yes", ScratchCourse::kFirst}).status, 0);
  const Ran ran = course_.grade({"run", kSecond});
  EXPECT_NE(ran.out.find("with  the solution's of 01_first"), std::string::npos) << ran.out;
  EXPECT_EQ(own_kernels(), "");
}

TEST_F(LinkedKernels, AreTheSolutionsForTheSolution) {
  course_.save(kSolved);
  ASSERT_EQ(course_.grade({"run", ScratchCourse::kFirst}).status, 0);
  const Ran ran = course_.grade({"run", "--solution", kSecond});
  EXPECT_EQ(ran.out.find("with  "), std::string::npos) << ran.out;
}

// Most of a step has to pass in kernels of the learner's own.
constexpr const char* kStep =
    "// mine\n//! test Scratch.Trains 0\n//! part 0.7 01_begin/01_first\n//! own 0.5\n";

TEST_F(LinkedKernels, OfTheSolutionAreNotEnoughWhereAStepShallBeTheLearners) {
  course_.save(kStep, kSecond);
  const Ran ran = course_.grade({"run", kSecond});
  EXPECT_EQ(ran.status, 1) << ran.out;
  EXPECT_NE(ran.out.find("FAIL"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("kernels of yours have 0 %"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("01_first 70 %"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("01_begin/01_first next"), std::string::npos) << ran.out;
}

TEST_F(LinkedKernels, OfTheLearnerAreNamedWithTheirShareOfTheStep) {
  course_.save(kSolved);
  ASSERT_EQ(course_.grade({"run", ScratchCourse::kFirst}).status, 0);
  course_.save(kStep, kSecond);
  const Ran ran = course_.grade({"run", kSecond});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_NE(ran.out.find("your kernels of 01_first (70 %)"), std::string::npos) << ran.out;
  const Ran json = course_.grade({"run", "--json", kSecond});
  EXPECT_NE(json.out.find(R"("kernels": "learner", "share": 0.7)"), std::string::npos) << json.out;
}

TEST(TooFewOwnKernels, CountsTheShareOfTheLearnersAndNamesTheLargestOfTheOthers) {
  EXPECT_EQ(too_few_own_kernels({}, 0.5), "");  // a solution, or a program of the gates
  EXPECT_EQ(too_few_own_kernels({{"12/a", true, 0.5}, {"12/b", false, 0.5}}, 0.5), "");
  const std::string why =
      too_few_own_kernels({{"12/a", true, 0.3}, {"12/b", false, 0.2}, {"12/c", false, 0.5}}, 0.5);
  EXPECT_NE(why.find("30 %"), std::string::npos) << why;
  EXPECT_NE(why.find("c 50 %, b 20 %. Pass 12/c next"), std::string::npos) << why;
  // Nothing is left to pass: whatever the step does outside the layers is the learner's, too.
  EXPECT_EQ(too_few_own_kernels({{"12/a", true, 0.3}}, 0.5), "");
}

// A file that was passed, and then includes what it may not.
TEST_F(LinkedKernels, AreRefusedWhereTheyIncludeTheSolution) {
  course_.save(kSolved);
  ASSERT_EQ(course_.grade({"run", ScratchCourse::kFirst}).status, 0);
  course_.save(std::string("#include \"../../solutions/01_begin/01_first.cu\"\n") + kSolved);
  const Ran ran = course_.grade({"run", kSecond});
  EXPECT_NE(ran.status, 0) << ran.out;
  EXPECT_NE(ran.out.find("refused"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("01_first.cu"), std::string::npos) << ran.out;
}

// The clone with links of one exercise, all else as it is.
void copy_with_links(const fs::path& clone, const fs::path& copy) {
  fs::create_directories(copy / "chapters");
  for (const fs::path& from : {clone, clone / "chapters"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
      const std::string name = entry.path().filename().string();
      if (name == "build" || name == "chapters" || name[0] == '.') continue;
      fs::create_symlink(entry.path(), copy / entry.path().lexically_relative(clone));
    }
  }
  fs::remove(copy / "chapters/course.json");
  std::string course = read_file(clone / "chapters/course.json");
  const std::string none = "\"links\": []";
  const size_t at = course.find(none, course.find("\"02_vector_add/04_saxpy\""));
  ASSERT_NE(at, std::string::npos);
  course.replace(at, none.size(), "\"links\": [\"02_vector_add/01_vector_add\"]");
  write_file(copy / "chapters/course.json", course);
}

// The real CMake files; nothing is compiled.
TEST(LinkedKernelsOfCMake, FollowOwnKernelsTxt) {
  const ScratchCourse scratch;
  const fs::path root = scratch.root() / "clone", build = scratch.root() / "clone_build";
  copy_with_links(GRADE_CLONE, root);
  write_file(build / "own_kernels.txt", "");

  const auto run = [&](std::vector<std::string> argv) {
    ChildOptions options;
    options.argv = std::move(argv);
    options.own_seconds = 300;
    options.output_kept = 1 << 20;
    const ChildResult child = run_child(options);
    EXPECT_TRUE(child.ok()) << child.out.text() << child.err.text();
    return child.out.text();
  };
  run({"cmake", "-S", root.string(), "-B", build.string(), "-G", "Ninja",
       std::string("-DCMAKE_MAKE_PROGRAM=") + GRADE_NINJA_PROGRAM,
       std::string("-DCMAKE_CUDA_COMPILER=") + GRADE_NVCC_PROGRAM, "-DWARPLINGS_DEVICE=sim"});
  const auto inputs = [&](const std::string& program) {
    return run({GRADE_NINJA_PROGRAM, "-C", build.string(), "-t", "query", "course/" + program});
  };
  const std::string saxpy = "02_vector_add.04_saxpy";
  const std::string own = "02_vector_add.01_vector_add.kernels.dir/";
  const std::string solution = "02_vector_add.01_vector_add.solution.kernels.dir/";
  EXPECT_NE(inputs(saxpy).find(solution), std::string::npos);
  EXPECT_EQ(inputs(saxpy).find(own), std::string::npos);

  write_file(build / "own_kernels.txt", "02_vector_add/01_vector_add\n");
  run({GRADE_NINJA_PROGRAM, "-C", build.string(), "build.ninja"});  // sees the newer file
  EXPECT_NE(inputs(saxpy).find(own), std::string::npos);
  EXPECT_EQ(inputs(saxpy).find(solution), std::string::npos);
  for (const char* program : {".solution", ".derived"}) {
    EXPECT_NE(inputs(saxpy + program).find(solution), std::string::npos) << program;
    EXPECT_EQ(inputs(saxpy + program).find(own), std::string::npos) << program;
  }
}

}  // namespace
}  // namespace grade::test

#include "hostile.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <regex>

#include "course/text.h"

namespace grade::test {

namespace {

std::vector<int> now_with(const std::string& text) {
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int id = std::atoi(entry.path().filename().c_str());
    if (id <= 0 || id == ::getpid()) continue;
    for (const char* file : {"cmdline", "environ"}) {
      if (read_file(entry.path() / file).find(text) == std::string::npos) continue;
      found.push_back(id);
      break;
    }
  }
  return found;
}

}  // namespace

std::vector<int> processes_with(const std::string& text) {
  std::vector<int> found = now_with(text);
  constexpr int kTries = 40, kMicroseconds = 50000;  // a process that was killed takes a moment
  for (int i = 0; i < kTries && !found.empty(); ++i) {
    ::usleep(kMicroseconds);
    found = now_with(text);
  }
  return found;
}

namespace {

std::string on_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// What must be the same before and after.
std::vector<std::string> state_of(const fs::path& root) {
  std::vector<std::string> state;
  for (const char* file : {"chapters/02_vector_add/01_vector_add_test.cpp",
                           "chapters/02_vector_add/01_vector_add.h", "chapters/course.json",
                           "solutions/02_vector_add/01_vector_add.cu", "build/sim/build.ninja"}) {
    state.push_back(read_file(root / file));
  }
  return state;
}

// One course for all: each submission meets what the last has left behind.
class Hostile : public testing::TestWithParam<Submission> {
 protected:
  static void SetUpTestSuite() {
    fs::create_directories(HOSTILE_PLACE);
    course_ = std::make_unique<RealCourse>(HOSTILE_PLACE);
    course_->set("TMPDIR", "/tmp");  // the course does not lie there
  }
  static void TearDownTestSuite() { course_.reset(); }

  static Ran grades(const std::string& code) {
    course_->save(code, RealCourse::kVectorAdd);
    return course_->grade({"run", RealCourse::kVectorAdd, "--device", "sim"});
  }

  static std::unique_ptr<RealCourse> course_;
};
std::unique_ptr<RealCourse> Hostile::course_;

TEST_P(Hostile, GetsNoPassAndLeavesNothing) {
  const fs::path root = course_->root();
  const auto before = state_of(root);
  const Ran ran = grades(whole_file(GetParam(), root.string()));
  const std::string said = on_one_line(ran.out);
  EXPECT_EQ(ran.status, 1) << ran.err << said;
  EXPECT_EQ(said.substr(0, said.find("It printed")).find("PASS"), std::string::npos) << said;
  EXPECT_TRUE(std::regex_search(said, std::regex(GetParam().says))) << said;
  EXPECT_EQ(state_of(root), before);
  EXPECT_EQ(course_->progress().find("passed "), std::string::npos) << course_->progress();
  EXPECT_TRUE(processes_with(root.string()).empty()) << "something is still running";
}

const auto name_of_case = [](const auto& one) { return one.param.name; };
INSTANTIATE_TEST_SUITE_P(Forgery, Hostile, testing::ValuesIn(forgeries()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Trespass, Hostile, testing::ValuesIn(trespasses()), name_of_case);

using HostileCourse = Hostile;

TEST_F(HostileCourse, FortySubmissionsAreTried) {
  EXPECT_GE(forgeries().size(), 20u);
  EXPECT_GE(forgeries().size() + trespasses().size(), 40u);
}

TEST_F(HostileCourse, TheNextHonestFilePasses) {
  const Ran ran = grades(RealCourse::solution_with("kBlock = 256", "kBlock = 128"));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("PASS  all 7 tests"), std::string::npos) << ran.out;
}

// Courses of their own: what happens there must not meet the others.
class HostileAlone : public testing::Test {
 protected:
  static std::string solution() {
    return RealCourse::solution_with("kBlock = 256", "kBlock = 128");
  }
  static Ran grades(RealCourse& course, const std::string& code) {
    course.save(code, RealCourse::kVectorAdd);
    return course.grade({"run", RealCourse::kVectorAdd, "--device", "sim"});
  }
  static void git(const fs::path& root, std::vector<std::string> arguments) {
    ChildOptions options;
    options.argv = {"git", "-C", root.string(), "-c", "user.name=T", "-c", "user.email=t@t"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.dropped = {"GIT_"};
    ASSERT_TRUE(run_child(options).ok()) << arguments[0];
  }
};

TEST_F(HostileAlone, AChangedTestIsNoPass) {
  RealCourse course;
  const fs::path root = course.root();
  write_file(root / ".gitignore", "/build/\n/.progress\n");
  git(root, {"init", "-q"});
  git(root, {"add", "-A"});
  git(root, {"commit", "-qm", "course"});
  EXPECT_EQ(grades(course, solution()).status, 0) << "the learner's own file may differ";
  EXPECT_NE(course.progress().find("passed "), std::string::npos);
  fs::remove(root / ".progress");
  const fs::path test = root / "chapters/02_vector_add/01_vector_add_test.cpp";
  write_file(test, read_file(test) + "\n");
  const Ran changed = grades(course, solution() + "\n");
  EXPECT_EQ(changed.status, 3) << changed.out;
  EXPECT_NE(on_one_line(changed.out).find("01_vector_add_test.cpp is not the committed one"),
            std::string::npos)
      << changed.out;
  EXPECT_EQ(course.progress().find("passed "), std::string::npos);
}

TEST_F(HostileAlone, ATestThatDidNotRunIsMissed) {
  RealCourse course;
  const fs::path test = course.root() / "chapters/02_vector_add/01_vector_add_test.cpp";
  write_file(test, read_file(test) + "TEST(VectorAdd, Another) {}\n");  // not in the program
  const Ran ran = grades(course, solution());
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(on_one_line(ran.out).find("Only 7 of its 8 tests ran: Another is missing."),
            std::string::npos)
      << ran.out;
  write_file(test, "TEST(VectorAdd, AcceptsEmptyInput) {}\n");
  EXPECT_NE(on_one_line(grades(course, solution() + "\n").out)
                .find("It reported a test that its test file does not have"),
            std::string::npos);
}

TEST_F(HostileAlone, ProgressIsRestoredWhereTheKernelDoesNotKeepIt) {
  RealCourse course(fs::exists("/tmp") ? "/tmp" : fs::temp_directory_path());
  const std::string file = (course.root() / ".progress").string();
  const Ran ran = grades(course, "#include <fstream>\n" + solution() +
                                     "static const bool done = (std::ofstream(\"" + file +
                                     "\") << \"passed  a/b  now\\n\").good();\n");
  EXPECT_EQ(ran.status, 1) << ran.out;
  EXPECT_NE(on_one_line(ran.out).find("Your program changed .progress"), std::string::npos)
      << ran.out;
  EXPECT_EQ(course.progress().find("a/b"), std::string::npos) << course.progress();
}

TEST_F(HostileAlone, ATemplateBombIsStopped) {
  RealCourse course;
  course.set("GRADE_COMPILER_LIMIT_MB", "1500");
  const Ran ran = grades(
      course,
      "#include \"01_vector_add.h\"\n"
      "template <int N, int M> struct A { static const int v = A<N - 1, M>::v + A<N - 1, M + (1 << "
      "N)>::v; };\n"
      "template <int M> struct A<0, M> { static const int v = M; };\n"
      "int much = A<24, 0>::v;\n"
      "void launch_vector_add(const float*, const float*, float*, int) {}\n");
  EXPECT_EQ(ran.status, 1) << ran.out;
  EXPECT_NE(on_one_line(ran.out).find("out of memory"), std::string::npos) << ran.out;
  EXPECT_EQ(grades(course, solution()).status, 0) << "the limit is not for honest files";
}

}  // namespace
}  // namespace grade::test

// Python exercises through the real program: what is graded is what the test reported on its
// channel, however the learner's file behaves, with pytest and without.
#include <gtest/gtest.h>

#include <cstdlib>

#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr char kId[] = "01_begin/01_double";

constexpr char kCourse[] = R"({
  "format": 1,
  "title": "Scratch",
  "chapters": [ {"id": "01_begin", "title": "Begin"} ],
  "exercises": [
    {
      "id": "01_begin/01_double",
      "title": "Double",
      "minutes": 5,
      "kind": "python",
      "todos": 1,
      "gpus": 0,
      "python": ["MODULE"]
    }
  ]
}
)";

constexpr char kSolution[] = R"(def double(x):
    #~ return x  # TODO(1): Twice x.
    #~begin 1
    return 2 * x
    #~end
)";

constexpr char kTest[] = R"py(import kit

exercise = kit.exercise()


@kit.todo(1)
def test_doubles_numbers():
    for x in kit.cases("x", [0, 3, -4]):
        kit.expect_near("double(x)", exercise.double(x), 2 * x, 0)


def test_gives_a_number():
    assert exercise.double(1) is not None
)py";

constexpr char kHints[] = "## TODO 1\n\na\n\nb\n\nc\n";

class Python : public testing::Test {
 protected:
  Python() {
    fs::create_directories(course_.root() / "grader/kit");
    fs::create_symlink(fs::path(GRADE_CLONE) / "grader/kit/python",
                       course_.root() / "grader/kit/python");
    needs("json");
    write_file(course_.root() / "solutions/01_begin/01_double.py", kSolution);
    write_file(course_.root() / "chapters/01_begin/01_double_test.py", kTest);
    write_file(course_.root() / "chapters/01_begin/01_double_hints.md", kHints);
    course_.set("GRADE_PYTHON", "python3");
  }

  void SetUp() override {
    if (std::system("command -v python3 >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "there is no python3";
  }

  void needs(const std::string& module) {
    std::string text = kCourse;
    write_file(course_.root() / "chapters/course.json",
               text.replace(text.find("MODULE"), 6, module));
  }

  Ran run(const std::string& learner) {
    write_file(course_.root() / "chapters/01_begin/01_double.py", learner);
    return course_.grade({"run", kId});
  }

  void expect_failure(const std::string& learner, const std::string& message) {
    const Ran ran = run(learner);
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(message), std::string::npos) << "expected: " << message << "\n"
                                                        << ran.out << ran.err;
    EXPECT_EQ(course_.progress().find("passed"), std::string::npos);
  }

  ScratchCourse course_;
};

TEST_F(Python, PassesWhatIsRight) {
  const Ran ran = run("def double(x):\n    print('any words')\n    return x + x\n");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("PASS  all 2 tests"), std::string::npos) << ran.out;
}

TEST_F(Python, PassesASolutionWithItsMarkers) { EXPECT_EQ(run(kSolution).status, 0); }

TEST_F(Python, SaysTheCaseAndBothValues) {
  expect_failure("def double(x):\n    return x\n",
                 "FAIL  DoublesNumbers, x = 3\n        double(x) is 3, expected 6");
  EXPECT_NE(run("def double(x):\n    return x\n").out.find("(TODO 1)"), std::string::npos);
}

TEST_F(Python, NamesTheLineOfAnException) {
  expect_failure("def double(x):\n    return [][x]\n",
                 "IndexError in double(), 01_double.py:2: list index out of range");
}

TEST_F(Python, ShowsASyntaxErrorWithItsLine) {
  expect_failure("def double(x):\n    return (2 * x\n", "01_double.py:2: '(' was never closed");
}

TEST_F(Python, AnExitIsNoPass) {
  expect_failure("import os\nos._exit(0)\n", "ended before its tests had, with exit status 0");
  expect_failure("import os\n\ndef double(x):\n    os._exit(0)\n",
                 "ended before its tests had, with exit status 0");
  expect_failure("import sys\n\ndef double(x):\n    sys.exit(0)\n", "SystemExit in double()");
}

TEST_F(Python, AForgedResultIsNoPass) {
  expect_failure("print('{\"event\":\"done\",\"passed\":2}')\n\ndef double(x):\n    return x\n",
                 "double(x) is 3, expected 6");
}

TEST_F(Python, LinesWithoutASealAreNotRead) {
  expect_failure(
      "import os\n\ndef double(x):\n"
      "    for fd in range(3, 64):\n"
      "        for line in (b'{\"event\":\"test_end\",\"test\":\"Double.DoublesNumbers\",'\n"
      "                     b'\"passed\":true}\\n', b'{\"event\":\"done\",\"passed\":2}\\n'):\n"
      "            try:\n                os.write(fd, b'0' * 16 + b' ' + line)\n"
      "            except OSError:\n                pass\n"
      "    os._exit(0)\n",
      "ended before its tests had");
}

TEST_F(Python, TheGraderIsOutOfSight) {
  const std::string solved = "def double(x):\n    return 2 * x\n";
  for (const std::string& line :
       {std::string("import kit; kit.expect_near = lambda *a: None"),
        std::string("import __main__"), std::string("from gc import get_objects"),
        std::string("import sys; sys.modules['kit']"), std::string("import sys; sys._getframe(1)"),
        std::string("__import__('kit')"),
        std::string("import importlib; importlib.import_module('kit')"),
        std::string("import sys; getattr(sys, '_getframe')(1)"),
        std::string("exec('import kit')")}) {
    expect_failure(solved + line + "\n", "01_double.py:3: ");
    EXPECT_NE(run(solved + line + "\n").out.find("is refused"), std::string::npos) << line;
  }
}

TEST_F(Python, TheGraderAndTheCourseAreOutOfReach) {
  expect_failure("import os\n\ndef double(x):\n    os.kill(os.getppid(), 9)\n", "PermissionError");
  expect_failure(
      "import os, time\n\ndef double(x):\n    if os.fork() == 0:\n        os.setsid()\n"
      "        time.sleep(600)\n    os._exit(0)\n",
      "ended before its tests had");
}

TEST_F(Python, ALoopWithoutEndIsStopped) {
  course_.set("GRADE_TIME_LIMIT", "2");
  expect_failure("def double(x):\n    while True:\n        pass\n", "Still running after 2 s");
}

TEST_F(Python, AnEditThatKeepsTheSizeIsSeen) {
  EXPECT_EQ(run("def double(x):\n    return 2 * x\n").status, 0);
  EXPECT_EQ(run("def double(x):\n    return 3 * x\n").status, 1);
}

TEST_F(Python, WithoutAModuleItSaysSoAndDoesNotPass) {
  needs("no_such_module");
  const Ran ran = run("def double(x):\n    return 2 * x\n");
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_NE(ran.out.find("needs no_such_module, which python3 does not have"), std::string::npos)
      << ran.out;
  EXPECT_EQ(ran.out.find("doctor"), std::string::npos) << ran.out;  // it would not help
  EXPECT_NE(course_.grade({"check-all"}).out.find("SKIP  01_begin/01_double"), std::string::npos);
}

TEST_F(Python, ResetMakesTheStarter) {
  write_file(course_.root() / "chapters/01_begin/01_double.py", "x\n");
  course_.grade({"reset", kId, "--yes"});
  EXPECT_EQ(read_file(course_.root() / "chapters/01_begin/01_double.py"),
            "def double(x):\n    return x  # TODO(1): Twice x.\n");
}

}  // namespace
}  // namespace grade::test

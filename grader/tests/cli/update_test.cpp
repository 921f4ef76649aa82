// grade update, against a local repository.
#include <gtest/gtest.h>

#include "scratch_course.h"

namespace grade::test {
namespace {

class Update : public testing::Test {
 protected:
  void SetUp() override {
    upstream_ = course_.root().string() + "_upstream.git";
    git({"init", "--quiet", "--initial-branch=main", "."});
    write_file(course_.root() / ".gitignore", "/build/\n/.progress\n");
    commit();
    ASSERT_EQ(git({"clone", "--quiet", "--bare", ".", upstream_.string()}), 0);
    git({"remote", "add", "origin", upstream_.string()});
    git({"fetch", "--quiet"});
    git({"branch", "--quiet", "--set-upstream-to=origin/main"});
  }

  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(upstream_, ignored);
  }

  int git(std::vector<std::string> arguments) {
    ChildOptions options;
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@t"});
    options.argv = std::move(arguments);
    options.directory = course_.root();
    const ChildResult result = run_child(options);
    EXPECT_TRUE(result.ok()) << result.err.text() << result.error;
    return result.status;
  }

  void commit() {
    git({"add", "--all"});
    git({"commit", "--quiet", "--message=c"});
  }

  // A new version upstream changes the starters of the first and the second exercise.
  void publish() {
    course_.save("// new first\n");
    course_.save("// new second\n", "01_begin/02_second");
    commit();
    git({"push", "--quiet", "origin", "HEAD:main"});
    git({"reset", "--quiet", "--hard", "HEAD~1"});
  }

  ScratchCourse course_;
  fs::path upstream_;
};

TEST_F(Update, MovesForwardAndKeepsEditedFiles) {
  publish();
  course_.save("// mine\n");
  course_.save("// mine too\n", "01_begin/03_third");
  const Ran ran = course_.grade({"update"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(read_file(course_.learner_file()), "// mine\n");
  EXPECT_EQ(read_file(course_.learner_file("01_begin/03_third")), "// mine too\n");
  EXPECT_EQ(read_file(course_.learner_file("01_begin/02_second")), "// new second\n");
  EXPECT_NE(ran.out.find("chapters/01_begin/01_first.cu\n    yours is kept"), std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("chapters/01_begin/02_second.cu"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("03_third"), std::string::npos) << ran.out;
  EXPECT_NE(course_.grade({"update"}).out.find("up to date"), std::string::npos);
}

TEST_F(Update, UnreachableServerChangesNothing) {
  publish();
  course_.save("// mine\n");
  fs::remove_all(upstream_);
  const Ran ran = course_.grade({"update"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("git fetch"), std::string::npos) << ran.err;
  EXPECT_EQ(read_file(course_.learner_file()), "// mine\n");
}

TEST_F(Update, OwnCommitsAreNotOverwritten) {
  publish();
  course_.save("// committed\n");
  commit();
  const Ran ran = course_.grade({"update"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("commits of its own"), std::string::npos) << ran.err;
}

TEST(UpdateWithoutGit, ADamagedCloneIsNotCalledNone) {
  ScratchCourse course;
  course.set("GIT_CEILING_DIRECTORIES", course.root().parent_path().string());
  write_file(course.root() / ".git" / "HEAD", "nonsense\n");
  const Ran ran = course.grade({"update"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("git rev-parse --git-dir failed"), std::string::npos) << ran.err;
}

TEST(UpdateWithoutGit, SaysSo) {
  ScratchCourse course;
  course.set("GIT_CEILING_DIRECTORIES", course.root().parent_path().string());
  const Ran ran = course.grade({"update"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("not a git clone"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace grade::test

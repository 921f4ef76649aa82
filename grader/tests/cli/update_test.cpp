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
    for (const char* who : {"AUTHOR", "COMMITTER"}) {
      course_.set(std::string("GIT_") + who + "_NAME", "t");
      course_.set(std::string("GIT_") + who + "_EMAIL", "t@t");
    }
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

TEST_F(Update, OwnCommitsAreMergedAndKeepTheirExercises) {
  publish();
  course_.save("// committed\n");
  commit();
  course_.save("// not committed\n", "01_begin/03_third");
  course_.save("// staged\n", "01_begin/02_second");
  git({"add", "--all"});
  const Ran ran = course_.grade({"update"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("merged with your own commits"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("chapters/01_begin/01_first.cu\n    yours is kept"), std::string::npos)
      << ran.out;
  EXPECT_EQ(read_file(course_.learner_file()), "// committed\n");
  EXPECT_EQ(read_file(course_.learner_file("01_begin/02_second")), "// staged\n");
  EXPECT_EQ(read_file(course_.learner_file("01_begin/03_third")), "// not committed\n");
  EXPECT_NE(course_.grade({"update"}).out.find("up to date"), std::string::npos);
}

TEST_F(Update, AConflictOutsideOfExercisesChangesNothing) {
  write_file(course_.root() / "README.md", "theirs\n");
  publish();  // with the page
  write_file(course_.root() / "README.md", "mine\n");
  course_.save("// committed\n");
  commit();
  course_.save("// not committed\n", "01_begin/02_second");
  const Ran ran = course_.grade({"update"});
  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_NE(ran.err.find("both change README.md"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("git merge "), std::string::npos) << ran.err;
  EXPECT_EQ(read_file(course_.root() / "README.md"), "mine\n");
  EXPECT_EQ(read_file(course_.learner_file()), "// committed\n");
  EXPECT_EQ(read_file(course_.learner_file("01_begin/02_second")), "// not committed\n");
  EXPECT_EQ(git({"diff", "--quiet", "HEAD", "--", "README.md"}), 0) << "no merge is left open";
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

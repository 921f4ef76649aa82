// What the kernel alone keeps a program from, whatever its code is.
#include "cli/process/confinement.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/process/child.h"
#include "hostile.h"

namespace grade::test {
namespace {

class Confined : public testing::Test {
 protected:
  Confined() {
    fs::create_directories(HOSTILE_PLACE);
    write_file(file_, "as it was");
  }

  std::string tries(const std::string& deed, const fs::path& file = {},
                    const std::vector<fs::path>& writable = {"/tmp"}) {
    const Confinement confinement(writable);
    is_protected_ = confinement.protects(file_);
    ChildOptions options;
    options.argv = {HOSTILE_INTRUDER, deed, file.string()};
    options.confinement = &confinement;
    options.own_seconds = 20;
    const ChildResult child = run_child(options);
    EXPECT_TRUE(child.ok()) << deed << ": " << child.error << " " << child.signal;
    return child.out.text();
  }

  const fs::path file_ = fs::path(HOSTILE_PLACE) / "file.txt";
  bool is_protected_ = false;
};

TEST_F(Confined, CannotReachTheGrader) {
  for (const char* deed : {"kill", "kill-group", "kill-all", "queue", "ptrace", "limit", "read"}) {
    EXPECT_EQ(tries(deed), "Operation not permitted\n") << deed;
  }
}

TEST_F(Confined, CannotOpenTheMemoryOfTheGrader) { EXPECT_NE(tries("memory"), "done\n"); }

TEST_F(Confined, CannotWriteOutsideOfItsFolders) {
  for (const char* deed : {"write", "remove", "rename", "link", "folder", "truncate"}) {
    const std::string said = tries(deed, file_);
    if (!is_protected_) GTEST_SKIP() << "this kernel has no Landlock";
    // Cutting a file short is known to Landlock since version 3 (Linux 6.2).
    if (std::string(deed) == "truncate") continue;
    EXPECT_EQ(said, "Permission denied\n") << deed;
  }
  EXPECT_EQ(read_file(file_).substr(0, 9), "as it was");
  EXPECT_FALSE(fs::exists(file_.string() + "~"));
  EXPECT_FALSE(fs::exists(file_.string() + ".d"));
}

TEST_F(Confined, WritesIntoItsFolders) {
  EXPECT_EQ(tries("write", file_, {HOSTILE_PLACE}), "done\n");
  EXPECT_FALSE(is_protected_);
}

TEST_F(Confined, WhatItStartsEndsWithIt) {
  EXPECT_EQ(tries("stay"), "done\n");
  EXPECT_TRUE(processes_with(HOSTILE_INTRUDER).empty());
}

}  // namespace
}  // namespace grade::test

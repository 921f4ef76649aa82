#include "course/progress.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "course/manifest.h"

namespace course {
namespace {

namespace fs = std::filesystem;

class ProgressTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/warplings_progress_XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path root_;
};

TEST_F(ProgressTest, AMissingFileIsEmptyProgress) {
  const LoadedProgress loaded = load_progress(root_);
  EXPECT_TRUE(loaded.progress.passed.empty());
  EXPECT_EQ(loaded.warning, "");
}

TEST_F(ProgressTest, ReadsWhatItWrote) {
  Progress progress;
  progress.current = "01_a/02_b";
  progress.mark_passed("01_a/01_a");
  progress.hints[{"01_a/02_b", 1}] = 2;
  save_progress(root_, progress);
  const LoadedProgress loaded = load_progress(root_);
  EXPECT_EQ(loaded.warning, "");
  EXPECT_EQ(loaded.progress.current, progress.current);
  EXPECT_EQ(loaded.progress.passed, progress.passed);
  EXPECT_EQ(loaded.progress.hints, progress.hints);
}

TEST_F(ProgressTest, KeepsTheBestTimeOfEachCard) {
  Progress progress;
  EXPECT_TRUE(progress.note_time("01_a/01_a", "NVIDIA H200", 2e-3));
  EXPECT_FALSE(progress.note_time("01_a/01_a", "NVIDIA H200", 3e-3));
  EXPECT_TRUE(progress.note_time("01_a/01_a", "NVIDIA H200", 1.5e-3));
  EXPECT_TRUE(progress.note_time("01_a/01_a", "Tesla T4", 9e-3));
  save_progress(root_, progress);
  const LoadedProgress loaded = load_progress(root_);
  EXPECT_EQ(loaded.warning, "");
  EXPECT_EQ(loaded.progress.best, progress.best);
}

TEST_F(ProgressTest, ATimeThatIsNoneIsADamagedLine) {
  for (const char* time : {"fast", "0", "-1", "nan", "1e999"}) {
    write_text(root_ / ".progress", std::string("best 01_a/01_a ") + time + " NVIDIA H200\n");
    EXPECT_NE(load_progress(root_).warning, "") << time;
  }
}

TEST_F(ProgressTest, ADamagedFileIsKeptAsideAndItsGoodLinesCount) {
  const std::string damaged =
      "current 01_a/02_b\npassed 01_a/01_a 2026-11-21T07:00:00Z\n\x01garbage\n";
  write_text(root_ / ".progress", damaged);
  const LoadedProgress loaded = load_progress(root_);
  EXPECT_NE(loaded.warning.find(".progress:3: damaged line \"?garbage\""), std::string::npos)
      << loaded.warning;
  EXPECT_TRUE(loaded.progress.is_passed("01_a/01_a"));
  EXPECT_EQ(read_text(root_ / ".progress.damaged-1"), damaged);
  EXPECT_EQ(load_progress(root_).warning, "");
}

TEST_F(ProgressTest, AKeptFileIsNeverOverwritten) {
  write_text(root_ / ".progress.damaged-1", "first");
  write_text(root_ / ".progress", "nonsense\n");
  load_progress(root_);
  EXPECT_EQ(read_text(root_ / ".progress.damaged-1"), "first");
  EXPECT_EQ(read_text(root_ / ".progress.damaged-2"), "nonsense\n");
}

TEST_F(ProgressTest, AFolderInItsPlaceIsKeptAside) {
  fs::create_directory(root_ / ".progress");
  EXPECT_NE(load_progress(root_).warning.find("is a folder"), std::string::npos);
  EXPECT_TRUE(fs::is_directory(root_ / ".progress.damaged-1"));
}

TEST_F(ProgressTest, ALineCutShortIsDamage) {
  write_text(root_ / ".progress", "passed 01_a/01_a 2026-11-2");
  EXPECT_NE(load_progress(root_).warning.find(".progress:1:"), std::string::npos);
}

}  // namespace
}  // namespace course

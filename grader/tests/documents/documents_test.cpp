// Runs what the pages below docs/ show as run, in a folder with the snippets, and compares every
// line of output. A line "..." stands for any number of lines, "..." in a line for any text.
#include "cli/gates/documents.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/gates/figures.h"
#include "cli/gates/page_program.h"
#include "cli/process/child.h"
#include "course/manifest.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSavedAs = "saved as: ";
const fs::path kRoot = PROJECT_ROOT, kSnippets = kRoot / "docs/background/snippets";

// A folder as a reader has it after `cd`: the snippets, and ./grade.
class ReadersFolder {
 public:
  // Always the same for a page: programs that were compiled there once are used again.
  explicit ReadersFolder(const fs::path& page)
      : path_(folder_of_page(fs::path(GRADE_PROGRAM).parent_path().parent_path(), page)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    for (const fs::directory_entry& entry : fs::directory_iterator(kSnippets)) {
      fs::copy(entry.path(), path_ / entry.path().filename());
    }
    fs::create_symlink(GRADE_PROGRAM, path_ / "grade");
    fs::create_directory(path_ / "tools");
    for (const auto& [tool, program] : {std::pair("g++", CXX_PROGRAM), {"ninja", NINJA_PROGRAM}}) {
      fs::create_symlink(program, path_ / "tools" / tool);
    }
  }
  ~ReadersFolder() { fs::remove_all(path_); }
  ReadersFolder(const ReadersFolder&) = delete;
  ReadersFolder& operator=(const ReadersFolder&) = delete;

  void save(const std::string& name, const std::string& text) const {
    course::write_text(path_ / name, text);
  }

  // What a terminal would show: both streams in one.
  std::string run(const std::string& command, int* status) const {
    const std::string path = (path_ / "tools").string() + ":" +
                             fs::path(NVCC_PROGRAM).parent_path().string() + ":" +
                             std::getenv("PATH");
    ChildOptions options;
    options.argv = {"/bin/bash", "-c", "exec 2>&1\n" + command};
    options.directory = path_.string();
    options.environment = {{"PATH", path}, {"NO_COLOR", "1"}};
    options.own_seconds = 60;
    options.output_kept = 1 << 20;
    const ChildResult result = run_child(options);
    *status = result.status;
    return result.out.text();
  }

 private:
  fs::path path_;
};

// "modelled ... us" fits whatever stands between.
bool line_matches(const std::string& shown, const std::string& now) {
  const size_t gap = shown.find("...");
  if (gap == std::string::npos) return shown == now;
  const std::string rest = shown.substr(gap + 3);
  if (now.compare(0, gap, shown, 0, gap) != 0) return false;
  for (size_t at = gap; at <= now.size(); ++at) {
    if (line_matches(rest, now.substr(at))) return true;
  }
  return false;
}

bool matches(const std::vector<std::string>& shown, size_t s, const std::vector<std::string>& now,
             size_t n) {
  for (; s < shown.size(); ++s, ++n) {
    if (shown[s] == "...") {
      for (size_t skip = n; skip <= now.size(); ++skip) {
        if (matches(shown, s + 1, now, skip)) return true;
      }
      return false;
    }
    if (n == now.size() || !line_matches(without_times(shown[s]), without_times(now[n]))) {
      return false;
    }
  }
  return n == now.size();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = course::split_lines(text);
  while (!lines.empty() && course::trim(lines.back()).empty()) lines.pop_back();
  return lines;
}

// A busy machine may take so long that the launcher says what it is at.
std::string without_progress(const std::string& text) {
  std::string kept;
  for (const std::string& line : course::split_lines(text)) {
    if (!line.starts_with("grade: building")) kept += line + "\n";
  }
  return kept;
}

class Page : public testing::TestWithParam<fs::path> {};

TEST_P(Page, PrintsWhatItShows) {
  const ReadersFolder folder(GetParam());
  for (const FencedBlock& block : fenced_blocks_of(course::read_text(GetParam()))) {
    if (block.mark.starts_with(kSavedAs)) {
      folder.save(block.mark.substr(kSavedAs.size()), block.body);
    }
    if (block.mark != "run") continue;
    for (const ShownCommand& shown : commands_of(block)) {
      int status = -1;
      const std::string now = without_progress(folder.run(shown.command, &status));
      EXPECT_TRUE(matches(lines_of(shown.output), 0, lines_of(now), 0))
          << GetParam().filename().string() << ":" << block.line << ": $ " << shown.command
          << "\nthe page shows:\n"
          << shown.output << "\nnow it prints:\n"
          << now;
      EXPECT_EQ(status, shown.status) << "of: " << shown.command;
    }
  }
}

std::string name_of_page(const testing::TestParamInfo<fs::path>& info) {
  return info.param.parent_path().filename().string() + "_" +
         course::replace_all(info.param.stem().string(), "-", "_");
}

std::vector<fs::path> chapter_pages() {
  std::vector<fs::path> pages;
  for (const course::Chapter& chapter : course::load_course(kRoot).chapters) {
    pages.push_back(kRoot / "chapters" / chapter.id / "README.md");
  }
  return pages;
}

// All of them, or every M-th from the N-th on where LESSONS_SHARE is "N/M" (./grade selftest).
std::vector<fs::path> lessons() {
  unsigned part = 0, parts = 1;
  if (const char* share = std::getenv("LESSONS_SHARE"); share != nullptr) {
    std::sscanf(share, "%u/%u", &part, &parts);
  }
  std::vector<fs::path> pages;
  for (const course::Exercise& exercise : course::load_course(kRoot).exercises) {
    const fs::path page = course::files_of(kRoot, exercise).lesson;
    if (fs::exists(page) && part++ % parts == 0) pages.push_back(page);
  }
  return pages;
}

INSTANTIATE_TEST_SUITE_P(Chapters, Page, testing::ValuesIn(chapter_pages()), name_of_page);
INSTANTIATE_TEST_SUITE_P(Lessons, Page, testing::ValuesIn(lessons()), name_of_page);
INSTANTIATE_TEST_SUITE_P(Documents, Page, testing::ValuesIn(document_pages(kRoot)), name_of_page);

// Its page lists it as needing a GPU; what can be checked without one is that it compiles.
TEST(Snippets, OfNvrtcCompilesWhereItsHeaderIs) {
  const fs::path header =
      fs::canonical(NVCC_PROGRAM).parent_path().parent_path() / "include/nvrtc.h";
  if (!fs::exists(header)) GTEST_SKIP() << header << " is missing: the compiler packages lack it";
  const ReadersFolder folder(kRoot / "docs/nvrtc_scale.md");
  int status = -1;
  const std::string log = folder.run("nvcc -c -o scale.o nvrtc_scale.cpp", &status);
  EXPECT_EQ(status, 0) << log;
}

TEST(Snippets, AreAllUsedByAPage) {
  std::string pages;
  for (const fs::path& page : document_pages(kRoot)) pages += course::read_text(page);
  for (const fs::path& page : chapter_pages()) pages += course::read_text(page);
  for (const fs::directory_entry& entry : fs::directory_iterator(kSnippets)) {
    const std::string name = entry.path().filename().string();
    EXPECT_NE(pages.find(name), std::string::npos) << name << " is on no page";
  }
}

}  // namespace
}  // namespace grade

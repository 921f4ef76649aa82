// What chapters' pages, lessons and background pages hold (CONTRIBUTING, "Pages").
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "course/manifest.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

const fs::path kClone = PROJECT_ROOT;

// Without comments and fenced blocks: what a reader reads, tables included.
std::string prose_of(const std::string& page) {
  std::string text;
  bool in_code = false;
  for (const std::string& line : course::split_lines(page)) {
    if (course::starts_with(line, "```")) {
      in_code = !in_code;
    } else if (!in_code) {
      text += line + "\n";
    }
  }
  static const std::regex kComment("<!--[^>]*-->"), kTarget("\\]\\([^)]*\\)");
  return std::regex_replace(std::regex_replace(text, kComment, ""), kTarget, "]");
}

std::vector<std::string> headings_of(const std::string& prose) {
  std::vector<std::string> found;
  for (const std::string& line : course::split_lines(prose)) {
    if (course::starts_with(line, "## ")) found.push_back(course::trim(line.substr(3)));
  }
  return found;
}

size_t pictures_in(const std::string& prose) {
  size_t count = 0;
  for (size_t at = prose.find("!["); at != std::string::npos; at = prose.find("![", at + 1)) {
    ++count;
  }
  return count;
}

TEST(ChapterPages, HaveAPictureAndTheTableOfTheirExercises) {
  for (const course::Chapter& chapter : course::load_course(kClone).chapters) {
    SCOPED_TRACE(chapter.id);
    const std::string page = course::read_text(kClone / "chapters" / chapter.id / "README.md");
    const std::string prose = prose_of(page);
    EXPECT_GE(pictures_in(prose), 1u);
    const std::vector<std::string> headings = headings_of(prose);
    EXPECT_EQ(std::count(headings.begin(), headings.end(), "Exercises"), 1);
  }
}

TEST(Lessons, HaveAPictureAndAreLinkedFromTheirChapter) {
  int lessons = 0;
  for (const course::Exercise& exercise : course::load_course(kClone).exercises) {
    const fs::path file = course::files_of(kClone, exercise).lesson;
    if (!fs::exists(file)) continue;
    ++lessons;
    SCOPED_TRACE(exercise.id);
    EXPECT_GE(pictures_in(course::read_text(file)), 1u);
    const std::string page =
        course::read_text(kClone / "chapters" / exercise.chapter / "README.md");
    EXPECT_NE(page.find("(" + exercise.name + ".md)"), std::string::npos);
  }
  EXPECT_GE(lessons, 1);
}

// The last number of a table's row.
int last_number_of(const std::string& row) {
  static const std::regex kMinutes("\\| *(\\d+) *\\|$");
  std::smatch found;
  return std::regex_search(row, found, kMinutes) ? std::stoi(found[1]) : -1;
}

std::string row_with(const std::string& page, const std::string& start) {
  for (const std::string& line : course::split_lines(page)) {
    if (course::starts_with(line, start)) return line;
  }
  return "";
}

TEST(ChapterPages, HaveARowWithTheMinutesOfEveryExercise) {
  for (const course::Exercise& exercise : course::load_course(kClone).exercises) {
    const std::string page =
        course::read_text(kClone / "chapters" / exercise.chapter / "README.md");
    const std::string row = row_with(page, "| [" + exercise.name + "](");
    EXPECT_EQ(last_number_of(row), exercise.minutes) << exercise.id << ": " << row;
  }
}

TEST(ChapterPages, AndTheFrontPageSayHowManyExercisesAndMinutes) {
  const course::Course course = course::load_course(kClone);
  const std::string front = course::read_text(kClone / "README.md");
  for (const course::Chapter& chapter : course.chapters) {
    int exercises = 0;
    int minutes = 0;
    for (const course::Exercise& exercise : course.exercises) {
      if (exercise.chapter != chapter.id) continue;
      ++exercises;
      minutes += exercise.minutes;
    }
    const std::string row = row_with(front, "| [" + chapter.id.substr(0, 2) + " ");
    const std::string both =
        " | " + std::to_string(exercises) + " | " + std::to_string(minutes) + " | ";
    EXPECT_TRUE(row.find(both) != std::string::npos) << chapter.id << both << row;
    const std::string page = course::read_text(kClone / "chapters" / chapter.id / "README.md");
    const std::string total = "About " + std::to_string(minutes) + " minutes";
    EXPECT_TRUE(page.find(total) != std::string::npos) << chapter.id << ": " << total;
  }
}

TEST(BackgroundPages, HaveAPictureAndTheirSources) {
  int pages = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(kClone / "docs/background")) {
    if (entry.path().extension() != ".md") continue;
    SCOPED_TRACE(entry.path().string());
    ++pages;
    const std::string prose = prose_of(course::read_text(entry.path()));
    EXPECT_GE(pictures_in(prose), 1u);
    const std::string name = entry.path().stem().string();
    if (name == "glossary" || name == "cheat_sheet") continue;  // tables, to look things up
    EXPECT_EQ(headings_of(prose).back(), "Sources");
  }
  EXPECT_GE(pages, 17);
}

// A reader who opens a folder finds each of its parts in its README.
TEST(Readmes, NameEveryFolder) {
  for (const char* folder : {"grader", "grader/tests", "grader/simulator", "."}) {
    const std::string text = course::read_text(kClone / folder / "README.md");
    for (const fs::directory_entry& entry : fs::directory_iterator(kClone / folder)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_directory() || name[0] == '.' || name == "build" || name == "__pycache__") {
        continue;
      }
      EXPECT_NE(text.find(name + "/"), std::string::npos) << folder << " has " << name;
    }
  }
}

TEST(Readmes, NameEveryProgramForAGpu) {
  const std::string text = course::read_text(kClone / "grader/tests/README.md");
  for (const fs::directory_entry& entry : fs::directory_iterator(kClone / "grader/tests/gpu")) {
    const std::string end = entry.path().extension().string();
    if (end != ".cu" && end != ".cpp" && end != ".py") continue;
    const std::string name = entry.path().filename().string();
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
}

TEST(Readmes, DocsListEveryPage) {
  const std::string text = course::read_text(kClone / "docs/README.md");
  for (const fs::directory_entry& entry : fs::directory_iterator(kClone / "docs/background")) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".md") continue;
    EXPECT_NE(text.find("(background/" + name + ")"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace grade

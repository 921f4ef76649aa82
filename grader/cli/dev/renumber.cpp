// grade dev renumber OLD NEW: an exercise gets another number, or another name. Its files, its id
// in course.json, in pages, marks, tests and tables of figures, the title of its lesson, include
// guards and its entries in .progress follow.
#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "cli/dev/dev.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

std::string upper(const std::string& text) {
  std::string big;
  for (const unsigned char c : text) big += static_cast<char>(std::toupper(c));
  return big;
}

// "06_transpose_padded" -> "TransposePadded", as suites of tests are called.
std::string pascal(const std::string& name) {
  std::string text;
  bool begins = true;
  for (const char c : name.substr(3)) {
    if (c != '_') text += begins ? upper(std::string(1, c)) : std::string(1, c);
    begins = c == '_';
  }
  return text;
}

struct Id {
  std::string chapter, name;
  std::string id() const { return chapter + "/" + name; }
  std::string number() const { return chapter.substr(0, 2) + "/" + name.substr(0, 2); }
};

Id split(const std::string& id) {
  static const std::regex kId("([0-9]{2}_[a-z0-9_]+)/([0-9]{2}_[a-z0-9_]+)");
  std::smatch match;
  if (!std::regex_match(id, match, kId)) {
    throw UsageError("\"" + id + "\" is no id: it reads NN_topic/MM_name.");
  }
  return {match[1], match[2]};
}

bool is_text(const fs::path& file) {
  static const std::set<std::string> kTexts = {
      ".md", ".cu",    ".cpp", ".h",   ".cuh", ".txt", ".py",   ".json",   ".svg",
      ".sh", ".cmake", ".yml", ".css", ".js",  ".def", ".toml", ".sbatch", ".diff"};
  return kTexts.count(file.extension().string()) != 0;
}

class Renumber {
 public:
  Renumber(const course::Course& course, Id from, Id to)
      : root_(course.root), from_(std::move(from)), to_(std::move(to)) {
    const auto same = std::count_if(course.exercises.begin(), course.exercises.end(),
                                    [&](const auto& e) { return e.name == from_.name; });
    name_is_unique_ = same == 1;
  }

  void run() {
    std::vector<fs::path> files;
    collect(root_, &files);
    for (const fs::path& file : files) rewrite(file);
    for (const fs::path& file : files) move(file);
    for (const char* folder : kFolders) remove_empty(root_ / folder / from_.chapter / from_.name);
  }

  size_t rewritten = 0, moved = 0;

 private:
  void collect(const fs::path& folder, std::vector<fs::path>* files) const {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_symlink() || name == "build" || name == "__pycache__") continue;
      if (entry.is_directory()) {
        if (name[0] != '.') collect(entry.path(), files);
      } else if (is_text(entry.path()) || name == ".progress") {
        files->push_back(entry.path());
      }
    }
  }

  // Files that belong to a chapter may call an exercise by its name alone.
  bool is_of_chapter(const fs::path& file) const {
    return file.generic_string().find("/" + from_.chapter + "/") != std::string::npos;
  }

  std::string changed(const std::string& before, bool names_alone) const {
    const auto word = [](const std::string& text, const std::string& from, const std::string& to) {
      std::string out;
      size_t done = 0;
      const auto inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
        if (at < done) continue;
        const size_t end = at + from.size();
        const bool begins = at == 0 || (!inside(text[at - 1]) && text[at - 1] != '_');
        const bool ends = end == text.size() || !inside(text[end]);
        if (!begins || !ends) continue;
        out += text.substr(done, at - done) + to;
        done = end;
      }
      return out + text.substr(done);
    };
    std::string text = word(before, from_.id(), to_.id());
    text = word(text, from_.chapter + "." + from_.name, to_.chapter + "." + to_.name);
    // Include guards, of NN_name_support.h too.
    text = course::replace_all(text, upper("chapters_" + from_.chapter + "_" + from_.name + "_"),
                               upper("chapters_" + to_.chapter + "_" + to_.name + "_"));
    if (names_alone) {
      text = word(text, from_.name, to_.name);
      if (pascal(from_.name) != pascal(to_.name)) {
        text = word(text, pascal(from_.name), pascal(to_.name));
      }
    }
    return with_number(text);
  }

  // "03/06", but no part of a path or of a date.
  std::string with_number(const std::string& text) const {
    const std::regex number("(^|[^0-9/.])" + from_.number() + "(?![0-9/_])");
    return std::regex_replace(text, number, "$01" + to_.number());
  }

  // "# 06 A column without collisions"
  void retitle(std::string* lesson) const {
    const std::string title = "# " + from_.name.substr(0, 2);
    if (course::starts_with(*lesson, title)) lesson->replace(2, 2, to_.name, 0, 2);
  }

  void rewrite(const fs::path& file) {
    const std::string before = course::read_text(file);
    std::string after = changed(before, name_is_unique_ || is_of_chapter(file));
    if (file == root_ / "chapters" / from_.chapter / (from_.name + ".md")) retitle(&after);
    if (after == before) return;
    course::write_text(file, after);
    ++rewritten;
  }

  // What has a folder for each exercise: its gates, and answers by others.
  static constexpr const char* kFolders[] = {"grader/tests/exercises/",
                                             "grader/tests/independent/"};

  // chapters/NN/MM_name*.*, and what lies in the exercise's own folders.
  void move(const fs::path& file) {
    std::string path = file.lexically_relative(root_).generic_string();
    const std::string before = path;
    for (const char* folder : {"chapters/", "solutions/", "assets/figures/"}) {
      const std::string start = std::string(folder) + from_.id();
      const bool ours = course::starts_with(path, start) &&
                        (path[start.size()] == '.' || path[start.size()] == '_');
      if (ours) path = folder + to_.id() + path.substr(start.size());
    }
    for (const std::string folder : kFolders) {
      if (course::starts_with(path, folder + from_.id() + "/")) {
        path = folder + to_.id() + path.substr(folder.size() + from_.id().size());
      }
    }
    if (path == before) return;
    fs::create_directories((root_ / path).parent_path());
    fs::rename(file, root_ / path);
    ++moved;
  }

  static void remove_empty(const fs::path& folder) {
    std::error_code not_there;
    if (fs::is_empty(folder, not_there) && !not_there) fs::remove(folder);
  }

  fs::path root_;
  Id from_, to_;
  bool name_is_unique_ = false;
};

}  // namespace

int dev_renumber(App& app, const DevArguments& arguments) {
  if (arguments.operands.size() != 2) {
    throw UsageError("./grade dev renumber OLD NEW: both ids in full, NN_topic/MM_name.");
  }
  const Id from = split(arguments.operands[0]), to = split(arguments.operands[1]);
  const course::Course& course = app.course();
  if (course.find(from.id()) == nullptr)
    throw UsageError("There is no exercise " + from.id() + ".");
  for (const course::Exercise& exercise : course.exercises) {
    const Id taken = {exercise.chapter, exercise.name};
    if (taken.number() == to.number() && taken.id() != from.id()) {
      throw UsageError(taken.id() + " has that number; move it first.");
    }
  }
  if (std::none_of(course.chapters.begin(), course.chapters.end(),
                   [&](const course::Chapter& c) { return c.id == to.chapter; })) {
    throw UsageError("There is no chapter " + to.chapter + ".");
  }
  Renumber renumber(course, from, to);
  renumber.run();
  print(from.id() + " is " + to.id() + " now: " + course::plural(renumber.moved, "file") +
        " renamed, " + course::plural(renumber.rewritten, "text") + " rewritten.\n" +
        "Put its entry of chapters/course.json into its place, read where pages speak of "
        "\"exercise " +
        from.name.substr(0, 2) + "\" without its chapter, then ./grade dev sync and git add -A.\n");
  return kPass;
}

}  // namespace grade

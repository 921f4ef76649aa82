#include "cli/gates/file_names.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "09_scale.h" and "09_scale" of "see 09_scale.h." and "a09_scale_1 09_scale".
std::vector<std::string> numbered_names(const std::string& line) {
  std::vector<std::string> names;
  for (size_t at = 0; at + 3 < line.size(); ++at) {
    const bool begins = at == 0 || !is_word(line[at - 1]);
    const char first = line[at + 3];
    if (!begins || !is_digit(line[at]) || !is_digit(line[at + 1]) || line[at + 2] != '_' ||
        !(is_lower(first) || first == '.')) {
      continue;
    }
    size_t end = at + 3;
    while (end < line.size() && (is_word(line[end]) || line[end] == '.')) ++end;
    while (line[end - 1] == '.') --end;
    names.push_back(line.substr(at, end - at));
    at = end - 1;
  }
  return names;
}

class NameCheck {
 public:
  explicit NameCheck(const GateContext& context) : context_(context) {
    for (const char* folder : {"chapters", "solutions", "assets/figures"}) {
      collect(context.paths->root / folder);
    }
    for (const course::Chapter& chapter : context.course->chapters) known_.insert(chapter.id);
    std::sort(texts_.begin(), texts_.end());
  }

  std::vector<std::string> run() {
    for (const fs::path& file : texts_) check(file);
    return problems_;
  }

 private:
  void collect(const fs::path& folder) {
    if (!fs::is_directory(folder)) return;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const fs::path& path = entry.path();
      if (entry.is_directory()) continue;
      known_.insert(path.filename().string());
      known_.insert(path.stem().string());
      static const std::set<std::string> kTexts = {".h", ".cu", ".cpp", ".py", ".md"};
      if (kTexts.count(path.extension().string()) != 0) texts_.push_back(path);
    }
  }

  // A name with an ending is a file's. Without one its begin is enough, as for commands: "08_read",
  // and of "07_tiled_matmul.04_matmul_shared", a target, the first part.
  bool exists(const std::string& name) const {
    static const std::set<std::string> kEndings = {".h",  ".cu",  ".cpp", ".py",
                                                   ".md", ".txt", ".svg", ".sbatch"};
    if (known_.count(name) != 0) return true;
    if (kEndings.count(fs::path(name).extension().string()) != 0) return false;
    const std::string begin = name.substr(0, name.find('.'));
    const auto next = known_.lower_bound(begin);
    return next != known_.end() && course::starts_with(*next, begin);
  }

  void check(const fs::path& file) {
    const std::string text = course::read_text(file), name = shown(context_, file);
    int number = 0;
    for (const std::string& line : course::split_lines(text)) {
      ++number;
      for (const std::string& mention : numbered_names(line)) {
        if (exists(mention)) continue;
        problems_.push_back(name + ":" + std::to_string(number) + ": there is no \"" + mention +
                            "\"; write the name that the file has.");
      }
    }
    const std::string own = file.filename().string();
    if (file.extension() == ".h" && numbered_names(own) == std::vector<std::string>{own}) {
      check_guard(text, name);
    }
  }

  void check_guard(const std::string& text, const std::string& name) {
    std::string guard;
    for (const unsigned char c : name + "_") {
      guard += is_word(static_cast<char>(c)) ? static_cast<char>(std::toupper(c)) : '_';
    }
    if (text.find("#ifndef " + guard + "\n#define " + guard + "\n") == std::string::npos ||
        text.find("#endif  // " + guard + "\n") == std::string::npos) {
      problems_.push_back(name + ": its include guard is " + guard + ", at all three places.");
    }
  }

  const GateContext& context_;
  std::set<std::string> known_;
  std::vector<fs::path> texts_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> name_problems(const GateContext& context) {
  return NameCheck(context).run();
}

}  // namespace grade

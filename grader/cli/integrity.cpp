#include "cli/integrity.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "cli/process/child.h"
#include "cli/python_program.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
  try {
    return course::read_text(file);
  } catch (const course::Error&) {
    return "";
  }
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string word_at(const std::string& text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

size_t skip_space(const std::string& text, size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

// TEST(Suite, Name), wherever a line begins with it.
std::vector<std::string> tests_of_cpp(const std::string& text) {
  constexpr const char* kStart = "TEST(";
  std::vector<std::string> names;
  for (size_t at = text.find(kStart); at != std::string::npos; at = text.find(kStart, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const size_t suite_at = skip_space(text, at + std::strlen(kStart));
    const std::string suite = word_at(text, suite_at);
    const size_t comma = skip_space(text, suite_at + suite.size());
    if (suite.empty() || comma >= text.size() || text[comma] != ',') continue;
    names.push_back(suite + "." + word_at(text, skip_space(text, comma + 1)));
  }
  return names;
}

// What kit/python/run.py calls the function test_NAME; those below `if kit.on_gpu:` are indented.
std::vector<std::string> tests_of_python(const std::string& text, const std::string& exercise,
                                         Device device) {
  const auto joined = [](const std::string& words) {
    std::string name;
    bool first = true;
    for (const char c : words) {
      if (c != '_') name += first ? static_cast<char>(std::toupper(c)) : c;
      first = c == '_';
    }
    return name;
  };
  const std::string suite = joined(exercise.substr(exercise.find('_') + 1));
  constexpr const char* kStart = "def test_";
  std::vector<std::string> names;
  for (const std::string& line : course::split_lines(text)) {
    const size_t at = line.find(kStart);
    if (at == std::string::npos || course::trim(line.substr(0, at)) != "") continue;
    if (at > 0 && device == Device::kSimulator) continue;
    names.push_back(suite + "." + joined(word_at(line, at + std::strlen(kStart))));
  }
  return names;
}

std::string short_name(const std::string& test) { return test.substr(test.find('.') + 1); }

}  // namespace

std::vector<std::string> declared_tests(const fs::path& root, const course::Exercise& exercise,
                                        Device device) {
  const std::string text = text_of(course::files_of(root, exercise).test);
  return is_python(exercise) ? tests_of_python(text, exercise.name, device) : tests_of_cpp(text);
}

std::string wrong_tests(const Result& result, const std::vector<std::string>& declared, bool all) {
  if (result.out_of_turn) {
    return "Its results came in an order in which no test sends them: something other than the "
           "tests wrote them.";
  }
  std::set<std::string> ran;
  for (const TestReport& test : result.tests) {
    if (test.finished) ran.insert(test.name);
    if (std::find(declared.begin(), declared.end(), test.name) == declared.end()) {
      return "It reported a test that its test file does not have, " + short_name(test.name) +
             ": something other than the tests wrote the results.";
    }
  }
  if (!all) return "";
  std::vector<std::string> missing;
  for (const std::string& name : declared) {
    if (ran.count(name) == 0) missing.push_back(short_name(name));
  }
  if (missing.empty()) return "";
  const std::string rest =
      missing.size() == 1 ? "" : " and " + std::to_string(missing.size() - 1) + " more";
  return "Only " + std::to_string(ran.size()) + " of its " + std::to_string(declared.size()) +
         " tests ran: " + missing.front() + rest +
         (missing.size() == 1 ? " is missing." : " are missing.");
}

// ---- files that judge -------------------------------------------------------------------------

std::vector<std::string> changed_sources(const fs::path& root, const course::Exercise& exercise) {
  if (!fs::exists(root / ".git")) return {};
  const std::string topic = exercise.id.substr(0, exercise.id.find('/'));
  ChildOptions options;
  options.argv = {"git",
                  "-C",
                  root.string(),
                  "diff",
                  "--name-only",
                  "HEAD",
                  "--",
                  "chapters/" + topic,
                  "chapters/course.json",
                  "solutions/" + exercise.id + exercise.extension(),
                  "grader/kit",
                  "grader/simulator"};
  options.environment = {{"GIT_OPTIONAL_LOCKS", "0"}};
  options.dropped = {"GIT_"};  // of a hook: they lead to another repository
  options.own_seconds = 10;
  const ChildResult git = run_child(options);
  std::vector<std::string> changed;
  if (!git.ok()) return changed;
  for (const std::string& line : course::split_lines(git.out.text())) {
    const fs::path file = line;
    if (line.empty() || file.extension() == ".md" || file.extension() == ".svg") continue;
    // A learner's file: it has a solution.
    const bool is_starter = course::starts_with(line, "chapters/") &&
                            fs::exists(root / "solutions" / fs::relative(file, "chapters"));
    if (!is_starter) changed.push_back(line);
  }
  return changed;
}

// ---- what a learner's file takes in -----------------------------------------------------------

namespace {

struct Line {
  int number = 1;
  std::string text;
};

// Cuts C++ into logical lines without comments; strings stay, of raw ones only the quotes.
class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  std::vector<Line> lines() {
    while (at_ < text_.size()) step();
    flush();
    return std::move(lines_);
  }

 private:
  bool sees(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

  void flush() {
    lines_.push_back({first_, std::move(current_)});
    current_.clear();
    first_ = number_;
  }

  // Past `end`, counting lines; without it, to the end of the text.
  void skip_past(std::string_view end) {
    const size_t found = text_.find(end, at_);
    const size_t stop = found == std::string::npos ? text_.size() : found + end.size();
    number_ += static_cast<int>(std::count(text_.begin() + static_cast<long>(at_),
                                           text_.begin() + static_cast<long>(stop), '\n'));
    at_ = stop;
  }

  void step() {
    if (sees("\\\n")) {
      at_ += 2;
      ++number_;
    } else if (sees("\\\r\n")) {
      at_ += 3;
      ++number_;
    } else if (sees("//")) {
      while (at_ < text_.size() && text_[at_] != '\n') at_ += sees("\\\n") ? ++number_, 2 : 1;
    } else if (sees("/*")) {
      at_ += 2;
      skip_past("*/");
      current_ += ' ';
    } else if (sees("R\"") && (current_.empty() || !is_word(current_.back()))) {
      const size_t open = text_.find('(', at_);
      if (open == std::string::npos) return skip_past("\n");
      const std::string end = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
      skip_past(end);
      current_ += "\"\"";
    } else if (text_[at_] == '"' ||
               (text_[at_] == '\'' && (current_.empty() || !is_word(current_.back())))) {
      quoted(text_[at_]);
    } else if (text_[at_] == '\n') {
      ++at_;
      ++number_;
      flush();
    } else {
      current_ += text_[at_++];
    }
  }

  void quoted(char quote) {
    current_ += text_[at_++];
    while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != quote) {
      if (sees("\\\n")) {
        at_ += 2;
        ++number_;
        continue;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) current_ += text_[at_++];
      current_ += text_[at_++];
    }
    if (at_ < text_.size() && text_[at_] == quote) current_ += text_[at_++];
  }

  std::string text_, current_;
  size_t at_ = 0;
  int number_ = 1, first_ = 1;
  std::vector<Line> lines_;
};

bool is_below(const fs::path& file, const fs::path& folder) {
  const std::string base = folder.string();
  return !base.empty() && course::starts_with(file.string(), base + "/");
}

fs::path resolved(const fs::path& file) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(file, error);
  return error ? file.lexically_normal() : found;
}

// Headers of the course that every file may read.
bool is_given(const fs::path& root, const fs::path& folder, const fs::path& file) {
  return is_below(file, resolved(folder)) || is_below(file, root / "grader/kit") ||
         is_below(file, root / "grader/simulator") || is_below(file, root / ".toolkit");
}

constexpr const char* kRule =
    ": a file of yours may include what lies in its own folder and what comes with CUDA and the "
    "compiler. Take the line out.";

class IncludeCheck {
 public:
  explicit IncludeCheck(fs::path root) : root_(resolved(root)) {}

  std::optional<Diagnostic> check(const fs::path& file) {
    if (!seen_.insert(file).second) return std::nullopt;
    for (const Line& line : Reader(text_of(file)).lines()) {
      std::string problem = directive(file, line.text);
      if (problem.empty()) problem = assembler(line.text);
      if (!problem.empty()) return refused(file, line.number, problem);
      if (below_.empty()) continue;
      const fs::path next = std::exchange(below_, {});
      if (auto found = check(next)) return found;
    }
    return std::nullopt;
  }

  Diagnostic refused(const fs::path& file, int line, const std::string& problem) const {
    Diagnostic diagnostic;
    const fs::path from_root = resolved(file).lexically_relative(root_);
    diagnostic.file = from_root.string();
    diagnostic.line = line;
    diagnostic.message = problem;
    return diagnostic;
  }

 private:
  // "" or why the line is refused; sets below_ where another file of the folder is included.
  std::string directive(const fs::path& file, const std::string& text) {
    size_t at = skip_space(text, 0);
    if (text.compare(at, 1, "#") == 0) {
      ++at;
    } else if (text.compare(at, 2, "%:") == 0) {
      at += 2;
    } else {
      return "";
    }
    at = skip_space(text, at);
    const std::string word = word_at(text, at);
    const std::string rest = course::trim(text.substr(at + word.size()));
    if (word == "line" || (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])))) {
      return "#line is refused: messages would name another file. Take the line out.";
    }
    if (word != "include" && word != "include_next" && word != "import" && word != "embed") {
      return "";
    }
    const char close = rest.empty() ? '\0' : rest[0] == '<' ? '>' : rest[0] == '"' ? '"' : '\0';
    const size_t end = close == '\0' ? std::string::npos : rest.find(close, 1);
    if (end == std::string::npos) {
      return "#" + word + " " + rest + " is refused: write the name of the file itself there.";
    }
    return named(file, "#" + word + " " + rest.substr(0, end + 1), rest.substr(1, end - 1));
  }

  std::string named(const fs::path& file, const std::string& shown, const std::string& name) {
    const fs::path path = name;
    const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
    const fs::path beside = resolved(file.parent_path() / path);
    std::error_code error;
    if (!path.is_absolute() && !climbs && !fs::exists(beside, error)) return "";  // of a toolkit
    if (!is_given(root_, file.parent_path(), beside)) return shown + " is refused" + kRule;
    if (is_below(beside, resolved(file.parent_path()))) below_ = beside;
    return "";
  }

  static std::string assembler(const std::string& text) {
    for (const char* word : {".incbin", ".include"}) {
      if (text.find(word) == std::string::npos) continue;
      return std::string(word) + " is refused" + kRule;
    }
    return "";
  }

  fs::path root_;
  std::set<fs::path> seen_;
  fs::path below_;
};

// The inputs of one output in .ninja_deps: records of paths, numbered as they come, and of lists.
std::vector<std::string> recorded_inputs(const fs::path& log, const std::string& output) {
  const std::string bytes = text_of(log);
  constexpr std::string_view kHead = "# ninjadeps\n";
  std::vector<std::string> paths, inputs;
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  if (!course::starts_with(bytes, std::string(kHead))) return inputs;
  constexpr uint32_t kList = 0x80000000u;
  for (size_t at = kHead.size() + 4; at + 4 <= bytes.size();) {
    const uint32_t head = number(at);
    const size_t size = head & ~kList;
    at += 4;
    if (size < 4 || at + size > bytes.size()) break;
    if ((head & kList) == 0) {
      const size_t length = size - 4;  // the last word is a checksum
      paths.push_back(bytes.substr(at, length).c_str());
    } else if (number(at) < paths.size() && paths[number(at)] == output) {
      inputs.clear();
      for (size_t item = at + 12; item + 4 <= at + size; item += 4) {
        if (number(item) < paths.size()) inputs.push_back(paths[number(item)]);
      }
    }
    at += size;
  }
  return inputs;
}

}  // namespace

std::optional<Diagnostic> refused_include(const fs::path& root, const fs::path& file) {
  return IncludeCheck(root).check(file);
}

std::optional<Diagnostic> refused_dependency(const Paths& paths, Device device,
                                             const fs::path& file, const fs::path& object) {
  const fs::path build = paths.build(device), root = resolved(paths.root);
  for (const std::string& input :
       recorded_inputs(build / ".ninja_deps", object.lexically_relative(build).string())) {
    const fs::path path = resolved(build / input);
    if (path == resolved(file) || is_given(root, file.parent_path(), path)) continue;
    constexpr const char* kElsewhere[] = {"/etc", "/proc", "/sys", "/dev", "/run", "/var"};
    const bool of_course = is_below(path, root) && !is_below(path, resolved(build));
    const bool of_system = std::any_of(std::begin(kElsewhere), std::end(kElsewhere),
                                       [&](const char* folder) { return is_below(path, folder); });
    if (!of_course && !of_system) continue;
    return IncludeCheck(root).refused(file, 0, path.string() + " is included, and refused" + kRule);
  }
  return std::nullopt;
}

}  // namespace grade

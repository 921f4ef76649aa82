#include "runtime/exec_report.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "profile/json.h"
#include "runtime/host_fault.h"

namespace warplings::sim {
namespace {

constexpr const char* kChecks[] = {"memcheck",    "initcheck", "racecheck", "synccheck",
                                   "streamcheck", "launch",    "api",       "leak"};

bool is_check(const std::string& name) {
  return std::find(std::begin(kChecks), std::end(kChecks), name) != std::end(kChecks);
}

std::string names_of_checks() {
  std::string names;
  for (const char* name : kChecks) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// The path, or its end from the name of a folder on.
bool matches_file(const std::string& pattern, const std::string& path) {
  if (matches(pattern, path)) return true;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (matches(pattern, path.substr(slash + 1))) return true;
  }
  return false;
}

// Splits at the last `mark`; what stands behind it, or "*".
std::string take_tail(std::string* text, char mark) {
  const size_t at = text->rfind(mark);
  if (at == std::string::npos) return "*";
  std::string tail = text->substr(at + 1);
  text->resize(at);
  return tail;
}

}  // namespace

std::string Suppressions::parse(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.size(), line.find('#')));
    std::istringstream words(line);
    Rule rule;
    std::string more;
    if (!(words >> rule.check)) continue;
    words >> rule.file >> rule.kernel >> more;
    rule.kind = take_tail(&rule.check, '/');
    rule.line = take_tail(&rule.file, ':');
    const std::string where = "line " + std::to_string(number) + ": ";
    if (!more.empty()) return where + "a rule has at most three words, CHECK/KIND FILE:LINE KERNEL";
    if (rule.check != "*" && !is_check(rule.check)) {
      return where + "there is no check " + rule.check + "; there are " + names_of_checks();
    }
    rules_.push_back(rule);
  }
  return "";
}

bool Suppressions::covers(const Finding& finding) const {
  const auto side = [](const Rule& rule, const Position& where) {
    return matches_file(rule.file, where.file) && matches(rule.line, std::to_string(where.line));
  };
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return matches(rule.check, finding.check) && matches(rule.kind, finding.kind) &&
           matches(rule.kernel, finding.kernel) &&
           (side(rule, finding.where) || (finding.other.known() && side(rule, finding.other)));
  });
}

std::string ExecReport::configure(const ExitOptions& options) {
  std::istringstream names(options.checks);
  for (std::string name; std::getline(names, name, ',');) {
    if (!is_check(name)) return "there is no check " + name + "; there are " + names_of_checks();
    checks_.insert(name);
  }
  const std::string& path = options.suppressions;
  if (!path.empty()) {
    std::ifstream file(path);
    if (!file) return "cannot read " + path;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string problem = suppressions_.parse(text);
    if (!problem.empty()) return path + ", " + problem;
  }
  json_ = options.json;
  status_ = kFindingStatus;
  const std::string& status = options.status;
  if (status.empty()) return "";
  char* end = nullptr;
  const long number = std::strtol(status.c_str(), &end, 10);
  if (*end != '\0' || number < 0 || number > 255) {
    return "\"" + status + "\" is no exit status: it is a number from 0 to 255";
  }
  status_ = static_cast<int>(number);
  return "";
}

bool ExecReport::selected(const Finding& finding) const {
  return checks_.empty() || checks_.count(finding.check) != 0;
}

void ExecReport::add(const Finding& finding) {
  if (!selected(finding)) return;
  const bool suppressed = suppressions_.covers(finding);
  if (!suppressed) {
    std::fprintf(stderr, "grade exec: %s%s: %s\n", finding.check.c_str(),
                 finding.is_note ? " (note)" : "", finding.message.c_str());
  }
  write(JsonObject()
            .text("event", "finding")
            .count("process", static_cast<uint64_t>(getpid()))
            .text("check", finding.check)
            .text("kind", finding.kind)
            .text("message", finding.message)
            .text("file", finding.where.file)
            .count("line", static_cast<uint64_t>(finding.where.line))
            .text("other_file", finding.other.file)
            .count("other_line", static_cast<uint64_t>(finding.other.line))
            .text("kernel", finding.kernel)
            .flag("is_note", finding.is_note)
            .flag("suppressed", suppressed)
            .str());
}

int ExecReport::finish(const std::vector<Finding>& findings) const {
  uint64_t errors = 0, notes = 0, suppressed = 0;
  std::string first;
  for (const Finding& finding : findings) {
    if (!selected(finding)) continue;
    if (suppressions_.covers(finding)) {
      ++suppressed;
    } else if (finding.is_note) {
      ++notes;
    } else if (errors++ == 0) {
      first = finding.kind;
    }
  }
  write(JsonObject()
            .text("event", "end")
            .count("process", static_cast<uint64_t>(getpid()))
            .count("errors", errors)
            .count("notes", notes)
            .count("suppressed", suppressed)
            .str());
  const std::string known =
      suppressed == 0 ? "" : " (" + std::to_string(suppressed) + " more suppressed)";
  if (errors == 0) {
    if (suppressed != 0) {
      std::fprintf(stderr, "grade exec: no findings but %llu suppressed\n",
                   static_cast<unsigned long long>(suppressed));
    }
    return 0;
  }
  std::fprintf(stderr, "grade exec: %llu %s%s; ./grade explain %s tells more\n",
               static_cast<unsigned long long>(errors), errors == 1 ? "finding" : "findings",
               known.c_str(), first.c_str());
  return status_;
}

// Several processes may write to one file: each line goes out in one piece.
void ExecReport::write(const std::string& line) const {
  if (json_.empty()) return;
  const std::string whole = line + "\n";
  const int file = open(json_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool written =
      file >= 0 && ::write(file, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size());
  if (file >= 0) close(file);
  if (!written) std::fprintf(stderr, "grade exec: cannot write %s\n", json_.c_str());
}

}  // namespace warplings::sim

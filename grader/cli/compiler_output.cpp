#include "cli/compiler_output.h"

#include <algorithm>
#include <optional>

#include "course/pattern.h"
#include "course/text.h"

namespace grade {
namespace {

using course::ends_with;
using course::starts_with;

std::string relative(const std::string& file, const std::filesystem::path& root) {
  const std::string prefix = root.string() + "/";
  return starts_with(file, prefix) ? file.substr(prefix.size()) : file;
}

// The first line of a message; nullopt for any other line.
std::optional<Diagnostic> message_start(const std::string& line) {
  // nvcc: f.cu(12): error: text      f.cu(12): error #20: text     f.cu(12): warning #177-D: text
  static const course::Pattern nvcc(
      R"(^([^[:space:](][^(]*)\(([0-9]+)\): (catastrophic |)(error|warning)[^:]*: (.*)$)");
  // g++: f.cpp:12:3: error: text     f.cpp:12: fatal error: text
  static const course::Pattern gnu(
      R"(^([^[:space:]:][^:]*):([0-9]+):[0-9:]* (fatal |)(error|warning): (.*)$)");
  // ptxas error   : text             nvcc fatal   : text
  static const course::Pattern tool(
      R"(^(ptxas|nvcc|cicc|fatbinary|cudafe\+\+) *(error|fatal|warning) *: *(.*)$)");
  static const course::Pattern linker(
      "^.*: (undefined reference to .*|multiple definition of .*)$");
  Diagnostic found;
  auto match = nvcc.find(line);
  if (!match) match = gnu.find(line);
  if (match) {
    found.file = match->groups[1];
    found.line = std::atoi(match->groups[2].c_str());
    found.is_error = match->groups[4] == "error";
    found.message = match->groups[5];
    return found;
  }
  if ((match = tool.find(line))) {
    found.is_error = match->groups[2] != "warning";
    found.message = match->groups[3];
    return found;
  }
  if ((match = linker.find(line))) {
    found.message = match->groups[1];
    return found;
  }
  return std::nullopt;
}

// Lines of ninja, and summaries that repeat what the messages said.
bool is_noise(const std::string& line) {
  static const course::Pattern summary("^[0-9]+ (error|warning)s? (detected|generated)");
  static const course::Pattern progress(R"(^\[[0-9]+/[0-9]+\] )");
  return line.empty() || starts_with(line, "ninja: ") || starts_with(line, "FAILED: ") ||
         starts_with(line, "collect2: ") || starts_with(line, "Remark: ") ||
         starts_with(line, "In file included from ") ||
         starts_with(line, "compilation terminated") || line.find(": in function `") != line.npos ||
         progress.matches(line) || summary.matches(line);
}

// Lines of any other file are nobody's business: a file of yours may have named it to see them.
bool may_be_shown(const std::string& file) {
  return file.empty() || file[0] != '/' || starts_with(file, "/usr/") || starts_with(file, "/tmp/");
}

// Linker messages have no line of their own; the function that they name is what helps.
std::string readable(std::string message) {
  message = course::replace_all(message, "`", "\"");
  message = course::replace_all(message, "'", "\"");
  return message;
}

}  // namespace

std::vector<Diagnostic> parse_compiler_output(const std::string& log,
                                              const std::filesystem::path& root,
                                              const std::filesystem::path& learner_file) {
  constexpr size_t kContextLines = 8;
  std::vector<Diagnostic> found;
  bool command_follows = false;
  bool open = false;  // lines belong to the last message
  for (const std::string& line : course::split_lines(log)) {
    if (command_follows) {  // ninja prints the whole command after "FAILED: "
      command_follows = false;
      continue;
    }
    if (starts_with(line, "FAILED: ")) command_follows = true;
    if (auto start = message_start(line)) {
      start->file = relative(start->file, root);
      if (start->file.empty()) start->message = readable(start->message);
      found.push_back(*std::move(start));
      open = true;
    } else if (is_noise(line)) {
      open = open && line.empty() && !found.empty() && found.back().context.empty();
    } else if (open && found.back().context.size() < kContextLines &&
               may_be_shown(found.back().file)) {
      found.back().context.push_back(relative(line, root));
    }
  }
  const std::string own = relative(learner_file.string(), root);
  const auto rank = [&](const Diagnostic& d) {
    return (d.is_error ? 0 : 2) + (d.file == own ? 0 : 1);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return rank(a) < rank(b); });
  // The device and the host pass say some things twice.
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return a.file == b.file && a.line == b.line && a.message == b.message;
  };
  std::vector<Diagnostic> once;
  for (Diagnostic& d : found) {
    if (std::none_of(once.begin(), once.end(), [&](const Diagnostic& o) { return same(o, d); })) {
      once.push_back(std::move(d));
    }
  }
  return once;
}

std::string slow_headers(const std::string& source) {
  constexpr const char* kSlow[][2] = {{"#include <cub/", "CUB"},
                                      {"#include <thrust/", "Thrust"},
                                      {"#include \"cutlass/", "CUTLASS"}};
  for (const auto& [line, name] : kSlow) {
    if (source.find(line) != std::string::npos) return name;
  }
  return "";
}

}  // namespace grade

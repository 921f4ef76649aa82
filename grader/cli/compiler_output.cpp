#include "cli/compiler_output.h"

#include <algorithm>
#include <optional>
#include <regex>

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
  static const std::regex nvcc(
      R"(^([^\s(][^(]*)\((\d+)\): (?:catastrophic )?(error|warning)[^:]*: (.*)$)");
  // g++: f.cpp:12:3: error: text     f.cpp:12: fatal error: text
  static const std::regex gnu(
      R"(^([^\s:][^:]*):(\d+):(?:\d+:)? (?:fatal )?(error|warning): (.*)$)");
  // ptxas error   : text             nvcc fatal   : text
  static const std::regex tool(
      R"(^(?:ptxas|nvcc|cicc|fatbinary|cudafe\+\+) *(error|fatal|warning) *: *(.*)$)");
  static const std::regex linker(R"(^.*: (undefined reference to .*|multiple definition of .*)$)");
  std::smatch match;
  Diagnostic found;
  if (std::regex_match(line, match, nvcc) || std::regex_match(line, match, gnu)) {
    found.file = match[1];
    found.line = std::atoi(match[2].str().c_str());
    found.is_error = match[3] == "error";
    found.message = match[4];
    return found;
  }
  if (std::regex_match(line, match, tool)) {
    found.is_error = match[1] != "warning";
    found.message = match[2];
    return found;
  }
  if (std::regex_match(line, match, linker)) {
    found.message = match[1];
    return found;
  }
  return std::nullopt;
}

// Lines of ninja, and summaries that repeat what the messages said.
bool is_noise(const std::string& line) {
  static const std::regex summary(R"(^\d+ (error|warning)s? (detected|generated).*$)");
  static const std::regex progress(R"(^\[\d+/\d+\] .*$)");
  return line.empty() || starts_with(line, "ninja: ") || starts_with(line, "FAILED: ") ||
         starts_with(line, "collect2: ") || starts_with(line, "Remark: ") ||
         starts_with(line, "In file included from ") ||
         starts_with(line, "compilation terminated") || std::regex_match(line, progress) ||
         std::regex_match(line, summary);
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

#include "course/progress.h"

#include <sys/stat.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <sstream>
#include <vector>

#include "course/manifest.h"
#include "course/text.h"

namespace course {

namespace fs = std::filesystem;

namespace {

constexpr char kHeader[] =
    "# Warplings progress. Plain text, one fact per line; safe to delete, then it starts anew.\n";

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; in >> field;) fields.push_back(field);
  return fields;
}

bool is_id(const std::string& text) {
  const size_t slash = text.find('/');
  return slash != std::string::npos && slash > 0 && slash + 1 < text.size() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_/") == std::string::npos;
}

std::optional<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 99) {
    return std::nullopt;
  }
  return value;
}

// False where the line is none of the known facts.
bool read_line(const std::string& line, Progress* progress) {
  const std::vector<std::string> f = fields_of(line);
  if (f.empty() || f[0][0] == '#') return true;
  if (f[0] == "current" && f.size() == 2 && is_id(f[1])) {
    progress->current = f[1];
    return true;
  }
  if (f[0] == "passed" && f.size() == 3 && is_id(f[1]) && f[2].size() == 20 && f[2].back() == 'Z') {
    progress->passed.emplace(f[1], f[2]);
    return true;
  }
  if (f[0] == "hint" && f.size() == 4 && is_id(f[1])) {
    const auto todo = number(f[2]);
    const auto steps = number(f[3]);
    if (todo && steps) progress->hints[{f[1], *todo}] = *steps;
    return todo && steps;
  }
  if (f[0] == "predict" && f.size() == 4 && is_id(f[1]) && (f[3] == "right" || f[3] == "wrong")) {
    progress->predictions[{f[1], f[2]}] = f[3] == "right";
    return true;
  }
  if (f[0] == "best" && f.size() >= 4 && is_id(f[1])) {
    char* end = nullptr;
    const double seconds = std::strtod(f[2].c_str(), &end);
    if (*end != '\0' || !(seconds > 0) || !std::isfinite(seconds)) return false;
    const std::vector<std::string> card(f.begin() + 3, f.end());
    progress->best[{f[1], join(card, " ")}] = seconds;
    return true;
  }
  return false;
}

// What is shown of a damaged line: short and without control characters.
std::string printable(const std::string& line) {
  std::string text;
  for (const char c : line.substr(0, 40)) {
    text += c >= ' ' && c < 127 ? c : '?';
  }
  return line.size() > 40 ? text + "..." : text;
}

fs::path set_aside(const fs::path& file) {
  for (int n = 1;; ++n) {
    const fs::path kept = file.string() + ".damaged-" + std::to_string(n);
    std::error_code error;
    if (fs::exists(fs::symlink_status(kept, error))) continue;
    fs::rename(file, kept, error);
    if (error) {
      throw Error(file.string(), 0,
                  "is damaged and cannot be set aside: " + error.message() +
                      ". Rename it yourself, then start again.");
    }
    return kept;
  }
}

}  // namespace

void Progress::mark_passed(const std::string& id) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  passed.emplace(id, text);
}

bool Progress::note_time(const std::string& id, const std::string& card, double seconds) {
  if (!(seconds > 0) || card.empty()) return false;
  const auto [known, is_new] = best.emplace(std::make_pair(id, card), seconds);
  if (is_new) return true;
  if (seconds >= known->second) return false;
  known->second = seconds;
  return true;
}

LoadedProgress load_progress(const fs::path& root) {
  const fs::path file = root / ".progress";
  LoadedProgress loaded;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(file, error);
  if (!fs::exists(status)) return loaded;
  if (fs::is_directory(status)) {
    const fs::path kept = set_aside(file);
    loaded.warning = file.string() + ": is a folder, not the progress file. It is kept as " +
                     kept.filename().string() + "; progress starts anew.";
    return loaded;
  }
  const std::string text = read_text(file);
  std::vector<int> damaged;
  std::string first;
  int line_number = 0;
  for (const std::string& line : split_lines(text)) {
    ++line_number;
    const bool clean = line.find('\0') == std::string::npos;
    if (clean && read_line(line, &loaded.progress)) continue;
    if (damaged.empty()) first = line;
    damaged.push_back(line_number);
  }
  if (damaged.empty()) return loaded;
  const fs::path kept = set_aside(file);
  save_progress(root, loaded.progress);
  loaded.warning = file.string() + ":" + std::to_string(damaged.front()) + ": damaged line \"" +
                   printable(first) + "\"";
  if (damaged.size() > 1) loaded.warning += " and " + std::to_string(damaged.size() - 1) + " more";
  loaded.warning += ". The damaged file is kept as " + kept.filename().string() +
                    "; every line that could be read still counts (" +
                    plural(loaded.progress.passed.size(), "passed exercise") + ").";
  return loaded;
}

void save_progress(const fs::path& root, const Progress& progress) {
  std::string text = kHeader;
  if (!progress.current.empty()) text += "current " + progress.current + "\n";
  for (const auto& [id, time] : progress.passed) text += "passed " + id + " " + time + "\n";
  for (const auto& [key, steps] : progress.hints) {
    text +=
        "hint " + key.first + " " + std::to_string(key.second) + " " + std::to_string(steps) + "\n";
  }
  for (const auto& [key, right] : progress.predictions) {
    text += "predict " + key.first + " " + key.second + (right ? " right\n" : " wrong\n");
  }
  for (const auto& [key, seconds] : progress.best) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", seconds);
    text += "best " + key.first + " " + digits + " " + key.second + "\n";
  }
  write_text(root / ".progress", text);
}

}  // namespace course

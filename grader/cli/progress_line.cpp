#include "cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace grade {
namespace {

double seconds_since_then(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

void ProgressLine::show(const std::string& what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (what == shown_) return;
  if (terminal_.moves) {
    const size_t room = static_cast<size_t>(terminal_.width) - 1;
    print("\r\x1b[K" + terminal_.paint(Style::kDim, cut(what + " ...", room)));
  } else {
    constexpr double kEvery = 15;  // seconds
    // That a program runs need not be said where nobody sees it end.
    const bool due = shown_.empty() ? what != "running" : seconds_since_then(last_) >= kEvery;
    if (!due) return;
    std::fprintf(stderr, "grade: %s ...\n", what.c_str());
    last_ = std::chrono::steady_clock::now();
  }
  shown_ = what;
}

void ProgressLine::clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (terminal_.moves && !shown_.empty()) print("\r\x1b[K");
  shown_.clear();
}

void NinjaProgress::read(std::string_view text) {
  rest_ += text;
  for (size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1)) {
    const std::string line = rest_.substr(0, end);
    const size_t slash = line.find('/'), close = line.find("] ");
    if (line.empty() || line[0] != '[' || slash == std::string::npos ||
        close == std::string::npos || slash > close) {
      continue;
    }
    count_ = line.substr(1, slash - 1) + " of " + line.substr(slash + 1, close - slash - 1);
    file_ = line.substr(line.find_last_of("/ ") + 1);
    if (file_.ends_with(".o")) file_.erase(file_.size() - 2);
    // A group of files is compiled as one, unity_NAME_cxx.cxx.
    constexpr std::string_view kGroup = "unity_", kGroupEnd = "_cxx.cxx";
    if (file_.starts_with(kGroup) && file_.ends_with(kGroupEnd)) {
      file_ = file_.substr(kGroup.size(), file_.size() - kGroup.size() - kGroupEnd.size());
    }
  }
}

std::string NinjaProgress::text() const {
  return (count_.empty() ? "" : count_ + ", " + file_ + ", ") +
         std::to_string(static_cast<long>(seconds())) + " s";
}

double NinjaProgress::seconds() const { return seconds_since_then(start_); }

}  // namespace grade

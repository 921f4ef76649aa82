#include "checks/finding.h"

#include <utility>

namespace warplings::sim {

std::string Position::short_name() const {
  if (!known()) return "an unknown line";
  const size_t slash = file.rfind('/');
  const std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
  return base + ":" + std::to_string(line);
}

FindingLog& FindingLog::instance() {
  static FindingLog* const log = new FindingLog();
  return *log;
}

void FindingLog::report(Finding finding) {
  std::function<void(const Finding&)> listener;
  {
    std::lock_guard lock(mutex_);
    for (Finding& known : findings_) {
      if (known.check == finding.check && known.kind == finding.kind &&
          known.where.line == finding.where.line && known.where.file == finding.where.file &&
          known.other.line == finding.other.line && known.other.file == finding.other.file) {
        known.count += finding.count;
        return;
      }
    }
    findings_.push_back(finding);
    listener = listener_;
  }
  // Outside the lock: a listener may ask for the snapshot.
  if (listener) listener(finding);
}

std::vector<Finding> FindingLog::snapshot() const {
  std::lock_guard lock(mutex_);
  return findings_;
}

void FindingLog::clear() {
  std::lock_guard lock(mutex_);
  findings_.clear();
}

void FindingLog::set_listener(std::function<void(const Finding&)> listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

}  // namespace warplings::sim

#include "core/finding.h"

#include <utility>

#include "core/machine.h"

namespace warplings::sim {

std::string Position::short_name() const {
  if (!known()) return "an unknown line";
  const size_t slash = file.rfind('/');
  const std::string base = slash == std::string::npos ? file : file.substr(slash + 1);
  return base + ":" + std::to_string(line);
}

FindingLog& FindingLog::instance() { return Machine::get<FindingLog>(); }

void FindingLog::report(Finding finding) {
  std::vector<std::function<void(const Finding&)>> listeners;
  {
    std::lock_guard lock(mutex_);
    const uint64_t key = std::exchange(next_key_, 0);
    for (size_t i = 0; i < findings_.size(); ++i) {
      Finding& known = findings_[i];
      if (known.check == finding.check && known.kind == finding.kind &&
          known.where.line == finding.where.line && known.where.file == finding.where.file &&
          known.other.line == finding.other.line && known.other.file == finding.other.file) {
        known.count += finding.count;
        if (key != 0) known_[key] = i;
        return;
      }
    }
    if (key != 0) known_[key] = findings_.size();
    findings_.push_back(finding);
    listeners = listeners_;
  }
  // Outside the lock: a listener may ask for the snapshot.
  for (const auto& listener : listeners) listener(finding);
}

void report(KeyedFinding keyed) {
  FindingLog& log = FindingLog::instance();
  if (!log.repeated(keyed.key)) log.report(std::move(keyed.finding));
}

bool FindingLog::repeated(uint64_t key) {
  std::lock_guard lock(mutex_);
  const auto known = known_.find(key);
  if (known == known_.end()) {
    next_key_ = key;
    return false;
  }
  ++findings_[known->second].count;
  return true;
}

std::vector<Finding> FindingLog::snapshot() const {
  std::lock_guard lock(mutex_);
  return findings_;
}

void FindingLog::clear() {
  std::lock_guard lock(mutex_);
  findings_.clear();
  known_.clear();
  next_key_ = 0;
}

void FindingLog::add_listener(std::function<void(const Finding&)> listener) {
  std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(listener));
}

}  // namespace warplings::sim

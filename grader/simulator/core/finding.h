// What a check found, and the collector that merges repeats.
#ifndef WARPLINGS_SIMULATOR_CORE_FINDING_H_
#define WARPLINGS_SIMULATOR_CORE_FINDING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/position.h"
#include "core/scene.h"

namespace warplings::sim {

struct Finding {
  std::string check;  // "memcheck", "initcheck", "racecheck", "synccheck", "leak", "launch", "api"
  std::string kind;   // stable slug
  std::string message;  // one paragraph in learner words
  Position where;
  Position other;  // other side of a race
  std::string kernel;
  bool is_note = false;
  uint64_t count = 1;
  std::shared_ptr<Scene> scene;  // nullptr: nothing of it can be drawn
};

// One that is put into words before it is known whether it will be reported.
struct KeyedFinding {
  Finding finding;
  uint64_t key = 0;  // as for FindingLog::repeated()
};
void report(KeyedFinding keyed);  // unless it is repeated

// Collects findings in the order of first occurrence; the same (check, kind, where, other) only
// adds to count. Thread-safe.
class FindingLog {
 public:
  static FindingLog& instance();  // of the current machine
  void report(Finding finding);
  // True if this very defect (a key that the caller makes of its check, kind and instruction) has
  // been reported since the last clear(); it is counted then, without the cost of its words.
  bool repeated(uint64_t key);
  std::vector<Finding> snapshot() const;
  void clear();
  // Called once for each new finding: grade exec prints them as they come, grade view draws them.
  void add_listener(std::function<void(const Finding&)> listener);

 private:
  mutable std::mutex mutex_;
  std::vector<Finding> findings_;
  std::unordered_map<uint64_t, size_t> known_;  // key -> index in findings_
  uint64_t next_key_ = 0;  // of the finding that report() is about to add; 0: none
  std::vector<std::function<void(const Finding&)>> listeners_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_FINDING_H_

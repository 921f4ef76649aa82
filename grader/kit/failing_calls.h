// Runs in which one call of the launcher fails, to see whether it says so and cleans up.
#ifndef WARPLINGS_KIT_FAILING_CALLS_H_
#define WARPLINGS_KIT_FAILING_CALLS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "kit/context.h"
#include "kit/kit.h"
#include "kit/left_behind.h"

namespace kit {

class FailingCalls {
 public:
  // Asked only in the simulator, and once per test and line. `names` is how the functions begin
  // whose errors the launcher can report, as wsim_fail_call() takes them.
  FailingCalls(bool asked, std::string names, Site site);
  ~FailingCalls();
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;

  // Before a run: the next of its calls is to fail. In the first one none does: what is wrong with
  // that run has nothing to do with calls that fail, and is told instead of them.
  void begin_run();
  // After it. False: no call has failed, so this was the run that counts. Else the buffers are as
  // they were, and `problem` is what is wrong with the launcher, or "". `went_well`: it ended
  // without an error, a finding or a refusal.
  bool was_failing_run(bool said_success, bool went_well, const std::string& trouble,
                       std::string* problem);
  // After a problem: no further call is to fail, and a last run counts. False: none can be made,
  // because something is still open that would spoil it.
  bool can_go_on();

  // What such runs have left behind, in words, or the run that counts, if they have: to be said if
  // nothing else is wrong. Called right after that run.
  std::string left_behind() const;

 private:
  bool asked_;
  std::string names_;
  // Where time does not allow for each call, those from the first on and the last one fail: what
  // ends a long work is looked at too.
  enum class Stage { kUndisturbed, kEach, kCounting, kLast, kDone };
  Stage stage_ = Stage::kUndisturbed;
  uint64_t k_ = 0, last_ = 0;
  Belongings held_;
  std::string left_behind_;
  bool is_open_ = false;  // a capture or a group, in which nothing else can run
  uint64_t instructions_before_ = 0;
  std::optional<BuffersBefore> before_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_FAILING_CALLS_H_

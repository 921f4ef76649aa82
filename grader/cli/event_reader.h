// Turns the lines of a test program's channel into a Result, and notices lines that come in an
// order in which no test program sends them.
#ifndef WARPLINGS_CLI_EVENT_READER_H_
#define WARPLINGS_CLI_EVENT_READER_H_

#include <string_view>

#include "cli/exercise_run.h"
#include "course/json.h"

namespace grade {

class EventReader {
 public:
  explicit EventReader(Result* result) : result_(result) {}
  // Events of a new process follow.
  void begin_process() { phase_ = Phase::kBefore; }
  // The test that the event was about, if it may decide a verdict (failure, finding, budget, speed,
  // end of a test); nullptr otherwise. Unknown events are skipped: a newer kit may send more.
  const TestReport* read(std::string_view line);
  // The test that has started and not ended, nullptr between tests.
  TestReport* running();

 private:
  enum class Phase { kBefore, kTests, kDone };
  TestReport& test(const std::string& name);
  void begin(const course::Json& event);
  void end(const course::Json& event);
  void note(TestReport& report, const std::string& kind, const course::Json& event);
  // An event that the kit does not send at this place: the result is no verdict any more.
  const TestReport* out_of_turn();
  Result* result_;
  Phase phase_ = Phase::kBefore;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_EVENT_READER_H_

// Turns the lines of a test program's channel into a Result.
#ifndef WARPLINGS_CLI_EVENT_READER_H_
#define WARPLINGS_CLI_EVENT_READER_H_

#include <string_view>

#include "cli/exercise_run.h"

namespace grade {

class EventReader {
 public:
  explicit EventReader(Result* result) : result_(result) {}
  // The test that the event was about, if it may decide a verdict (failure, finding, budget, speed,
  // end of a test); nullptr otherwise. Unknown events are skipped: a newer kit may send more.
  const TestReport* read(std::string_view line);
  // The test that has started and not ended, nullptr between tests.
  TestReport* running();

 private:
  TestReport& test(const std::string& name);
  Result* result_;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_EVENT_READER_H_

// The file that `grade view` reads: the profile, with what is drawn of each kernel in it, the
// findings of the whole program with who took part in them, and the stretch of the timeline that
// has most to show. GRADE_SIM_VIEW names it; it is written when the program exits.
#ifndef WARPLINGS_SIMULATOR_PROFILE_VIEW_LOG_H_
#define WARPLINGS_SIMULATOR_PROFILE_VIEW_LOG_H_

#include <string>
#include <tuple>

#include "profile/timeline.h"

namespace warplings::sim {

class ViewLog {
 public:
  static ViewLog& instance();

  // The timeline is about to forget what is on it. Of all stretches that were forgotten so, one
  // with work of the program's own is kept, of these the one with most streams at work, and then
  // the longest.
  void keep_stretch(Timeline& timeline);
  std::string json();

 private:
  std::string stretch_;                                 // JSON
  std::tuple<bool, size_t, double> rank_{false, 0, 0};  // of the stretch that is kept
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_VIEW_LOG_H_

// For headers that say that a function waits: when it returns, nothing that it has given the device
// is still to be done. The modelled timeline knows both times, also where a later call of the test
// waits. On a GPU nothing is decided.
//
//   kit::OnReturn back;
//   kit::run([&] {
//     const cublasStatus_t status = solve(...);
//     back.now();
//     return status;
//   });
//   back.expect_done("solve");
#ifndef WARPLINGS_KIT_ON_RETURN_H_
#define WARPLINGS_KIT_ON_RETURN_H_

#include <warplings/sim.h>

#include <string>

#include "kit/kit.h"

namespace kit {

class OnReturn {
 public:
  // The function has returned.
  void now() { time_ = wsim_timeline_now(); }

  // Fails if work of the learner's own files ended later. Behind the kit::run, which waits.
  bool expect_done(const std::string& function, Site site = Site::here()) const {
    if (!simulated() || internal::case_failed()) return true;
    wsim_timeline_item item;
    const int count = wsim_timeline_count();
    for (int i = 0; i < count && wsim_get_timeline_item(i, &item) == 0; ++i) {
      const std::string file = item.file;
      const bool is_own = file.size() > 3 && file.compare(file.size() - 3, 3, ".cu") == 0;
      if (!is_own || item.issued > time_ || item.end <= time_) continue;
      return fail("It returns too early: " + function + " is to wait for what it does, and " +
                      item.name + " at " + file.substr(file.rfind('/') + 1) + ":" +
                      std::to_string(item.line) +
                      " is not done yet when it returns. Work that is put into the stream behind "
                      "the last call that waits is waited for by nobody.",
                  site);
    }
    return true;
  }

 private:
  double time_ = 0;
};

}  // namespace kit
#endif  // WARPLINGS_KIT_ON_RETURN_H_

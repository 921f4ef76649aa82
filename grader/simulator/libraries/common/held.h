// What a program makes with a library and has to destroy.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_COMMON_HELD_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_COMMON_HELD_H_

#include "warplings/library.h"

namespace warplings::libraries {

// A member of it: counted for as long as it exists. A copy is not the program's.
class Held {
 public:
  explicit Held(const char* what) : what_(what) { wsim_library_holds(what_, 1); }
  ~Held() {
    if (what_ == nullptr) return;
    wsim_library_holds(what_, -1);
  }
  Held(const Held&) : what_(nullptr) {}
  Held& operator=(const Held&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment)

 private:
  const char* what_;
};

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_COMMON_HELD_H_

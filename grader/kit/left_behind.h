// Class "left_behind": what the program holds before and after the calls of a launcher.
#ifndef WARPLINGS_KIT_LEFT_BEHIND_H_
#define WARPLINGS_KIT_LEFT_BEHIND_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace kit {

// That a launcher has left another device current, in words, or "".
std::string device_left_behind();

class Belongings {
 public:
  static Belongings now();
  bool empty() const;

  // What is different now, after so many calls, in words: "" or the message of the class.
  std::string left_behind(int calls) const;

 private:
  // By what it is; counts have no object, modes have that of the handle that was set.
  std::map<std::pair<std::string, const void*>, int64_t> all_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_LEFT_BEHIND_H_

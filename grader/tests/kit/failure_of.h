#ifndef WARPLINGS_TESTS_KIT_FAILURE_OF_H_
#define WARPLINGS_TESTS_KIT_FAILURE_OF_H_

#include <functional>
#include <string>
#include <vector>

namespace kit_tests {

// The messages of the failures that `body` adds. The running test does not fail.
std::vector<std::string> failures_of(const std::function<void()>& body);
// The message of the only one; "" if there is none, "N failures" if there are more.
std::string failure_of(const std::function<void()>& body);

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace kit_tests

#endif  // WARPLINGS_TESTS_KIT_FAILURE_OF_H_

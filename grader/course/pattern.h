// Regular expressions of the C library (POSIX, extended): std::regex costs each group of files that
// uses it 1.4 seconds of compiling, and everybody waits for the first verdict.
#ifndef WARPLINGS_COURSE_PATTERN_H_
#define WARPLINGS_COURSE_PATTERN_H_

#include <regex.h>

#include <optional>
#include <string>
#include <vector>

namespace course {

class Pattern {
 public:
  // Ends the program if the expression is not one: they are all written in our sources.
  explicit Pattern(const char* extended);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  struct Match {
    std::vector<std::string> groups;  // [0] is the whole match; "" for one that took no part
    std::string rest;                 // behind it
  };
  // The leftmost match, of those the longest.
  std::optional<Match> find(const std::string& text) const;
  bool matches(const std::string& text) const { return find(text).has_value(); }
  // Every match becomes its groups, one behind the other.
  std::string leave_groups(const std::string& text) const;

 private:
  std::optional<Match> find(const char* text, int flags, size_t* begin) const;

  regex_t compiled_;
};

}  // namespace course
#endif  // WARPLINGS_COURSE_PATTERN_H_

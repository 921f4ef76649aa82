// A line diff of two short texts.
#ifndef WARPLINGS_CLI_DIFF_H_
#define WARPLINGS_CLI_DIFF_H_

#include <string>
#include <vector>

namespace grade {

struct DiffLine {
  char sign;  // ' ' both, '-' first only, '+' second only
  std::string text;
};

// A shortest edit between two lists of lines (quadratic: for files of some hundred lines).
std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b);

// The changes with `context` lines around each, "..." between distant ones; "" if equal.
std::vector<DiffLine> around_changes(const std::vector<DiffLine>& diff, size_t context);

}  // namespace grade
#endif  // WARPLINGS_CLI_DIFF_H_

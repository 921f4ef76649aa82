#include "cli/diff.h"

#include <algorithm>

namespace grade {

std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  // common[i][j]: length of the longest common subsequence of a[i..] and b[j..].
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::vector<DiffLine> diff;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      diff.push_back({' ', a[i]});
      ++i;
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      diff.push_back({'-', a[i++]});
    } else {
      diff.push_back({'+', b[j++]});
    }
  }
  return diff;
}

std::vector<DiffLine> around_changes(const std::vector<DiffLine>& diff, size_t context) {
  std::vector<bool> kept(diff.size(), false);
  for (size_t i = 0; i < diff.size(); ++i) {
    if (diff[i].sign == ' ') continue;
    const size_t first = i < context ? 0 : i - context;
    for (size_t k = first; k <= std::min(i + context, diff.size() - 1); ++k) kept[k] = true;
  }
  std::vector<DiffLine> shown;
  bool gap = false;
  for (size_t i = 0; i < diff.size(); ++i) {
    if (!kept[i]) {
      gap = !shown.empty();
      continue;
    }
    if (gap) shown.push_back({' ', "..."});
    gap = false;
    shown.push_back(diff[i]);
  }
  return shown;
}

}  // namespace grade

// Small text helpers of the course library.
#ifndef WARPLINGS_COURSE_TEXT_H_
#define WARPLINGS_COURSE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace course {

// Lines without their ends. A last line without '\n' counts, an empty rest does not.
std::vector<std::string> split_lines(std::string_view text);
std::string trim(std::string_view text);
bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// "1 file", "2 files"
std::string plural(size_t count, std::string_view noun);
// Insertions, deletions and replacements between two short words.
size_t edit_distance(std::string_view a, std::string_view b);

// 64-bit FNV-1a in two lanes, as 32 hex digits: names cached results, resists nobody.
class Hash {
 public:
  Hash& add(std::string_view bytes);
  std::string hex() const;

 private:
  uint64_t a_ = 1469598103934665603ull;
  uint64_t b_ = 1099511628211ull * 31;
};

}  // namespace course
#endif  // WARPLINGS_COURSE_TEXT_H_

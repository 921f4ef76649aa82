#include "kit/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace kit {

using internal::Comparison;

bool never_written(const Comparison& c, size_t i) {
  if (!c.written.empty()) return c.written[i] == 0;
  // On a GPU the poison is all there is to go by; an int may really be -1.
  return c.poisoned[i] != 0 && c.wrong[i] != 0;
}

namespace {

std::string ordinal(size_t n) {
  const size_t tens = n % 100;
  const char* suffix = "th";
  if (tens < 11 || tens > 13) {
    if (n % 10 == 1) suffix = "st";
    if (n % 10 == 2) suffix = "nd";
    if (n % 10 == 3) suffix = "rd";
  }
  return std::to_string(n) + suffix;
}

// The wrong elements of one comparison, and the questions that the guesses ask about them.
class Wrong {
 public:
  explicit Wrong(const Comparison& c) : c_(c) {
    for (size_t i = 0; i < c.wrong.size(); ++i) {
      if (c.wrong[i]) wrong_.push_back(i);
    }
    const auto unwritten = [&](size_t i) { return never_written(c, i); };
    none_written_ = std::all_of(wrong_.begin(), wrong_.end(), unwritten);
    all_written_ = std::none_of(wrong_.begin(), wrong_.end(), unwritten);
  }

  size_t size() const { return c_.got.size(); }
  size_t count() const { return wrong_.size(); }
  bool all() const { return count() == size(); }
  const std::vector<size_t>& positions() const { return wrong_; }
  bool none_written() const { return none_written_; }
  bool all_written() const { return all_written_; }
  bool contiguous() const { return wrong_.back() - wrong_.front() + 1 == count(); }

  // True if got[i] equals value(i) wherever a wrong element was written, for at least three
  // elements, and the values are not all alike (which would fit too much).
  template <class Value>
  bool holds(const Value& value) const {
    if (!all_written_ || count() < 3) return false;
    bool varied = false;
    for (const size_t i : wrong_) {
      const double other = value(i);
      // An infinite `other` would be "near" everything.
      if (!std::isfinite(other)) return false;
      if (!(std::fabs(c_.got[i] - other) <= 1e-6 * std::fabs(other))) return false;
      varied = varied || c_.got[i] != c_.got[wrong_[0]];
    }
    return varied;
  }

 private:
  const Comparison& c_;
  std::vector<size_t> wrong_;
  bool none_written_ = false, all_written_ = false;
};

std::string verb(const Wrong& wrong) {
  if (!wrong.none_written()) return wrong.count() == 1 ? " is wrong" : " are wrong";
  return wrong.count() == 1 ? " was never written" : " were never written";
}

// Where the wrong elements lie, for one dimension.
std::string guess_place(const Wrong& wrong) {
  const std::vector<size_t>& at = wrong.positions();
  if (wrong.all() || at.size() == 1) return "";
  const std::string count = std::to_string(at.size());
  if (wrong.contiguous()) {
    if (at.back() + 1 == wrong.size()) return "the last " + count + verb(wrong);
    if (at.front() == 0) return "the first " + count + verb(wrong);
    return "elements " + std::to_string(at.front()) + " to " + std::to_string(at.back()) +
           verb(wrong);
  }
  const size_t step = at[1] - at[0];
  for (size_t k = 1; k < at.size(); ++k) {
    if (at[k] - at[k - 1] != step) return "";
  }
  // A regular step means something only if it runs through the whole array.
  const bool whole = at.front() < step && at.back() + step >= wrong.size();
  if (at.size() < 3 || !whole) return "";
  return "every " + ordinal(step) + " element, from element " + std::to_string(at.front()) +
         " on," + (wrong.none_written() ? " was never written" : " is wrong");
}

// Where they lie in a matrix: whole rows, whole columns, an edge.
std::string guess_place_2d(const Comparison& c, const Wrong& wrong) {
  if (c.shape.depth != 1 || wrong.all() || c.shape.size() != wrong.size()) return "";
  const size_t rows = static_cast<size_t>(c.shape.rows), cols = static_cast<size_t>(c.shape.cols);
  if (rows < 2 || cols < 2) return "";
  size_t row0 = rows, row1 = 0, col0 = cols, col1 = 0;
  for (const size_t i : wrong.positions()) {
    row0 = std::min(row0, i / cols);
    row1 = std::max(row1, i / cols);
    col0 = std::min(col0, i % cols);
    col1 = std::max(col1, i % cols);
  }
  const size_t height = row1 - row0 + 1, width = col1 - col0 + 1;
  if (wrong.count() != height * width) return "";
  const std::string what = wrong.none_written() ? " never written" : " wrong";
  const auto lines = [&](size_t n, const char* noun) {
    return n == 1 ? std::string("the last ") + noun + (wrong.none_written() ? " was" : " is") + what
                  : "the last " + std::to_string(n) + " " + noun +
                        (wrong.none_written() ? "s were" : "s are") + what;
  };
  if (width == cols && row1 + 1 == rows) return lines(height, "row");
  if (height == rows && col1 + 1 == cols) return lines(width, "column");
  return "";
}

std::string guess_transposed(const Comparison& c, const Wrong& wrong) {
  if (c.shape.depth != 1 || c.shape.rows < 2 || c.shape.cols < 2) return "";
  if (c.shape.size() != wrong.size()) return "";
  const size_t rows = static_cast<size_t>(c.shape.rows), cols = static_cast<size_t>(c.shape.cols);
  const auto transposed = [&](size_t i) { return c.expected[i % rows * cols + i / rows]; };
  return wrong.holds(transposed) ? "they hold the transposed result (rows and columns are swapped)"
                                 : "";
}

std::string guess_shift(const Comparison& c, const Wrong& wrong) {
  const long n = static_cast<long>(wrong.size());
  for (const long shift : {1L, -1L, 2L, -2L, 32L, -32L, 256L, -256L}) {
    // The element that has no neighbour may hold anything.
    size_t checked = 0;
    bool fits = wrong.all_written() && wrong.count() * 2 > wrong.size();
    for (const size_t i : wrong.positions()) {
      const long from = static_cast<long>(i) + shift;
      if (from < 0 || from >= n) continue;
      fits = fits && c.got[i] == c.expected[static_cast<size_t>(from)];
      ++checked;
    }
    if (!fits || checked < 3) continue;
    const long distance = std::labs(shift);
    return "they are shifted by " + std::to_string(distance) +
           ": element i holds what belongs to i " + (shift > 0 ? "+ " : "- ") +
           std::to_string(distance);
  }
  return "";
}

std::string guess_values(const Comparison& c, const Wrong& wrong) {
  const std::vector<size_t>& at = wrong.positions();
  if (at.size() < 3 || !wrong.all_written()) return "";
  const auto every = [&](auto&& test) { return std::all_of(at.begin(), at.end(), test); };
  if (every([&](size_t i) { return std::isnan(c.got[i]); })) return "each of them is NaN";
  if (every([&](size_t i) { return c.got[i] == 0; })) return "each of them is zero";
  const double first = c.got[at[0]];
  if (every([&](size_t i) { return c.got[i] == first; })) {
    char text[48];
    std::snprintf(text, sizeof text, "each of them is %.6g", first);
    return text;
  }
  const size_t n = wrong.size();
  if (wrong.holds([&](size_t i) { return c.expected[n - 1 - i]; })) {
    return "they are in reversed order";
  }
  if (wrong.holds([&](size_t i) { return -c.expected[i]; })) return "they have the wrong sign";
  for (const double factor : {2.0, 0.5, 3.0, 4.0, 32.0, 256.0}) {
    if (!wrong.holds([&](size_t i) { return factor * c.expected[i]; })) continue;
    char text[64];
    std::snprintf(text, sizeof text, "they are %g times what is expected", factor);
    return text;
  }
  return "";
}

}  // namespace

std::string guess_pattern(const Comparison& c) {
  const Wrong wrong(c);
  if (wrong.count() == 0) return "";
  if (wrong.all() && wrong.count() > 1 && !wrong.none_written() &&
      std::all_of(c.got.begin(), c.got.end(), [](double x) { return x == 0; })) {
    return "all are zero";
  }
  for (const std::string& guess :
       {guess_transposed(c, wrong), guess_shift(c, wrong), guess_place_2d(c, wrong),
        guess_place(wrong), guess_values(c, wrong)}) {
    if (!guess.empty()) return guess;
  }
  return "";
}

}  // namespace kit

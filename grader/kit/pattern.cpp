#include "kit/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kit/mistake.h"

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
  const auto first = [&](size_t n, const char* noun) {
    return "the first " +
           (n == 1 ? noun + std::string(wrong.none_written() ? " was" : " is")
                   : std::to_string(n) + " " + noun + (wrong.none_written() ? "s were" : "s are")) +
           what;
  };
  if (width == cols && row0 == 0) return first(height, "row");
  if (height == rows && col0 == 0) return first(width, "column");
  if (width == cols && row1 + 1 == rows) return lines(height, "row");
  if (height == rows && col1 + 1 == cols) return lines(width, "column");
  return "";
}

// What a step past the edge touches.
std::string guess_border(const Comparison& c, const Wrong& wrong) {
  const size_t rows = static_cast<size_t>(c.shape.rows), cols = static_cast<size_t>(c.shape.cols);
  if (c.shape.size() != wrong.size() || rows < 3 || cols < 3 || wrong.count() < 3) return "";
  for (const size_t i : wrong.positions()) {
    const size_t row = i / cols % rows, col = i % cols;
    if (row > 0 && row + 1 < rows && col > 0 && col + 1 < cols) return "";
  }
  return "they lie at the edges, in the first or last row or column; all inside are right";
}

// A part of a matrix, small enough to be worth a look.
std::string guess_box(const Comparison& c, const Wrong& wrong) {
  const size_t cols = static_cast<size_t>(c.shape.cols), rows = static_cast<size_t>(c.shape.rows);
  if (c.shape.depth != 1 || c.shape.size() != wrong.size() || wrong.count() < 3) return "";
  size_t row0 = rows, row1 = 0, col0 = cols, col1 = 0;
  for (const size_t i : wrong.positions()) {
    row0 = std::min(row0, i / cols);
    row1 = std::max(row1, i / cols);
    col0 = std::min(col0, i % cols);
    col1 = std::max(col1, i % cols);
  }
  if (2 * (row1 - row0 + 1) * (col1 - col0 + 1) > wrong.size()) return "";
  const auto range = [](const char* noun, size_t first, size_t last) {
    return first == last
               ? std::string(noun) + " " + std::to_string(first)
               : std::string(noun) + "s " + std::to_string(first) + " to " + std::to_string(last);
  };
  std::string text = "they all lie in ";
  if (row0 > 0 || row1 + 1 < rows) text += range("row", row0, row1);
  if (col0 == 0 && col1 + 1 == cols) return text;
  return text + (text.back() == ' ' ? "" : ", ") + range("column", col0, col1);
}

// Images, planes, batches of which only some are wrong.
std::string guess_depths(const Comparison& c, const Wrong& wrong) {
  if (c.shape.depth < 2 || c.shape.size() != wrong.size() || wrong.count() < 2) return "";
  const size_t each = static_cast<size_t>(c.shape.rows) * static_cast<size_t>(c.shape.cols);
  const size_t first = wrong.positions().front() / each, last = wrong.positions().back() / each;
  const size_t depth = static_cast<size_t>(c.shape.depth);
  if (first == 0 && last + 1 == depth) return "";
  if (first == last) return "they are all in depth " + std::to_string(first);
  if (last + 1 == depth) return "all before depth " + std::to_string(first) + " are right";
  return "they are all in depth " + std::to_string(first) + " to " + std::to_string(last);
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

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// All by one factor, or by one summand: a mean that is a sum, a bias that is missing.
std::string guess_factor(const Comparison& c, const Wrong& wrong) {
  const auto larger = [&](size_t a, size_t b) {
    return std::fabs(c.expected[a]) < std::fabs(c.expected[b]);
  };
  const std::vector<size_t>& at = wrong.positions();
  const size_t sure = *std::max_element(at.begin(), at.end(), larger);
  const double factor = c.got[sure] / c.expected[sure];
  if (factor != 0 && wrong.holds([&](size_t i) { return factor * c.expected[i]; })) {
    return "they are " + short_number(factor) + " times what is expected";
  }
  const double more = c.got[sure] - c.expected[sure];
  if (!wrong.holds([&](size_t i) { return c.expected[i] + more; })) return "";
  return "each of them is " + short_number(std::fabs(more)) +
         (more > 0 ? " too large" : " too small");
}

// What all of them should be, where that is a special value.
std::string guess_expected(const Comparison& c, const Wrong& wrong) {
  const std::vector<size_t>& at = wrong.positions();
  if (at.size() < 3 || wrong.all() || !wrong.all_written()) return "";
  const auto every = [&](auto&& test) { return std::all_of(at.begin(), at.end(), test); };
  if (every([&](size_t i) { return std::isnan(c.expected[i]); })) {
    return "each of them must be NaN";
  }
  if (every([&](size_t i) { return std::isinf(c.expected[i]); })) {
    return "each of them must be infinite";
  }
  if (every([&](size_t i) { return c.expected[i] == 0; })) return "each of them must be 0";
  return "";
}

// Right to some digits: no element is another, but each has lost some. Whole numbers lose whole
// elements, not digits; and so may a single sum, unless hardly anything is missing.
std::string guess_digits(const Comparison& c, const Wrong& wrong) {
  if (c.integral || !wrong.all_written()) return "";
  const auto is_whole = [](double x) { return x == std::floor(x); };
  double error = 0, size = 0;
  bool whole = true;
  for (const size_t i : wrong.positions()) {
    if (!std::isfinite(c.got[i]) || !std::isfinite(c.expected[i])) return "";
    error = std::max(error, std::fabs(c.got[i] - c.expected[i]));
    size = std::max(size, std::fabs(c.expected[i]));
    // Beyond 2^24 a float has whole numbers only.
    const bool exact = std::fabs(c.expected[i]) < 0x1p24;
    whole = whole && exact && is_whole(c.got[i]) && is_whole(c.expected[i]);
  }
  const double nearly = wrong.count() < 3 ? 1e-5 : 1e-3;
  if (whole || size == 0 || error > nearly * size) return "";
  return "nearly right, to " + std::to_string(static_cast<int>(-std::log10(error / size))) +
         " digits at least: digits get lost on the way (numbers kept in too narrow a type, a "
         "difference of large numbers, an approximation)";
}

// The right values in other places.
std::string guess_permuted(const Comparison& c, const Wrong& wrong) {
  const std::vector<size_t>& at = wrong.positions();
  if (at.size() < 3 || !wrong.all_written()) return "";
  std::vector<double> got, expected;
  for (const size_t i : at) {
    if (std::isnan(c.got[i]) || std::isnan(c.expected[i])) return "";
    got.push_back(c.got[i]);
    expected.push_back(c.expected[i]);
  }
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  if (got != expected || got.front() == got.back()) return "";
  return "the values are right, but in each other's places";
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
  return guess_factor(c, wrong);
}

}  // namespace

std::string guess_pattern(const Comparison& c) {
  const Wrong wrong(c);
  if (wrong.count() == 0) return "";
  if (wrong.all() && wrong.count() > 1 && !wrong.none_written() &&
      std::all_of(c.got.begin(), c.got.end(), [](double x) { return x == 0; })) {
    return "all are zero";
  }
  const auto first_of = [](const std::vector<std::string>& guesses) {
    const auto found = std::find_if(guesses.begin(), guesses.end(),
                                    [](const std::string& guess) { return !guess.empty(); });
    return found == guesses.end() ? std::string() : *found;
  };
  const std::string all = first_of({guess_mistake(c), guess_transposed(c, wrong),
                                    guess_shift(c, wrong), guess_digits(c, wrong)});
  if (!all.empty()) return all;
  const std::string where =
      first_of({guess_place_2d(c, wrong), guess_place(wrong), guess_box(c, wrong),
                guess_border(c, wrong), guess_depths(c, wrong)});
  const std::string what =
      first_of({guess_values(c, wrong), guess_expected(c, wrong), guess_permuted(c, wrong)});
  return where + (what.empty() || where.empty() ? "" : "; ") + what;
}

}  // namespace kit

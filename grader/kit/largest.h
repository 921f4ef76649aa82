// The largest sizes that a header allows, asked for without computing them: the launcher gets real
// pointers and the real sizes, and of each of its launches only some blocks run, the first and the
// last of each axis and those around powers of two (warplings/sim.h: wsim_run_only_edges). So a
// grid that is too large is refused, an index that overflows leads out of its array or to a wrong
// element, and whatever ends too early leaves out the last one. A second takes thousands of
// millions of elements.
//
//   kit::at_largest(1 << 30, [](int n) {
//     const auto d_x = kit::large_floats(n, "x");
//     const auto d_y = kit::LargeArray<float>::output(n, "y");
//     kit::run([&] { launch_twice(d_x.get(), d_y.get(), n); });
//     kit::expect_at_ends(d_y, [&](size_t i) { return 2 * d_x.at(i); });
//   });
//
// It suits results of which each depends on inputs alone. Where blocks use what other blocks have
// made (scans, tickets, a sync of the grid), they would find nothing: such an exercise says so
// ("not_asked": "huge_arrays"). Where an answer works in several kernels and one reads what was
// left out of another, nothing is decided. Long copies and fills are cut in the same way, so a
// launcher may be given host memory, too (LargeHostFloats). Simulator only; on a GPU at_largest()
// does nothing.
#ifndef WARPLINGS_KIT_LARGEST_H_
#define WARPLINGS_KIT_LARGEST_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "kit/kit.h"
#include "kit/sparse_memory.h"

namespace kit {

// A number of random values that suits every array; no power of two, so that an index that is wrong
// by one finds another value.
constexpr size_t kPeriod = 3 * 5 * 7 * 4096;

// Blocks that take very long are left where they are, and then no value decides anything; or they
// run to their end, for sums that are long and must be right.
enum class LongBlocks { kLeft, kToTheEnd };

void at_largest(const std::string& what, const std::function<void()>& body,
                LongBlocks blocks = LongBlocks::kLeft);

// The same for a size alone, and for an odd one of that kind: a float holds the first and rounds
// the second, so a grid that is computed in floats ends too early.
void at_largest(int n, const std::function<void(int n)>& body);

// n elements that hold `values` again and again, or nothing yet.
template <class T>
class LargeArray {
 public:
  static LargeArray input(size_t n, const char* name, const std::vector<T>& values) {
    return LargeArray(n, name, values);
  }
  static LargeArray output(size_t n, const char* name) { return LargeArray(n, name, {}); }
  static LargeArray inout(size_t n, const char* name, const std::vector<T>& values) {
    return LargeArray(n, name, values);
  }

  T* get() const { return static_cast<T*>(memory_->get()); }
  size_t size() const { return size_; }
  T at(size_t i) const { return values_[i % values_.size()]; }  // before the run
  bool held_values() const { return !values_.empty(); }
  const internal::SparseMemory& memory() const { return *memory_; }

 private:
  LargeArray(size_t n, const char* name, const std::vector<T>& values) : size_(n), values_(values) {
    if (values.empty()) {
      memory_ = std::make_shared<internal::SparseMemory>(n * sizeof(T), name);
      return;
    }
    constexpr size_t kPage = 4096;
    // Whole pages, and not so few that mapping them takes long.
    const size_t pages = std::lcm(values.size() * sizeof(T), kPage);
    const size_t times = pages / (values.size() * sizeof(T)) * (1 + kPeriod / (pages / sizeof(T)));
    std::vector<T> repeated;
    repeated.reserve(values.size() * times);
    for (size_t i = 0; i < times; ++i) {
      repeated.insert(repeated.end(), values.begin(), values.end());
    }
    memory_ = std::make_shared<internal::SparseMemory>(n * sizeof(T), repeated.data(),
                                                       repeated.size() * sizeof(T), name);
  }

  size_t size_;
  std::vector<T> values_;
  std::shared_ptr<internal::SparseMemory> memory_;
};

// Inputs of random floats, and of small integers, which add up exactly in any order.
inline LargeArray<float> large_floats(size_t n, const char* name) {
  return LargeArray<float>::input(n, name, random_floats(kPeriod));
}
inline LargeArray<float> large_integers(size_t n, const char* name) {
  return LargeArray<float>::input(n, name, random_integer_floats(kPeriod));
}

namespace internal {

// Zeros in host memory that take no room before they are used; pinned or pageable.
class LargeHostMemory {
 public:
  LargeHostMemory(size_t bytes, bool pinned);
  ~LargeHostMemory();
  LargeHostMemory(const LargeHostMemory&) = delete;
  LargeHostMemory& operator=(const LargeHostMemory&) = delete;
  void* get() const { return begin_; }

 private:
  size_t bytes_;
  bool pinned_;
  void* begin_ = nullptr;
};

}  // namespace internal

enum class HostPages { kPageable, kPinned };

// n floats in host memory, for launchers that copy them: an input holds random values at both ends
// and zeros between, an output nothing of use.
class LargeHostFloats {
 public:
  static LargeHostFloats input(size_t n, const char* name, HostPages pages) {
    LargeHostFloats array(n, name, pages);
    const size_t some = std::min(n, kSome);
    const std::vector<float> first = random_floats(some), last = random_floats(some);
    std::copy(first.begin(), first.end(), array.get());
    std::copy(last.begin(), last.end(), array.get() + n - some);
    return array;
  }
  static LargeHostFloats output(size_t n, const char* name, HostPages pages) {
    LargeHostFloats array(n, name, pages);
    array.get()[0] = array.get()[n - 1] = std::nanf("");
    return array;
  }

  float* get() const { return static_cast<float*>(memory_->get()); }
  size_t size() const { return size_; }
  const std::string& name() const { return name_; }

 private:
  static constexpr size_t kSome = 4096;
  LargeHostFloats(size_t n, const char* name, HostPages pages)
      : size_(n),
        name_(name),
        memory_(std::make_shared<internal::LargeHostMemory>(n * sizeof(float),
                                                            pages == HostPages::kPinned)) {}

  size_t size_;
  std::string name_;
  std::shared_ptr<internal::LargeHostMemory> memory_;
};

namespace internal {

enum class AtEnd { kMissing, kWrongValue };
bool fail_at_end(AtEnd fault, const std::string& name, size_t index, const std::string& what,
                 Site site);
bool first_was_reached();  // no block was too long
// The last of `size` elements belongs to a block that has run: there is a thread for each of them,
// or nearly, and no block was too long. Blocks that go through an array in steps of a whole grid
// may leave it to any of them.
bool last_was_reached(size_t size);
// Blocks that write as many elements as those that have run cannot write them all.
bool blocks_are_too_few(size_t written, size_t size);

template <class T>
struct Seen {
  std::vector<T> values;
  std::vector<uint8_t> written;  // of each element
};

template <class T>
Seen<T> look(const LargeArray<T>& array, size_t begin, size_t count) {
  Seen<T> seen;
  seen.values.resize(count);
  std::vector<uint8_t> bytes(count * sizeof(T));
  if (!array.memory().peek(begin * sizeof(T), seen.values.data(), bytes.size(), bytes.data())) {
    return {};
  }
  for (size_t i = 0; i < count; ++i) {
    bool written = true;
    for (size_t k = 0; k < sizeof(T); ++k) written = written && bytes[i * sizeof(T) + k] != 0;
    seen.written.push_back(written);
  }
  return seen;
}

template <class T, class E>
bool is_right(T got, E expected, size_t i, const Tolerance& tolerance) {
  if (std::is_integral<T>::value) return got == static_cast<T>(expected);
  const double a = static_cast<double>(got), b = static_cast<double>(expected);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance.allowed(i, b);
}

template <class T>
std::string shown(T value) {
  std::ostringstream text;
  text << +value;
  return text.str();
}

}  // namespace internal

// Fails unless every element of an output that has been written, anywhere, is expected(i), and the
// first and the last are among them where their blocks have run. Of an array that held values
// before, the elements around powers of two and at both ends are looked at: each is as it was or as
// expected.
template <class T, class Expected>
bool expect_at_ends(const LargeArray<T>& got, const Expected& expected,
                    const Tolerance& tolerance = Tolerance::absolute(0), Site site = Site::here()) {
  using namespace internal;
  if (!simulated() || case_failed() || got.size() == 0) return true;
  const std::string& name = got.memory().name();
  constexpr size_t kAround = 2048;  // elements
  const bool held = got.held_values(), needs_first = first_was_reached();
  const bool needs_last = last_was_reached(got.size());
  size_t written = 0;
  // Of an array that held values: elements at its end that must change, and the first that has not.
  size_t to_change = 0, changed = 0, unchanged = 0;
  // Elements of [begin, begin + count); false after a failure.
  const auto check = [&](size_t begin, size_t count) {
    const Seen<T> seen = look(got, begin, count);
    for (size_t k = 0; k < seen.values.size(); ++k) {
      const size_t i = begin + k;
      const bool must = (i == 0 && needs_first) || (i + 1 == got.size() && needs_last);
      if (held && i + kAround >= got.size() && needs_last &&
          !is_right(got.at(i), expected(i), i, tolerance)) {
        if (to_change++ == 0) unchanged = i;
        changed += is_right(seen.values[k], expected(i), i, tolerance);
      }
      if (!seen.written[k] && !must) continue;
      if (!seen.written[k])
        return fail_at_end(AtEnd::kMissing, name, i, " was never written.", site);
      ++written;
      if (is_right(seen.values[k], expected(i), i, tolerance)) continue;
      if (held && !must && is_right(seen.values[k], got.at(i), i, Tolerance::absolute(0))) continue;
      return fail_at_end(AtEnd::kWrongValue, name, i,
                         " is " + shown(seen.values[k]) + ", expected " + shown(expected(i)) + ".",
                         site);
    }
    return true;
  };
  if (held) {
    for (size_t power = 1; power < 2 * got.size(); power *= 2) {
      const size_t end = std::min(power + kAround, got.size());
      if (!check(end - std::min(end, 2 * kAround), std::min(end, 2 * kAround))) return false;
    }
    if (to_change > 0 && changed == 0) {
      return fail_at_end(AtEnd::kMissing, name, unchanged,
                         " still is " + shown(got.at(unchanged)) + ", expected " +
                             shown(expected(unchanged)) + ": nothing changes at the end.",
                         site);
    }
    return true;
  }
  if (!check(0, 1) || !check(got.size() - 1, 1)) return false;
  // The pieces that blocks have written lie apart. Of very many a few thousand are enough.
  constexpr size_t kPiece = 128, kManyPieces = 4096;
  size_t step = kPiece, pieces = 0;
  written = 0;
  for (size_t at = 0; at < got.size(); at += step) {
    at = got.memory().first_written(at * sizeof(T), got.size() * sizeof(T)) / sizeof(T);
    if (at < got.size() && !check(at, std::min(kPiece, got.size() - at))) return false;
    if (++pieces == kManyPieces) step = std::max(kPiece, got.size() / kManyPieces);
  }
  if (pieces >= kManyPieces || !blocks_are_too_few(written, got.size())) return true;
  return fail_at_end(AtEnd::kMissing, name, got.size() - 1,
                     " cannot be written: so many blocks, that write as much as those which have "
                     "run here, do not come that far.",
                     site);
}

// Of an output in host memory the first and the last element are looked at, as far as their blocks
// have run.
template <class Expected>
bool expect_at_ends(const LargeHostFloats& got, const Expected& expected,
                    const Tolerance& tolerance = Tolerance::absolute(0), Site site = Site::here()) {
  using namespace internal;
  if (!simulated() || case_failed()) return true;
  const auto check = [&](size_t i) {
    const float value = got.get()[i];
    if (is_right(value, expected(i), i, tolerance)) return true;
    return fail_at_end(AtEnd::kWrongValue, got.name(), i,
                       " is " + shown(value) + ", expected " + shown(expected(i)) + ".", site);
  };
  if (first_was_reached() && !check(0)) return false;
  return !last_was_reached(got.size()) || check(got.size() - 1);
}

}  // namespace kit

#endif  // WARPLINGS_KIT_LARGEST_H_

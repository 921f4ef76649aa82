#include "compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace warplings::sim::random {
namespace {

constexpr uint64_t kFnvPrime = 0x100000001b3u;
constexpr uint64_t kFnvStart = 0xcbf29ce484222325u;
constexpr int kMostRuns = 600;  // while a kernel is made small

uint64_t value_at(const std::vector<uint8_t>& bytes, size_t at, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

std::string shown(uint64_t bits, const Element& element) {
  char text[80];
  const int digits = static_cast<int>(2 * element.bytes);
  const char kind = element.name.size() > 1 ? element.name[1] : ' ';
  const bool single = kind == 'f' && element.bytes == 4;
  if (single || kind == 'n') {
    std::snprintf(text, sizeof text, "0x%0*llx (%.9g)", digits,
                  static_cast<unsigned long long>(bits),
                  static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  } else if (kind == 'f') {
    std::snprintf(text, sizeof text, "0x%0*llx (%.17g)", digits,
                  static_cast<unsigned long long>(bits), std::bit_cast<double>(bits));
  } else {
    std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(bits));
  }
  return text;
}

bool agree(const Element& element, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (element.is_exact()) return false;
  const double x = std::bit_cast<float>(static_cast<uint32_t>(a));
  const double y = std::bit_cast<float>(static_cast<uint32_t>(b));
  return std::fabs(x - y) <= element.absolute + element.relative * std::fabs(x);
}

// Walks over the values of an output in its order: f(thread or -1, element index or -1, offset,
// bytes).
template <class F>
void each_value(const Program& program, F f) {
  for (uint32_t cell = 0; cell < kCells; ++cell) {
    f(-1, static_cast<int>(cell), size_t{cell} * kCellBytes, size_t{kCellBytes});
  }
  const std::vector<Element> elements = elements_of(program);
  for (unsigned thread = 0; thread < program.threads(); ++thread) {
    const size_t slot = kCells * kCellBytes + size_t{thread} * slot_bytes(program);
    for (size_t i = 0; i < elements.size(); ++i) {
      f(static_cast<int>(thread), static_cast<int>(i), slot + elements[i].offset,
        size_t{elements[i].bytes});
    }
  }
}

// What the registers of one thread hold when the kernel begins.
std::string input_of_thread(const Program& program, unsigned thread, const std::string& kernel) {
  const std::vector<uint8_t> input = input_of(program);
  std::string text;
  size_t at = size_t{thread} * slot_bytes(program);
  for (const Element& element : elements_of(program)) {
    const bool is_register = element.name[0] == '%' && element.name[1] != 'n';
    if (!is_register) break;
    const uint64_t value = value_at(input, at, element.bytes);
    at += std::max<size_t>(element.bytes, 4);
    if (kernel.find(" " + element.name + ", [%in+") != std::string::npos ||
        kernel.find("setp.ne.u32 " + element.name + ", %word, 0;") != std::string::npos) {
      text += "    " + element.name + " = " + shown(value, element) + "\n";
    }
  }
  return text;
}

class Shrinker {
 public:
  Shrinker(const Program& program, const Machine& a, const Machine& b)
      : program_(program), a_(a), b_(b), best_(Selection::all(program)) {}

  Selection run() {
    const size_t units = best_.alive.size();
    // Large pieces first, then smaller ones, until no single unit can go.
    for (size_t piece = std::max<size_t>(units / 2, 1); runs_ < kMostRuns;) {
      bool went = false;
      for (size_t begin = 0; begin < units; begin += piece) {
        went = without(begin, std::min(begin + piece, units)) || went;
      }
      if (piece > 1) {
        piece /= 2;
      } else if (!went) {
        break;
      }
    }
    keep_one_element();
    return best_;
  }

  Difference last() const { return last_; }

 private:
  bool differs(const Selection& selection) {
    ++runs_;
    const Difference found = difference(program_, a_, random::run(a_, program_, selection), b_,
                                        random::run(b_, program_, selection));
    if (!found.text.empty()) last_ = found;
    return !found.text.empty();
  }

  bool without(size_t begin, size_t end) {
    Selection candidate = best_;
    const auto first = candidate.alive.begin() + static_cast<long>(begin);
    const auto last = candidate.alive.begin() + static_cast<long>(end);
    if (std::find(first, last, true) == last) return false;
    std::fill(first, last, false);
    if (runs_ >= kMostRuns || !differs(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  void keep_one_element() {
    if (!differs(best_)) return;
    Selection candidate = best_;
    std::fill(candidate.elements.begin(), candidate.elements.end(), false);
    if (last_.element >= 0) candidate.elements[static_cast<size_t>(last_.element)] = true;
    if (differs(candidate)) best_ = std::move(candidate);
    differs(best_);
  }

  const Program& program_;
  const Machine& a_;
  const Machine& b_;
  Selection best_;
  Difference last_;
  int runs_ = 0;
};

}  // namespace

Result run(const Machine& machine, const Program& program, const Selection& selection) {
  Result result;
  result.output.resize(output_bytes(program));
  try {
    result.problem = machine.run(fixture_of(program, selection), &result.output);
  } catch (const ptx::ParseError& error) {
    result.problem = error.what();
  }
  return result;
}

Difference difference(const Program& program, const Machine& a, const Result& result_a,
                      const Machine& b, const Result& result_b) {
  if (!result_a.problem.empty()) return {a.name + ": " + result_a.problem, -1};
  if (!result_b.problem.empty()) return {b.name + ": " + result_b.problem, -1};
  Difference found;
  const std::vector<Element> elements = elements_of(program);
  int differing = 0;
  each_value(program, [&](int thread, int index, size_t at, size_t bytes) {
    const uint64_t x = value_at(result_a.output, at, bytes);
    const uint64_t y = value_at(result_b.output, at, bytes);
    const Element cell{"cell " + std::to_string(index), 0, kCellBytes, 0, 0};
    const Element& element = thread < 0 ? cell : elements[static_cast<size_t>(index)];
    if (agree(element, x, y)) return;
    if (++differing > 1) return;
    const std::string where =
        thread < 0 ? ""
                   : "thread " + std::to_string(static_cast<unsigned>(thread) % program.block) +
                         " of block " +
                         std::to_string(static_cast<unsigned>(thread) / program.block) + ", ";
    found.text = where + element.name + ": " + a.name + " " + shown(x, element) + ", " + b.name +
                 " " + shown(y, element);
    if (thread >= 0) found.element = index;
    found.thread = thread;
  });
  if (differing > 1) found.text += " (and " + std::to_string(differing - 1) + " more values)";
  return found;
}

std::string explain(const Program& program, const Machine& a, const Machine& b) {
  const Selection all = Selection::all(program);
  const Difference whole = difference(program, a, run(a, program, all), b, run(b, program, all));
  if (whole.text.empty()) return "";
  Shrinker shrinker(program, a, b);
  const Selection small = shrinker.run();
  const std::string kernel = text_of(program, small);
  std::string text = "seed " + std::to_string(program.seed) + ": " + whole.text +
                     "\n  The least kernel that differs, " + std::to_string(program.grid) + " x " +
                     std::to_string(program.block) + " threads: " + shrinker.last().text + "\n";
  if (shrinker.last().thread >= 0) {
    text += "  That thread starts with\n" +
            input_of_thread(program, static_cast<unsigned>(shrinker.last().thread), kernel);
  }
  return text + kernel;
}

uint64_t hash_of(const Program& program, const std::vector<uint8_t>& output) {
  const std::vector<Element> elements = elements_of(program);
  uint64_t hash = kFnvStart;
  each_value(program, [&](int thread, int index, size_t at, size_t bytes) {
    if (thread >= 0 && !elements[static_cast<size_t>(index)].is_exact()) return;
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ output[at + i]) * kFnvPrime;
  });
  return hash;
}

uint64_t hash_of(const std::string& text, uint64_t start) {
  uint64_t hash = start == 0 ? kFnvStart : start;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * kFnvPrime;
  return hash;
}

}  // namespace warplings::sim::random

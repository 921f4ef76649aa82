// Random calls: what the programs NAME_random_conformance.cpp share. A seed decides all of a case,
// the same on every machine; about one case in four has one argument that is wrong.
#ifndef WARPLINGS_TESTS_CONFORMANCE_RANDOM_CASES_H_
#define WARPLINGS_TESTS_CONFORMANCE_RANDOM_CASES_H_

#include <cstdarg>
#include <initializer_list>
#include <string>

#include "conformance.h"

namespace conformance {

// Draws without the distributions of <random>, which differ between libraries.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  // Both ends included.
  int from(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<unsigned>(high - low + 1));
  }
  bool chance(int percent) { return from(1, 100) <= percent; }
  template <class T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + from(0, static_cast<int>(choices.size()) - 1));
  }
  // What a result or an old value is multiplied by.
  float factor() { return of({0.0F, 1.0F, 1.0F, -0.5F, 2.25F}); }
  // Which of `count` arguments is wrong, from 1; 0 is none.
  int wrong(int count) { return chance(25) ? from(1, count) : 0; }
  std::vector<float> floats(size_t count) { return random_floats(count, engine_()); }

 private:
  std::mt19937 engine_;
};

inline std::string text(const char* format, ...) {
  char line[200];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  return line;
}

// "seed 7", from the command line if it is there.
inline unsigned seed_of(int argc, char** argv) {
  const unsigned seed =
      argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 20261121;
  std::printf("seed %u\n", seed);
  return seed;
}

}  // namespace conformance

#endif  // WARPLINGS_TESTS_CONFORMANCE_RANDOM_CASES_H_

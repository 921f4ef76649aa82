// Mistakes that a test tries: where wrong results are exactly what one of them gives, the message
// names it. The cause says more than any number of wrong elements.
//
//   const kit::Mistake flipped("they are what a filter gives that is turned round",
//                              [&] { return convolve_on_cpu(x, turned(filter)); });
//   kit::expect_near(y, expected, tolerance);
#ifndef WARPLINGS_KIT_MISTAKE_H_
#define WARPLINGS_KIT_MISTAKE_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kit/kit.h"

namespace kit {

// Tried by the comparisons of as many elements that fail while it lives.
class Mistake {
 public:
  using Values = std::function<std::vector<double>()>;
  // `what`: a clause that completes "N of M elements are wrong: ...".
  Mistake(std::string what, Values values);
  ~Mistake();
  Mistake(const Mistake&) = delete;
  Mistake& operator=(const Mistake&) = delete;

  // The wrong elements hold its values, and not those of the right answer.
  bool explains(const internal::Comparison& comparison) const;
  const std::string& what() const { return what_; }

 private:
  std::string what_;
  Values values_;
};

// What explains the comparison, or "".
std::string guess_mistake(const internal::Comparison& comparison);

}  // namespace kit

#endif  // WARPLINGS_KIT_MISTAKE_H_

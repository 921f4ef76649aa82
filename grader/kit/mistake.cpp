#include "kit/mistake.h"

#include <algorithm>
#include <cmath>

#include "kit/context.h"

namespace kit {

Mistake::Mistake(std::string what, Values values)
    : what_(std::move(what)), values_(std::move(values)) {
  context().mistakes.push_back(this);
}

Mistake::~Mistake() {
  std::vector<const Mistake*>& all = context().mistakes;
  all.erase(std::remove(all.begin(), all.end(), this), all.end());
}

bool Mistake::explains(const internal::Comparison& c) const {
  const std::vector<double> values = values_();
  if (values.size() != c.got.size()) return false;
  double size = 0;  // rounding is to be forgiven, another value is not
  for (const double value : values) size = std::max(size, std::fabs(value));
  constexpr double kRounding = 1e-4;
  bool differs = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!(std::fabs(c.got[i] - values[i]) <= kRounding * size)) return false;  // NaN: never
    differs = differs || std::fabs(c.expected[i] - values[i]) > kRounding * size;
  }
  return differs;
}

std::string guess_mistake(const internal::Comparison& comparison) {
  for (const Mistake* mistake : context().mistakes) {
    if (mistake->explains(comparison)) return mistake->what();
  }
  return "";
}

}  // namespace kit

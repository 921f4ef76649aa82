// What a wrong result looks like as a whole: "every 32nd element", "transposed", "the last 24".
#ifndef WARPLINGS_KIT_PATTERN_H_
#define WARPLINGS_KIT_PATTERN_H_

#include <string>

#include "kit/kit.h"

namespace kit {

// One clause without a final stop that completes "N of M elements are wrong: ...", or "" where
// nothing is clear. Every clause is true of all wrong elements; a guess that fits only some of them
// is not made.
std::string guess_pattern(const internal::Comparison& comparison);

// True if element i holds nothing that the kernel wrote, as far as can be told.
bool never_written(const internal::Comparison& comparison, size_t i);

}  // namespace kit

#endif  // WARPLINGS_KIT_PATTERN_H_

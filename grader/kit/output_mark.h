// A line that a test program writes to stdout and stderr where a test begins, so that the grader
// can say which test printed what: this character, and the test's name. It decides no verdict.
#ifndef WARPLINGS_KIT_OUTPUT_MARK_H_
#define WARPLINGS_KIT_OUTPUT_MARK_H_

namespace kit {

inline constexpr char kOutputMark = '\x1e';

}  // namespace kit
#endif  // WARPLINGS_KIT_OUTPUT_MARK_H_

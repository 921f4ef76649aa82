// What `grade profile` shows of a profile (schema/profile.schema.json).
#ifndef WARPLINGS_CLI_PROFILE_TEXT_H_
#define WARPLINGS_CLI_PROFILE_TEXT_H_

#include <string>

#include "cli/terminal.h"
#include "course/json.h"

namespace grade {

// `only`: the kernels whose name holds it; "" the three that take longest. `advice`: not only what
// the cause is, but also what cures it.
std::string profile_text(const course::Json& profile, const std::string& title,
                         const std::string& only, bool advice, const Terminal& terminal);

// The line of a kernel that is worth a look, and why.
struct WorstLine {
  std::string file;
  int line = 0;  // 0: none stands out
  std::string reason;
  std::string cure;  // "" where none is known
};
WorstLine worst_line(const course::Json& kernel);

}  // namespace grade
#endif  // WARPLINGS_CLI_PROFILE_TEXT_H_

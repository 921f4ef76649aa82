// What a test program printed, test by test.
#ifndef WARPLINGS_CLI_PRINTED_H_
#define WARPLINGS_CLI_PRINTED_H_

#include <string>
#include <vector>

#include "cli/process/child.h"

namespace grade {

struct Printed {
  std::string test;  // "" before the first one, and behind a gap
  std::string text;
};

// One stream, cut at the marks of the kit (kit/output_mark.h), which are left out. Where bytes are
// missing, a line says how many.
std::vector<Printed> printed_by_test(const Capture& stream);

}  // namespace grade
#endif  // WARPLINGS_CLI_PRINTED_H_

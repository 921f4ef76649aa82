// Which rows of the opcode table the fixtures execute, and what the table does not know.
#ifndef WARPLINGS_SIMULATOR_TOOLS_PTX_COVERAGE_H_
#define WARPLINGS_SIMULATOR_TOOLS_PTX_COVERAGE_H_

#include <iosfwd>
#include <string>
#include <vector>

namespace warplings::sim {

// Runs the fixtures of `paths` and prints, for each row of opcodes.def, how many of them executed
// it. Returns 1 if a fixture fails or a row has none.
int report_coverage(const std::vector<std::string>& paths, std::ostream& out);

// Decodes PTX files and prints every instruction that would stop a launch. Returns 1 if there is
// one, or a file that cannot be parsed.
int report_unknown(const std::vector<std::string>& paths, std::ostream& out);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_TOOLS_PTX_COVERAGE_H_

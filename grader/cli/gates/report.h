// What the gates and the self-test print.
#ifndef WARPLINGS_CLI_GATES_REPORT_H_
#define WARPLINGS_CLI_GATES_REPORT_H_

#include <string>
#include <vector>

#include "cli/gates/gate.h"
#include "cli/terminal.h"

namespace grade {

// One line per gate: "gate 7  mutants     41 passed", with skipped and failed ones.
std::string gate_table(const std::vector<Item>& items, const Terminal& terminal);
// Every failure with its message, then every skipped item with its reason.
std::string failures_text(const std::vector<Item>& items, const Terminal& terminal);
std::string slowest_text(const std::vector<Item>& items, size_t most);
// The last line: "N passed, M failed" and ", K skipped" where there are.
std::string last_line(const std::vector<Item>& items);
// The tests that a program of GoogleTest skipped, from what it printed: the program passes, they do
// not count as passed.
std::vector<Item> skipped_tests(const std::string& program, const std::string& output);
// True if something ran and nothing failed.
bool all_well(const std::vector<Item>& items);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_REPORT_H_

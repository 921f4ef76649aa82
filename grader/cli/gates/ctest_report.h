// CTest's own report (ctest --output-junit) as items of the self-test.
#ifndef WARPLINGS_CLI_GATES_CTEST_REPORT_H_
#define WARPLINGS_CLI_GATES_CTEST_REPORT_H_

#include <map>
#include <string>
#include <vector>

#include "cli/gates/gate.h"

namespace grade {

// How the tests that failed ended, from the lines that ctest prints: "Timeout", "Exception:
// SegFault". Its report leaves that out.
std::map<std::string, std::string> ends_of_failed_tests(const std::string& printed);

// One item per test, and one for each part of it that GoogleTest skipped. A test that could not be
// started has failed. Throws course::Error where the text is no report.
std::vector<Item> items_of_ctest(const std::string& xml,
                                 const std::map<std::string, std::string>& ends);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_CTEST_REPORT_H_

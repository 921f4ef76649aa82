// What `grade exec` makes of findings: which of them count, how they are printed, where they are
// written. Asked for with environment variables, because the program may be started by another:
//   GRADE_EXEC_CHECKS        names of checks with commas between: others are not reported
//   GRADE_EXEC_SUPPRESSIONS  a file of findings that are known (Suppressions)
//   GRADE_EXEC_JSON          a file that gets one JSON object per line
//   (cli/schema/exec.schema.json) GRADE_EXEC_STATUS        the exit status of a program with
//   findings, instead of 99
#ifndef WARPLINGS_SIMULATOR_RUNTIME_EXEC_REPORT_H_
#define WARPLINGS_SIMULATOR_RUNTIME_EXEC_REPORT_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/finding.h"
#include "core/options.h"

namespace warplings::sim {

// Findings that are known and shall not fail a run. One rule per line, of one to three words; `*`
// and `?` stand for any text and any character, `#` begins a comment:
//   CHECK[/KIND] [FILE[:LINE] [KERNEL]]
//   racecheck/shared-race reduce.cuh:41
//   initcheck * masked_*
// FILE is compared with the end of the path, from a folder's name on. A race has two sides; one of
// them is enough.
class Suppressions {
 public:
  // "" or what is wrong with the text, with the number of its line.
  std::string parse(const std::string& text);
  bool covers(const Finding& finding) const;

 private:
  struct Rule {
    std::string check = "*", kind = "*", file = "*", line = "*", kernel = "*";
  };
  std::vector<Rule> rules_;
};

class ExecReport {
 public:
  // "" or what is wrong with one of the variables.
  std::string configure(const ExitOptions& options);
  // A finding that has come for the first time: printed and written down, if it counts.
  void add(const Finding& finding);
  // The last words, from what has been collected; the status to end with, 0 for the program's own.
  int finish(const std::vector<Finding>& findings) const;
  int finding_status() const { return status_; }

 private:
  bool selected(const Finding& finding) const;
  void write(const std::string& line) const;

  std::set<std::string> checks_;  // empty: all
  Suppressions suppressions_;
  std::string json_;  // path; "" for none
  int status_ = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_EXEC_REPORT_H_

// Runs that `./grade view` has looked at, one for each version of a learner's file: in ROOT/.kept
// beside the copies of that file, which nothing empties.
#ifndef WARPLINGS_CLI_VIEW_HISTORY_H_
#define WARPLINGS_CLI_VIEW_HISTORY_H_

#include <string>
#include <vector>

#include "cli/app.h"

namespace grade::view {

struct EarlierRun {
  std::string source;   // hash of the file
  int number = 0;       // 1 is the first version that was looked at
  bool passed = false;  // its tests
  std::string summary;  // what summary() gives
};

struct History {
  std::vector<EarlierRun> runs;    // of other versions than the file's present one, oldest first
  std::vector<std::string> names;  // of each: "run 3", or "copy 2" where such a copy is kept
  std::vector<int> unseen;         // copies that are kept and were never looked at, oldest first
};

// What was there before; this run is remembered as the last.
History remember_run(const Paths& paths, const course::Exercise& exercise, bool passed,
                     const std::string& summary);

// As the page takes it.
std::string history_json(const History& history);

}  // namespace grade::view
#endif  // WARPLINGS_CLI_VIEW_HISTORY_H_

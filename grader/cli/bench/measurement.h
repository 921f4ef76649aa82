// What `grade bench` shows of one speed test: everything that was timed, as rows of rates.
#ifndef WARPLINGS_CLI_BENCH_MEASUREMENT_H_
#define WARPLINGS_CLI_BENCH_MEASUREMENT_H_

#include <string>
#include <vector>

#include "cli/exercise_run.h"
#include "cli/terminal.h"

namespace grade {

struct BenchRow {
  std::string name;    // "yours", "solution", "one block", "copy rate"
  std::string kind;    // "yours", "solution", "stage", "library", "limit", "ceiling"
  std::string level;   // of yours and the solution: "gold"
  double seconds = 0;  // of one call; 0 for a ceiling
  double rate = 0;     // bytes or operations per second; 0 where the test does not say
};

struct BenchMeasurement {
  std::string exercise, test;
  std::string where;  // the case: "cols = 1024"; "" where the test has only one
  std::string device;
  bool modelled = false;
  double slice = 1;       // the modelled card is divided by this
  const char* unit = "";  // of the rates: "B/s", "FLOP/s", "" without rates
  std::vector<BenchRow> rows;
};

// One measurement per case of every speed test of these runs of the same exercise: the learner's
// and the solution's.
std::vector<BenchMeasurement> measurements_of(const Result& learner, const Result& solution);

std::string bench_text(const BenchMeasurement& measurement, const Terminal& terminal);
// "02_vector_add/04_saxpy.IsFast.svg", with the case where there is one.
std::string picture_name(const BenchMeasurement& measurement);
std::string bench_json(const BenchMeasurement& measurement);
// A bar per row, ceilings as lines, as an SVG picture that needs no browser's fonts or scripts.
std::string bench_svg(const BenchMeasurement& measurement);

}  // namespace grade
#endif  // WARPLINGS_CLI_BENCH_MEASUREMENT_H_

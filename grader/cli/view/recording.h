// What the simulator recorded for `grade view` (GRADE_SIM_VIEW), as the pictures ask for it. The
// page's own reading of it is grader/view/data.js.
#ifndef WARPLINGS_CLI_VIEW_RECORDING_H_
#define WARPLINGS_CLI_VIEW_RECORDING_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "course/json.h"

namespace grade::view {

constexpr int kWarp = 32;

// One execution of a load, store or atomic by a warp.
struct Sample {
  uint64_t number = 0, block = 0;
  int warp = 0;
  uint32_t mask = 0;
  int transactions = 0;  // sectors, or passes through the banks
  int array = -1;
  std::array<std::optional<int64_t>, kWarp> offsets;  // bytes; of active lanes
};

struct Site {
  std::string file, kind;
  int line = 0, bytes = 0, element = 0;
  uint64_t executions = 0;
  std::vector<Sample> samples;
  bool is_shared() const { return kind.rfind("shared", 0) == 0; }
  bool is_local() const { return kind.rfind("local", 0) == 0; }
  // The sample with most transactions, the first of these.
  const Sample& worst() const;
};

struct Extent {  // of an array
  std::string name;
  int64_t begin = 0, bytes = 0, skew = 0;
};

struct Step {
  enum Kind { kRuns, kWaits, kWaitsForever };
  int kind = kRuns, warp = 0, start = 0, length = 0, line = 0;
  uint32_t lanes = 0;
  std::string file;
};

// What a warp stored to shared memory.
struct Store {
  int time = 0, warp = 0, line = 0;
  std::string file;
  std::vector<std::pair<int64_t, std::string>> values;  // byte offset, as it is shown
};

// What goes on in the background of a block. A time of -1 has not come. An mbarrier is its offset.
struct Flight {
  enum Kind { kIn, kOut, kProduct };
  int kind = kIn, warp = 0, start = 0, end = -1;
  int shared = 0, bytes = 0, object = 0, phase = 0, count = 1, line = 0;
  std::string file;
};
struct PhaseSpan {
  int object = 0, number = 0, start = 0, end = -1;
};
struct PhaseWait {
  int warp = 0;
  uint32_t lanes = 0;
  int start = 0, end = -1, object = 0, phase = 0, line = 0;
  std::string file;
};
struct Pipeline {
  std::vector<PhaseSpan> phases;
  std::vector<Flight> flights;
  std::vector<PhaseWait> waits;
  bool is_cut = false;
  bool empty() const { return phases.empty() && flights.empty(); }
};

struct Launch {
  std::string kernel;
  std::array<int, 3> grid{}, block{}, index{};
  std::vector<Extent> arrays, variables;
  std::vector<Site> sites;
  std::vector<Step> steps;
  std::vector<Store> stores;
  Pipeline pipeline;
  bool is_cut = false;
  int threads() const { return block[0] * block[1] * block[2]; }
  int end() const;  // of the last step
  // "full[1]": the variable that the mbarrier at this offset is part of.
  std::string object_name(int offset) const;
  Extent target(const Site& site, const Sample& sample) const;
};

struct Recording {
  explicit Recording(course::Json json);
  // The kernel with most instructions of those whose name has `name` in it, and that have lines of
  // `file` where any has. Where something was found wrong in it, that launch comes with it. Throws
  // course::Error if there is none.
  const course::Json& kernel(const std::string& name, const std::string& file) const;
  Launch launch_of(const course::Json& kernel) const;
  std::optional<Launch> wrong_launch_of(const course::Json& kernel) const;
  const course::Json& json() const { return json_; }

 private:
  course::Json json_;
};

// Sectors of 32 bytes by line of 128: line -> word in it -> lanes that want it. Sectors that move,
// distinct bytes that are wanted.
struct Sectors {
  std::map<int64_t, std::map<int, std::vector<int>>> lines;
  std::map<int64_t, bool> moved;  // by sector
  int64_t wanted = 0;
};
Sectors sectors_of(const Site& site, const Sample& sample, int64_t skew);

// Each pass through the banks: bank -> lanes.
using Pass = std::map<int, std::vector<int>>;
std::vector<Pass> passes_of(const Site& site, const Sample& sample);

// "line 22: read from in". "Warp 1 of block 3: 4 sectors move, 128 of 128 bytes are wanted".
std::string site_name(const Launch& launch, const Site& site);
std::string sample_text(const Launch& launch, const Site& site, const Sample& sample);

}  // namespace grade::view
#endif  // WARPLINGS_CLI_VIEW_RECORDING_H_

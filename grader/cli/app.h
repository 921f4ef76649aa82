// What every command works with: options, paths, the terminal, the course and the progress.
#ifndef WARPLINGS_CLI_APP_H_
#define WARPLINGS_CLI_APP_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/exercise_run.h"
#include "cli/terminal.h"
#include "course/manifest.h"
#include "course/progress.h"

namespace grade {

class App {
 public:
  App(Options options, Paths paths);

  const Options& options() const { return options_; }
  const Paths& paths() const { return paths_; }
  Terminal& terminal() { return terminal_; }
  // Read at the first call. Throw course::Error.
  const course::Course& course();
  course::Progress& progress();
  void save_progress();

  // The exercise that the operand names; without one the current exercise (nullptr: all are
  // passed). Throws UsageError that lists the near ones.
  const course::Exercise* chosen();
  const course::Exercise& named(const std::string& text);
  // The explicitly chosen exercise if it is not passed, else the first that is not; nullptr if
  // none.
  const course::Exercise* current();
  // The first that is not passed after `from`, from the beginning again; nullptr if none.
  const course::Exercise* next_after(const course::Exercise& from);
  // Makes `exercise` the current one and saves that.
  void choose(const course::Exercise& exercise);

  // Where --device says an exercise is graded, in that order. Throws UsageError where a GPU was
  // asked for and there is none.
  std::vector<Device> devices(const course::Exercise& exercise) const;

 private:
  Options options_;
  Paths paths_;
  Terminal terminal_;
  std::optional<course::Course> course_;
  std::optional<course::Progress> progress_;
};

// A GPU and its driver are there.
bool gpu_present();

// How many GPUs programs see here; 0 without a usable one.
int gpu_count();

// Why this machine cannot grade the exercise at all ("needs a GPU"); "" if it can.
std::string missing_here(const course::Exercise& exercise);
// Why CMake could not make its program for this device: "needs cutlass, which is not here: ...". ""
// if it could, or has not tried yet.
std::string why_not_built(const Paths& paths, Device device, const course::Exercise& exercise);
// Why `gpus` GPUs, one or more, are not enough for it; "" if they are. The simulator grades it
// then.
std::string too_few_gpus(const course::Exercise& exercise, int gpus);

}  // namespace grade
#endif  // WARPLINGS_CLI_APP_H_

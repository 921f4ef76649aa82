// grade bench [EX]: yours, the solution and everything that they are compared with, timed.
#include <filesystem>

#include "cli/app.h"
#include "cli/bench/measurement.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/json_out.h"
#include "cli/python_program.h"
#include "cli/verdict.h"
#include "course/text.h"

namespace grade {
namespace {

std::vector<const course::Exercise*> chosen_exercises(App& app) {
  std::vector<const course::Exercise*> chosen;
  if (!app.options().operands.empty()) {
    chosen.push_back(&app.named(app.options().operands.front()));
    if (!chosen.front()->speed) {
      throw UsageError(chosen.front()->id +
                       " has no speed to measure. ./grade bench without a "
                       "name measures every exercise that has.");
    }
    return chosen;
  }
  for (const course::Exercise& exercise : app.course().exercises) {
    // Python is timed on a GPU alone.
    const bool timed = exercise.speed && (!is_python(exercise) || gpu_present());
    if (timed && missing_here(exercise).empty()) chosen.push_back(&exercise);
  }
  return chosen;
}

class Bench {
 public:
  explicit Bench(App& app) : app_(app), hooks_(default_hooks(app)) {}

  int run() {
    for (const course::Exercise* exercise : chosen_exercises(app_)) {
      measure(*exercise);
      if (cancelled_ || cannot_build_) break;  // what was measured stays
    }
    if (app_.options().json) print_json();
    if (cancelled_) return kFail;
    return cannot_build_ ? kUsage : kPass;
  }

 private:
  void measure(const course::Exercise& exercise) {
    const std::vector<Device> devices = app_.devices(exercise);
    const Result learner = run_one(exercise, Program::kLearner, devices.back());
    const Result solution =
        stopped() ? Result{} : run_one(exercise, Program::kSolution, devices.back());
    const std::vector<BenchMeasurement> found = measurements_of(learner, solution);
    clear_progress(app_);
    for (const BenchMeasurement& measurement : found) show(measurement);
    const bool has_yours =
        !found.empty() && !found.front().rows.empty() && found.front().rows.front().kind == "yours";
    if (found.empty() && !stopped() && devices.back() == Device::kSimulator) {
      complain(exercise.id + " is timed on a GPU only: the simulator has no time for it.");
    } else if (!has_yours && !stopped()) {
      complain("yours of " + exercise.id + " gave no time. ./grade run " + exercise.name +
               " says why.");
    }
  }

  Result run_one(const course::Exercise& exercise, Program program, Device device) {
    RunRequest request;
    request.exercise = &exercise;
    request.program = program;
    request.device = device;
    request.filter = kSpeedTests;
    request.watched = hooks_.watched;
    request.interrupted = hooks_.interrupted;
    const std::string what =
        exercise.name + (program == Program::kSolution ? ", solution: " : ": ");
    request.on_progress = [&](const std::string& step) { hooks_.on_progress(what + step); };
    Result result = build_and_run(app_.paths(), request);
    cancelled_ = cancelled_ || result.outcome == Outcome::kCancelled;
    if (result.outcome == Outcome::kCannotBuild) {
      cannot_build_ = true;
      clear_progress(app_);
      complain(result.build.problem);
    }
    return result;
  }

  bool stopped() const { return cancelled_ || cannot_build_; }

  void show(const BenchMeasurement& measurement) {
    json_.push_back(bench_json(measurement));
    if (app_.options().json) return;
    const std::filesystem::path picture =
        app_.paths().root / "build" / "bench" / picture_name(measurement);
    std::error_code error;
    std::filesystem::create_directories(picture.parent_path(), error);
    print(bench_text(measurement, app_.terminal()));
    try {
      course::write_text(picture, bench_svg(measurement));
      print("  picture: " + std::filesystem::relative(picture, app_.paths().root).string() + "\n");
    } catch (const course::Error& problem) {
      complain(problem.what());
    }
  }

  void print_json() const {
    print(JsonOut()
              .number("format", 1)
              .text("kind", "bench")
              .boolean("complete", !stopped())
              .raw("measurements", json_array(json_))
              .str() +
          "\n");
  }

  App& app_;
  GradingHooks hooks_;
  std::vector<std::string> json_;
  bool cancelled_ = false, cannot_build_ = false;
};

}  // namespace

int bench_command(App& app) { return Bench(app).run(); }

}  // namespace grade

#include "cli/gpu_profile.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/nsight.h"
#include "cli/speed_text.h"
#include "cli/tool.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr double kLongestSeconds = 300;  // Nsight Compute runs every kernel several times

// The tests that both sides run with the same shapes; speed tests are larger on a GPU.
std::string other_tests() { return std::string("-") + kSpeedTests; }

RunRequest request_for(App& app, const course::Exercise& exercise, Device device) {
  const GradingHooks hooks = default_hooks(app);
  RunRequest request;
  request.exercise = &exercise;
  request.program = app.options().solution ? Program::kSolution : Program::kLearner;
  request.device = device;
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  return request;
}

std::string times_text(const Result& result) {
  std::string text;
  for (const TestReport& test : result.tests) {
    for (const SpeedReport& speed : test.speeds) {
      text += "  " + test.short_name() + (speed.where.empty() ? "" : ", " + speed.where) + ": " +
              time_text(speed.seconds) + " per call";
      if (speed.bytes > 0) text += ", " + rate_text(speed.bytes, speed.seconds, "B/s");
      text += "\n";
      for (const SpeedRatio& ratio : speed.ratios) text += "    " + ratio_text(ratio) + "\n";
    }
  }
  return text;
}

// The simulator's counters of the same tests.
CountersByKernel count_in_simulator(App& app, const course::Exercise& exercise) {
  const fs::path folder = app.paths().build(Device::kSimulator) / "profile";
  fs::create_directories(folder);
  const fs::path file = folder / ("nsight-" + std::to_string(::getpid()) + ".json");
  ::setenv("GRADE_SIM_PROFILE", file.c_str(), 1);
  RunRequest request = request_for(app, exercise, Device::kSimulator);
  request.filter = other_tests();
  build_and_run(app.paths(), request);
  ::unsetenv("GRADE_SIM_PROFILE");
  if (!fs::exists(file)) return {};
  const std::string text = course::read_text(file.string());
  fs::remove(file);
  return simulated_counters(course::parse_json(text, "the profile"));
}

void show_counters(App& app, const course::Exercise& exercise, const std::string& program) {
  const Terminal& terminal = app.terminal();
  const std::string ncu = find_nsight();
  if (ncu.empty()) {
    print(
        wrap("Nsight Compute is not installed here, so the counters are the simulator's alone: "
             "./grade profile --device sim. It comes with the CUDA toolkit as \"ncu\".",
             "", terminal.columns));
    return;
  }
  ChildOptions options;
  options.argv = {
      ncu,         "--csv",          "--print-units", "base",
      "--metrics", nsight_metrics(), program,         "--gtest_filter=" + other_tests()};
  options.environment = {{"GRADE_SIZES", "simulator"}};
  options.own_seconds = kLongestSeconds;
  options.output_kept = 16 << 20;
  const ChildResult ran = run_child(options);
  const std::string output = ran.out.text() + ran.err.text();
  const std::string problem = nsight_problem(output);
  const std::string table =
      problem.empty()
          ? nsight_table(parse_nsight(output), count_in_simulator(app, exercise), terminal)
          : "";
  clear_progress(app);
  if (!problem.empty()) {
    print(wrap(problem, "", terminal.columns));
  } else if (table.empty()) {
    print("Nsight Compute saw no kernel of this exercise.\n");
  } else {
    print("Counters of all tests without a speed, with the simulator's shapes\n" + table);
  }
}

}  // namespace

int profile_on_gpu(App& app, const course::Exercise& exercise) {
  RunRequest request = request_for(app, exercise, Device::kGpu);
  request.filter = exercise.speed ? kSpeedTests : "";
  request.continue_after_crash = false;
  const Result result = build_and_run(app.paths(), request);
  clear_progress(app);
  if (result.build.status != BuildResult::Status::kBuilt || result.tests.empty()) {
    Grading grading;
    grading.results = {result};
    print(grading_text(grading, app.terminal()));
    return grading.exit_status();
  }
  if (!result.passed()) print("Its tests fail on the GPU: what follows times wrong answers too.\n");
  print("\n" + app.terminal().paint(Style::kBold, exercise.id) + "  on the GPU\n" +
        times_text(result));
  const std::string target = target_of(exercise, request.program);
  show_counters(app, exercise, (app.paths().build(Device::kGpu) / "course" / target).string());
  return kPass;
}

}  // namespace grade

// grade profile [EX] and grade profile -- PROGRAM: counters beside each source line, modelled time;
// on a GPU times and the hardware's counters as well.
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/gpu_profile.h"
#include "cli/grading.h"
#include "cli/profile_text.h"
#include "cli/python_program.h"
#include "cli/simulated_program.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// Where the simulator leaves the profile, and keeps what ptxas said.
fs::path start_profile(App& app) {
  const fs::path file = output_of_simulator(app, "GRADE_SIM_PROFILE", "profile.json");
  ::setenv("GRADE_SIM_CACHE", file.parent_path().c_str(), 1);
  choose_model(app.options());
  return file;
}

int show(App& app, const fs::path& file, const std::string& title, const std::string& exercise) {
  const std::optional<std::string> text = take_output(file);
  if (!text) {
    complain(title + " ended before it could be profiled, or launched no kernel.");
    return kFail;
  }
  const course::Json profile = course::parse_json(*text, "the profile");
  if (app.options().json) {
    const std::string head =
        exercise.empty() ? "" : "\"exercise\": " + course::json_quote(exercise) + ", ";
    print("{" + head + text->substr(1));
    return kPass;
  }
  print(profile_text(profile, title, app.options().kernel, app.options().advice, app.terminal()));
  return kPass;
}

int profile_program(App& app) {
  return run_and_show(
      app, [&] { return start_profile(app); },
      [&](const fs::path& file, const std::string& title) { return show(app, file, title, ""); });
}

int profile_in_simulator(App& app, const course::Exercise& exercise) {
  const fs::path file = start_profile(app);
  const Result result = run_watched(app, exercise);
  if (const std::optional<int> status = show_early_end(app, result)) return *status;
  if (!result.passed() && !app.options().json) {
    print("Its tests fail: what follows counts the work of wrong answers too.\n");
  }
  return show(app, file, exercise.id, exercise.id);
}

}  // namespace

int profile_command(App& app) {
  if (!app.options().rest.empty()) return profile_program(app);
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) throw UsageError("all exercises are passed: name the one to profile.");
  if (runs_without_simulator(*exercise)) {
    throw UsageError(exercise->id + " runs no kernel of CUDA C++; 11/06 profiles Python.");
  }
  const std::vector<Device> devices = app.devices(*exercise);
  const bool on_gpu = devices.back() == Device::kGpu;
  if (app.options().json && devices.front() == Device::kGpu) {
    throw UsageError("the profile as JSON is the simulator's: leave out --device gpu.");
  }
  if (devices.front() == Device::kGpu) return profile_on_gpu(app, *exercise);
  const int status = profile_in_simulator(app, *exercise);
  return on_gpu && status == kPass && !app.options().json ? profile_on_gpu(app, *exercise) : status;
}

}  // namespace grade

#include "cli/app.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "cli/python_program.h"
#include "course/text.h"

namespace grade {
namespace {

bool is_name_of(const course::Exercise& exercise, const std::string& text) {
  return exercise.name == text || exercise.name.substr(exercise.name.find('_') + 1) == text;
}

bool is_part_of_name(const course::Exercise& exercise, const std::string& text) {
  return exercise.name.find(text) != std::string::npos;
}

// Compute capability of the first GPU times ten, as the driver's own tool says; 0 if unknown.
int gpu_architecture() {
  static const int known = [] {
    ChildOptions options;
    options.argv = {"nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"};
    options.own_seconds = 20;
    const std::string text = run_child(options).out.text();
    return static_cast<int>(std::lround(10 * std::atof(text.c_str())));
  }();
  return known;
}

std::string missing_card(const course::Exercise& exercise) {
  if (!exercise.gpu_only) return "";
  const std::string wanted =
      exercise.only_arch ? "needs a GPU of sm_" + std::to_string(exercise.arch) : "needs a GPU";
  if (!gpu_present()) return wanted;
  return exercise.only_arch && gpu_architecture() != exercise.arch ? wanted : "";
}

}  // namespace

App::App(Options options, Paths paths)
    : options_(std::move(options)),
      paths_(std::move(paths)),
      terminal_(Terminal::of_stdout(options_.colour)) {}

const course::Course& App::course() {
  if (!course_) course_ = course::load_course(paths_.root);
  return *course_;
}

course::Progress& App::progress() {
  if (!progress_) {
    course::LoadedProgress loaded = course::load_progress(paths_.root);
    if (!loaded.warning.empty()) complain(loaded.warning);
    progress_ = std::move(loaded.progress);
  }
  return *progress_;
}

void App::save_progress() { course::save_progress(paths_.root, progress()); }

const course::Exercise& App::named(const std::string& text) {
  std::vector<const course::Exercise*> matches = course().match(text);
  // "vector_add" also fits the chapter, and so all its exercises: their own names come first.
  for (const auto& closer : {is_name_of, is_part_of_name}) {
    std::vector<const course::Exercise*> closest;
    for (const course::Exercise* match : matches) {
      if (closer(*match, text)) closest.push_back(match);
    }
    if (matches.size() > 1 && closest.size() == 1) matches = closest;
  }
  if (matches.size() == 1) return *matches.front();
  constexpr size_t kShown = 8;
  std::string message;
  if (matches.empty()) {
    message = "no exercise is called \"" + harmless(text) + "\".";
    const std::vector<std::string> near = course().near(text);
    if (!near.empty()) message += " Near it:";
    for (const std::string& id : near) message += "\n  " + id;
    message += near.empty() ? " ./grade list shows all." : "\n./grade list shows all.";
    throw UsageError(message);
  }
  message = "\"" + harmless(text) + "\" fits " + std::to_string(matches.size()) + " exercises:";
  for (size_t i = 0; i < matches.size() && i < kShown; ++i) message += "\n  " + matches[i]->id;
  if (matches.size() > kShown) {
    message += "\n  and " + std::to_string(matches.size() - kShown) + " more";
  }
  throw UsageError(message + "\nGive more of the name.");
}

const course::Exercise* App::chosen() {
  return options_.operands.empty() ? current() : &named(options_.operands.front());
}

const course::Exercise* App::current() {
  const course::Exercise* chosen = course().find(progress().current);
  if (chosen != nullptr) {
    const bool done = progress().is_passed(chosen->id) || !missing_here(*chosen).empty();
    return done ? next_after(*chosen) : chosen;
  }
  for (const course::Exercise& exercise : course().exercises) {
    if (!progress().is_passed(exercise.id) && missing_here(exercise).empty()) return &exercise;
  }
  return nullptr;
}

const course::Exercise* App::next_after(const course::Exercise& from) {
  const std::vector<course::Exercise>& all = course().exercises;
  const size_t here = static_cast<size_t>(&from - all.data());
  for (size_t i = 1; i < all.size(); ++i) {
    const course::Exercise& candidate = all[(here + i) % all.size()];
    if (!progress().is_passed(candidate.id) && missing_here(candidate).empty()) return &candidate;
  }
  return nullptr;
}

void App::choose(const course::Exercise& exercise) {
  if (progress().current == exercise.id) return;
  progress().current = exercise.id;
  save_progress();
}

std::vector<Device> App::devices(const course::Exercise& exercise) const {
  const bool gpu = gpu_present();
  if (exercise.gpus == 0) return {Device::kSimulator};  // the same everywhere
  switch (options_.device) {
    case DeviceChoice::kSimulator:
      if (exercise.gpu_only) {
        throw UsageError(exercise.id + " needs a GPU: the simulator does not know what it uses.");
      }
      return {Device::kSimulator};
    case DeviceChoice::kGpu:
      if (gpu && !missing_here(exercise).empty()) {
        throw UsageError(exercise.id + " " + missing_here(exercise) + ".");
      }
      if (gpu && !too_few_gpus(exercise, gpu_count()).empty()) {
        throw UsageError(exercise.id + " " + too_few_gpus(exercise, gpu_count()) +
                         ". --device sim needs none.");
      }
      if (gpu) return {Device::kGpu};
      throw UsageError(
          "--device gpu: this machine has no usable NVIDIA GPU (./grade doctor says "
          "what is missing). --device sim needs none.");
    default:
      break;
  }
  if (exercise.gpu_only) {
    const std::string not_built = why_not_built(paths_, Device::kGpu, exercise);
    if (gpu && !not_built.empty()) throw UsageError(exercise.id + " " + not_built + ".");
    const std::string missing = missing_card(exercise);
    if (missing.empty()) return {Device::kGpu};
    throw UsageError(exercise.id + " " + missing + ", and this machine has none that is usable.");
  }
  const bool runs_on_gpu = gpu && too_few_gpus(exercise, gpu_count()).empty();
  return runs_on_gpu ? std::vector<Device>{Device::kSimulator, Device::kGpu}
                     : std::vector<Device>{Device::kSimulator};
}

namespace {

// /dev/nvidia0, /dev/nvidia1, ...: a container may hold any of them.
int device_files() {
  int files = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    constexpr std::string_view kStart = "nvidia";
    files += name.size() > kStart.size() && name.starts_with(kStart) &&
             std::all_of(name.begin() + kStart.size(), name.end(),
                         [](unsigned char c) { return std::isdigit(c) != 0; });
  }
  return files;
}

}  // namespace

bool gpu_present() {
  // /dev/dxg is how WSL2 shows the GPU of Windows.
  const char* hidden = std::getenv("CUDA_VISIBLE_DEVICES");
  if (hidden != nullptr && (*hidden == '\0' || std::string(hidden) == "-1")) return false;
  if (device_files() == 0 && !std::filesystem::exists("/dev/dxg")) return false;
  static const bool has_driver = [] {
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    return driver != nullptr;  // kept open: some drivers do not survive being unloaded
  }();
  return has_driver;
}

int gpu_count() {
  if (!gpu_present()) return 0;
  static const int count = [] {
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
      const std::string list = visible;
      return 1 + static_cast<int>(std::count(list.begin(), list.end(), ','));
    }
    return std::max(device_files(), 1);  // WSL2 has none
  }();
  return count;
}

std::string too_few_gpus(const course::Exercise& exercise, int gpus) {
  if (exercise.gpus <= gpus) {
    if (!exercise.only_arch || gpu_architecture() == exercise.arch) return "";
    return "needs a GPU of sm_" + std::to_string(exercise.arch) + ", and this machine has none";
  }
  return "needs " + std::to_string(exercise.gpus) + " GPUs, and this machine has " +
         std::to_string(gpus);
}

std::string why_not_built(const Paths& paths, Device device, const course::Exercise& exercise) {
  const std::filesystem::path file =
      paths.build(device) / "course" / (exercise.target() + ".missing");
  return std::filesystem::exists(file) ? course::trim(course::read_text(file)) : "";
}

std::string missing_here(const course::Exercise& exercise) {
  const std::string card = missing_card(exercise);
  if (!card.empty()) return card;
  if (is_python(exercise)) return missing_modules(find_paths(), exercise);
  // What runs in the simulator may still need a library that nobody has fetched (09/16, 09/19).
  return why_not_built(find_paths(), exercise.gpu_only ? Device::kGpu : Device::kSimulator,
                       exercise);
}

}  // namespace grade

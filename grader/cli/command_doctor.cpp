// grade doctor: what is installed, whether it fits together, and a kernel that really runs.
#include <dlfcn.h>

#include <fstream>
#include <string_view>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/folder_size.h"
#include "cli/grading.h"
#include "cli/json_out.h"
#include "cli/python_program.h"
#include "cli/tool.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

struct Doctor {
  App& app;
  std::vector<std::string> problems;
  JsonOut json;

  void row(const std::string& name, const std::string& value) {
    json.text(name, value);
    if (!app.options().json) {
      print(wrap(value, "  " + pad(name, 14), app.terminal().columns, /*cut=*/true));
    }
  }
  void head(const std::string& text) {
    if (!app.options().json) print(app.terminal().paint(Style::kBold, text) + "\n");
  }
  void problem(const std::string& text) { problems.push_back(text); }
};

std::string cached_compiler(const Paths& paths) {
  std::ifstream cache(paths.build(Device::kSimulator) / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (course::starts_with(line, "CMAKE_CXX_COMPILER:")) return line.substr(line.find('=') + 1);
  }
  return "c++";
}

// "13.0" of "Cuda compilation tools, release 13.0, V13.0.88"; 0 if unknown.
double nvcc_release(const std::string& text) {
  constexpr std::string_view kBefore = "release ";
  const size_t at = text.find(kBefore);
  return at == std::string::npos ? 0 : std::atof(text.c_str() + at + kBefore.size());
}

void check_tool(Doctor& doctor, const std::string& name, const std::string& path) {
  const ChildResult result = ask({path, "--version"});
  const std::string version = first_line(result);
  if (version.empty()) {
    doctor.row(name, path + " does not run");
    doctor.problem(name + " (" + path + ") does not run: " +
                   (result.error.empty() ? course::trim(result.err.text()) : result.error) +
                   ". Start ./grade again: it sets up what is missing.");
    return;
  }
  doctor.row(name, version + ", " + path);
}

// Returns the release of nvcc, 0 if it does not run.
double check_nvcc(Doctor& doctor) {
  const std::string& nvcc = doctor.app.paths().nvcc;
  const ChildResult result = ask({nvcc, "--version"});
  const double release = nvcc_release(result.out.text());
  if (release == 0) {
    doctor.row("nvcc", nvcc + " does not run");
    doctor.problem("nvcc (" + nvcc +
                   ") does not run. Remove the folder build and start ./grade: it "
                   "looks for a compiler again.");
    return 0;
  }
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", release);
  const bool own = nvcc.find("/.toolkit/") != std::string::npos;
  doctor.row("nvcc", std::string(text) + (own ? ", private, " : ", ") + nvcc);
  if (release < 13) {
    doctor.problem("The simulator reads objects of CUDA 13; this nvcc is of CUDA " +
                   std::string(text) +
                   ". Set CUDACXX to a newer nvcc, or let ./grade fetch one: "
                   "GRADE_IGNORE_SYSTEM_CUDA=1 ./grade");
  }
  return release;
}

void show_python(Doctor& doctor) {
  size_t all = 0, ready = 0;
  for (const course::Exercise& exercise : doctor.app.course().exercises) {
    if (!is_python(exercise)) continue;
    ++all;
    ready += missing_here(exercise).empty() ? 1 : 0;
  }
  if (all == 0) return;
  const std::string count = std::to_string(ready) + " of " + std::to_string(all);
  doctor.row("python", count + " Python exercises run here" +
                           (ready < all ? "; see setup/python_env.sh" : ""));
}

// CUDA version that the driver supports, as 13.0; 0 without a driver.
double driver_version() {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return 0;
  using GetVersion = int (*)(int*);
  const auto get = reinterpret_cast<GetVersion>(::dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (get == nullptr || get(&version) != 0) return 0;
  return version / 1000 + version % 1000 / 10 / 10.0;
}

void check_architectures(Doctor& doctor, const std::vector<std::string>& gpus) {
  const std::string known = ask({doctor.app.paths().nvcc, "--list-gpu-arch"}).out.text();
  for (const std::string& gpu : gpus) {
    const size_t comma = gpu.rfind(',');
    if (comma == std::string::npos) continue;
    const std::string capability = course::trim(gpu.substr(comma + 1));
    const std::string arch = course::replace_all(capability, ".", "");
    if (known.empty() || known.find("compute_" + arch + "\n") != std::string::npos) continue;
    const bool old = std::atof(capability.c_str()) < 7.5;
    doctor.problem(gpu.substr(0, gpu.find(',')) + " is sm_" + arch + ", which this nvcc does not " +
                   (old ? "support any more. The simulator grades all the same: --device sim."
                        : "know yet. Install a newer CUDA toolkit, then set CUDACXX."));
  }
}

void check_driver(Doctor& doctor, double toolkit) {
  const ChildResult result =
      ask({"nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"});
  const double driver = driver_version();
  if (!result.ok() && driver == 0) {
    doctor.row("GPU", "none: exercises are graded in the simulator");
    return;
  }
  if (!result.ok()) {
    doctor.row("GPU", "nvidia-smi does not run");
  } else {
    const std::vector<std::string> gpus = course::split_lines(result.out.text());
    for (const std::string& gpu : gpus) doctor.row("GPU", gpu);
    check_architectures(doctor, gpus);
  }
  char text[64];
  std::snprintf(text, sizeof text, "for CUDA up to %.1f", driver);
  doctor.row("driver", driver == 0 ? "its library libcuda.so.1 does not load" : text);
  if (driver == 0) {
    doctor.problem(
        "The driver's library libcuda.so.1 cannot be used, so programs see no GPU. In a "
        "container, start it with --gpus all; in WSL2, add /usr/lib/wsl/lib to "
        "LD_LIBRARY_PATH.");
  } else if (static_cast<int>(driver) < static_cast<int>(toolkit)) {
    std::snprintf(text, sizeof text, "CUDA %.1f, nvcc is of CUDA %.1f", driver, toolkit);
    doctor.problem("The driver is older than the toolkit: it supports " + std::string(text) +
                   ". Update the driver, or set CUDACXX to an older nvcc.");
  }
}

// Builds setup/device_query.cu unless it is there and new. "" or what went wrong.
std::string build_query(Doctor& doctor, const fs::path& program, bool for_gpu) {
  const Paths& paths = doctor.app.paths();
  const fs::path source = paths.root / "setup" / "device_query.cu";
  std::error_code error;
  const auto built = fs::last_write_time(program, error);
  if (!error && built > fs::last_write_time(source, error) &&
      built > fs::last_write_time(paths.nvcc, error) && !error) {
    return "";
  }
  fs::create_directories(program.parent_path(), error);
  std::vector<std::string> argv = {paths.nvcc, "-std=c++17",     "-lineinfo",
                                   "-o",       program.string(), source.string()};
  if (for_gpu) {
    argv.insert(argv.end(), {"-cudart", "static", "-arch=native"});
  } else {
    argv.insert(argv.end(), {"-cudart", "shared", "--no-compress",
                             "--generate-code=arch=compute_80,code=compute_80"});
  }
  argv.insert(argv.end(), {"-ccbin", cached_compiler(paths)});
  const ChildResult result = ask(argv, {}, 120);
  if (result.ok()) return "";
  return "setup/device_query.cu does not build: " + course::trim(result.err.text()) + result.error;
}

void run_query(Doctor& doctor, Device device) {
  const Paths& paths = doctor.app.paths();
  const bool for_gpu = device == Device::kGpu;
  const fs::path program =
      paths.root / "build" / "doctor" / (for_gpu ? "device_query_gpu" : "device_query");
  std::string problem = build_query(doctor, program, for_gpu);
  ChildOptions options;
  options.argv = {program.string()};
  options.own_seconds = 60;
  if (!for_gpu) {
    options.environment = {{"LD_LIBRARY_PATH", (paths.build(device) / "lib").string()}};
  }
  ChildResult result;
  if (problem.empty()) {
    result = run_child(options);
    if (!result.ok()) {
      problem = std::string("the test kernel did not run on the ") + name_of(device) + ": " +
                course::trim(result.err.text() + result.error);
    }
  }
  doctor.head(std::string(for_gpu ? "Real" : "Simulated") + " devices");
  const std::string text = result.out.text();
  doctor.json.text(for_gpu ? "gpu_query" : "simulator_query", text);
  if (!doctor.app.options().json) print(wrap(harmless(text), "  ", doctor.app.terminal().columns));
  if (!problem.empty()) doctor.problem(problem);
}

bool build_simulator(Doctor& doctor) {
  const GradingHooks hooks = default_hooks(doctor.app);
  RunRequest request;
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  const BuildResult build =
      build_target(doctor.app.paths(), Device::kSimulator, "warplings.cudart", request);
  clear_progress(doctor.app);
  if (build.status == BuildResult::Status::kBuilt) return true;
  doctor.problem(build.problem.empty() ? "The simulator does not build." : build.problem);
  return false;
}

int conclude(Doctor& doctor) {
  std::vector<std::string> quoted;
  for (const std::string& problem : doctor.problems) quoted.push_back(course::json_quote(problem));
  if (doctor.app.options().json) {
    print(doctor.json.raw("problems", json_array(quoted)).str() + "\n");
  } else if (doctor.problems.empty()) {
    print(doctor.app.terminal().paint(Style::kGood, "Everything fits together.") + "\n");
  } else {
    print(doctor.app.terminal().paint(Style::kBad,
                                      course::plural(doctor.problems.size(), "problem")) +
          "\n");
    for (const std::string& problem : doctor.problems) {
      print(wrap(harmless(problem), "  - ", doctor.app.terminal().columns));
    }
  }
  return doctor.problems.empty() ? kPass : kUsage;
}

}  // namespace

int doctor_command(App& app) {
  Doctor doctor{app, {}, {}};
  doctor.json.number("format", 1).text("kind", "doctor");
  const Paths& paths = app.paths();
  doctor.head("Tools");
  const double toolkit = check_nvcc(doctor);
  check_tool(doctor, "C++ compiler", cached_compiler(paths));
  check_tool(doctor, "cmake", paths.cmake);
  check_tool(doctor, "ninja", paths.ninja);
  show_python(doctor);
  doctor.head("Machine");
  check_driver(doctor, toolkit);
  for (const char* folder : {"build", ".toolkit"}) {
    const uint64_t bytes = folder_size(paths.root / folder);
    doctor.row(folder, bytes == 0 ? "not there" : bytes_text(static_cast<double>(bytes)));
  }
  if (toolkit > 0 && app.options().device != DeviceChoice::kGpu && build_simulator(doctor)) {
    run_query(doctor, Device::kSimulator);
  }
  if (toolkit > 0 && app.options().device != DeviceChoice::kSimulator && gpu_present()) {
    run_query(doctor, Device::kGpu);
  }
  return conclude(doctor);
}

}  // namespace grade

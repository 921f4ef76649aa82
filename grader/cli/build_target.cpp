#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "cli/app.h"
#include "cli/compiler_output.h"
#include "cli/exercise_run.h"
#include "cli/process/stream.h"
#include "cli/progress_line.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

using End = ChildResult::End;
using Status = BuildResult::Status;

double seconds_between(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// True if Ninja would do nothing. It only looks, so it may run beside another build.
bool is_current(const Paths& paths, const fs::path& folder, const std::string& target) {
  ChildOptions options;
  options.argv = {paths.ninja, "-C", folder.string(), "-n", target};
  options.own_seconds = 20;
  return run_child(options).out.text().find("no work to do") != std::string::npos;
}

// Another build runs in the folder now.
bool is_locked(const fs::path& folder) {
  const Descriptor file(::open((folder / ".grade_lock").c_str(), O_RDWR | O_CLOEXEC));
  return file.open() && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

// One build at a time in a build folder: two Ninjas there would write the same files.
// Not open: cancelled while it waited.
Descriptor lock_folder(const fs::path& folder, const RunRequest& request) {
  Descriptor file(::open((folder / ".grade_lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (!file.open())
    return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // read-only: no lock
  bool told = false;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (!told && request.on_progress) request.on_progress("waiting for another build to end");
    told = true;
    std::vector<pollfd> polled;
    for (const int fd : request.watched) polled.push_back({fd, POLLIN, 0});
    constexpr int kTick = 50;  // ms
    const int ready = ::poll(polled.data(), polled.size(), kTick);
    if (ready > 0 && request.interrupted && request.interrupted()) return Descriptor();
  }
  return file;
}

// Reports where a build is, once it has become long enough to wonder.
class ProgressReader {
 public:
  ProgressReader(const RunRequest& request, std::string what)
      : report_(request.on_progress), what_(std::move(what)) {}

  void read(std::string_view text) { ninja_.read(text); }

  void tick() const {
    constexpr double kSilent = 1;  // seconds
    if (report_ && ninja_.seconds() > kSilent) report_(what_ + ", " + ninja_.text());
  }

 private:
  std::function<void(const std::string&)> report_;
  std::string what_;
  NinjaProgress ninja_;
};

// Of each compiler: a template that never ends must not take the machine with it. The largest file
// of the course takes 2 GB and a minute.
std::vector<std::pair<int, uint64_t>> compiler_limits() {
  constexpr uint64_t kGiB = uint64_t{1} << 30, kMost = 6 * kGiB, kLeast = 3 * kGiB;
  constexpr uint64_t kProcessorSeconds = 240, kFile = 2 * kGiB;
  const auto pages = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const uint64_t memory = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) / 4 * 3;
  const char* chosen = std::getenv("GRADE_COMPILER_LIMIT_MB");
  const uint64_t megabytes = chosen == nullptr ? 0 : std::strtoull(chosen, nullptr, 10);
  return {{RLIMIT_AS, megabytes > 0 ? megabytes << 20 : std::clamp(memory, kLeast, kMost)},
          {RLIMIT_CPU, kProcessorSeconds},
          {RLIMIT_FSIZE, kFile}};
}

ChildOptions child_options(const RunRequest& request) {
  constexpr double kLongestBuild = 900;  // seconds: the first one builds the simulator
  ChildOptions options;
  options.own_seconds = kLongestBuild;
  options.grace_seconds = 3;
  options.limits = compiler_limits();
  options.output_kept = 256 << 10;
  options.watched = request.watched;
  options.interrupted = request.interrupted;
  options.environment = {{"NINJA_STATUS", "[%f/%t] "}, {"LC_ALL", "C"}};
  return options;
}

// The compilers that the simulator's build was set up with, so that both machines get one object.
std::string cached_value(const fs::path& folder, const std::string& name) {
  std::ifstream cache(folder / "CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (course::starts_with(line, name + ":")) return line.substr(line.find('=') + 1);
  }
  return "";
}

// Writes build/gpu the first time that a GPU is used. "" or what went wrong.
std::string configure_gpu(const Paths& paths, const RunRequest& request, BuildResult* result) {
  if (request.on_progress) request.on_progress("preparing the build for the GPU (once)");
  ChildOptions options = child_options(request);
  // Fresh: into a cache with another compiler CMake does not take what the preset says.
  options.argv = {paths.cmake,
                  "-S",
                  paths.root.string(),
                  "--preset",
                  "gpu",
                  "--fresh",
                  "-DCMAKE_MAKE_PROGRAM=" + paths.ninja};
  options.directory = paths.root;
  for (const char* name :
       {"CMAKE_CXX_COMPILER", "CMAKE_CUDA_COMPILER", "CMAKE_CUDA_HOST_COMPILER"}) {
    const std::string value = cached_value(paths.build(Device::kSimulator), name);
    if (!value.empty()) options.argv.push_back(std::string("-D") + name + "=" + value);
  }
  const ChildResult child = run_child(options);
  result->log = child.out.text() + child.err.text();
  if (child.ok()) return "";
  if (child.end == End::kCancelled) return "cancelled";
  return "CMake could not prepare build/gpu. Its message is above all else what helps:\n" +
         course::trim(child.err.text()) + "\nTry ./grade doctor; --device sim needs no GPU.";
}

std::string tail_of(const std::string& log, size_t lines) {
  std::vector<std::string> all = course::split_lines(log);
  std::vector<std::string> kept;
  for (const std::string& line : all) {
    if (!course::trim(line).empty() && !course::starts_with(line, "[")) kept.push_back(line);
  }
  if (kept.size() > lines) kept.erase(kept.begin(), kept.end() - static_cast<long>(lines));
  return course::join(kept, "\n");
}

// What nvcc says when its temporary folder is full depends on which of its programs notices.
bool cannot_write_temporary_files(const std::string& log) {
  constexpr const char* kSigns[] = {"Failed to preprocess host compiler properties",
                                    "fatal error: when writing output to"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](const char* sign) { return log.find(sign) != std::string::npos; });
}

// Why Ninja failed, if it was not the exercise's own code. "" if it was.
std::string problem_of(const std::string& log, const std::string& target, const fs::path& folder) {
  if (cannot_write_temporary_files(log)) {
    std::error_code error;
    return "The compiler cannot write its temporary files into " +
           fs::temp_directory_path(error).string() +
           ". Free some space there, or set TMPDIR to another folder, then try again.";
  }
  if (log.find("No space left on device") != std::string::npos) {
    return "The disk is full. Free some space (./grade clean shows what the course uses), then "
           "try again. Temporary files lie in the folder that TMPDIR names, else in /tmp.";
  }
  if (log.find("ninja: error: unknown target") != std::string::npos) {
    return folder.string() + " does not know " + target +
           ". If chapters/course.json is newer than the build, remove the folder build and start "
           "./grade again.";
  }
  if (log.find("CMake Error") != std::string::npos) {
    return "CMake could not update the build:\n" + tail_of(log, 12);
  }
  const std::string name = target.substr(0, target.find('.', target.find('.') + 1));
  for (const std::string& line : course::split_lines(log)) {
    if (!course::starts_with(line, "FAILED: ")) continue;
    if (line.find(name) != std::string::npos) return "";
    return "A part of the grader itself does not build (not your file):\n" + tail_of(log, 12) +
           "\nIf you changed it, undo that (git status). Otherwise remove the folder build and "
           "start ./grade again.";
  }
  return "The build tool failed:\n" + tail_of(log, 12);
}

std::string problem_of(const ChildResult& child) {
  switch (child.end) {
    case End::kNotStarted:
      return child.error + ". Start the course with ./grade, which finds its tools.";
    case End::kTimedOut:
      return "The build did not end within " + std::to_string(static_cast<int>(child.seconds)) +
             " s.";
    case End::kSignalled:
      return "The build tool was ended by a signal (" + describe_signal(child.signal) + ").";
    default:
      return "The build tool printed without end.";
  }
}

// chapters/NN/MM.cu or solutions/NN/MM.cu, whichever `target` compiles.
fs::path source_of(const Paths& paths, const RunRequest& request) {
  if (request.exercise == nullptr) return {};
  const course::ExerciseFiles files = course::files_of(paths.root, *request.exercise);
  return request.program == Program::kLearner ? files.starter : files.solution;
}

// Said while it compiles: nobody should think that the course hangs.
std::string what_is_built(const Paths& paths, const RunRequest& request) {
  const fs::path source = source_of(paths, request);
  const std::string slow = fs::exists(source) ? slow_headers(course::read_text(source)) : "";
  return slow.empty() ? "building" : "building (the headers of " + slow + " take up to 15 s)";
}

}  // namespace

std::string target_of(const course::Exercise& exercise, Program program) {
  switch (program) {
    case Program::kSolution:
      return exercise.target() + ".solution";
    case Program::kDerived:
      return exercise.target() + ".derived";
    case Program::kStarter:
      return exercise.target() + ".starter";
    case Program::kPlanted:
      return exercise.target() + ".planted";
    default:
      return exercise.target();
  }
}

BuildResult build_target(const Paths& paths, Device device, const std::string& target,
                         const RunRequest& request) {
  BuildResult result;
  const fs::path folder = paths.build(device);
  if (!fs::exists(folder / "build.ninja")) {
    if (device == Device::kSimulator) {
      result.problem = folder.string() + " is not set up. Start the course with ./grade.";
      return result;
    }
    result.problem = configure_gpu(paths, request, &result);
    if (!result.problem.empty()) {
      if (result.problem == "cancelled") result.status = Status::kCancelled;
      return result;
    }
  }
  const std::string not_built =
      request.exercise == nullptr ? "" : why_not_built(paths, device, *request.exercise);
  if (!not_built.empty()) {
    result.problem = "It " + not_built + ".";
    return result;
  }
  if (is_locked(folder) && is_current(paths, folder, target)) {
    result.status = Status::kBuilt;
    return result;
  }
  const Descriptor lock = lock_folder(folder, request);
  if (!lock.open()) {
    result.status = Status::kCancelled;
    return result;
  }
  const auto start = std::chrono::steady_clock::now();  // waiting for others is not building
  ProgressReader progress(request, what_is_built(paths, request));
  ChildOptions options = child_options(request);
  options.argv = {paths.ninja, "-C", folder.string(), target};
  options.on_output = [&](std::string_view text) { progress.read(text); };
  options.on_tick = [&] { progress.tick(); };
  const ChildResult child = run_child(options);
  result.seconds = seconds_between(start);
  result.log = child.out.text() + child.err.text();
  if (child.end == End::kCancelled) {
    result.status = Status::kCancelled;
    return result;
  }
  result.diagnostics = parse_compiler_output(result.log, paths.root, source_of(paths, request));
  if (child.ok()) {
    result.status = Status::kBuilt;
    return result;
  }
  result.problem =
      child.end == End::kExited ? problem_of(result.log, target, folder) : problem_of(child);
  if (result.problem.empty()) result.status = Status::kDoesNotCompile;
  return result;
}

}  // namespace grade

#include "cli/exercise_run.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "cli/event_reader.h"
#include "cli/integrity.h"
#include "cli/linked_kernels.h"
#include "cli/object_symbols.h"
#include "cli/printed.h"
#include "cli/process/confinement.h"
#include "cli/process/jail.h"
#include "cli/python_program.h"
#include "cli/time_limits.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

using End = ChildResult::End;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kOutputLimit = 64 * kMiB;

// Most of what the machine has left, so that the program ends before the machine swaps.
uint64_t memory_limit() {
  constexpr uint64_t kMost = 8192 * kMiB, kLeast = 512 * kMiB;
  if (const char* text = std::getenv("GRADE_MEMORY_LIMIT_MB")) {
    const long long megabytes = std::atoll(text);
    if (megabytes > 0) return static_cast<uint64_t>(megabytes) * kMiB;
  }
  std::ifstream info("/proc/meminfo");
  std::string name;
  uint64_t kilobytes = 0;
  for (std::string unit; info >> name >> kilobytes; std::getline(info, unit)) {
    if (name == "MemAvailable:") return std::clamp(kilobytes * 1024 / 10 * 7, kLeast, kMost);
  }
  return kMost;
}

EarlyEnd signal_end(int signal) {
  const std::string what = describe_signal(signal);
  std::string why;
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
      why =
          "Host code used an address that is not its own: a null pointer, a place past the end of "
          "an array, or memory of the device read by the CPU. Endless recursion ends so too.";
      break;
    case SIGABRT:
      why =
          "abort() was called: by your code, by a failed assert(), or by an exception that nobody "
          "caught.";
      break;
    case SIGFPE:
      why = "Host code divided an integer by zero.";
      break;
    case SIGSYS:
      why =
          "Your file makes system calls of its own, or memory that can be executed. Exercises are "
          "graded without: call functions of the C++ library instead.";
      break;
    case SIGKILL:
      why = "Something outside ended it, most likely the system because memory ran out.";
      break;
    default:
      why = "Look at what the host code of your file does there.";
  }
  return {what, "The program crashed: " + what + ". " + why};
}

EarlyEnd exit_end(int status, bool in_test, bool python) {
  const std::string number = std::to_string(status);
  if (python) {
    return {"exit(" + number + ")", "Python ended before its tests had, with exit status " +
                                        number +
                                        ". A function that is called must return to its caller, "
                                        "and what stands outside of functions must end."};
  }
  if (in_test) {
    return {"exit(" + number + ")",
            "The program ended here, before its tests had: exit() was called. A launcher must "
            "return to its caller."};
  }
  return {"exit(" + number + ")",
          "The program ended outside its tests, with exit status " + number +
              ": exit() was called, perhaps by the constructor of a static object."};
}

EarlyEnd early_end(const ChildResult& child, bool in_test, const TimeLimits& limits,
                   const RunRequest& request, const std::string& at_work) {
  const bool python = is_python(*request.exercise);
  switch (child.end) {
    case End::kTimedOut:
      return timed_out(child, limits, request, at_work);
    case End::kTooMuchMemory:
      return {"memory limit", "Stopped: the program used " +
                                  std::to_string(child.memory_peak / kMiB) +
                                  " MB of memory. Look at what is allocated in a loop and never "
                                  "freed, and at sizes computed from wrong numbers."};
    case End::kTooMuchOutput:
      return {"output limit", "Stopped: the program printed more than " +
                                  std::to_string(kOutputLimit / kMiB) +
                                  " MB. Print from one thread only, or take the printf out."};
    case End::kSignalled:
      return signal_end(child.signal);
    case End::kNotStarted:
      return {"not started", "The program did not start: " + child.error};
    default:
      return exit_end(child.status, in_test, python);
  }
}

// Where the program may write: temporary files, devices, and what it keeps about kernels.
std::vector<fs::path> writable_folders(const Paths& paths, const RunRequest& request,
                                       const fs::path& reports) {
  std::error_code error;
  std::vector<fs::path> folders = {"/dev", "/tmp", fs::temp_directory_path(error), reports};
  // Where ./grade profile and trace ask the simulator for a file.
  folders.push_back(paths.build(Device::kSimulator) / "profile");
  const char* home = std::getenv("HOME");
  if (home == nullptr) return folders;
  // Caches of the driver and of the frameworks, which compile at the first call. On a GPU other
  // exercises are compared with a framework, too. The driver writes below /proc, about itself.
  if (request.device == Device::kGpu) folders.push_back("/proc");
  if (request.device == Device::kGpu || is_python(*request.exercise)) {
    for (const char* cache : {".nv", ".cache", ".triton"}) {
      folders.push_back(fs::path(home) / cache);
      // The program cannot make what is not there: home itself is closed to it.
      fs::create_directory(folders.back(), error);
    }
  }
  return folders;
}

// One exercise program, in as many processes as its crashes need.
class ProgramRun {
 public:
  ProgramRun(const Paths& paths, const RunRequest& request, Result* result)
      : paths_(paths),
        request_(request),
        result_(*result),
        events_(result),
        limits_(time_limits(request)),
        confinement_(writable_folders(paths, request, kept_reports(paths.build(request.device)))) {
    // A learner's GTEST_FILTER must not choose what is graded.
    options_.dropped = {"GTEST_", "PYTEST_", "GRADE_CHANNEL="};
    options_.directory = paths.build(request.device);
    if (is_python(*request.exercise)) {
      choose_python(paths);
    } else {
      choose_program(paths);
    }
    options_.environment.insert(options_.environment.end(), request.environment.begin(),
                                request.environment.end());
    keep_reports();
    ask_for_devices(request.exercise->simulated_gpus);
    options_.memory_bytes = memory_limit();
    options_.output_limit = kOutputLimit;
    options_.quiet_seconds = [this] {
      return result_.at_work.empty() ? limits_.quiet : limits_.at_work;
    };
    options_.with_channel = true;
    options_.confinement = &confinement_;
    if (request.jail) lock_up(paths);
    options_.watched = request.watched;
    options_.interrupted = request.interrupted;
    options_.on_event = [this](std::string_view line) {
      const TestReport* about = events_.read(line);
      return about == nullptr || !request_.stop_after || !request_.stop_after(*about);
    };
  }

  void run() {
    const std::string filter = request_.filter.empty() ? "*" : request_.filter;
    const std::string progress = unprotected_progress();
    bool goes_on = run_once(filter);
    while (goes_on) {
      const std::string next = next_test();
      if (next.empty()) break;
      goes_on = run_once(next);
    }
    result_.outcome = judge();
    restore(progress);
  }

 private:
  void choose_program(const Paths& paths) {
    options_.argv = {
        (paths.build(request_.device) / "course" / target_of(*request_.exercise, request_.program))
            .string()};
    if (!request_.variant.empty()) options_.argv.push_back("--variant=" + request_.variant);
    options_.argv.insert(options_.argv.end(), {"--gtest_repeat=1", "--gtest_shuffle=0"});
    filter_option_ = "--gtest_filter=";
  }

  void choose_python(const Paths& paths) {
    PythonProgram program = python_program(paths, request_);
    options_.argv = std::move(program.argv);
    options_.environment = std::move(program.environment);
    options_.directory = paths.build(Device::kSimulator);  // there is none for a GPU yet
    needed_ = std::move(program.files);
    filter_option_ = "--filter=";
  }

  // The mutants of an exercise are one module: what the assembler says of it is asked once.
  static fs::path kept_reports(const fs::path& build) {
    const char* chosen = std::getenv("GRADE_SIM_CACHE");
    if (chosen != nullptr) return chosen;
    const fs::path folder = build / "registers";
    std::error_code error;
    fs::create_directories(folder, error);
    return error ? fs::path() : folder;
  }

  void keep_reports() {
    const fs::path folder = kept_reports(paths_.build(request_.device));
    if (!folder.empty()) {
      options_.environment.emplace_back("GRADE_SIM_CACHE", folder.string());
    }
  }

  // The program alone, no other of the build folder and no solution; for Python what it imports.
  void lock_up(const Paths& paths) {
    std::vector<fs::path> readable = std::move(needed_);
    readable.push_back(options_.argv[0]);
    for (const char* part : {".toolkit", ".data"}) readable.push_back(paths.root / part);
    if (!paths.cuda_home.empty()) readable.emplace_back(paths.cuda_home);
    if (is_python(*request_.exercise)) {
      readable.push_back(paths.root / "grader/kit/python");
      readable.push_back(course::files_of(paths.root, *request_.exercise).starter.parent_path());
      readable.push_back(paths.build(Device::kSimulator) / "lib");
    }
    std::erase_if(options_.environment, [](const auto& pair) {
      return pair.first == "GRADE_SIM_CACHE";  // a folder that others read
    });
    options_.confinement = nullptr;  // its own mounts and its own processes
    jail(&options_, readable, request_.device == Device::kGpu ? fs::path("/") : fs::path());
  }

  // In the simulator, which reads the variable.
  void ask_for_devices(int count) {
    if (count > 1 && std::getenv("GRADE_SIM_DEVICES") == nullptr) {
      options_.environment.emplace_back("GRADE_SIM_DEVICES", std::to_string(count));
    }
  }

  // True if tests are left that another process may run.
  bool run_once(const std::string& filter) {
    ChildOptions options = options_;
    options.argv.push_back(filter_option_ + filter);
    options.own_seconds = limits_.whole - result_.run_seconds;
    result_.done = false;
    events_.begin_process();
    ChildResult child = run_child(options);
    constexpr int kSignalled = 128;  // how bubblewrap passes on what ended the program
    if (request_.jail && child.end == End::kExited && child.status > kSignalled) {
      child.end = End::kSignalled;
      child.signal = child.status - kSignalled;
    }
    result_.run_seconds += child.seconds;
    result_.end = child.end;
    note_output(child);
    if (child.end == End::kCancelled || child.end == End::kStopped) return false;
    if (result_.done && child.end == End::kExited && child.status <= 1) return false;
    const std::string said = child.err.text();
    if (request_.jail && result_.tests.empty() && course::starts_with(said, "bwrap: ")) {
      result_.build.problem = "The jail could not be made. " + course::trim(said);
      return false;
    }
    note_early_end(child);
    const bool crashed = child.end == End::kSignalled || child.end == End::kExited;
    return crashed && request_.continue_after_crash && !result_.tests.empty() && ++crashes_ < 20 &&
           result_.run_seconds < limits_.whole;
  }

  void note_output(const ChildResult& child) {
    std::vector<Printed> pieces = printed_by_test(child.out);
    for (const Printed& piece : printed_by_test(child.err)) pieces.push_back(piece);
    for (const Printed& piece : pieces) {
      result_.output += piece.text;
      for (TestReport& test : result_.tests) {
        if (test.name == piece.test) test.output += piece.text;
      }
    }
  }

  void note_early_end(const ChildResult& child) {
    TestReport* test = events_.running();
    EarlyEnd end = early_end(child, test != nullptr, limits_, request_, result_.at_work);
    if (result_.done && child.end == End::kSignalled) {
      end.message += " All tests had run: look at what happens when static objects are destroyed.";
    }
    if (test != nullptr) {
      test->finished = true;
      test->passed = false;
      // What the simulator or the kit said before says more than the way in which it ended.
      test->failures.push_back({"", 0, end.message});
    }
    if (!result_.early_end.empty()) return;
    result_.early_end = end.what;
    result_.early_message = end.message;
    result_.early_test = test == nullptr ? "" : test->name;
  }

  std::string next_test() const {
    for (const TestReport& test : result_.tests) {
      if (!test.started) return test.name;
    }
    return "";
  }

  // A build folder that lost its settings links for the other machine: no verdict is better.
  bool is_for_the_other_machine() {
    const bool wants_simulator = request_.device == Device::kSimulator;
    if (result_.tests.empty() || result_.simulated == wants_simulator) return false;
    result_.build.problem = "The program in " + options_.directory.string() +
                            " was linked for the " + (wants_simulator ? "GPU" : "simulator") +
                            ". Remove that folder and try again.";
    return true;
  }

  Outcome judge() {
    if (result_.end == End::kCancelled) return Outcome::kCancelled;
    if (!result_.build.problem.empty() || is_for_the_other_machine()) return Outcome::kCannotBuild;
    const bool all_passed =
        !result_.tests.empty() &&
        std::all_of(result_.tests.begin(), result_.tests.end(),
                    [](const TestReport& test) { return test.finished && test.passed; });
    if (result_.early_end.empty() && result_.done && all_passed) {
      const std::string problem =
          wrong_tests(result_, declared_tests(paths_.root, *request_.exercise, request_.device),
                      request_.filter.empty());
      if (!problem.empty()) return forged(problem);
      return result_.undecided() == nullptr ? Outcome::kPassed : Outcome::kInconclusive;
    }
    const bool failed = !result_.early_end.empty() || result_.done || result_.failed_tests() > 0;
    return failed ? Outcome::kFailed : Outcome::kInconclusive;
  }

  Outcome forged(const std::string& problem) {
    result_.early_end = "no verdict";
    result_.early_message = problem + " That is no pass, whatever the tests said.";
    result_.early_test.clear();
    return Outcome::kFailed;
  }

  // The text of .progress where the kernel does not keep the program from writing to it.
  std::string unprotected_progress() const {
    const fs::path file = paths_.root / ".progress";
    const bool is_kept = request_.jail || confinement_.protects(file);
    if (request_.program != Program::kLearner || is_kept) return "";
    return fs::exists(file) ? course::read_text(file) : "";
  }

  void restore(const std::string& progress) {
    const fs::path file = paths_.root / ".progress";
    if (progress.empty() || (fs::exists(file) && course::read_text(file) == progress)) return;
    course::write_text(file, progress);
    result_.outcome = forged("Your program changed .progress; it is as it was before.");
  }

  const Paths& paths_;
  const RunRequest& request_;
  Result& result_;
  EventReader events_;
  TimeLimits limits_;
  Confinement confinement_;
  std::vector<fs::path> needed_;  // files, by a Python program
  ChildOptions options_;
  std::string filter_option_;
  int crashes_ = 0;
};

Result empty_result(const RunRequest& request) {
  Result result;
  result.id = request.exercise->id;
  result.device = request.device;
  result.program = request.program;
  result.variant = request.variant;
  return result;
}

}  // namespace

int TestReport::todo() const {
  const auto found = properties.find("todo");
  return found == properties.end() ? 0 : std::atoi(found->second.c_str());
}

std::string TestReport::short_name() const {
  const size_t dot = name.find('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

namespace {

bool has_failed(const TestReport& test) {
  return test.started && !test.passed && (test.finished || !test.failures.empty());
}

const Finding* endless_loop(const TestReport& test) {
  const auto found = std::find_if(
      test.findings.begin(), test.findings.end(),
      [](const Finding& finding) { return finding.kind == "endless-loop" && !finding.expected; });
  return found == test.findings.end() ? nullptr : &*found;
}

}  // namespace

const TestReport* Result::first_failed() const {
  const auto is_endless = [this](const TestReport& test) {
    return has_failed(test) &&
           (endless_loop(test) != nullptr || (early_end == kTimeLimit && test.name == early_test));
  };
  auto found = std::find_if(tests.begin(), tests.end(), is_endless);
  // Wrong results first: what is too much or too slow may well come from them.
  const auto is_wrong = [this](const TestReport& test) {
    const Failure* failure = has_failed(test) ? decisive(test) : nullptr;
    return failure != nullptr && failure->message.find("Right, but ") == std::string::npos;
  };
  if (found == tests.end()) found = std::find_if(tests.begin(), tests.end(), is_wrong);
  if (found == tests.end()) found = std::find_if(tests.begin(), tests.end(), has_failed);
  return found == tests.end() ? nullptr : &*found;
}

const Failure* Result::decisive(const TestReport& test) const {
  if (test.failures.empty()) return nullptr;
  const Finding* loop = endless_loop(test);
  for (const Failure& failure : test.failures) {
    if (loop != nullptr && failure.message.find(loop->message) != std::string::npos) {
      return &failure;
    }
  }
  const bool timed_out = early_end == kTimeLimit && test.name == early_test;
  return timed_out ? &test.failures.back() : &test.failures.front();
}

const SpeedReport* Result::undecided() const {
  for (const TestReport& test : tests) {
    for (const SpeedReport& speed : test.speeds) {
      if (speed.verdict == "inconclusive") return &speed;
    }
  }
  return nullptr;
}

int Result::failed_tests() const {
  return static_cast<int>(std::count_if(tests.begin(), tests.end(), has_failed));
}

namespace {

// The object of a learner's file, as CMake names it.
std::filesystem::path learner_object(const Paths& paths, Device device, const std::string& id) {
  const std::string target = course::replace_all(id, "/", ".");
  return paths.build(device) / "CMakeFiles" / (target + ".kernels.dir") / "chapters" /
         (id + ".cu.o");
}

// The learner's files that are compiled: that of the exercise, and those of earlier ones that it is
// linked with.
std::vector<std::string> learner_files(const RunRequest& request, const Result& result) {
  std::vector<std::string> ids;
  if (request.program != Program::kLearner) return ids;
  if (!is_python(*request.exercise)) ids.push_back(request.exercise->id);
  for (const LinkedKernel& kernel : result.linked) {
    if (kernel.own) ids.push_back(kernel.id);
  }
  return ids;
}

bool is_refused(const Paths& paths, const RunRequest& request, Result* result) {
  for (const std::string& id : learner_files(request, *result)) {
    const std::string what = refused_part(learner_object(paths, request.device, id));
    if (what.empty()) continue;
    result->outcome = Outcome::kFailed;
    result->early_end = "not run";
    result->early_message = "Your file " + (id == request.exercise->id ? "" : id + ".cu ") + what +
                            ". Exercises are graded without what loads libraries, starts "
                            "programs or looks into the grader: it was not run.";
    return true;
  }
  return false;
}

}  // namespace

Result run_program(const Paths& paths, const RunRequest& request) {
  Result result = empty_result(request);
  result.build.status = BuildResult::Status::kBuilt;
  ProgramRun(paths, request, &result).run();
  return result;
}

namespace {

// Before the compiler reads the files, and shows lines of what they include in its messages.
std::optional<Diagnostic> refused_source(const Paths& paths, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (auto refused = refused_include(paths.root, paths.root / "chapters" / (id + ".cu"))) {
      return refused;
    }
  }
  return std::nullopt;
}

BuildResult not_compiled(const Diagnostic& why) {
  BuildResult build;
  build.status = BuildResult::Status::kDoesNotCompile;
  build.diagnostics.push_back(why);
  return build;
}

// What the compiler has read after all, through whatever a line hid it behind.
std::optional<Diagnostic> refused_reading(const Paths& paths, Device device,
                                          const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (auto refused = refused_dependency(paths, device, paths.root / "chapters" / (id + ".cu"),
                                          learner_object(paths, device, id))) {
      return refused;
    }
  }
  return std::nullopt;
}

// Python is not built; the kernels that it calls are.
BuildResult build_for(const Paths& paths, const RunRequest& request, const Result& result) {
  BuildResult build;
  build.status = BuildResult::Status::kBuilt;
  if (!request.build) return build;
  const std::vector<std::string> files = learner_files(request, result);
  if (const auto refused = refused_source(paths, files)) return not_compiled(*refused);
  std::string target = target_of(*request.exercise, request.program);
  if (is_python(*request.exercise)) {
    const std::string missing = missing_modules(paths, *request.exercise);
    if (!missing.empty()) {
      build.status = BuildResult::Status::kCannotBuild;
      build.problem = "The exercise " + missing + ".";
      return build;
    }
    target = kernel_target(paths, request);
  }
  if (target.empty()) return build;
  build = build_target(paths, request.device, target, request);
  if (build.status != BuildResult::Status::kBuilt) return build;
  if (const auto refused = refused_reading(paths, request.device, files)) {
    return not_compiled(*refused);
  }
  return build;
}

}  // namespace

Result build_and_run(const Paths& paths, const RunRequest& request) {
  Result result = empty_result(request);
  if (request.program == Program::kLearner) {
    result.linked = linked_kernels(paths, *request.exercise);
  }
  if (request.build && !result.linked.empty()) note_own_kernels(paths, request.device);
  BuildResult build = build_for(paths, request, result);
  switch (build.status) {
    case BuildResult::Status::kBuilt:
      if (is_refused(paths, request, &result)) break;
      if (request.on_progress) request.on_progress("running");
      result.build.status = BuildResult::Status::kBuilt;
      ProgramRun(paths, request, &result).run();
      break;
    case BuildResult::Status::kDoesNotCompile:
      result.outcome = Outcome::kDoesNotCompile;
      break;
    case BuildResult::Status::kCancelled:
      result.outcome = Outcome::kCancelled;
      break;
    case BuildResult::Status::kCannotBuild:
      result.outcome = Outcome::kCannotBuild;
      break;
  }
  if (result.outcome != Outcome::kCannotBuild || build.status != BuildResult::Status::kBuilt) {
    result.build = std::move(build);
  }
  return result;
}

}  // namespace grade

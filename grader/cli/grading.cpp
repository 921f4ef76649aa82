#include "cli/grading.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>

#include "cli/integrity.h"
#include "cli/lesson_text.h"
#include "cli/process/interrupt.h"
#include "cli/process/jail.h"
#include "cli/progress_line.h"
#include "cli/python_program.h"
#include "cli/todo_place.h"
#include "cli/verdict.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

fs::path memory_of(App& app, const course::Exercise& exercise) {
  return app.paths().root / "build" / "verdicts" / exercise.target();
}

// Size and time of the learner's file: enough to see that it was edited.
std::string fingerprint(const fs::path& file) {
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) != 0) return "";
  return std::to_string(facts.st_size) + " " + std::to_string(facts.st_mtim.tv_sec) + "." +
         std::to_string(facts.st_mtim.tv_nsec);
}

void remember(App& app, const course::Exercise& exercise, const std::string& graded, int todo) {
  const fs::path file = memory_of(app, exercise);
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  try {
    course::write_text(file, std::to_string(todo) + " " + graded + "\n");
  } catch (const course::Error&) {
    // `hint` grades again without it.
  }
}

std::string source_text(const fs::path& file) {
  try {
    return course::read_text(file);
  } catch (const course::Error&) {
    return "";
  }
}

// Times on a GPU, of a pass; the first speed test of an exercise stands for it.
bool note_times(App& app, const Result& result) {
  for (const TestReport& test : result.tests) {
    for (const SpeedReport& speed : test.speeds) {
      if (speed.modelled) continue;
      return app.progress().note_time(result.id, speed.device, speed.seconds);
    }
  }
  return false;
}

bool is_timed(const std::vector<Result>& results) {
  return std::any_of(results.begin(), results.end(), [](const Result& result) {
    return result.device == Device::kGpu ||
           std::any_of(result.tests.begin(), result.tests.end(),
                       [](const TestReport& test) { return !test.speeds.empty(); });
  });
}

// "; 2 and 3 are untouched" when the TODO that failed has been worked on and others have not: they
// may be the reason, and it is their turn.
std::string untouched_beside(App& app, const course::Exercise& exercise, int todo) {
  const course::ExerciseFiles files = course::files_of(app.paths().root, exercise);
  std::vector<std::string> others;
  try {
    const std::string solution = course::read_text(files.solution);
    const course::MarkedSource source = course::parse_marked(solution, files.solution.string());
    for (const int each : course::untouched_todos(source, source_text(files.starter))) {
      if (each == todo) return "";
      others.push_back(std::to_string(each));
    }
  } catch (const course::Error&) {
    return "";  // the verdict stands without it
  }
  if (others.empty()) return "";
  const std::string last = others.back();
  others.pop_back();
  return "; " +
         (others.empty() ? last + " is" : course::join(others, ", ") + " and " + last + " are") +
         " untouched";
}

// A pass counts by the course's own tests. Whoever writes them tries the solution.
void note_changes(App& app, const course::Exercise& exercise, Result* result) {
  if (!result->passed()) return;
  result->changed = changed_sources(app.paths().root, exercise);
  if (!result->changed.empty() && result->program == Program::kLearner) {
    result->outcome = Outcome::kInconclusive;
  }
}

// Never without a jail where one was asked for.
void check_jail(const App& app) {
  const std::string problem = why_no_jail();
  if (!problem.empty()) throw UsageError("--jail: " + problem);
  if (app.options().device == DeviceChoice::kGpu && gpu_nodes("/").empty()) {
    throw UsageError(
        "--jail --device gpu: there is no card's node in /dev to let in, such as /dev/nvidia0. "
        "--device sim needs none.");
  }
}

std::vector<Device> devices_of(const App& app, const course::Exercise& exercise) {
  // A GPU only where it is asked for: a stranger's kernel can leave a card unusable until it is
  // reset.
  const bool on_gpu = app.options().device == DeviceChoice::kGpu;
  if (app.options().jail && !on_gpu) return {Device::kSimulator};
  return app.devices(exercise);
}

// The TODO that the first error of the compiler stands in; 0 where it stands in none.
int todo_of_compile_error(App& app, const course::Exercise& exercise, const Result& result) {
  if (result.outcome != Outcome::kDoesNotCompile || result.build.diagnostics.empty()) return 0;
  const Diagnostic& first = result.build.diagnostics.front();
  const course::ExerciseFiles files = course::files_of(app.paths().root, exercise);
  if (!first.is_error || app.paths().root / first.file != files.starter) return 0;
  try {
    const std::string solution = course::read_text(files.solution);
    const course::MarkedSource source = course::parse_marked(solution, files.solution.string());
    return todo_at_line(source, source_text(files.starter), first.line);
  } catch (const course::Error&) {
    return 0;  // the verdict stands without it
  }
}

// "made.cu:12" of "A call that fails: cudaMalloc at made.cu:12 was made to ...": 12, or 0.
int line_of_failed_call(const std::string& message, const std::string& file) {
  const size_t mark = message.find("A call that fails: ");
  const std::string at = " at " + file + ":";
  const size_t place = mark == std::string::npos ? mark : message.find(at, mark);
  return place == std::string::npos ? 0 : std::atoi(message.c_str() + place + at.size());
}

// The lines of the learner's file that what is told blames: of an access, a race, a barrier or a
// call. A value that nothing has written is told where it is used, not where it should have been
// made; what an atomic adds to, the launcher has to clear.
std::vector<int> blamed_lines(const Result& result, const std::string& file) {
  const TestReport* test = result.first_failed();
  const Failure* failure = test == nullptr ? nullptr : result.decisive(*test);
  if (failure == nullptr) return {};
  const int call = line_of_failed_call(failure->message, file);
  if (call > 0) return {call};
  const Finding* finding = finding_told(result);
  const auto is_ours = [&](const std::string& path) {
    return std::filesystem::path(path).filename() == file;
  };
  if (finding == nullptr || !is_ours(finding->file)) return {};
  if (finding->check == "initcheck") {
    const auto says = [&](const char* words) {
      return finding->message.find(words) != std::string::npos;
    };
    const bool sums = says("changed by an atomic") && !says("shared memory which");
    const bool known = sums && !test->launches.empty() && is_ours(test->launches.front().file);
    return known ? std::vector<int>{test->launches.front().line} : std::vector<int>{};
  }
  std::vector<int> lines = {finding->line};
  if (finding->other_line > 0 && !is_ours(finding->other_file)) return {};
  if (finding->other_line > 0) lines.push_back(finding->other_line);
  return lines;
}

// The TODO that the blamed lines stand in; 0 where they stand in several or in given code.
int todo_of_blamed_lines(App& app, const course::Exercise& exercise, const Result& result) {
  if (result.passed()) return 0;
  const course::ExerciseFiles files = course::files_of(app.paths().root, exercise);
  int todo = 0;
  try {
    const std::string solution = course::read_text(files.solution);
    const course::MarkedSource source = course::parse_marked(solution, files.solution.string());
    const std::string learner = source_text(files.starter);
    for (const int line : blamed_lines(result, files.starter.filename().string())) {
      const int here = todo_written_at(source, learner, line);
      if (here == 0 || (todo != 0 && here != todo)) return 0;
      todo = here;
    }
  } catch (const course::Error&) {
    return 0;  // the verdict stands without it
  }
  return todo;
}

void decide_next(App& app, const course::Exercise& exercise, Grading* grading) {
  const bool solution = app.options().solution;
  const Result& last = grading->results.back();
  if (last.outcome == Outcome::kCannotBuild) {
    // Where modules are missing, the message has the command already.
    if (!is_python(exercise) || missing_here(exercise).empty()) grading->next = "./grade doctor";
    return;
  }
  if (grading->cancelled() || solution) return;
  if (!last.changed.empty()) {
    grading->next = "git diff " + last.changed.front();
    return;
  }
  if (grading->passed()) {
    if (app.options().jail) return;  // how far this course is says nothing to a stranger
    const course::Exercise* next = app.current();
    grading->next = next == nullptr ? "./grade list" : "./grade";
    grading->next_why = next == nullptr ? "all exercises are passed" : "goes on with " + next->id;
    grading->also = "./grade compare " + exercise.id;
    return;
  }
  const course::Exercise* current = app.options().jail ? nullptr : app.current();
  const bool is_current = current != nullptr && current->id == exercise.id;
  grading->next = is_current ? "./grade hint" : "./grade hint " + exercise.name;
  grading->next_why =
      "TODO " + std::to_string(grading->todo) + untouched_beside(app, exercise, grading->todo);
  grading->also = explain_command_for(last);
  if (has_lesson(app, exercise)) {
    grading->also += grading->also.empty() ? "" : "\n        ";
    grading->also += "./grade read" + (is_current ? "" : " " + exercise.name);
  }
}

}  // namespace

bool Grading::passed() const {
  return !results.empty() && std::all_of(results.begin(), results.end(),
                                         [](const Result& result) { return result.passed(); });
}

bool Grading::cancelled() const {
  return !results.empty() && results.back().outcome == Outcome::kCancelled;
}

int Grading::exit_status() const {
  if (passed()) return kPass;
  int status = kPass;
  for (const Result& result : results) {
    switch (result.outcome) {
      case Outcome::kPassed:
        break;
      case Outcome::kCannotBuild:
        return kUsage;
      case Outcome::kInconclusive:
        if (status == kPass) status = kInconclusive;
        break;
      case Outcome::kCancelled: {
        constexpr int kSignalled = 128;
        return kSignalled + Interrupts::instance().signal();
      }
      default:
        status = kFail;
    }
  }
  return status;
}

GradingHooks default_hooks(App& app) {
  GradingHooks hooks;
  hooks.watched = {Interrupts::instance().fd()};
  hooks.interrupted = [] { return Interrupts::instance().ended(); };
  hooks.on_progress = [](const std::string&) {};
  if (app.options().json) return hooks;
  auto line = std::make_shared<ProgressLine>(app.terminal());
  hooks.on_progress = [line](const std::string& what) { line->show(what); };
  return hooks;
}

void clear_progress(App& app) {
  if (app.terminal().moves && !app.options().json) print("\r\x1b[K");
}

Grading grade_exercise(App& app, const course::Exercise& exercise, const GradingHooks& hooks) {
  Grading grading;
  RunRequest request;
  request.exercise = &exercise;
  request.program = app.options().solution ? Program::kSolution : Program::kLearner;
  request.jail = app.options().jail;
  if (request.jail) check_jail(app);
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  // A kernel that does not end would not end in the other tests either.
  request.stop_after = [](const TestReport& test) {
    return test.finished && std::any_of(test.findings.begin(), test.findings.end(),
                                        [](const Finding& f) { return f.kind == "endless-loop"; });
  };
  const fs::path file = course::files_of(app.paths().root, exercise).starter;
  const std::string graded = fingerprint(file);
  const bool takes_what_is_here = app.options().device == DeviceChoice::kAuto;
  if (takes_what_is_here && gpu_count() > 0) {
    grading.left_out = too_few_gpus(exercise, gpu_count());
  }
  for (const Device device : devices_of(app, exercise)) {
    request.device = device;
    Result result = build_and_run(app.paths(), request);
    // A library that this machine lacks is no fault of the file, and the simulator has graded it.
    if (takes_what_is_here && !grading.results.empty() && result.outcome == Outcome::kCannotBuild) {
      grading.left_out = why_not_built(app.paths(), device, exercise);
      if (!grading.left_out.empty()) break;
    }
    note_changes(app, exercise, &result);
    grading.results.push_back(std::move(result));
    // What the simulator refuses need not be tried on the hardware.
    if (!grading.results.back().passed()) break;
  }
  const Result& last = grading.results.back();
  grading.todo = todo_of_compile_error(app, exercise, last);
  if (grading.todo == 0) grading.todo = todo_of_blamed_lines(app, exercise, last);
  if (grading.todo == 0) grading.todo = todo_for(last, source_text(file));
  // A stranger's file says nothing about who grades it.
  const bool own = !app.options().solution && !app.options().jail;
  if (own && !grading.cancelled() && last.outcome != Outcome::kCannotBuild) {
    remember(app, exercise, graded, grading.todo);
    // Saved while it ran: what was graded is not what is there now, and no pass of it.
    if (grading.passed() && graded == fingerprint(file)) {
      grading.first_pass = !app.progress().is_passed(exercise.id);
      if (grading.first_pass) app.progress().mark_passed(exercise.id);
      if (note_times(app, last) || grading.first_pass) app.save_progress();
    }
  }
  grading.not_timed = exercise.speed && grading.passed() && !is_timed(grading.results);
  decide_next(app, exercise, &grading);
  return grading;
}

std::string what_was_left_out(const Grading& grading, const Terminal& terminal) {
  std::string text;
  if (!grading.left_out.empty()) {
    text += wrap("on the GPU: " + grading.left_out, "  SKIP  ", terminal.columns);
  }
  if (grading.not_timed) {
    text += wrap("Right. Its speed was not timed: that takes a GPU.", "  note  ", terminal.columns);
  }
  return text;
}

std::string grading_text(const Grading& grading, const Terminal& terminal, const Extent& extent) {
  std::string text;
  for (const Result& result : grading.results) text += verdict_text(result, terminal, extent);
  text += what_was_left_out(grading, terminal);
  if (!grading.next.empty()) text += next_line(grading.next, grading.next_why, terminal);
  if (!grading.also.empty()) text += "        " + grading.also + "\n";
  return text;
}

std::optional<int> remembered_todo(App& app, const course::Exercise& exercise) {
  const fs::path file = course::files_of(app.paths().root, exercise).starter;
  std::istringstream in(source_text(memory_of(app, exercise)));
  int todo = -1;
  std::string graded;
  if (!(in >> todo) || !std::getline(in >> std::ws, graded)) return std::nullopt;
  if (graded != fingerprint(file)) return std::nullopt;
  return todo;
}

}  // namespace grade

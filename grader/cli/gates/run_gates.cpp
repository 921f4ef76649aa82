// Builds the programs of gates 4 to 8 with one call of Ninja, then runs the jobs on all cores.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "cli/app.h"
#include "cli/gates/gate.h"
#include "cli/progress_line.h"
#include "cli/python_program.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// Derived texts of one exercise, or why there are none.
struct DerivedTexts {
  std::vector<course::Derived> texts;
  std::string problem;
};

class GateRun {
 public:
  explicit GateRun(const GateContext& context) : context_(context), cache_(context) {}

  std::vector<Item> run() {
    collect();
    for (const Item& item : extra_) say_if_failed(item);
    build();
    std::vector<Item> items(jobs_.size());
    std::atomic<size_t> done{0};
    const auto run_one = [&](size_t i) {
      items[i] = run_job(jobs_[i]);
      say_if_failed(items[i]);
      if (!context_.how_far) return;
      context_.how_far("running programs, " + std::to_string(++done) + " of " +
                       std::to_string(jobs_.size()) + ", " + jobs_[i].name);
    };
    if (context_.progress && !jobs_.empty()) {
      context_.progress("running " + course::plural(jobs_.size(), "program"));
    }
    // Long programs first would be better still; the order of the course is easier to follow.
    if (context_.device == Device::kSimulator) {
      in_parallel(jobs_.size(), run_one);
    } else {
      run_on_gpu(run_one);
    }
    items.insert(items.begin(), extra_.begin(), extra_.end());
    return items;
  }

 private:
  // At once: the report at the end may be half an hour away. Called by several threads.
  void say_if_failed(const Item& item) {
    if (item.state != Item::State::kFailed || !context_.progress) return;
    const std::lock_guard lock(saying_);
    context_.progress("FAIL " + item.name);
  }

  // A kernel that is timed has the card to itself.
  void run_on_gpu(const std::function<void(size_t)>& run_one) const {
    constexpr size_t kShare = 4;
    std::vector<size_t> timed, untimed;
    for (size_t i = 0; i < jobs_.size(); ++i)
      (jobs_[i].exercise->speed ? timed : untimed).push_back(i);
    in_parallel(
        untimed.size(), [&](size_t i) { run_one(untimed[i]); }, kShare);
    for (const size_t i : timed) run_one(i);
  }

  std::string why_skipped(const course::Exercise& exercise) const {
    if (exercise.gpu_only && context_.device == Device::kSimulator) return "needs a GPU";
    if (exercise.gpus == 0 && context_.device == Device::kGpu) return "uses no GPU";
    const std::string missing = missing_here(exercise);
    if (!missing.empty() || context_.device == Device::kSimulator) return missing;
    return too_few_gpus(exercise, gpu_count());
  }

  // What needs a GPU is compiled where its headers are, and run nowhere: never counted as passed.
  Item compiled_only(const course::Exercise& exercise) const {
    const std::string missing = why_not_built(*context_.paths, context_.device, exercise);
    if (!missing.empty()) {
      return skipped(4, exercise.id, "needs a GPU; not compiled here either: it " + missing);
    }
    const BuildResult result =
        build_target(*context_.paths, context_.device, exercise.target() + ".compiled");
    if (result.status != BuildResult::Status::kBuilt) {
      return failed(4, exercise.id, exercise.id + " " + explain(result));
    }
    return skipped(4, exercise.id, "needs a GPU; its solution, its starter and its test compile");
  }

  void collect() {
    GateContext runnable = context_;
    runnable.exercises.clear();
    for (const course::Exercise* exercise : context_.exercises) {
      if (exercise->gpu_only && context_.device == Device::kSimulator && !is_python(*exercise)) {
        extra_.push_back(compiled_only(*exercise));
        continue;
      }
      const std::string reason = why_skipped(*exercise);
      if (reason.empty()) {
        runnable.exercises.push_back(exercise);
      } else {
        extra_.push_back(skipped(4, exercise->id, reason));
      }
    }
    jobs_ = solution_jobs(runnable);
    append(starter_jobs(runnable));
    size_t left_to_other_days = 0;
    for (const course::Exercise* exercise : runnable.exercises) {
      if (!asks_derived(context_, *exercise)) {
        ++left_to_other_days;
        continue;
      }
      try {
        for (const course::Derived& one : course::derive(context_.paths->root, *exercise)) {
          add_derived(*exercise, one);
        }
      } catch (const course::Error& error) {
        extra_.push_back(failed(7, exercise->id, error.what()));
      }
    }
    if (left_to_other_days > 0) {
      extra_.push_back(skipped(7, "ablations, mutants and variants, and figures of them,",
                               "those of " + course::plural(left_to_other_days, "exercise") +
                                   " are asked on other days; ./grade selftest --all asks all"));
    }
  }

  void append(std::vector<Job> more) {
    jobs_.insert(jobs_.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }

  void add_derived(const course::Exercise& exercise, const course::Derived& one) {
    // On a GPU a race may happen to give the right answer: gates 6 and 7 are the simulator's,
    // but for what it cannot run.
    const bool wrong_too = context_.device == Device::kSimulator || exercise.gpu_only;
    switch (one.what) {
      case course::Derived::What::kStarter:
        break;  // starter_jobs
      case course::Derived::What::kAblation:
        if (wrong_too) jobs_.push_back(ablation_job(context_, exercise, one));
        break;
      case course::Derived::What::kMutant:
        if (wrong_too) jobs_.push_back(mutant_job(context_, exercise, one));
        break;
      case course::Derived::What::kVariant:
        jobs_.push_back(variant_job(context_, exercise, one));
        break;
    }
  }

  RunRequest request_for(const Job& job) const {
    RunRequest request;
    request.exercise = job.exercise;
    request.program = job.program;
    request.device = context_.device;
    if (job.program == Program::kDerived) choose_derived(*context_.paths, job.variant, &request);
    return request;
  }

  // "": a Python exercise that calls no kernel.
  std::string built_target(const Job& job) const {
    return is_python(*job.exercise) ? kernel_target(*context_.paths, request_for(job))
                                    : target_of(*job.exercise, job.program);
  }

  std::vector<fs::path> files_of(const Job& job) const {
    if (is_python(*job.exercise)) return python_program(*context_.paths, request_for(job)).files;
    return {context_.paths->build(context_.device) / "course" / built_target(job)};
  }

  // One Ninja for everything keeps all cores busy; only where it fails is each target asked again,
  // so that every message finds its exercise.
  void build() {
    std::map<std::string, const Job*> targets;
    for (const Job& job : jobs_) targets.emplace(built_target(job), &job);
    targets.erase("");
    if (targets.empty()) return;
    if (context_.progress) {
      context_.progress("building " + course::plural(targets.size(), "program"));
    }
    std::vector<std::string> names;
    for (const auto& [name, job] : targets) names.push_back(name);
    const std::string problem = build_together(names);
    if (!problem.empty()) {
      for (const auto& [name, job] : targets) {
        const BuildResult result = build_target(*context_.paths, context_.device, name);
        if (result.status != BuildResult::Status::kBuilt) build_problems_[name] = explain(result);
      }
    }
    if (context_.built == nullptr) return;
    for (const std::string& name : names) {
      if (build_problems_.count(name) == 0) context_.built->insert(name);
    }
  }

  std::string build_together(const std::vector<std::string>& names) const {
    // build_target makes the folder of the GPU where it is missing.
    BuildResult first = build_target(*context_.paths, context_.device, names.front());
    if (first.status != BuildResult::Status::kBuilt) return "failed";
    ChildOptions options;
    options.argv = {context_.paths->ninja, "-C", context_.paths->build(context_.device).string(),
                    "-k", "0"};
    options.argv.insert(options.argv.end(), names.begin(), names.end());
    options.grace_seconds = 10;
    options.environment = {{"NINJA_STATUS", "[%f/%t] "}};
    NinjaProgress ninja;
    options.on_output = [&](std::string_view text) { ninja.read(text); };
    if (context_.how_far) {
      options.on_tick = [&] { context_.how_far("building programs, " + ninja.text()); };
    }
    return run_child(options).ok() ? "" : "failed";
  }

  std::string explain(const BuildResult& result) const {
    if (result.status == BuildResult::Status::kCancelled) return "the build was cancelled";
    if (result.diagnostics.empty()) {
      return "does not build: " + (result.problem.empty() ? result.log : result.problem);
    }
    const Diagnostic& first = result.diagnostics.front();
    std::string text = "does not build without warnings: " + first.file + ":" +
                       std::to_string(first.line) + ": " + first.message;
    for (const std::string& line : first.context) text += "\n    " + line;
    return text;
  }

  Item run_job(const Job& job) {
    const auto start = std::chrono::steady_clock::now();
    Item item = judge_job(job);
    item.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return item;
  }

  Item judge_job(const Job& job) {
    const auto problem = build_problems_.find(built_target(job));
    if (problem != build_problems_.end())
      return failed(job.gate, job.name, job.exercise->id + " " + problem->second);
    const std::string key = cache_.key(files_of(job), job);
    if (cache_.passed(key)) {
      Item item = passed(job.gate, job.name);
      item.reused = true;
      return item;
    }
    RunRequest request = request_for(job);
    if (job.prepare) job.prepare(&request);
    const std::string message = job.judge(run_program(*context_.paths, request));
    if (!message.empty()) return failed(job.gate, job.name, message);
    cache_.remember(key);
    return passed(job.gate, job.name);
  }

  const GateContext& context_;
  VerdictCache cache_;
  std::vector<Job> jobs_;
  std::vector<Item> extra_;
  std::map<std::string, std::string> build_problems_;  // target -> what is wrong
  std::mutex saying_;
};

}  // namespace

std::vector<Item> run_gates(const GateContext& context) { return GateRun(context).run(); }

std::vector<Item> check_files(const GateContext& context) {
  if (context.progress) context.progress("reading the files of the course");
  std::vector<Item> items = check_manifest(context);
  for (const auto& gate : {check_starters, check_readmes, check_figures_of_files}) {
    const std::vector<Item> more = gate(context);
    items.insert(items.end(), more.begin(), more.end());
  }
  return items;
}

std::vector<Item> check_all_gates(const GateContext& given) {
  std::set<std::string> built;
  GateContext context = given;
  context.built = &built;
  std::vector<Item> items = check_files(context);
  for (const auto& gate : {run_gates, check_figures}) {
    const std::vector<Item> more = gate(context);
    items.insert(items.end(), more.begin(), more.end());
  }
  return items;
}

}  // namespace grade

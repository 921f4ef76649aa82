// Gates 4 to 8: what a program must do, and what its run means.
#include <algorithm>

#include "cli/gates/gate.h"
#include "cli/python_program.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {
namespace {

// The test that kit/python/run.py reports where a file cannot even be loaded.
constexpr char kFileLoads[] = "TheFileLoads";

using course::Derived;
using course::Expectation;

// Tests that declare themselves to a TODO are cheap to stop at.
bool failed_test(const TestReport& test) { return test.finished && !test.passed; }

// A finding that no test declared.
bool is_defect(const Finding& finding) { return !finding.is_note && !finding.expected; }

bool has_defect(const TestReport& test) {
  return std::any_of(test.findings.begin(), test.findings.end(), is_defect);
}

bool caught(const TestReport& test, const Expectation& expect) {
  switch (expect.what) {
    case Expectation::What::kTest:
      return test.name == expect.name && failed_test(test);
    case Expectation::What::kFinding:
      return std::any_of(test.findings.begin(), test.findings.end(), [&](const Finding& finding) {
        return is_defect(finding) && finding.check == expect.name &&
               (expect.kind.empty() || finding.kind == expect.kind);
      });
    case Expectation::What::kBudget:
      return std::any_of(test.budgets.begin(), test.budgets.end(), [&](const BudgetCheck& budget) {
        return budget.name == expect.name && !budget.passed;
      });
  }
  return false;
}

std::string must_pass(const Result& result, const std::string& file) {
  const std::string end = abnormal_end(result);
  if (!end.empty()) return file + " " + end + "; it must pass with all checks on.";
  if (result.passed()) return "";
  return file + " must pass with all checks on, but fails in " + first_failure(result);
}

std::string failed_names(const Result& result) {
  std::vector<std::string> names;
  for (const TestReport& test : result.tests) {
    if (failed_test(test)) names.push_back(test.name);
  }
  return names.empty() ? "no test failed" : "failed: " + course::join(names, ", ");
}

// A mutant that ends its program is accepted where a check explained it first.
std::string explained_end(const Result& result) {
  const std::string end = abnormal_end(result);
  if (end.empty()) return "";
  for (const TestReport& test : result.tests) {
    if (test.name == result.early_test && has_defect(test)) return "";
  }
  return end;
}

// Right, and slower than a bar allows: what follows from a budget that is missed.
bool is_only_slow(const TestReport& test) {
  return test.failures.size() == 1 && !test.speeds.empty() && test.speeds.front().verdict == "fail";
}

std::string judge_only(const Result& result, const Expectation& expect) {
  const bool about_budget = expect.what == Expectation::What::kBudget;
  for (const TestReport& test : result.tests) {
    if (test.finished && test.passed) continue;
    if (about_budget && is_only_slow(test)) continue;
    if (!caught(test, expect)) {
      return "fails also in " + test.name + ", but says \"only: yes\" (" + failed_names(result) +
             "). Make the edit smaller, or drop \"only\".";
    }
    // A budget must be all that the test objects to.
    if (about_budget && test.failures.size() > 1) {
      return "fails more than the budget in " + test.name + ": " + test.failures[1].message;
    }
  }
  return "";
}

std::string judge_mutant(const Result& result, const course::Mutant& mutant) {
  const Expectation& expect = mutant.expect;
  const bool hit = std::any_of(result.tests.begin(), result.tests.end(),
                               [&](const TestReport& test) { return caught(test, expect); });
  if (result.done && result.tests.empty()) {
    return "expects " + expect.text +
           ", but the test program has no such test. Correct \"expect:\".";
  }
  const std::string end = explained_end(result);
  if (!end.empty())
    return end + "; a mutant fails by assertion or finding. Expected: " + expect.text;
  if (!hit) {
    if (result.passed()) {
      return "is not caught: every test passes. Expected: " + expect.text +
             ". Strengthen the test, or correct \"expect:\".";
    }
    return "fails, but not as it names: expected " + expect.text + ", " + failed_names(result) +
           ". Correct \"expect:\", or the test.";
  }
  return mutant.only ? judge_only(result, expect) : "";
}

std::string expectation_key(const course::Mutant& mutant) {
  return mutant.expect.text + (mutant.only ? " only" : "");
}

}  // namespace

std::vector<Job> solution_jobs(const GateContext& context) {
  std::vector<Job> jobs;
  for (const course::Exercise* exercise : context.exercises) {
    const std::string file = shown(context, files_of(context.paths->root, *exercise).solution);
    Job job;
    job.gate = 4;
    job.exercise = exercise;
    job.name = exercise->id + ": solution";
    job.program = Program::kSolution;
    job.judge = [file](const Result& result) {
      constexpr double kMost = 2e9;  // lane instructions of one exercise in the simulator
      const std::string problem = must_pass(result, file);
      if (!problem.empty() || result.simulated_thread_instructions <= kMost) return problem;
      return file + " executes " +
             std::to_string(static_cast<long long>(result.simulated_thread_instructions)) +
             " lane instructions in the simulator, at most 2000000000 are allowed; use "
             "kit::work_scale for smaller sizes.";
    };
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// The starter is compiled with all that is derived from the solution. Where nothing of that is
// asked, the file in chapters/ is built instead, if it is the starter still.
Program starter_program(const GateContext& context, const course::Exercise& exercise) {
  if (asks_derived(context, exercise) || is_python(exercise)) return Program::kStarter;
  const course::ExerciseFiles files = course::files_of(context.paths->root, exercise);
  const std::string image =
      course::starter_text(course::read_text(files.solution), shown(context, files.solution));
  return course::read_text(files.starter) == image ? Program::kLearner : Program::kStarter;
}

std::vector<Job> starter_jobs(const GateContext& context) {
  std::vector<Job> jobs;
  for (const course::Exercise* exercise : context.exercises) {
    if (context.device == Device::kGpu && exercise->judged_by_simulator_only) continue;
    const std::string file = shown(context, files_of(context.paths->root, *exercise).starter);
    Job job;
    job.gate = 5;
    job.exercise = exercise;
    job.name = exercise->id + ": starter";
    job.program = starter_program(context, *exercise);
    job.prepare = [](RunRequest* request) { request->continue_after_crash = false; };
    job.judge = [file](const Result& result) -> std::string {
      const std::string rule =
          "; an unsolved starter must build, run to its end and fail by assertion.";
      const std::string end = explained_end(result);
      if (!end.empty()) return file + " " + end + rule;
      if (result.passed()) return file + " passes as it is" + rule + " Is the task done already?";
      for (const TestReport& test : result.tests) {
        if (test.short_name() == kFileLoads && !test.passed) return file + " does not load" + rule;
        if (!test.failures.empty() || has_defect(test)) return "";
      }
      return file + " fails without an assertion or a finding" + rule;
    };
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Job ablation_job(const GateContext& context, const course::Exercise& exercise,
                 const Derived& derived) {
  const std::string file = shown(context, files_of(context.paths->root, exercise).solution);
  const int todo = derived.todo;
  Job job;
  job.gate = 6;
  job.exercise = &exercise;
  job.name = exercise.id + ": without TODO " + std::to_string(todo);
  job.program = Program::kDerived;
  job.variant = derived.name;
  job.prepare = [todo](RunRequest* request) {
    request->stop_after = [todo](const TestReport& test) {
      return failed_test(test) && test.todo() == todo;
    };
  };
  job.judge = [file, todo](const Result& result) -> std::string {
    const std::string what = file + " with only TODO " + std::to_string(todo) + " reverted ";
    const std::string end = explained_end(result);
    for (const TestReport& test : result.tests) {
      if (failed_test(test) && test.todo() == todo) return end.empty() ? "" : what + end + ".";
    }
    if (!end.empty()) return what + end + "; it must fail by assertion.";
    if (result.passed()) {
      return what + "still passes; add a test that needs this TODO.";
    }
    const std::string number = std::to_string(todo);
    return what + "fails in no test with RecordProperty(\"todo\", " + number + ") (" +
           failed_names(result) + "); tie a test that needs TODO " + number + " to it.";
  };
  return job;
}

Job mutant_job(const GateContext& context, const course::Exercise& exercise,
               const Derived& derived) {
  const course::Mutant mutant = derived.mutant;
  const std::string place =
      shown(context, files_of(context.paths->root, exercise).gates / "mutants.txt") + ":" +
      std::to_string(mutant.line) + ": mutant \"" + mutant.sentence + "\" ";
  Job job;
  job.gate = 7;
  job.exercise = &exercise;
  job.name = exercise.id + ": " + derived.name + " (" + mutant.sentence + ")";
  job.program = Program::kDerived;
  job.variant = derived.name;
  job.expectation = expectation_key(mutant);
  job.prepare = [mutant](RunRequest* request) {
    if (mutant.only) return;  // everything has to run
    if (mutant.expect.what == Expectation::What::kTest) request->filter = mutant.expect.name;
    request->stop_after = [mutant](const TestReport& test) { return caught(test, mutant.expect); };
  };
  job.judge = [mutant, place](const Result& result) {
    const std::string problem = judge_mutant(result, mutant);
    return problem.empty() ? "" : place + problem;
  };
  return job;
}

Job variant_job(const GateContext& context, const course::Exercise& exercise,
                const Derived& derived) {
  const std::string file = shown(context, derived.file);
  Job job;
  job.gate = 8;
  job.exercise = &exercise;
  job.name = exercise.id + ": " + derived.title;
  job.program = Program::kDerived;
  job.variant = derived.name;
  job.judge = [file](const Result& result) {
    const std::string problem = must_pass(result, file);
    return problem.empty() ? "" : problem + "\n    It is a correct solution: correct the test.";
  };
  return job;
}

}  // namespace grade

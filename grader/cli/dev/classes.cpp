// grade dev classes [EX | CHAPTER] [--class KEY] [--share N/M]: plants wrong answers into solutions
// and looks whether the kit refuses each in the words of its class. What was shown is written down
// in grader/tests/classes/planted.txt; what had been shown and is not any more is a failure.
#include <algorithm>
#include <cstdio>
#include <mutex>

#include "cli/dev/dev.h"
#include "cli/dev/share_of_today.h"
#include "cli/gates/class_table.h"
#include "cli/gates/gate.h"
#include "cli/gates/report.h"
#include "cli/python_program.h"
#include "course/text.h"

namespace grade {
namespace {

struct Planting {
  const course::Exercise* exercise;
  const course::AnswerClass* answer_class;
  std::string plant;
  bool shown = false;
};

bool says(const TestReport& test, const std::string& mark) {
  return std::any_of(test.failures.begin(), test.failures.end(), [&](const Failure& failure) {
    return failure.message.find(mark) != std::string::npos;
  });
}

bool refused(App& app, const Planting& planting) {
  const std::string mark = planting.answer_class->mark;
  RunRequest request;
  request.exercise = planting.exercise;
  request.program = Program::kPlanted;
  request.variant = planting.plant;
  request.filter = std::string("-") + kSpeedTests;
  request.continue_after_crash = false;
  request.stop_after = [&](const TestReport& test) { return says(test, mark); };
  const Result result = run_program(app.paths(), request);
  return std::any_of(result.tests.begin(), result.tests.end(),
                     [&](const TestReport& test) { return says(test, mark); });
}

// The N-th of M parts.
std::vector<const course::Exercise*> share_of(const std::vector<const course::Exercise*>& all,
                                              size_t part, size_t parts) {
  std::vector<const course::Exercise*> chosen;
  for (size_t i = part; i < all.size(); i += parts) chosen.push_back(all[i]);
  return chosen;
}

std::vector<const course::Exercise*> share_of(const std::vector<const course::Exercise*>& all,
                                              const std::string& share) {
  unsigned part = 0, parts = 0;
  if (std::sscanf(share.c_str(), "%u/%u", &part, &parts) != 2 || parts == 0 || part >= parts) {
    throw UsageError("--share reads N/M with N from 0 to M - 1, not " + share + ".");
  }
  return share_of(all, part, parts);
}

std::vector<const course::Exercise*> all_exercises(App& app) {
  std::vector<const course::Exercise*> all;
  for (const course::Exercise& exercise : app.course().exercises) all.push_back(&exercise);
  return all;
}

// `key`: of one class, "" for all.
std::vector<Planting> plantings(const course::Course& course,
                                const std::vector<const course::Exercise*>& exercises,
                                const std::string& key) {
  std::vector<Planting> all;
  for (const course::Exercise* exercise : exercises) {
    if (exercise->gpu_only || is_python(*exercise) || !missing_here(*exercise).empty()) continue;
    for (const course::AnswerClass& one : course::answer_classes()) {
      if (!key.empty() && key != one.key) continue;
      if (exercise->exempt(one.key) != nullptr || !arises(course, *exercise, one)) continue;
      for (const char* plant : one.plants) all.push_back({exercise, &one, plant});
    }
  }
  return all;
}

bool build_all(App& app, const std::vector<Planting>& all) {
  ChildOptions options;
  options.argv = {app.paths().ninja, "-C", app.paths().build(Device::kSimulator).string(), "-k",
                  "0"};
  std::string last;
  for (const Planting& planting : all) {
    const std::string target = target_of(*planting.exercise, Program::kPlanted);
    if (target != last) options.argv.push_back(target);
    last = target;
  }
  options.grace_seconds = 10;
  const ChildResult result = run_child(options);
  if (!result.ok()) print(result.out.text() + result.err.text());
  return result.ok();
}

// Of every exercise and class at least one planted answer, as before: what is missing.
std::vector<std::string> judge(const std::vector<Planting>& all, PlantedAnswers* planted) {
  std::vector<std::string> lost;
  size_t asked = 0, shown = 0;
  for (size_t begin = 0; begin < all.size();) {
    const Planting& first = all[begin];
    std::set<std::string> caught;
    size_t end = begin;
    for (; end < all.size() && all[end].exercise == first.exercise &&
           all[end].answer_class == first.answer_class;
         ++end) {
      if (all[end].shown) caught.insert(all[end].plant);
    }
    const std::string& id = first.exercise->id;
    for (const std::string& before : planted->of(id, first.answer_class->key)) {
      if (caught.count(before) == 0) {
        lost.push_back(id + ": " + before + " is no longer refused as " +
                       first.answer_class->title + ".");
      }
    }
    ++asked;
    shown += caught.empty() ? 0 : 1;
    const bool by_tests = first.answer_class->asker == course::AnswerClass::kTests;
    if (caught.empty() && !by_tests) print("open  " + id + ": " + first.answer_class->title + "\n");
    planted->replace(id, first.answer_class->key, caught);
    begin = end;
  }
  print(std::to_string(shown) + " of " + std::to_string(asked) +
        " pairs of exercise and class have a planted answer that is refused in its words\n");
  return lost;
}

}  // namespace

int dev_classes(App& app, const DevArguments& arguments) {
  std::vector<const course::Exercise*> exercises = all_exercises(app);
  if (!arguments.operands.empty()) exercises = chosen(app, arguments.operands.front());
  if (arguments.has("--share")) exercises = share_of(exercises, arguments.need("--share"));
  const course::Course& course = app.course();
  PlantedAnswers planted = PlantedAnswers::read(course);
  const std::string key = arguments.has("--class") ? arguments.need("--class") : "";
  std::vector<Planting> all = plantings(course, exercises, key);
  if (all.empty()) throw UsageError("No planted answers: no such class, or nothing is asked.");
  print("building the planted programs\n");
  if (!build_all(app, all)) return kFail;
  print("running " + course::plural(all.size(), "planted answer") + "\n");
  in_parallel(all.size(), [&](size_t i) { all[i].shown = refused(app, all[i]); });
  const std::vector<std::string> lost = judge(all, &planted);
  course::write_text(PlantedAnswers::file(course.root), planted.text(course));
  for (const std::string& each : lost) print("FAIL  " + each + "\n");
  print("./grade dev sync --no-figures takes this over into the table.\n");
  return lost.empty() ? kPass : kFail;
}

Item planted_answers_of_today(App& app) {
  constexpr unsigned kDays = 30;  // about a minute of processor time each
  const size_t day = part_of_today(kDays);
  const auto exercises = share_of(all_exercises(app), day, kDays);
  const std::string name = "planted answers, part " + std::to_string(day) + " of " +
                           std::to_string(kDays) + " (grade dev classes)";
  PlantedAnswers planted = PlantedAnswers::read(app.course());
  std::vector<Planting> all = plantings(app.course(), exercises, "");
  if (!build_all(app, all)) return failed(0, name, "The planted programs do not build.");
  in_parallel(all.size(), [&](size_t i) { all[i].shown = refused(app, all[i]); });
  const std::vector<std::string> lost = judge(all, &planted);
  return lost.empty() ? passed(0, name) : failed(0, name, course::join(lost, "\n"));
}

}  // namespace grade

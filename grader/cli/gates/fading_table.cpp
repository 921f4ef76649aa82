#include "cli/gates/fading_table.h"

#include <algorithm>
#include <cmath>

#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace {

constexpr int kLastExercises = 3, kTargetOfLast = 70;  // per cent

// The first two chapters teach the frame in which everything else is written.
int target_of(const course::Chapter& chapter) { return chapter.id < "03" ? 40 : 50; }

bool is_code(const std::string& line, bool python) {
  const std::string text = course::trim(line);
  return !text.empty() && text[0] != '#' && (python || !course::starts_with(text, "//"));
}

std::string share_text(const Written& written, int target) {
  const long percent = std::lround(std::floor(written.percent()));
  return std::to_string(percent) + " %" + (percent < target ? " (open)" : "");
}

}  // namespace

Written written_of(const std::string& solution, const std::string& file) {
  Written written;
  const bool python = course::ends_with(file, ".py");
  for (const course::MarkedLine& line : course::parse_marked(solution, file).lines) {
    const bool counts =
        line.part == course::Part::kBoth || line.part == course::Part::kSolutionOnly;
    if (!counts || !is_code(line.text, python)) continue;
    ++written.all;
    written.by_learner += line.part == course::Part::kSolutionOnly ? 1 : 0;
  }
  return written;
}

std::string fading_table(const course::Course& course) {
  std::string table =
      "| chapter | exercises | written by the learner | of lines of code | share | target | last "
      "three | target |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  Written whole;
  size_t exercises = 0;
  for (const course::Chapter& chapter : course.chapters) {
    std::vector<Written> core, all;
    for (const course::Exercise& exercise : course.exercises) {
      if (exercise.chapter != chapter.id) continue;
      const auto file = course::files_of(course.root, exercise).solution;
      all.push_back(written_of(course::read_text(file), file.string()));
      if (!exercise.bonus) core.push_back(all.back());
    }
    const auto sum = [](const std::vector<Written>& list, size_t most) {
      Written total;
      for (size_t i = list.size() - std::min(most, list.size()); i < list.size(); ++i) {
        total.by_learner += list[i].by_learner;
        total.all += list[i].all;
      }
      return total;
    };
    const Written total = sum(all, all.size()), last = sum(core, kLastExercises);
    const int target = target_of(chapter);
    whole.by_learner += total.by_learner;
    whole.all += total.all;
    exercises += all.size();
    table += "| " + chapter.id + " | " + std::to_string(all.size()) + " | " +
             std::to_string(total.by_learner) + " | " + std::to_string(total.all) + " | " +
             share_text(total, target) + " | " + std::to_string(target) + " % | " +
             share_text(last, kTargetOfLast) + " | " + std::to_string(kTargetOfLast) + " % |\n";
  }
  return table + "| **all** | " + std::to_string(exercises) + " | " +
         std::to_string(whole.by_learner) + " | " + std::to_string(whole.all) + " | " +
         share_text(whole, 0) + " | | | |\n";
}

}  // namespace grade

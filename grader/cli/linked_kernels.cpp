#include "cli/linked_kernels.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "course/progress.h"
#include "course/starter.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

bool is_own(const Paths& paths, const course::Progress& progress,
            const course::Exercise& exercise) {
  if (!progress.is_passed(exercise.id)) return false;
  const course::ExerciseFiles files = course::files_of(paths.root, exercise);
  if (!fs::exists(files.starter)) return false;
  return course::read_text(files.starter) !=
         course::starter_text(course::read_text(files.solution), files.solution.string());
}

}  // namespace

std::vector<LinkedKernel> linked_kernels(const Paths& paths, const course::Exercise& exercise) {
  if (exercise.links.empty()) return {};
  const course::Course course = course::load_course(paths.root);
  const course::Progress progress = course::load_progress(paths.root).progress;
  std::vector<LinkedKernel> kernels;
  for (const std::string& id : exercise.links) {
    const course::Exercise* earlier = course.find(id);
    kernels.push_back({id, earlier != nullptr && is_own(paths, progress, *earlier)});
  }
  return kernels;
}

std::string too_few_own_kernels(const std::vector<LinkedKernel>& kernels, double needed) {
  double own = 0;
  std::vector<LinkedKernel> others;
  for (const LinkedKernel& kernel : kernels) {
    if (kernel.own) own += std::max(kernel.share, 0.0);
    if (!kernel.own) others.push_back(kernel);
  }
  if (others.empty() || own >= needed) return "";
  std::sort(others.begin(), others.end(),
            [](const LinkedKernel& a, const LinkedKernel& b) { return a.share > b.share; });
  std::string text = "Right, but kernels of yours have " + percent(own) +
                     " of the time of a step, and " + percent(needed) +
                     " are needed. The solution's have the rest: ";
  for (const LinkedKernel& kernel : others) {
    text += kernel.id.substr(kernel.id.find('/') + 1) + " " + percent(kernel.share) +
            (&kernel == &others.back() ? "." : ", ");
  }
  return text + " Pass " + others.front().id + " next: from then on yours is the one that runs.";
}

std::string percent(double share) {
  return std::to_string(std::lround(100 * std::max(share, 0.0))) + " %";
}

void note_own_kernels(const Paths& paths, Device device) {
  const course::Course course = course::load_course(paths.root);
  std::set<std::string> used;
  for (const course::Exercise& exercise : course.exercises) {
    used.insert(exercise.links.begin(), exercise.links.end());
  }
  const course::Progress progress = course::load_progress(paths.root).progress;
  std::string own;
  for (const std::string& id : used) {
    if (is_own(paths, progress, *course.find(id))) own += id + "\n";
  }
  const fs::path file = paths.build(device) / "own_kernels.txt";
  if (!fs::exists(file) || course::read_text(file) != own) course::write_text(file, own);
}

}  // namespace grade

#include "cli/linked_kernels.h"

#include <algorithm>
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

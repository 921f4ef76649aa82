// Gate 2: every committed starter equals the image of its solution, byte for byte. What is
// committed is what git's index holds; in a release archive, what chapters/checksums.txt lists. A
// learner's edited file is theirs: it is listed and left alone.
#include "cli/gates/gate.h"
#include "cli/gates/images.h"
#include "cli/process/child.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr int kStartersGate = 2;

ChildResult git(const fs::path& root, std::vector<std::string> arguments) {
  ChildOptions options;
  options.argv = {"git", "-C", root.string()};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.own_seconds = 30;
  options.output_kept = 4 << 20;
  return run_child(options);
}

int first_difference(const std::string& a, const std::string& b) {
  const auto left = course::split_lines(a), right = course::split_lines(b);
  size_t i = 0;
  while (i < left.size() && i < right.size() && left[i] == right[i]) ++i;
  return static_cast<int>(i) + 1;
}

Item check_one(const GateContext& context, const course::Exercise& exercise, bool with_git) {
  const fs::path root = context.paths->root;
  const course::ExerciseFiles files = course::files_of(root, exercise);
  const std::string file = shown(context, files.starter);
  const std::string rule =
      "; a starter is the image of its solution. Run ./grade dev sync and commit "
      "both.";
  std::string image;
  try {
    image = course::starter_text(course::read_text(files.solution), shown(context, files.solution));
  } catch (const course::Error& error) {
    return failed(kStartersGate, exercise.id, error.what());
  }
  if (!with_git) {
    const std::string listed = listed_checksum(root, files.starter);
    if (listed.empty())
      return failed(kStartersGate, exercise.id, file + " is not in chapters/checksums.txt" + rule);
    if (listed == checksum_of(image)) return passed(kStartersGate, exercise.id);
    return failed(
        kStartersGate, exercise.id,
        file + " differs from " + shown(context, files.solution) + " by its checksum" + rule);
  }
  const auto committed = committed_text(root, files.starter);
  if (!committed) {
    return failed(kStartersGate, exercise.id, file + " is not in git" + rule);
  }
  if (*committed == image) return passed(kStartersGate, exercise.id);
  if (fs::exists(files.starter) && course::read_text(files.starter) == image) {
    return failed(kStartersGate, exercise.id,
                  file + " is right, but git has an older one: git add it.");
  }
  return failed(kStartersGate, exercise.id,
                file + ":" + std::to_string(first_difference(*committed, image)) +
                    " differs from what " + shown(context, files.solution) + " makes of it" + rule);
}

}  // namespace

bool has_git(const fs::path& root) {
  // The root itself: an archive unpacked inside someone's repository is no clone of the course.
  if (!fs::exists(root / ".git")) return false;
  return git(root, {"rev-parse", "--is-inside-work-tree"}).ok();
}

std::optional<std::string> committed_text(const fs::path& root, const fs::path& file) {
  const ChildResult result =
      git(root, {"show", ":" + file.lexically_relative(root).generic_string()});
  if (!result.ok()) return std::nullopt;
  return result.out.text();
}

fs::path checksum_file(const fs::path& root) { return root / "chapters" / "checksums.txt"; }

std::string checksum_of(const std::string& text) { return course::Hash().add(text).hex(); }

std::string listed_checksum(const fs::path& root, const fs::path& file) {
  const std::string name = file.lexically_relative(root).generic_string();
  if (!fs::exists(checksum_file(root))) return "";
  for (const std::string& line : course::split_lines(course::read_text(checksum_file(root)))) {
    if (course::ends_with(line, "  " + name)) return line.substr(0, line.find(' '));
  }
  return "";
}

namespace {

// The list must be right before there is an archive that depends on it.
Item check_checksums(const GateContext& context) {
  const fs::path root = context.paths->root;
  const std::string name = "chapters/checksums.txt";
  for (const course::Exercise* exercise : context.exercises) {
    const course::ExerciseFiles files = course::files_of(root, *exercise);
    try {
      const std::string image =
          course::starter_text(course::read_text(files.solution), shown(context, files.solution));
      if (listed_checksum(root, files.starter) == checksum_of(image)) continue;
    } catch (const course::Error&) {
      continue;  // reported for the exercise
    }
    return failed(kStartersGate, name,
                  name + " does not match " + shown(context, files.solution) +
                      "; run ./grade dev sync and commit it.");
  }
  return passed(kStartersGate, name);
}

}  // namespace

std::vector<Item> check_starters(const GateContext& context) {
  const bool with_git = has_git(context.paths->root);
  std::vector<Item> items(context.exercises.size());
  in_parallel(items.size(),
              [&](size_t i) { items[i] = check_one(context, *context.exercises[i], with_git); });
  if (with_git && context.whole_course) items.push_back(check_checksums(context));
  return items;
}

}  // namespace grade

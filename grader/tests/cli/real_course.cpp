#include "real_course.h"

#include <stdexcept>
#include <vector>

#include "course/text.h"

namespace grade::test {
namespace {

constexpr const char* kManifest = R"({
  "format": 1,
  "title": "Scratch",
  "chapters": [ { "id": "02_vector_add", "title": "A whole CUDA program" } ],
  "exercises": [
    { "id": "02_vector_add/01_vector_add", "title": "Vector add", "minutes": 15, "kind": "kernel",
      "todos": 2 }
  ]
}
)";

const fs::path kClone = GRADE_CLONE, kBuild = GRADE_BUILD;

// The commands with which the clone's own build compiles and links the learner's program.
std::vector<std::string> build_commands(const std::string& target) {
  ChildOptions options;
  options.argv = {GRADE_NINJA_PROGRAM, "-C", kBuild.string(), "-t", "commands", target};
  options.output_kept = 1 << 20;
  const ChildResult ninja = run_child(options);
  const std::string source = (kClone / "chapters" / RealCourse::kVectorAdd).string() + ".cu -o ";
  std::vector<std::string> found(2);
  for (const std::string& line : course::split_lines(ninja.out.text())) {
    if (line.find(source) != std::string::npos) found[0] = line;
    if (line.find("-o course/" + target + " ") != std::string::npos) found[1] = line;
  }
  if (found[0].empty() || found[1].empty()) {
    throw std::runtime_error(target + " cannot be built: " + ninja.err.text());
  }
  return found;
}

std::string ninja_escaped(const std::string& command) {
  return course::replace_all(command, "$", "$$");
}

}  // namespace

RealCourse::RealCourse(const fs::path& place) : ScratchCourse(place) {
  const std::string target = "02_vector_add.01_vector_add";
  fs::remove_all(root() / "chapters");
  fs::remove_all(root() / "solutions");
  write_file(root() / "chapters/course.json", kManifest);
  for (const char* end : {".cu", ".h", "_hints.md", "_test.cpp"}) {
    const std::string name = std::string("chapters/") + kVectorAdd + end;
    write_file(root() / name, read_file(kClone / name));
  }
  const std::string solution = std::string("solutions/") + kVectorAdd + ".cu";
  write_file(root() / solution, read_file(kClone / solution));

  std::vector<std::string> commands = build_commands(target);
  const std::string own_object =
      "CMakeFiles/" + target + ".kernels.dir/chapters/" + kVectorAdd + ".cu.o";
  const std::string object = (root() / "build/sim" / own_object).string();
  fs::create_directories(fs::path(object).parent_path());
  for (std::string& command : commands) {
    command = course::replace_all(command, (kClone / "chapters" / kVectorAdd).string() + ".cu",
                                  learner_file(kVectorAdd).string());
    command = course::replace_all(command, own_object, object);
    command = course::replace_all(command, "-o course/" + target,
                                  "-o " + (root() / "build/sim/course" / target).string());
  }
  const std::string enter = "cd " + kBuild.string() + " && ";
  write_file(root() / "build/sim/build.ninja",
             "rule compile\n  deps = gcc\n  depfile = " + object + ".d\n  command = " + enter +
                 ninja_escaped(commands[0]) + "\nrule link\n  command = " + enter +
                 ninja_escaped(commands[1]) + "\nbuild " + own_object + ": compile " +
                 learner_file(kVectorAdd).string() + "\nbuild course/" + target + ": link " +
                 own_object + "\nbuild " + target + ": phony course/" + target +
                 "\nbuild grade.more: phony\n");
}

std::string RealCourse::solution_with(const std::string& old_text, const std::string& new_text) {
  std::string text = read_file(kClone / "solutions" / (std::string(kVectorAdd) + ".cu"));
  const size_t at = text.find(old_text);
  if (at == std::string::npos || text.find(old_text, at + 1) != std::string::npos) {
    throw std::runtime_error("\"" + old_text + "\" is not in the solution exactly once");
  }
  return text.replace(at, old_text.size(), new_text);
}

}  // namespace grade::test

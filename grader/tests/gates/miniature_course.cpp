#include "miniature_course.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <regex>

#include "cli/process/child.h"
#include "course/manifest.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr char kManifest[] = R"({
  "format": 1,
  "title": "Miniature",
  "chapters": [ {"id": "02_vector_add", "title": "One"} ],
  "exercises": [
    {
      "id": "02_vector_add/01_vector_add",
      "title": "Vector add",
      "minutes": 15,
      "kind": "kernel",
      "todos": 2,
      "teaches": ["a kernel"],
      "needs": []
    }
  ]
}
)";

constexpr char kChapterPage[] =
    "# One\n\n<!-- from: region solutions/02_vector_add/01_vector_add.cu TODO 2 -->\n```cuda\n"
    "const int grid = (n + kBlock - 1) / kBlock;\n```\n\nSee [the exercise](01_vector_add.cu) and "
    "[above](#one).\n\n<!-- from: benchmark cards.json h200 copy -->4.25<!-- end --> TB/s.\n";

constexpr char kTarget[] = "02_vector_add.01_vector_add";

// A verdict is kept by the bytes of its program and what is expected of it, so all courses share
// them: one mutant alone takes seconds.
class Verdicts {
 public:
  Verdicts() {
    char name[] = "/tmp/warplings_verdicts_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~Verdicts() { fs::remove_all(folder_); }

  static const fs::path& folder() {
    static const Verdicts verdicts;
    return verdicts.folder_;
  }

 private:
  fs::path folder_;
};

ChildResult run(const std::vector<std::string>& argv, const fs::path& folder) {
  ChildOptions options;
  options.argv = argv;
  options.directory = folder;
  options.own_seconds = 120;
  options.environment = {{"GRADE_ROOT", folder.string()}, {"GRADE_NINJA", NINJA_PROGRAM}};
  // As in a hook of git, where these lead to another repository.
  options.dropped = {"GIT_"};
  return run_child(options);
}

}  // namespace

MiniatureCourse::MiniatureCourse() {
  char name[] = "/tmp/warplings_miniature_XXXXXX";
  root_ = mkdtemp(name);
  const fs::path from = PROJECT_ROOT;
  for (const std::string file :
       {"chapters/02_vector_add/01_vector_add.cu", "chapters/02_vector_add/01_vector_add.h",
        "chapters/02_vector_add/01_vector_add_test.cpp",
        "chapters/02_vector_add/01_vector_add_hints.md", "solutions/02_vector_add/01_vector_add.cu",
        "grader/tests/exercises/02_vector_add/01_vector_add/mutants.txt",
        "grader/tests/exercises/02_vector_add/01_vector_add/variant_grid_stride.cu"}) {
    write(file, course::read_text(from / file));
  }
  write("chapters/course.json", kManifest);
  write("chapters/02_vector_add/README.md", kChapterPage);
  write("assets/benchmarks/cards.json", "{\"h200\": {\"copy\": 4.25}}\n");
  std::string build = "ninja_required_version = 1.3\n";
  for (const std::string kind : {"solution", "starter", "derived"}) {
    const std::string program = std::string(kTarget) + "." + kind;
    build += "build " + program + ": phony\n";
    fs::create_directories(root_ / "build/sim/course");
    fs::create_symlink(fs::path(COURSE_PROGRAMS) / program, root_ / "build/sim/course" / program);
  }
  fs::create_directory_symlink(Verdicts::folder(), root_ / "build/sim/verdicts");
  build += "build " + std::string(kTarget) + ".compiled: phony\n";  // asked for if it needs a GPU
  write("build/sim/build.ninja", build);
  // A learner's own file may be edited in the tree that is tested: start from the image.
  grade({"dev", "sync", "--force"});
  run({"git", "init", "-q", "."}, root_);
  write(".gitignore", "/build/\n");
  add_to_git();
}

MiniatureCourse::~MiniatureCourse() { fs::remove_all(root_); }

std::string MiniatureCourse::read(const std::string& file) const {
  return course::read_text(root_ / file);
}

void MiniatureCourse::write(const std::string& file, const std::string& text) const {
  course::write_text(root_ / file, text);
}

void MiniatureCourse::edit(const std::string& file, const std::string& from,
                           const std::string& to) const {
  std::string text = read(file);
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << file << " does not hold: " << from;
  ASSERT_EQ(text.find(from, at + 1), std::string::npos) << file << " holds twice: " << from;
  write(file, text.replace(at, from.size(), to));
}

void MiniatureCourse::remove(const std::string& file) const {
  ASSERT_TRUE(fs::remove(root_ / file)) << file;
}

void MiniatureCourse::add_to_git() const { run({"git", "add", "-A"}, root_); }

void MiniatureCourse::forget_git() const { fs::remove_all(root_ / ".git"); }

void MiniatureCourse::replace_program(const std::string& name, const std::string& as) const {
  const fs::path program = root_ / "build/sim/course" / (std::string(kTarget) + "." + name);
  const fs::path target = fs::path(COURSE_PROGRAMS) / (std::string(kTarget) + "." + as);
  fs::remove(program);
  course::write_text(program,
                     "#!/bin/sh\nfor argument; do\n  shift\n  case $argument in\n    --variant=*) "
                     ";;\n    *) set -- \"$@\" \"$argument\" ;;\n  esac\ndone\nexec " +
                         target.string() + " \"$@\"\n");
  fs::permissions(program, fs::perms::owner_all);
}

Answer MiniatureCourse::grade(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv = {GRADE_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const ChildResult result = run(argv, root_);
  // Messages on stderr are broken into lines: their length depends on the name of the folder.
  const std::string said = std::regex_replace(result.err.text(), std::regex("\\s+"), " ");
  return {result.status, result.out.text() + said};
}

}  // namespace grade

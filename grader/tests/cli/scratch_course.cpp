#include "scratch_course.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/terminal.h"
#include "course/text.h"

namespace grade::test {
namespace {

constexpr const char* kManifest = R"({
  "format": 1,
  "title": "Scratch",
  "chapters": [ { "id": "01_begin", "title": "The beginning" } ],
  "exercises": [
    { "id": "01_begin/01_first", "title": "First", "minutes": 5, "kind": "kernel", "todos": 2 },
    { "id": "01_begin/02_second", "title": "Second", "minutes": 5, "kind": "kernel", "todos": 1,
      "speed": true },
    { "id": "01_begin/03_third", "title": "Third, with a title that is rather long to read",
      "minutes": 25, "kind": "kernel", "todos": 1, "bonus": true }
  ]
}
)";

constexpr const char* kSolution = R"(// 01/01 A scratch exercise.
//! test Scratch.Adds 1
//~ //! fail c[0] is 0, expected 1.
//~begin 1
//! print one
//~end
//! test Scratch.CoversTheTail 2
//~ //! fail n = 1025: c[1024] was never written.
//~begin 2
//! print two
//~end
)";

constexpr const char* kStarter = R"(// 01/01 A scratch exercise.
//! test Scratch.Adds 1
//! fail c[0] is 0, expected 1.
//! test Scratch.CoversTheTail 2
//! fail n = 1025: c[1024] was never written.
)";

// What CMake would have written: the "compiler" refuses a marked file and copies the double.
constexpr const char* kCompiler = R"(#!/bin/sh
# compile SOURCE PROGRAM DOUBLE
set -eu
if grep -q '^//! slow-build' "$1"; then
  echo $$ >"$2.pid"
  exec sleep 600
fi
if grep -q '^//! full-disk' "$1"; then
  echo 'nvcc fatal   : Failed to preprocess host compiler properties.'
  exit 1
fi
if grep -q 'syntax error' "$1"; then
  line=$(grep -n 'syntax error' "$1" | head -n 1 | cut -d: -f1)
  echo "$1($line): error: expected a \";\""
  echo "    syntax error here"
  echo "    ^"
  echo
  echo "/usr/include/other.h(3): error: identifier \"later\" is undefined"
  echo
  echo "2 errors detected in the compilation of \"$1\"."
  exit 2
fi
cp "$1" "$2.cu"
ln -sf "$3" "$2"
)";

std::string hints(int todos) {
  std::string text = "# Hints\n";
  for (int todo = 1; todo <= todos; ++todo) {
    const std::string number = std::to_string(todo);
    text += "\n## TODO " + number + "\n\nWhere to look " + number + ".\n\nThe idea " + number +
            ".\n\nAlmost the code " + number + ".\n";
  }
  return text;
}

}  // namespace

std::string read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

size_t widest(const std::string& text) {
  size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, width_of(line));
  return most;
}

ScratchCourse::ScratchCourse(const fs::path& place) {
  std::string pattern = (place / "grade_cli_XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  root_ = fs::canonical(pattern);
  write_file(root_ / "chapters/course.json", kManifest);
  write_file(root_ / "build/compile", kCompiler);
  fs::permissions(root_ / "build/compile", fs::perms::owner_all);
  std::string ninja = "rule compile\n  command = ../compile $in $out " GRADE_FAKE_PROGRAM
                      "\n  description = Building $out\n";
  const std::vector<std::pair<std::string, int>> exercises = {
      {"01_begin/01_first", 2}, {"01_begin/02_second", 1}, {"01_begin/03_third", 1}};
  for (const auto& [id, todos] : exercises) {
    std::string name = id;
    std::replace(name.begin(), name.end(), '/', '.');
    write_file(learner_file(id), kStarter);
    declare_tests(kStarter, id);
    write_file(root_ / "solutions" / (id + ".cu"), kSolution);
    write_file(root_ / "chapters" / (id + "_hints.md"), hints(todos));
    write_file(root_ / "chapters" / (id + ".h"), "");
    for (const char* suffix : {"", ".solution"}) {
      const std::string source =
          *suffix == '\0' ? learner_file(id).string() : (root_ / "solutions" / id).string() + ".cu";
      ninja += "build course/" + name + suffix + ": compile " + source + "\n";
      ninja += "build " + name + suffix + ": phony course/" + name + suffix + "\n";
    }
  }
  // The other parts of the command line lie beside the one that is tested.
  ninja += "build grade.more grade.dev: phony\n";
  write_file(root_ / "build/sim/build.ninja", ninja);
  fs::create_directories(root_ / "build/sim/course");
}

ScratchCourse::~ScratchCourse() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

fs::path ScratchCourse::learner_file(const std::string& id) const {
  return root_ / "chapters" / (id + ".cu");
}

void ScratchCourse::declare_tests(const std::string& text, const std::string& id) const {
  std::string tests;
  for (const std::string& line : course::split_lines(text)) {
    constexpr const char* kTest = "//! test ";
    if (!course::starts_with(line, kTest)) continue;
    const std::string name = line.substr(std::strlen(kTest));
    const size_t dot = name.find('.');
    tests += "TEST(" + name.substr(0, dot) + ", " + name.substr(dot + 1, name.find(' ') - dot - 1) +
             ") {}\n";
  }
  if (!tests.empty()) write_file(root_ / "chapters" / (id + "_test.cpp"), tests);
}

void ScratchCourse::save(const std::string& text, const std::string& id) const {
  const fs::path file = learner_file(id);
  const fs::path beside = file.string() + "~";
  declare_tests(text, id);
  write_file(beside, text);
  fs::rename(beside, file);
}

void ScratchCourse::set(const std::string& name, const std::string& value) {
  variables_.emplace_back(name, value);
}

std::vector<std::pair<std::string, std::string>> ScratchCourse::environment() const {
  std::vector<std::pair<std::string, std::string>> all = {{"GRADE_ROOT", root_.string()},
                                                          {"GRADE_NINJA", GRADE_NINJA_PROGRAM},
                                                          {"GRADE_CMAKE", "cmake"},
                                                          {"CUDA_VISIBLE_DEVICES", ""},
                                                          {"NO_COLOR", ""},
                                                          {"GRADE_NVCC", GRADE_NVCC_PROGRAM}};
  for (const auto& [name, value] : variables_) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& variable) { return variable.first == name; });
    if (same == all.end()) {
      all.emplace_back(name, value);
    } else {
      same->second = value;
    }
  }
  return all;
}

Ran ScratchCourse::grade(std::vector<std::string> arguments) const {
  ChildOptions options;
  arguments.insert(arguments.begin(), GRADE_PROGRAM);
  options.argv = std::move(arguments);
  options.environment = environment();
  options.own_seconds = 120;
  options.grace_seconds = 5;
  const ChildResult child = run_child(options);
  Ran ran;
  ran.status = child.end == ChildResult::End::kExited ? child.status : -1;
  ran.out = child.out.text();
  ran.err = child.err.text();
  ran.seconds = child.seconds;
  return ran;
}

std::string ScratchCourse::progress() const { return read_file(root_ / ".progress"); }

}  // namespace grade::test

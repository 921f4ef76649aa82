// mutants.txt: named wrong edits of a solution, and what must catch each. CONTRIBUTING.md has the
// format.
#ifndef WARPLINGS_COURSE_MUTANTS_H_
#define WARPLINGS_COURSE_MUTANTS_H_

#include <string>
#include <vector>

#include "course/error.h"
#include "course/manifest.h"

namespace course {

struct Expectation {
  enum class What { kTest, kFinding, kBudget };
  What what = What::kTest;
  std::string name;  // "Suite.Name", the check of a finding, or the name of a budget
  std::string kind;  // of a finding, "" any
  std::string text;  // as written in the file
};

struct Mutant {
  std::string sentence;
  Expectation expect;
  bool only = false;  // every other test passes
  std::string find, put;
  int line = 0;  // of "mutant:"
};

// Throws course::Error with the line: unknown or missing key, text that is not quoted by '|'.
std::vector<Mutant> parse_mutants(const std::string& text, const std::string& file);

// `solution` with the edit made. Throws course::Error unless `find` occurs exactly once. The text
// that is edited has no markers (solution_text), so a mutant cannot contain one.
std::string mutate(const std::string& solution, const Mutant& mutant, const std::string& file);

// One source derived from a solution.
struct Derived {
  enum class What { kStarter, kAblation, kMutant, kVariant };
  What what = What::kAblation;
  // A namespace, an argument: "starter", "ablation_1", "mutant_2", "variant_grid_stride".
  std::string name;
  std::string title;  // for people: "TODO 1 reverted", the sentence of the mutant, the file's name
  int todo = 0;       // of an ablation
  Mutant mutant;
  std::string text;
  std::string file;  // what it is called in messages of the compiler and the simulator
};

// The starter (of CUDA files), ablations, mutants and variants of an exercise, in this order.
// Throws course::Error.
std::vector<Derived> derive(const std::filesystem::path& root, const Exercise& exercise);

// All of them as one CUDA file, a namespace each. The first, the starter, stands behind what it
// includes itself; what any of the others includes stands between it and them. #line keeps the
// positions, the macros of one text are undefined behind it.
std::string combine(const std::vector<Derived>& derived);

// C++ source that defines what a test calls as jumps into the chosen namespace.
struct Launcher {
  std::string symbol;                // mangled name that the test object refers to
  std::string name;                  // demangled
  std::vector<std::string> targets;  // mangled name in each namespace, in the order of `variants`
};
// Matches the undefined symbols of the test object with what each namespace of the kernels' object
// defines (mangled names both, as nm prints them). Throws course::Error naming the text that lacks
// a launcher.
std::vector<Launcher> match_launchers(const std::vector<std::string>& undefined,
                                      const std::vector<std::string>& defined,
                                      const std::vector<Derived>& derived);
std::string dispatch_source(const std::vector<Launcher>& launchers,
                            const std::vector<Derived>& derived);

// C++ source of the planted program of an exercise: a way into each of the functions (mangled
// names) that passes by the plants of grader/tests/classes. The linker has to be told:
// plant_options().
std::string plant_source(const std::vector<std::string>& functions);
std::string plant_options(const std::vector<std::string>& functions);

}  // namespace course
#endif  // WARPLINGS_COURSE_MUTANTS_H_

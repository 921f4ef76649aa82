// What a verdict rests on besides the run itself (docs/integrity.md): which tests there are,
// whether the files that judge are the committed ones, and what a learner's file includes.
#ifndef WARPLINGS_CLI_INTEGRITY_H_
#define WARPLINGS_CLI_INTEGRITY_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/exercise_run.h"
#include "course/manifest.h"

namespace grade {

// The tests of an exercise as its test file declares them, "Suite.Name", in their order.
std::vector<std::string> declared_tests(const std::filesystem::path& root,
                                        const course::Exercise& exercise, Device device);

// "" if the result has exactly the declared tests, each of them ended; else what is wrong. With
// `all` false (a filter was given) some of them are enough.
std::string wrong_tests(const Result& result, const std::vector<std::string>& declared, bool all);

// Files that judge the exercise (its test, headers and given code, its solution, the kit, the
// manifest) and differ from the last commit, with their paths from `root`. Nothing where the course
// is no clone of its own.
std::vector<std::string> changed_sources(const std::filesystem::path& root,
                                         const course::Exercise& exercise);

// The first line of a learner's file that takes text from where a solution has no business: outside
// of the exercise's folder, the kit and the toolkit. Follows what lies in the folder itself.
std::optional<Diagnostic> refused_include(const std::filesystem::path& root,
                                          const std::filesystem::path& file);

// The same by what the compiler has read (Ninja's record of it) for the object.
std::optional<Diagnostic> refused_dependency(const Paths& paths, Device device,
                                             const std::filesystem::path& file,
                                             const std::filesystem::path& object);

}  // namespace grade
#endif  // WARPLINGS_CLI_INTEGRITY_H_

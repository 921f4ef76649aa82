// Copies of a learner's files that reset, restore or update replaced: in ROOT/.kept, which nothing
// empties. .kept/02_vector_add/01_vector_add.2.cu is the second copy of that exercise's file.
#ifndef WARPLINGS_CLI_KEPT_H_
#define WARPLINGS_CLI_KEPT_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/app.h"

namespace grade {

struct KeptCopy {
  std::filesystem::path file;
  int number = 0;
};

// Keeps a copy and returns its path, relative to the root. Throws course::Error.
std::filesystem::path keep_copy(const Paths& paths, const std::filesystem::path& file);
// Of one exercise, the newest first.
std::vector<KeptCopy> copies_of(const Paths& paths, const course::Exercise& exercise);
// Where what `grade view` saw of its versions is kept: .kept/02_vector_add/01_vector_add.runs
std::filesystem::path run_list_of(const Paths& paths, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_KEPT_H_

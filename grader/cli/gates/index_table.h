// Ways into the course other than its order, as tables for pages: by concept, by call, by route.
#ifndef WARPLINGS_CLI_GATES_INDEX_TABLE_H_
#define WARPLINGS_CLI_GATES_INDEX_TABLE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "course/manifest.h"

namespace grade {

// Links lead from a page in docs/.

// Every word that exercises teach: where it is taught, and which exercises need it.
std::string concept_table(const course::Course& course);

// Every function of CUDA and its libraries that a solution calls, and the exercises that call it.
std::string call_table(const course::Course& course);

// "03/04" or "03/*", in the order given, with minutes and their sum. Throws course::Error for what
// names no exercise.
std::string route_table(const course::Course& course, const std::vector<std::string>& stops);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_INDEX_TABLE_H_

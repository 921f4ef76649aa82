// What an object file asks of others.
#ifndef WARPLINGS_CLI_OBJECT_SYMBOLS_H_
#define WARPLINGS_CLI_OBJECT_SYMBOLS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace grade {

// Undefined symbols of a 64-bit ELF object, sorted; empty if the file is none.
std::vector<std::string> undefined_symbols(const std::filesystem::path& object);

// The first symbol that a learner's object must not use: what loads libraries, starts processes,
// looks into the own process, or belongs to the grader. "" if there is none.
std::string banned_symbol(const std::filesystem::path& object);

}  // namespace grade
#endif  // WARPLINGS_CLI_OBJECT_SYMBOLS_H_

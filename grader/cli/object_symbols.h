// What an object file asks of others.
#ifndef WARPLINGS_CLI_OBJECT_SYMBOLS_H_
#define WARPLINGS_CLI_OBJECT_SYMBOLS_H_

#include <filesystem>
#include <string>
#include <vector>

namespace grade {

// Undefined symbols of a 64-bit ELF object, sorted; empty if the file is none.
std::vector<std::string> undefined_symbols(const std::filesystem::path& object);

// What a learner's object must not have, as the end of "Your file ...": "uses dlopen", "defines
// write, which belongs to the C library", "has .preinit_array, ...". "" if it has nothing such.
std::string refused_part(const std::filesystem::path& object);

}  // namespace grade
#endif  // WARPLINGS_CLI_OBJECT_SYMBOLS_H_

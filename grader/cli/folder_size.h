#ifndef WARPLINGS_CLI_FOLDER_SIZE_H_
#define WARPLINGS_CLI_FOLDER_SIZE_H_

#include <cstdint>
#include <filesystem>

namespace grade {

// Bytes that a folder occupies on disk, links not followed; 0 if it does not exist.
uint64_t folder_size(const std::filesystem::path& folder);

}  // namespace grade
#endif  // WARPLINGS_CLI_FOLDER_SIZE_H_

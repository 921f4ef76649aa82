// Starters as files: what is committed, what the learner has, what the solution makes of it.
#ifndef WARPLINGS_CLI_GATES_IMAGES_H_
#define WARPLINGS_CLI_GATES_IMAGES_H_

#include <filesystem>
#include <optional>
#include <string>

namespace grade {

// What git has of `file`: in the index, else nothing. No git, no repository: nothing.
std::optional<std::string> committed_text(const std::filesystem::path& root,
                                          const std::filesystem::path& file);
// True in a work tree of git that has an index.
bool has_git(const std::filesystem::path& root);

// chapters/checksums.txt: for clones without git (a release archive), "HASH path" for every
// starter.
std::filesystem::path checksum_file(const std::filesystem::path& root);
std::string checksum_of(const std::string& text);
// The committed checksum of `file`, "" if the list has none.
std::string listed_checksum(const std::filesystem::path& root, const std::filesystem::path& file);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_IMAGES_H_

// A room for the code of strangers, made by bubblewrap: namespaces of its own for users, processes,
// network and mounts; of the file system only what the program needs, to be read; nothing of the
// user's environment.
#ifndef WARPLINGS_CLI_PROCESS_JAIL_H_
#define WARPLINGS_CLI_PROCESS_JAIL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/process/child.h"

namespace grade {

// Why there can be no jail here, and what to do; "" if there can.
std::string why_no_jail();

// The device nodes below ROOT/dev that a program needs for NVIDIA's cards: those that are there and
// are devices. None where there is no driver.
std::vector<std::filesystem::path> gpu_nodes(const std::filesystem::path& root);

// Puts the program of `options` into a jail that shows it the system's programs and libraries and
// `readable`, at their own places. With the machine's root, or another folder like it, also the
// nodes of its cards, in /dev, and its driver's libraries.
void jail(ChildOptions* options, const std::vector<std::filesystem::path>& readable,
          const std::filesystem::path& root_of_gpus = {});

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_JAIL_H_

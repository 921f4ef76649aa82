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

// Puts the program of `options` into a jail that shows it the system's programs and libraries and
// `readable`, at their own places.
void jail(ChildOptions* options, const std::vector<std::filesystem::path>& readable);

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_JAIL_H_

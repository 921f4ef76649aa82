// The small programs of pages, run as their pages run them, to be drawn.
#ifndef WARPLINGS_CLI_GATES_PAGE_PROGRAM_H_
#define WARPLINGS_CLI_GATES_PAGE_PROGRAM_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/gates/figures.h"
#include "cli/gates/gate.h"

namespace grade {

// Where the programs of a page are saved and run. Always the same, so that what is compiled of an
// unchanged program is used again (command_exec.cpp).
std::filesystem::path folder_of_page(const std::filesystem::path& build,
                                     const std::filesystem::path& page);

// A mark of a picture whose run is one of the page's own programs: view FILE.cu PICTURE [KERNEL].
bool is_of_page(const Mark& mark);

// All commands of the page that lead to the run of `program`, the last one that runs it.
std::vector<std::string> commands_leading_to(const std::string& page, const std::string& program);

// What the simulator recorded of `program` of that page; its sources lie in folder_of_page until
// the next run. Throws course::Error.
std::string recording_of_page(const GateContext& context, const std::filesystem::path& page,
                              const std::string& program);

// What its picture depends on besides grade_dev itself: the page's programs and commands.
std::string inputs_of_page(const std::string& page);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_PAGE_PROGRAM_H_

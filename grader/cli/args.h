// The command line, taken apart.
#ifndef WARPLINGS_CLI_ARGS_H_
#define WARPLINGS_CLI_ARGS_H_

#include <stdexcept>
#include <string>
#include <vector>

namespace grade {

// Exit statuses of every command.
enum Exit { kPass = 0, kFail = 1, kUsage = 2, kInconclusive = 3 };

enum class DeviceChoice { kAuto, kGpu, kSimulator };

struct Options {
  std::string command;                // "" opens the course
  std::vector<std::string> operands;  // EX, or what the command takes
  std::vector<std::string> rest;  // after "--", or everything for commands that parse themselves
  DeviceChoice device = DeviceChoice::kAuto;
  bool solution = false, json = false, colour = true, help = false, version = false;
  bool yes = false, spoil = false, jail = false;
  bool output = false;                                // run: nothing is cut
  bool problems = false;                              // run: places only, for editors
  bool predictions = false;                           // list
  bool advice = false;                                // profile
  std::string ptx;                                    // exec --ptx PATH
  std::string timeline, checks, suppress, json_file;  // exec --timeline --check --suppress --json
  std::string status;                                 // exec --status N
  std::string kernel, model;                          // profile
  std::string block, warp, thread, lines, test_case;  // trace
  bool as_text = false, serve = false;                // view --text --serve
  std::string svg, png, chrome_trace;                 // view --svg --png --chrome-trace
};

// A mistake on the command line; what() is one sentence.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws UsageError. `arguments` without the program's name.
Options parse_arguments(const std::vector<std::string>& arguments);

}  // namespace grade
#endif  // WARPLINGS_CLI_ARGS_H_

#include "cli/args.h"

#include "cli/commands.h"

namespace grade {
namespace {

DeviceChoice parse_device(const std::string& text) {
  if (text == "auto") return DeviceChoice::kAuto;
  if (text == "gpu") return DeviceChoice::kGpu;
  if (text == "sim" || text == "simulator") return DeviceChoice::kSimulator;
  throw UsageError("--device is auto, gpu or sim, not \"" + text + "\".");
}

struct Flag {
  const char* name;
  bool Options::*value;
  bool sets;
};

constexpr Flag kFlags[] = {{"--solution", &Options::solution, true},
                           {"--json", &Options::json, true},
                           {"--no-color", &Options::colour, false},
                           {"--help", &Options::help, true},
                           {"-h", &Options::help, true},
                           {"--version", &Options::version, true},
                           {"--yes", &Options::yes, true},
                           {"-y", &Options::yes, true},
                           {"--spoil", &Options::spoil, true},
                           {"--jail", &Options::jail, true},
                           {"--output", &Options::output, true},
                           {"--problems", &Options::problems, true},
                           {"--predictions", &Options::predictions, true},
                           {"--advice", &Options::advice, true},
                           {"--text", &Options::as_text, true},
                           {"--serve", &Options::serve, true}};

bool set_flag(const std::string& argument, Options* options) {
  for (const Flag& flag : kFlags) {
    if (argument != flag.name) continue;
    options->*flag.value = flag.sets;
    return true;
  }
  return false;
}

// The value of "--name value" and "--name=value"; false if `arguments[*i]` is another option.
bool take_value(const std::vector<std::string>& arguments, size_t* i, const std::string& name,
                std::string* value) {
  const std::string& argument = arguments[*i];
  if (argument.compare(0, name.size() + 1, name + "=") == 0) {
    *value = argument.substr(name.size() + 1);
    return true;
  }
  if (argument != name) return false;
  if (*i + 1 == arguments.size()) throw UsageError(name + " needs a value.");
  *value = arguments[++*i];
  return true;
}

// Options of exec, which has its own --json: the file for what was found.
bool take_exec_setting(const std::vector<std::string>& arguments, size_t* i, Options* options) {
  if (options->command != "exec") return false;
  constexpr std::pair<const char*, std::string Options::*> kSettings[] = {
      {"--ptx", &Options::ptx},        {"--timeline", &Options::timeline},
      {"--check", &Options::checks},   {"--suppress", &Options::suppress},
      {"--json", &Options::json_file}, {"--status", &Options::status}};
  for (const auto& [name, value] : kSettings) {
    if (take_value(arguments, i, name, &(options->*value))) return true;
  }
  return false;
}

// Options of profile, trace and view.
bool take_setting(const std::vector<std::string>& arguments, size_t* i, Options* options) {
  constexpr std::pair<const char*, std::string Options::*> kSettings[] = {
      {"--kernel", &Options::kernel},  {"--model", &Options::model},
      {"--block", &Options::block},    {"--warp", &Options::warp},
      {"--thread", &Options::thread},  {"--lines", &Options::lines},
      {"--case", &Options::test_case}, {"--svg", &Options::svg},
      {"--png", &Options::png},        {"--chrome-trace", &Options::chrome_trace}};
  for (const auto& [name, value] : kSettings) {
    if (take_value(arguments, i, name, &(options->*value))) return true;
  }
  return false;
}

}  // namespace

Options parse_arguments(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string value;
    if (argument == "--") {
      options.rest.assign(arguments.begin() + static_cast<long>(i) + 1, arguments.end());
      break;
    }
    if (take_value(arguments, &i, "--device", &value)) {
      options.device = parse_device(value);
    } else if (take_exec_setting(arguments, &i, &options)) {
    } else if (take_setting(arguments, &i, &options)) {
    } else if (set_flag(argument, &options)) {
    } else if (argument.size() > 1 && argument[0] == '-') {
      throw UsageError("unknown option " + argument + ". ./grade --help lists all.");
    } else if (options.command.empty()) {
      options.command = argument;
      const Command* command = find_command(argument);
      if (command != nullptr && command->parses_itself) {
        options.rest.assign(arguments.begin() + static_cast<long>(i) + 1, arguments.end());
        break;
      }
    } else if (options.command == "exec") {  // what follows belongs to the program
      options.rest.assign(arguments.begin() + static_cast<long>(i), arguments.end());
      break;
    } else {
      options.operands.push_back(argument);
    }
  }
  return options;
}

}  // namespace grade

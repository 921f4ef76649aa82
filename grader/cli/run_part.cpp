// What the programs of the command line have in common: from arguments to a command.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>

#include "cli/app.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "course/error.h"

namespace grade {
namespace {

constexpr const char* kVersion = "0.1.0";

// A pipe must not be given the number of a closed stdin, stdout or stderr. Read-only, so that
// writing to what was closed still fails and is reported.
void fill_standard_descriptors() {
  int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
}

// The simulator asks the assembler of the toolkit in use how many registers a kernel takes, and
// none that happens to be installed beside it.
void name_assembler(const Paths& paths) {
  const std::string ptxas = paths.cuda_home + "/bin/ptxas";
  if (::access(ptxas.c_str(), X_OK) == 0) ::setenv("GRADE_SIM_PTXAS", ptxas.c_str(), 0);
}

int dispatch(const std::vector<Entry>& entries, const Options& options, char** argv) {
  if (options.version) {
    print(std::string("Warplings ") + kVersion + "\n");
    return kPass;
  }
  const Command* command = find_command(options.command);
  const Paths paths = find_paths();
  name_assembler(paths);
  App app(options, paths);
  if (options.command.empty() && options.help) command = find_command("help");
  if (command == nullptr && !options.command.empty())
    throw UsageError(unknown_command(options.command));
  if (options.help) {
    print(help_of(*command));
    return kPass;
  }
  if (command != nullptr && static_cast<int>(options.operands.size()) > command->most_operands) {
    throw UsageError("\"" + options.operands.back() + "\" is one argument too many: ./grade " +
                     command->name + " " + command->arguments);
  }
  for (const Entry& entry : entries) {
    if (options.command == entry.name) return entry.run(app);
  }
  return become(app, command == nullptr ? Binary::kGrade : command->binary, argv);
}

int guarded(const std::vector<Entry>& entries, int argc, char** argv) {
  try {
    return dispatch(entries, parse_arguments({argv + 1, argv + argc}), argv);
  } catch (const UsageError& error) {
    complain(error.what());
  } catch (const course::Error& error) {
    complain(error.what());
  } catch (const std::exception& error) {
    complain(std::string("stopped by an error of its own: ") + error.what() +
             ". Please report it with the command that you typed.");
  }
  return kUsage;
}

const char* suffix_of(Binary binary) {
  return binary == Binary::kGrade ? "" : binary == Binary::kMore ? "more" : "dev";
}

}  // namespace

int become(App& app, Binary binary, char** argv) {
  const std::string suffix = suffix_of(binary);
  RunRequest request;
  const GradingHooks hooks = default_hooks(app);
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  const std::string target = "grade." + (suffix.empty() ? "cli" : suffix);
  const BuildResult built = build_target(app.paths(), Device::kSimulator, target, request);
  clear_progress(app);
  if (built.status == BuildResult::Status::kCancelled) return kUsage;
  if (built.status != BuildResult::Status::kBuilt) {
    complain("the part of the grader that this command is in does not build.\n" +
             (built.problem.empty() ? built.log : built.problem));
    return kUsage;
  }
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string program = self.parent_path() / (suffix.empty() ? "grade" : "grade_" + suffix);
  if (self == program) throw std::logic_error(program + " lacks a command that it should have");
  ::execv(program.c_str(), argv);
  complain("cannot start " + program + ": " + std::strerror(errno));
  return kUsage;
}

int run_part(const std::vector<Entry>& entries, int argc, char** argv) {
  fill_standard_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  return close_stdout(guarded(entries, argc, argv));
}

}  // namespace grade

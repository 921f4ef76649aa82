// grade: the command line of the course. The launcher ./grade starts it.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <exception>

#include "cli/app.h"
#include "cli/args.h"
#include "cli/commands.h"
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

// The simulator asks the assembler of the toolkit in use how many registers a kernel takes, and none
// that happens to be installed beside it.
void name_assembler(const Paths& paths) {
  const std::string ptxas = paths.cuda_home + "/bin/ptxas";
  if (::access(ptxas.c_str(), X_OK) == 0) ::setenv("GRADE_SIM_PTXAS", ptxas.c_str(), 0);
}

int dispatch(const Options& options) {
  if (options.version) {
    print(std::string("Warplings ") + kVersion + "\n");
    return kPass;
  }
  const Command* command = find_command(options.command);
  const Paths paths = find_paths();
  name_assembler(paths);
  App app(options, paths);
  if (options.command.empty()) {
    if (!options.help) return open_course(app);
    command = find_command("help");
  }
  if (command == nullptr) throw UsageError(unknown_command(options.command));
  if (options.help) {
    print(help_of(*command));
    return kPass;
  }
  if (static_cast<int>(options.operands.size()) > command->most_operands) {
    throw UsageError("\"" + options.operands.back() + "\" is one argument too many: ./grade " +
                     command->name + " " + command->arguments);
  }
  return command->run(app);
}

int guarded(const std::vector<std::string>& arguments) {
  try {
    return dispatch(parse_arguments(arguments));
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

}  // namespace
}  // namespace grade

int main(int argc, char** argv) {
  grade::fill_standard_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  return grade::close_stdout(grade::guarded({argv + 1, argv + argc}));
}

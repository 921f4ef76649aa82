// Every command of the command line, one file each; which program holds it.
#ifndef WARPLINGS_CLI_COMMANDS_H_
#define WARPLINGS_CLI_COMMANDS_H_

#include <string>
#include <vector>

#include "cli/args.h"

namespace grade {

class App;

// The command line is three programs, so that a first verdict waits for one of them only. The
// others are built when one of their commands is first asked for.
enum class Binary {
  kGrade,  // bin/grade: what leads to a verdict
  kMore,   // bin/grade_more: what looks at runs or after the machine
  kDev,    // bin/grade_dev: for people who work on the course
};

struct Command {
  const char* name;
  const char* arguments;  // "[EX]"
  const char* summary;
  Binary binary = Binary::kGrade;
  int most_operands = 0;
  bool parses_itself = false;  // everything after the name goes to Options::rest
  bool listed = true;          // in --help
  const char* options = "";    // its own, for help COMMAND
};

// What one program can do itself.
struct Entry {
  const char* name;  // "": no command at all
  int (*run)(App& app);
};

// main() of each of them. Another part's command is handed on, with all its arguments.
int run_part(const std::vector<Entry>& entries, int argc, char** argv);
// Builds that part if need be and becomes its program; returns only where it cannot, with a status.
int become(App& app, Binary binary, char** argv);

const std::vector<Command>& commands();
const Command* find_command(const std::string& name);  // nullptr: unknown
std::string help_text();
std::string help_of(const Command& command);
// One sentence for a name that is no command, with the nearest one.
std::string unknown_command(const std::string& name);

int open_course(App& app);  // no command: watch on a terminal, else one run
int run_command(App& app);
int watch_command(App& app);
int list_command(App& app);
int check_all_command(App& app);
int hint_command(App& app);
int read_command(App& app);
int predict_command(App& app);
int reset_command(App& app);
int restore_command(App& app);
int solution_command(App& app);
int compare_command(App& app);
int bench_command(App& app);
int sanitize_command(App& app);
int explain_command(App& app);
int profile_command(App& app);
int trace_command(App& app);
int view_command(App& app);
int exec_command(App& app);
int class_command(App& app);
int update_command(App& app);
int clean_command(App& app);
int doctor_command(App& app);
int help_command(App& app);
int dev_command(App& app);
int selftest_command(App& app);

}  // namespace grade
#endif  // WARPLINGS_CLI_COMMANDS_H_

#include "cli/tool.h"

#include "cli/process/interrupt.h"
#include "course/text.h"

namespace grade {

ChildResult ask(const std::vector<std::string>& argv, const std::filesystem::path& directory,
                double seconds) {
  ChildOptions options;
  options.argv = argv;
  options.directory = directory;
  options.own_seconds = seconds;
  options.grace_seconds = 2;
  options.output_kept = 1 << 20;
  options.environment = {{"LC_ALL", "C"}, {"GIT_TERMINAL_PROMPT", "0"}};
  options.watched = {Interrupts::instance().fd()};
  options.interrupted = [] { return Interrupts::instance().ended(); };
  return run_child(options);
}

std::string first_line(const ChildResult& result) {
  if (!result.ok()) return "";
  const std::vector<std::string> lines = course::split_lines(result.out.head);
  return lines.empty() ? "" : course::trim(lines.front());
}

}  // namespace grade

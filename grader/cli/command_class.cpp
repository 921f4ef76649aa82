// grade class: assignments and many submissions. The program is grader/classroom, in Python.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/app.h"
#include "cli/commands.h"

namespace grade {

int class_command(App& app) {
  const std::string program = app.paths().root / "grader" / "classroom";
  std::vector<std::string> argv = {"python3", program};
  argv.insert(argv.end(), app.options().rest.begin(), app.options().rest.end());
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  complain(std::string("./grade class is written in Python, and python3 does not start: ") +
           std::strerror(errno) + ".");
  return kUsage;
}

}  // namespace grade

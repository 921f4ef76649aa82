// grade dev site [--browser NAME]: the pages of the repository as a site, in build/site.
#include "cli/dev/dev.h"
#include "cli/process/child.h"

namespace grade {

int dev_site(App& app, const DevArguments& arguments) {
  ChildOptions options;
  options.argv = {"sh", (app.paths().root / "setup/site.sh").string()};
  if (arguments.has("--browser")) {
    options.argv.insert(options.argv.end(), {"--browser", arguments.need("--browser")});
  }
  options.directory = app.paths().root;
  options.on_output = [](std::string_view text) { print(std::string(text)); };
  return run_child(options).ok() ? kPass : kFail;
}

}  // namespace grade

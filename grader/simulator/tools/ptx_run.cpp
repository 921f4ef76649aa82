// ptx_run [--device sim|gpu] FILE-or-DIR ...   runs PTX fixtures; `grade exec --ptx` starts it
// ptx_run --coverage FILE-or-DIR ...           which rows of the opcode table they execute
// ptx_run --expand FILE-or-DIR ...             the PTX that rows of tables stand for
// ptx_run --decode FILE ...                    instructions that the simulator does not know
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ptx_coverage.h"
#include "tools/ptx_fixture.h"

namespace {

constexpr const char* kUsage =
    "usage: ptx_run [--device sim|gpu] FILE-or-DIR ...\n"
    "       ptx_run --coverage FILE-or-DIR ...\n"
    "       ptx_run --expand FILE-or-DIR ...\n"
    "       ptx_run --decode FILE ...\n"
    "A file is .ptx, a .table, or one row of it: integer.table:add_s32\n";

int fail(const std::string& message) {
  std::cerr << message;
  return 2;
}

int expand(const std::vector<std::string>& paths) {
  using namespace warplings::sim;
  try {
    for (const std::string& path : paths) {
      for (const FixtureText& one : load_fixtures(path)) {
        std::cout << "// " << one.path << "\n" << one.text;
      }
    }
  } catch (const FixtureError& error) {
    return fail(std::string(error.what()) + "\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace warplings::sim;
  FixtureRunner runner = run_on_simulator;
  std::vector<std::string> paths;
  std::string_view mode;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--coverage" || argument == "--decode" || argument == "--expand") {
      mode = argument;
    } else if (argument == "--device") {
      const std::string_view device = i + 1 < argc ? argv[++i] : "";
      if (device != "sim" && device != "gpu") {
        return fail("ptx_run: --device is followed by sim or gpu\n");
      }
      if (device == "gpu") runner = run_on_gpu;
    } else {
      paths.emplace_back(argument);
    }
  }
  if (paths.empty()) return fail(kUsage);
  if (mode == "--coverage") return report_coverage(paths, std::cout);
  if (mode == "--expand") return expand(paths);
  if (mode == "--decode") return report_unknown(paths, std::cout);
  return run_ptx_fixtures(paths, std::cout, runner);
}

// ptx_run [--device sim|gpu] FILE-or-DIR ... : runs PTX fixtures. `grade exec --ptx` starts it.
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ptx_fixture.h"

int main(int argc, char** argv) {
  using namespace warplings::sim;
  FixtureRunner runner = run_on_simulator;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument != "--device") {
      paths.emplace_back(argument);
      continue;
    }
    const std::string_view device = i + 1 < argc ? argv[++i] : "";
    if (device != "sim" && device != "gpu") {
      std::cerr << "ptx_run: --device is followed by sim or gpu\n";
      return 2;
    }
    if (device == "gpu") runner = run_on_gpu;
  }
  if (paths.empty()) {
    std::cerr << "usage: ptx_run [--device sim|gpu] FILE-or-DIR ...\n";
    return 2;
  }
  int status = 0;
  for (const std::string& path : paths) {
    const int one = run_ptx_fixtures(path, std::cout, runner);
    if (one > status) status = one;
  }
  return status;
}

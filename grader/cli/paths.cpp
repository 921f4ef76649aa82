#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "cli/exercise_run.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

std::string variable(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : fallback;
}

}  // namespace

const char* name_of(Device device) { return device == Device::kGpu ? "GPU" : "simulator"; }

fs::path Paths::build(Device device) const {
  return root / "build" / (device == Device::kGpu ? "gpu" : "sim");
}

Paths find_paths() {
  Paths paths;
  // Started without the launcher, the executable is ROOT/build/sim/bin/grade.
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  fs::path guess = self.parent_path().parent_path().parent_path().parent_path();
  paths.root = variable("GRADE_ROOT", guess.string());
  paths.ninja = variable("GRADE_NINJA", "ninja");
  paths.cmake = variable("GRADE_CMAKE", "cmake");
  paths.cuda_home = variable("GRADE_CUDA_HOME", "/usr/local/cuda");
  paths.nvcc = variable("GRADE_NVCC", paths.cuda_home + "/bin/nvcc");
  return paths;
}

}  // namespace grade

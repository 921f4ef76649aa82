// grade exec PROGRAM ...: a program built elsewhere, or a file.cu that is built here, in the
// simulator with all checks on.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/process/interrupt.h"
#include "cli/simulated_program.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// PROGRAM as a shell would find it; "" if nowhere.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path candidate = fs::path(folders.substr(begin, end - begin)) / name;
    std::error_code error;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, error)) {
      return candidate.string();
    }
    begin = end + 1;
  }
  return "";
}

// "" or why the simulator cannot stand in for this program's CUDA runtime.
std::string problem_of(const std::string& program) {
  static constexpr const char* kBuild =
      " Build it with: nvcc -cudart shared --no-compress -lineinfo ... (CUDA 13)";
  std::string text;
  try {
    text = course::read_text(program);
  } catch (const course::Error&) {
    return "";  // executable but not readable: the system decides
  }
  const bool is_elf = course::starts_with(text,
                                          "\x7f"
                                          "ELF");
  if (!is_elf || text.find(".nv_fatbin") == std::string::npos) return "";  // a script, or no CUDA
  if (text.find("libcudart.so.13") != std::string::npos) return "";
  if (text.find("libcudart.so") != std::string::npos) {
    return program + " was built with another CUDA version than 13; the simulator reads 13 only." +
           kBuild;
  }
  return program + " holds the static CUDA runtime, so the simulator cannot take its place." +
         kBuild;
}

bool build_tool(App& app, const std::string& target, int* status) {
  const GradingHooks hooks = default_hooks(app);
  RunRequest request;
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  const BuildResult build = build_target(app.paths(), Device::kSimulator, target, request);
  clear_progress(app);
  if (build.status == BuildResult::Status::kBuilt) return true;
  complain(build.problem.empty() ? "the simulator does not build:\n" + build.log : build.problem);
  *status = kUsage;
  return false;
}

// The libraries of CUDA that the program is linked with and the simulator has: their names stand in
// the file as the loader reads them.
std::vector<std::string> libraries_of(const std::string& program) {
  const std::string bytes = course::read_text(program);
  std::vector<std::string> found;
  for (const char* name : {"cublas", "cublasLt", "cudnn", "cufft", "curand", "cusolver", "nccl"}) {
    if (bytes.find("lib" + std::string(name) + ".so.") != std::string::npos) found.push_back(name);
  }
  if (bytes.find("libcuda.so.1") != std::string::npos) found.emplace_back("cuda_driver");
  if (bytes.find("libnvrtc.so.") != std::string::npos) found.emplace_back("nvrtc");
  return found;
}

// The loader looks into these before all others.
void put_first(const char* variable, const std::string& path) {
  const char* before = std::getenv(variable);
  const bool had = before != nullptr && *before != '\0';
  ::setenv(variable, (had ? path + ":" + before : path).c_str(), 1);
}

// A name for the program of a source file: the same for the same file, and no other's.
fs::path program_of(const Paths& paths, const fs::path& source) {
  const size_t folder = std::hash<std::string>()(fs::absolute(source).parent_path().string());
  char name[20];
  std::snprintf(name, sizeof name, "%016zx", folder);
  return paths.build(Device::kSimulator) / "exec" / name / source.stem();
}

struct IncludedLibrary {
  const char *header, *library, *folder;  // folder: of its headers, in grader/simulator/libraries
};
constexpr IncludedLibrary kIncluded[] = {
    {"cublas_v2.h", "cublas", "cublas/include"},
    {"cublasLt.h", "cublasLt", "cublas/include"},
    {"cublasXt.h", "cublas", "cublas/include"},
    {"cudnn.h", "cudnn", "cudnn/include"},
    {"cufft.h", "cufft", "cufft/include"},
    {"curand.h", "curand", "curand/include"},
    {"curand_kernel.h", "", "curand/device"},  // nothing to link
    {"cusolverDn.h", "cusolver", "cusolver/include"},
    {"nccl.h", "nccl", "nccl/include"},
};

// Adds what a source needs that includes the header of a library: the simulator's library, and its
// header for a machine where the compiler finds no other.
bool add_libraries(App& app, const fs::path& source, std::vector<std::string>* argv, int* status) {
  const std::string text = course::read_text(source);
  for (const IncludedLibrary& included : kIncluded) {
    if (text.find("#include <" + std::string(included.header) + ">") == std::string::npos) continue;
    const std::string library = included.library;
    const fs::path folder = app.paths().root / "grader/simulator/libraries" / included.folder;
    argv->insert(argv->end(), {"-Xcompiler", "-idirafter", "-Xcompiler", folder.string()});
    if (library.empty()) continue;
    if (!build_tool(app, "warplings." + library + ".shared", status)) return false;
    argv->push_back("-l" + library);
  }
  argv->push_back("-L" + (app.paths().build(Device::kSimulator) / "lib").string());
  return true;
}

// Of what a program is made, as text; "" if it includes files of its own, which are not followed.
std::string inputs_of(const Paths& paths, const fs::path& source,
                      const std::vector<std::string>& argv) {
  const std::string text = course::read_text(source);
  if (text.find("#include \"") != std::string::npos) return "";
  course::Hash hash;
  hash.add(text).add(course::join(argv, " "));
  std::error_code error;
  for (const fs::path& tool : {fs::path(paths.nvcc), paths.build(Device::kSimulator) / "lib"}) {
    hash.add(std::to_string(fs::last_write_time(tool, error).time_since_epoch().count()));
  }
  for (const IncludedLibrary& included : kIncluded) {  // our own headers
    if (text.find(included.header) == std::string::npos) continue;
    const fs::path folder = paths.root / "grader/simulator/libraries" / included.folder;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
      if (entry.is_regular_file()) hash.add(course::read_text(entry.path()));
    }
  }
  return hash.hex();
}

// Compiles a file.cu as the simulator needs it, unless that is done already; "" if nvcc refuses it,
// which has said why.
std::string compile(App& app, const fs::path& source, int* status) {
  const fs::path program = program_of(app.paths(), source);
  fs::create_directories(program.parent_path());
  std::vector<std::string> argv = {
      app.paths().nvcc, "-std=c++17",   "-arch=compute_80", "-cudart", "shared",
      "--no-compress",  "-lineinfo",    "-Xcompiler",       "-g1",     "-o",
      program.string(), source.string()};
  if (!add_libraries(app, source, &argv, status)) return "";
  const std::string inputs = inputs_of(app.paths(), source, argv);
  const fs::path stamp = program.string() + ".inputs";
  if (!inputs.empty() && fs::exists(program) && fs::exists(stamp) &&
      course::read_text(stamp) == inputs) {
    return program.string();
  }
  fs::remove(stamp);
  if (run_in_foreground(argv) != 0) return "";
  if (!inputs.empty()) course::write_text(stamp, inputs);
  return program.string();
}

// Becomes the program: its output, its terminal and its exit status are its own.
int become(std::vector<std::string> argv) {
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  complain("cannot start " + argv[0] + ": " + std::strerror(errno));
  return kUsage;
}

}  // namespace

std::vector<std::string> simulated_program(App& app, const std::vector<std::string>& program_line,
                                           int* status) {
  std::vector<std::string> argv = program_line;
  if (fs::path(argv[0]).extension() == ".cu" && fs::exists(argv[0])) {
    *status = kFail;  // unless it compiles
    argv[0] = compile(app, argv[0], status);
    if (argv[0].empty()) return {};
  }
  const std::string program = find_program(argv[0]);
  if (program.empty()) throw UsageError("there is no program " + argv[0] + " that can be started.");
  argv[0] = program;
  const std::string problem = problem_of(program);
  if (!problem.empty()) throw UsageError(problem);
  if (!build_tool(app, "warplings.cudart", status)) return {};
  const std::vector<std::string> libraries = libraries_of(program);
  for (const std::string& library : libraries) {
    if (!build_tool(app, "warplings." + library + ".shared", status)) return {};
  }
  const fs::path folder = app.paths().build(Device::kSimulator) / "lib";
  put_first("LD_LIBRARY_PATH", folder.string());
  // NVRTC itself compiles; ours replaces two of its functions.
  if (std::count(libraries.begin(), libraries.end(), "nvrtc") > 0) {
    put_first("LD_PRELOAD", (folder / "libwarplings_nvrtc.so").string());
  }
  ::setenv("GRADE_EXEC", "1", 1);
  return argv;
}

int exec_command(App& app) {
  const Options& options = app.options();
  int status = kUsage;
  if (!options.ptx.empty()) {
    // "FILE.table:NAME" is one row of a table.
    const std::string file = options.ptx.substr(0, options.ptx.rfind(':'));
    if (!fs::exists(options.ptx) && !fs::exists(file)) {
      throw UsageError(options.ptx + " does not exist.");
    }
    const fs::path tool = app.paths().build(Device::kSimulator) / "bin" / "ptx_run";
    if (!build_tool(app, "ptx_run", &status)) return status;
    std::vector<std::string> argv = {tool.string(), options.ptx};
    argv.insert(argv.end(), options.rest.begin(), options.rest.end());
    return become(argv);
  }
  if (options.rest.empty()) {
    throw UsageError(
        "exec needs a program, or a file.cu: ./grade exec PROGRAM ... (./grade help exec)");
  }
  for (const auto& [variable, value] : {std::pair{"GRADE_SIM_TIMELINE", &options.timeline},
                                        {"GRADE_EXEC_CHECKS", &options.checks},
                                        {"GRADE_EXEC_SUPPRESSIONS", &options.suppress},
                                        {"GRADE_EXEC_JSON", &options.json_file},
                                        {"GRADE_EXEC_STATUS", &options.status}}) {
    if (!value->empty()) ::setenv(variable, value->c_str(), 1);
  }
  std::vector<std::string> argv = simulated_program(app, options.rest, &status);
  return argv.empty() ? status : become(std::move(argv));
}

}  // namespace grade

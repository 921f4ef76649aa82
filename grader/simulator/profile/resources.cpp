#include "profile/resources.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/gpu_model.h"
#include "core/machine.h"
#include "decode/program.h"
#include "ptx/select_kernels.h"

extern char** environ;

namespace warplings::sim {
namespace {

bool is_program(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string find_ptxas() {
  const Options& options = Machine::current().options();
  if (options.ptxas) return *options.ptxas;
  for (const std::string& folder : options.tool_folders) {
    if (is_program(folder + "/ptxas")) return folder + "/ptxas";
  }
  return "";
}

// Both outputs of the program; "" if it could not be run or failed.
std::string output_of(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int problem = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; problem == 0 && (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  if (problem != 0 || ::waitpid(pid, &status, 0) != pid || status != 0) return "";
  return text;
}

// FNV-1a: the same text, the same file, on every machine.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  return hash;
}

// Code for "sm_90a" is for that architecture and for no other, not even sm_90.
std::string assembler_arch(const std::string& ptx) {
  const std::string arch = gpu_model().ptxas_arch;
  const size_t at = ptx.find(".target " + arch + "a");
  return at == std::string::npos ? arch : arch + "a";
}

std::string run_ptxas(const std::string& ptxas, const std::string& ptx) {
  std::string name = Machine::current().options().temporary_folder + "/warplings-XXXXXX.ptx";
  constexpr int kSuffix = 4;  // ".ptx"
  const int file = ::mkstemps(name.data(), kSuffix);
  if (file < 0) return "";
  std::ofstream(name) << ptx;
  ::close(file);
  const std::string report =
      output_of({ptxas, "-v", "-arch", assembler_arch(ptx), "-o", "/dev/null", name});
  ::unlink(name.c_str());
  return report;
}

// The report on a module, from the cache where there is one.
std::string report_on(const std::string& ptx) {
  const std::string& folder = Machine::current().options().cache;
  std::string cached;
  if (!folder.empty()) {
    char key[64];
    std::snprintf(key, sizeof key, "/%016llx-%s.ptxas",
                  static_cast<unsigned long long>(hash_of(ptx)), assembler_arch(ptx).c_str());
    cached = folder + std::string(key);
    std::ifstream file(cached);
    std::ostringstream text;
    if (file && text << file.rdbuf()) return text.str();
  }
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return "";
  const std::string report = run_ptxas(ptxas, ptx);
  if (!cached.empty() && !report.empty()) {
    // Another process may write the same file: whole or not at all.
    const std::string unfinished = cached + "." + std::to_string(::getpid());
    std::ofstream(unfinished) << report;
    if (std::rename(unfinished.c_str(), cached.c_str()) != 0) ::unlink(unfinished.c_str());
  }
  return report;
}

int number_before(const std::string& line, const std::string& words) {
  const size_t at = line.find(words);
  if (at == std::string::npos) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return std::atoi(line.substr(begin, at - begin).c_str());
}

}  // namespace

std::string ptx_of_kernel(const std::string& module, const std::string& kernel) {
  bool found = false;
  const std::string text = ptx::select_kernels(module, [&](std::string_view name) {
    found |= name == kernel;
    return name == kernel;
  });
  return found ? text : "";
}

std::map<std::string, KernelResources> parse_ptxas_report(const std::string& report) {
  std::map<std::string, KernelResources> out;
  std::string current;
  std::istringstream lines(report);
  const std::string begin = "Compiling entry function '";
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(begin);
    if (at != std::string::npos) {
      const size_t name = at + begin.size();
      current = line.substr(name, line.find('\'', name) - name);
      continue;
    }
    if (current.empty()) continue;
    if (line.find(" bytes spill stores") != std::string::npos) {
      out[current].spill_store_bytes = number_before(line, " bytes spill stores");
      out[current].spill_load_bytes = number_before(line, " bytes spill loads");
    }
    if (line.find("Used ") != std::string::npos) {
      out[current].registers = number_before(line, " registers");
      out[current].estimated = false;
    }
  }
  return out;
}

const KernelResources& resources_of(const Kernel& kernel) {
  using Key = std::tuple<const LoadedModule*, std::string, std::string>;  // name, architecture
  struct Known {
    std::map<Key, KernelResources> all;
  };
  const auto [entry, is_new] =
      Machine::get<Known>().all.try_emplace({kernel.module, kernel.name, gpu_model().ptxas_arch});
  KernelResources& resources = entry->second;
  if (!is_new) return resources;
  const std::string& module = kernel.module->source->text;
  for (const std::string& text : {ptx_of_kernel(module, kernel.name), module}) {
    if (!text.empty() && resources.registers == 0) {
      resources = parse_ptxas_report(report_on(text))[kernel.name];
    }
  }
  if (resources.registers == 0) resources.registers = kernel.registers;
  return resources;
}

}  // namespace warplings::sim

#include "core/options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace warplings::sim {
namespace {

constexpr uint64_t kExecInstructions = 50'000'000'000;  // a program may be far larger than a test
constexpr int kMostDevices = 16;

// "" where the variable is not set.
std::string text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

// "512M"
uint64_t bytes_of(const std::string& text) {
  char* end = nullptr;
  const uint64_t number = std::strtoull(text.c_str(), &end, 10);
  switch (*end) {
    case 'G':
    case 'g':
      return number << 30;
    case 'M':
    case 'm':
      return number << 20;
    case 'K':
    case 'k':
      return number << 10;
    default:
      return number;
  }
}

TraceOptions trace_of_environment() {
  TraceOptions trace;
  trace.path = text_of("GRADE_SIM_TRACE");
  std::sscanf(text_of("GRADE_SIM_TRACE_BLOCK").c_str(), "%u,%u,%u", &trace.block.x, &trace.block.y,
              &trace.block.z);
  trace.warp = std::atoi(text_of("GRADE_SIM_TRACE_WARP").c_str());
  if (is_set("GRADE_SIM_TRACE_THREAD")) {
    trace.thread = std::atoi(text_of("GRADE_SIM_TRACE_THREAD").c_str());
    trace.warp = trace.thread / 32;
  }
  const std::string lines = text_of("GRADE_SIM_TRACE_LINES");
  if (std::sscanf(lines.c_str(), "%d:%d", &trace.first_line, &trace.last_line) == 1) {
    trace.last_line = trace.first_line;
  }
  return trace;
}

std::vector<std::string> folders_of_tools() {
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (is_set(variable)) folders.push_back(text_of(variable) + "/bin");
  }
  std::istringstream list(text_of("PATH"));
  for (std::string folder; std::getline(list, folder, ':');) folders.push_back(folder);
  folders.push_back("/usr/local/cuda/bin");
  return folders;
}

}  // namespace

std::optional<Schedule> order_named(const std::string& name) {
  if (name == "forward") return Schedule::kForward;
  if (name == "reversed") return Schedule::kReversed;
  if (name == "turns") return Schedule::kRoundRobin;
  if (name == "few") return Schedule::kFew;
  return std::nullopt;
}

Options options_of_environment() {
  Options options;
  options.checks = text_of("GRADE_SIM_CHECKS").rfind('0', 0) != 0;
  options.counters = text_of("GRADE_SIM_COUNTERS").rfind('0', 0) != 0;
  options.order = order_named(text_of("GRADE_SIM_ORDER"));
  options.is_exec = is_set("GRADE_EXEC");
  if (options.is_exec) options.max_warp_instructions = kExecInstructions;
  if (is_set("GRADE_SIM_MAX_WARP_INSTRUCTIONS")) {
    options.max_warp_instructions =
        std::strtoull(text_of("GRADE_SIM_MAX_WARP_INSTRUCTIONS").c_str(), nullptr, 10);
  }
  options.isa = text_of("GRADE_SIM_ISA");
  if (const std::string model = text_of("GRADE_SIM_MODEL"); !model.empty()) options.model = model;
  if (is_set("GRADE_SIM_DEVICES")) {
    options.devices = std::clamp(std::atoi(text_of("GRADE_SIM_DEVICES").c_str()), 1, kMostDevices);
  }
  if (const std::string memory = text_of("GRADE_SIM_MEMORY"); !memory.empty()) {
    options.memory = bytes_of(memory);
  }
  options.timeline = text_of("GRADE_SIM_TIMELINE");
  options.profile = text_of("GRADE_SIM_PROFILE");
  options.view = text_of("GRADE_SIM_VIEW");
  options.slice = std::atof(text_of("GRADE_SIM_SLICE").c_str());
  options.trace = trace_of_environment();
  if (is_set("GRADE_SIM_PTXAS")) options.ptxas = text_of("GRADE_SIM_PTXAS");
  options.tool_folders = folders_of_tools();
  options.cache = text_of("GRADE_SIM_CACHE");
  options.temporary_folder = is_set("TMPDIR") ? text_of("TMPDIR") : P_tmpdir;
  return options;
}

ExitOptions exit_options_of_environment() {
  return {text_of("GRADE_EXEC") == "1", is_set("GRADE_SIM_TIMELINE"),
          text_of("GRADE_EXEC_CHECKS"), text_of("GRADE_EXEC_SUPPRESSIONS"),
          text_of("GRADE_EXEC_JSON"),   text_of("GRADE_EXEC_STATUS")};
}

}  // namespace warplings::sim

#include "cli/nsight.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// A line of the table: metrics of Nsight Compute that are added up, and the counters of the
// simulator that count the same (grader/tests/counters proves it).
struct Compared {
  const char* title;
  std::vector<const char*> metrics, counters;
};

const std::vector<Compared>& compared() {
  static const std::vector<Compared> kCompared = {
      {"global load requests",
       {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
       {"global_load_requests"}},
      {"global load sectors",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
       {"global_load_sectors"}},
      {"global store requests",
       {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
       {"global_store_requests"}},
      {"global store sectors",
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
       {"global_store_sectors"}},
      {"shared load wavefronts",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"},
       {"shared_load_wavefronts"}},
      {"shared store wavefronts",
       {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"},
       {"shared_store_wavefronts"}},
      {"bank conflicts",
       {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
       {"shared_bank_conflicts"}},
      {"atomic requests",
       {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
       {"atomic_global_requests"}},
      {"warp instructions", {"smsp__inst_executed.sum"}, {"warp_instructions"}},
  };
  return kCompared;
}

constexpr char kTime[] = "gpu__time_duration.sum";  // nanoseconds

// "void f<32>(float *, int)" and "f<32>" are the same kernel: its name without arguments.
std::string plain_name(std::string name) {
  name = name.substr(0, name.find('('));
  name = name.substr(0, name.find('<'));
  const size_t space = name.rfind(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

// The fields of one line of CSV; quotes may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

size_t column(const std::vector<std::string>& head, const std::string& title) {
  return static_cast<size_t>(std::find(head.begin(), head.end(), title) - head.begin());
}

// "98,304" is a number, "n/a" is none.
bool read_number(std::string text, double* value) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  char* end = nullptr;
  *value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0';
}

using Metrics = std::map<std::string, double>;

// The launch that executed the most instructions, as the simulator's profile chooses it.
Metrics largest(const std::map<std::string, Metrics>& launches) {
  const auto instructions = [](const Metrics& launch) {
    const auto found = launch.find("smsp__inst_executed.sum");
    return found == launch.end() ? 0 : found->second;
  };
  return std::max_element(launches.begin(), launches.end(),
                          [&](const auto& a, const auto& b) {
                            return instructions(a.second) < instructions(b.second);
                          })
      ->second;
}

// The sum of those metrics that are there; false if none is.
bool sum_of(const KernelCounters& kernel, const std::vector<const char*>& names, double* sum) {
  bool any = false;
  *sum = 0;
  for (const char* name : names) {
    const auto found = kernel.metrics.find(name);
    if (found == kernel.metrics.end()) continue;
    any = true;
    *sum += found->second;
  }
  return any;
}

std::string row(const std::string& title, const std::string& hardware,
                const std::string& simulator) {
  char text[96];
  std::snprintf(text, sizeof text, "  %-26s %16s %16s\n", title.c_str(), hardware.c_str(),
                simulator.c_str());
  return text;
}

std::string count(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

std::string kernel_rows(const std::string& name, const KernelCounters& hardware,
                        const KernelCounters& simulator, const Terminal& terminal) {
  const std::string which =
      hardware.launches == 1 ? "1 launch"
                             : "the largest of " + std::to_string(hardware.launches) + " launches";
  std::string text = terminal.paint(Style::kBold, harmless(name)) + "  " + which + "\n";
  for (const Compared& compared : compared()) {
    double measured = 0, counted = 0;
    if (!sum_of(hardware, compared.metrics, &measured)) continue;
    sum_of(simulator, compared.counters, &counted);
    if (measured == 0 && counted == 0) continue;
    text += row(compared.title, count(measured), count(counted));
  }
  const auto time = hardware.metrics.find(kTime);
  if (time == hardware.metrics.end()) return text;
  char microseconds[32];
  std::snprintf(microseconds, sizeof microseconds, "%.1f us", time->second * 1e-3);
  return text + row("time", microseconds, "");
}

}  // namespace

std::string nsight_metrics() {
  std::string names = kTime;
  for (const Compared& row : compared()) {
    for (const char* metric : row.metrics) names += std::string(",") + metric;
  }
  return names;
}

CountersByKernel parse_nsight(const std::string& output) {
  CountersByKernel kernels;
  const size_t begin = output.find("\"ID\",");
  if (begin == std::string::npos) return kernels;
  std::istringstream lines(output.substr(begin));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> head = fields_of(line);
  const size_t id = column(head, "ID"), name = column(head, "Kernel Name"),
               metric = column(head, "Metric Name"), value = column(head, "Metric Value");
  std::map<std::string, std::map<std::string, Metrics>> launches;  // of each kernel, by id
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() <= std::max({id, name, metric, value})) continue;
    Metrics& launch = launches[plain_name(fields[name])][fields[id]];
    double number = 0;
    if (read_number(fields[value], &number)) launch[fields[metric]] = number;
  }
  for (const auto& [kernel, of_kernel] : launches) {
    kernels[kernel] = {static_cast<int>(of_kernel.size()), largest(of_kernel)};
  }
  return kernels;
}

CountersByKernel simulated_counters(const course::Json& profile) {
  CountersByKernel kernels;
  const course::Json* list = profile.find("kernels");
  for (size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const course::Json& item = list->items[i];
    KernelCounters& kernel = kernels[plain_name(item.string_or("name"))];
    const course::Json* totals = item.find("totals");
    if (totals == nullptr) continue;
    for (const course::JsonMember& member : totals->members) {
      if (member.value.is_number()) kernel.metrics[member.key] = member.value.number;
    }
  }
  return kernels;
}

std::string nsight_table(const CountersByKernel& hardware, const CountersByKernel& simulator,
                         const Terminal& terminal) {
  std::string text;
  for (const auto& [name, measured] : hardware) {
    const auto counted = simulator.find(name);
    if (counted != simulator.end()) text += kernel_rows(name, measured, counted->second, terminal);
  }
  return text.empty() ? text : row("", "hardware", "simulator") + text;
}

std::string nsight_problem(const std::string& output) {
  if (output.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return "Nsight Compute may not read this card's counters (ERR_NVGPUCTRPERM). An administrator "
           "can allow it: set the option NVreg_RestrictProfilingToAdminUsers=0 of the module "
           "nvidia in /etc/modprobe.d and start again, or run as root. In a container it needs "
           "the capability SYS_ADMIN.";
  }
  if (output.find("\"ID\",") != std::string::npos) return "";
  const size_t error = output.find("==ERROR==");
  const std::string line =
      error == std::string::npos ? "" : output.substr(error, output.find('\n', error) - error);
  return "Nsight Compute gave no counters" + (line.empty() ? "." : ": " + harmless(line));
}

std::string find_nsight() {
  std::vector<fs::path> places;
  std::istringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) places.push_back(folder);
  const char* home = std::getenv("CUDA_HOME");
  places.push_back(fs::path(home == nullptr ? "/usr/local/cuda" : home) / "bin");
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/opt/nvidia/nsight-compute", error)) {
    places.push_back(entry.path());
  }
  for (const fs::path& place : places) {
    if (::access((place / "ncu").c_str(), X_OK) == 0) return (place / "ncu").string();
  }
  return "";
}

}  // namespace grade

#include "cli/profile_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <vector>

#include "course/error.h"
#include "course/manifest.h"
#include "course/text.h"

namespace grade {
namespace {

using course::Json;

constexpr size_t kShownKernels = 3;
constexpr size_t kSourceColumn = 41;  // columns before the source
constexpr size_t kTensorColumn = 8;   // more where tensor cores work
constexpr size_t kNarrowest = 20;     // columns of source that are always shown

std::string format(const char* pattern, double value) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

// "812", "12.3k", "4.5M"
std::string count_text(double value) {
  if (value < 10000) return format("%.0f", value);
  if (value < 1e6) return format(value < 1e5 ? "%.1fk" : "%.0fk", value / 1e3);
  if (value < 1e9) return format(value < 1e8 ? "%.1fM" : "%.0fM", value / 1e6);
  return format("%.1fG", value / 1e9);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return format("%.3g us", 1e6 * seconds);
  if (seconds < 1) return format("%.3g ms", 1e3 * seconds);
  return format("%.3g s", seconds);
}

std::string ratio_text(double sum, double n) { return n == 0 ? "-" : format("%.1f", sum / n); }

double sum_of(const Json& counters, std::initializer_list<const char*> keys) {
  double sum = 0;
  for (const char* key : keys) sum += counters.number_or(key);
  return sum;
}

double tensor_operations(const Json& counters) { return counters.number_or("tensor_operations"); }

std::string line_row(const Json& line, bool with_tensor) {
  const Json& c = *line.find("counters");
  const double instructions = c.number_or("warp_instructions");
  const double requests = sum_of(c, {"global_load_requests", "global_store_requests"});
  const double shared = sum_of(c, {"shared_load_requests", "shared_store_requests"});
  return pad_left(count_text(instructions), 8) +
         pad_left(ratio_text(c.number_or("thread_instructions"), instructions), 6) +
         pad_left(ratio_text(sum_of(c, {"global_load_sectors", "global_store_sectors"}), requests),
                  6) +
         pad_left(
             ratio_text(sum_of(c, {"shared_load_wavefronts", "shared_store_wavefronts"}), shared),
             6) +
         (with_tensor ? pad_left(count_text(tensor_operations(c)), kTensorColumn) : "") +
         pad_left(format("%.0f%%", 100 * line.number_or("stalled")), 6);
}

std::vector<std::string> source_of(const std::string& file) {
  try {
    return course::split_lines(course::read_text(file));
  } catch (const course::Error&) {
    return {};  // not on this machine
  }
}

// The lines of one file, with what lies between them where it is short.
std::string file_rows(const std::vector<const Json*>& lines, const WorstLine& worst,
                      bool with_tensor, const Terminal& terminal) {
  constexpr int kContext = 2;  // lines without counters that are shown between two with
  const std::string file = lines.front()->string_or("file");
  const std::vector<std::string> source = source_of(file);
  const size_t width = static_cast<size_t>(terminal.width);
  const size_t column = kSourceColumn + (with_tensor ? kTensorColumn : 0);
  const size_t room = width == 0 ? 0 : std::max(width, column + kNarrowest) - column;
  const auto text_of = [&](int number) {
    const size_t index = static_cast<size_t>(number) - 1;
    return number >= 1 && index < source.size() ? cut(harmless(source[index]), room)
                                                : std::string();
  };
  const auto row = [&](const std::string& left, const std::string& text) {
    const std::string whole = pad(left, column) + text;
    return whole.substr(0, whole.find_last_not_of(' ') + 1);
  };
  std::string out;
  int last = 0;
  for (const Json* line : lines) {
    const int number = static_cast<int>(line->number_or("line"));
    if (last != 0 && number - last - 1 > kContext) {
      out += "   ...\n";
    } else {
      for (int between = last + 1; last != 0 && between < number; ++between) {
        out += terminal.paint(Style::kDim,
                              row("  " + pad_left(std::to_string(between), 5), text_of(between))) +
               "\n";
      }
    }
    const bool is_worst = worst.line == number && worst.file == file;
    const std::string left = std::string(is_worst ? "> " : "  ") +
                             pad_left(std::to_string(number), 5) + line_row(*line, with_tensor);
    const std::string whole = row(left, text_of(number));
    out += (is_worst ? terminal.paint(Style::kBad, whole) : whole) + "\n";
    last = number;
  }
  return out;
}

std::string lines_table(const Json& kernel, const WorstLine& worst, const Terminal& terminal) {
  std::map<std::string, std::vector<const Json*>> files;
  std::map<std::string, double> instructions;
  for (const Json& line : kernel.find("lines")->items) {
    const std::string file = line.string_or("file");
    files[file].push_back(&line);
    instructions[file] += line.find("counters")->number_or("warp_instructions");
  }
  const bool with_tensor = tensor_operations(*kernel.find("totals")) > 0;
  std::string out = std::string("   line   instr lanes  sect  wave") +
                    (with_tensor ? pad_left("tensor", kTensorColumn) : "") + "  wait  source\n";
  for (const auto& [file, lines] : files) {
    if (files.size() > 1) out += "  in " + harmless(file.substr(file.rfind('/') + 1)) + "\n";
    out += file_rows(lines, worst, with_tensor, terminal);
  }
  return out;
}

std::string memory_totals(const Json& c) {
  std::string out;
  const auto global = [&](const char* name, const std::string& prefix) {
    const double sectors = c.number_or(prefix + "_sectors");
    if (sectors == 0) return;
    out += std::string("  ") + pad(name, 14) + count_text(sectors) + " sectors in " +
           count_text(c.number_or(prefix + "_requests")) + " requests, " +
           format("%.0f %% of their bytes useful\n",
                  100 * c.number_or(prefix + "_unique_bytes") / (32 * sectors));
  };
  global("global loads", "global_load");
  global("global stores", "global_store");
  const double passes = sum_of(c, {"shared_load_wavefronts", "shared_store_wavefronts"});
  if (passes > 0) {
    out += "  shared        " + count_text(passes) + " passes in " +
           count_text(sum_of(c, {"shared_load_requests", "shared_store_requests"})) +
           " requests, " + count_text(c.number_or("shared_bank_conflicts")) +
           " of them bank conflicts\n";
  }
  const double local = sum_of(c, {"local_load_sectors", "local_store_sectors"});
  if (local > 0) out += "  local memory  " + count_text(local) + " sectors\n";
  const double atomics = sum_of(c, {"atomics_global", "atomics_shared"});
  if (atomics > 0) {
    out += "  atomics       " + count_text(atomics) + ", " +
           count_text(c.number_or("atomic_serialised")) + " more steps for lanes on one address\n";
  }
  return out;
}

std::string totals_text(const Json& kernel) {
  const Json& c = *kernel.find("totals");
  const double instructions = c.number_or("warp_instructions");
  std::string out = "  instructions  " + count_text(instructions) + ", " +
                    ratio_text(c.number_or("thread_instructions"), instructions) +
                    " of 32 lanes active\n" + memory_totals(c);
  if (tensor_operations(c) > 0) {
    out += "  tensor cores  " + count_text(tensor_operations(c)) + " operations\n";
  }
  if (c.number_or("branches") > 0) {
    out += "  branches      " + count_text(c.number_or("branches")) + ", " +
           count_text(c.number_or("divergent_branches")) + " divergent\n";
  }
  if (c.number_or("barriers") > 0) {
    out += "  barriers      " + count_text(c.number_or("barriers")) + " arrivals of warps\n";
  }
  return out;
}

const char* smallest_limit(const Json& occupancy) {
  const double blocks = occupancy.number_or("blocks");
  if (occupancy.number_or("by_warps") == blocks) return "threads";
  if (occupancy.number_or("by_registers") == blocks) return "registers";
  // Before shared memory: the share of the L1 is chosen so that it costs no block, which is a tie.
  if (occupancy.number_or("by_blocks") == blocks) return "the number of blocks";
  return "shared memory";
}

std::string cost_text(const Json& kernel, const std::string& model, int columns) {
  const Json& cost = *kernel.find("cost");
  const Json& occupancy = *cost.find("occupancy");
  const Json* busy = cost.find("busy")->find(cost.string_or("limiter"));
  const double shared = kernel.find("launch")->number_or("shared");
  std::string occupied =
      count_text(occupancy.number_or("blocks")) + " blocks at a time on a multiprocessor, " +
      format("%.0f %% of its warps; ", 100 * occupancy.number_or("fraction")) + "limited by " +
      smallest_limit(occupancy) + " (" + count_text(cost.number_or("registers")) + " registers" +
      (cost.bool_or("registers_estimated") ? ", estimated" : "");
  if (shared > 0) occupied += ", " + count_text(shared) + " bytes shared";
  occupied += "); " + format("%.1f waves", cost.number_or("waves"));
  std::string time = "modelled (" + model + ") " + time_text(cost.number_or("seconds"));
  const double multiprocessors = cost.number_or("multiprocessors");
  if (cost.number_or("slice", 1) > 1) {
    time += " on " + course::plural(static_cast<size_t>(multiprocessors), "multiprocessor") +
            " of the card, with " + (multiprocessors == 1 ? "its" : "their") +
            " part of L2 and DRAM";
  }
  time += ". Limited by " + cost.string_or("limiter_words");
  if (busy != nullptr && cost.string_or("limiter") != "latency") {
    time += format(", %.0f %% busy", 100 * busy->number);
  }
  time += format("; L1 has %.0f %% of the loads, ", 100 * cost.number_or("l1_hit_rate")) +
          format("L2 %.0f %% of the rest.", 100 * cost.number_or("l2_hit_rate"));
  return wrap(occupied, "  occupancy     ", columns) + wrap(time, "  time          ", columns);
}

std::string launch_text(const Json& kernel) {
  const Json& launch = *kernel.find("launch");
  const auto size = [&](const char* key) {
    double product = 1;
    for (const Json& extent : launch.find(key)->items) product *= extent.number;
    return product;
  };
  const double launches = kernel.number_or("launches");
  return (launches > 1 ? "the largest of " + count_text(launches) + " launches: " : std::string()) +
         count_text(size("grid")) + (size("grid") == 1 ? " block of " : " blocks of ") +
         count_text(size("block")) + (size("block") == 1 ? " thread" : " threads");
}

std::string kernel_text(const Json& kernel, const std::string& model, bool advice,
                        const Terminal& terminal) {
  const WorstLine worst = worst_line(kernel);
  std::string out = wrap(terminal.paint(Style::kBold, harmless(kernel.string_or("name"))) + "  " +
                             launch_text(kernel),
                         "", terminal.columns) +
                    lines_table(kernel, worst, terminal);
  if (worst.line != 0) {
    out += "\n" + wrap("line " + std::to_string(worst.line) + ": " + worst.reason +
                           (worst.cure.empty() ? ""
                            : advice           ? " " + worst.cure
                                               : " (--advice: the cure)"),
                       "> ", terminal.columns);
  }
  return out + "\n" + totals_text(kernel) + cost_text(kernel, model, terminal.columns);
}

}  // namespace

std::string profile_text(const Json& profile, const std::string& title, const std::string& only,
                         bool advice, const Terminal& terminal) {
  std::vector<const Json*> kernels;
  for (const Json& kernel : profile.find("kernels")->items) {
    if (kernel.string_or("name").find(only) != std::string::npos) kernels.push_back(&kernel);
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const Json* a, const Json* b) {
    return a->find("cost")->number_or("seconds") > b->find("cost")->number_or("seconds");
  });
  std::string out = terminal.paint(Style::kBold, harmless(title)) + "  in the simulator\n";
  if (kernels.empty()) {
    return out + (only.empty() ? "  No kernel was launched.\n"
                               : "  No kernel with \"" + harmless(only) + "\" in its name ran.\n");
  }
  const size_t shown = only.empty() ? std::min(kernels.size(), kShownKernels) : kernels.size();
  for (size_t i = 0; i < shown; ++i) {
    out += "\n" + kernel_text(*kernels[i], profile.string_or("model"), advice, terminal);
  }
  if (shown < kernels.size()) {
    std::string more;
    for (size_t i = shown; i < kernels.size(); ++i) {
      more += (more.empty() ? "" : ", ") + harmless(kernels[i]->string_or("name"));
    }
    out += "\n" + wrap("also ran, shown with --kernel NAME: " + more, "", terminal.columns);
  }
  return out + "\n" +
         wrap(
             "instr: instructions, one per warp. lanes: active, of 32. sect: 32-byte sectors per "
             "request to global memory. wave: passes per request to shared memory. wait: share of "
             "the time that warps wait, until the line's instructions can be issued.",
             "", terminal.columns);
}

}  // namespace grade

#include "profile/profile_log.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "core/machine.h"
#include "decode/program.h"
#include "profile/json.h"
#include "profile/resources.h"

namespace warplings::sim {
namespace {

std::string counters_json(const wsim_counters& c) {
  JsonObject out;
#define WSIM_COUNTER(name, meaning) \
  if (c.name != 0) out.count(#name, c.name);
#include "warplings/counters.def"
#undef WSIM_COUNTER
  return out.str();
}

const char* traffic_name(Traffic traffic) {
  constexpr const char* kNames[] = {
      "",           "global load", "global store",  "shared load",  "shared store",
      "local load", "local store", "global atomic", "shared atomic"};
  return kNames[static_cast<int>(traffic)];
}

const char* limiter_key(int limiter) {
  constexpr const char* kKeys[] = {"issue",  "fp32", "integer", "fp64", "special",
                                   "tensor", "l1",   "l2",      "dram", "latency"};
  return kKeys[limiter];
}

std::string cost_json(const Kernel& kernel, const LaunchCost& cost) {
  const KernelResources& resources = resources_of(kernel);
  JsonObject busy;
  for (int i = 0; i < kLimiters; ++i) busy.number(limiter_key(i), cost.busy[i]);
  const auto rate = [](uint64_t hits, uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
  };
  const Occupancy& o = cost.occupancy;
  return JsonObject()
      .number("seconds", cost.seconds)
      .text("limiter", limiter_key(static_cast<int>(cost.limiter)))
      .text("limiter_words", limiter_words(cost.limiter))
      .number("slice", cost.slice)
      .count("multiprocessors",
             static_cast<uint64_t>(gpu_model().multiprocessors / cost.slice + 0.5))
      .number("waves", cost.waves)
      .count("registers", static_cast<uint64_t>(resources.registers))
      .flag("registers_estimated", resources.estimated)
      .count("spill_bytes",
             static_cast<uint64_t>(resources.spill_store_bytes + resources.spill_load_bytes))
      .raw("occupancy", JsonObject()
                            .count("blocks", static_cast<uint64_t>(o.blocks))
                            .number("fraction", o.fraction)
                            .count("by_blocks", static_cast<uint64_t>(o.by_blocks))
                            .count("by_registers", static_cast<uint64_t>(o.by_registers))
                            .count("by_shared", static_cast<uint64_t>(o.by_shared))
                            .count("by_warps", static_cast<uint64_t>(o.by_warps))
                            .str())
      .raw("busy", busy.str())
      .number("l1_hit_rate", rate(cost.l1_hits, cost.l1_sectors))
      .number("l2_hit_rate", rate(cost.l2_hits, cost.l2_sectors))
      .count("dram_bytes", cost.dram_bytes)
      .str();
}

struct LineSums {
  wsim_counters counters{};
  double stalled = 0;
  std::vector<std::string> accesses;  // JSON
};

}  // namespace

ProfileLog& ProfileLog::instance() { return Machine::get<ProfileLog>(); }

void ProfileLog::start() {
  const Options& options = Machine::current().options();
  if ((options.profile.empty() && options.view.empty()) || instance().is_on_) return;
  instance().is_on_ = true;
  instance().path_ = options.profile;
  Recorder::instance().stay_on(options.slice);
  if (!options.view.empty()) ViewRecorder::instance().start();
  if (!options.profile.empty()) std::atexit([] { instance().write(); });
}

// The largest launch, among those that execute about as much of the kernel's code: a test of an
// edge case may start very many blocks that have nothing to do.
bool ProfileLog::is_more_telling(const Entry& known, uint64_t instructions, uint64_t code) {
  if (3 * code < 2 * known.code) return false;
  return 3 * known.code < 2 * code || instructions >= known.instructions;
}

void ProfileLog::add(const Kernel& kernel, const LaunchConfig& config,
                     const std::vector<PcCounters>& counters, const LaunchCost& cost) {
  Entry& entry = kernels_[kernel.name];
  ++entry.launches;
  uint64_t instructions = 0, code = 0;
  for (const PcCounters& c : counters) {
    instructions += c.issued;
    code += c.issued > 0;
  }
  if (!is_more_telling(entry, instructions, code)) return;
  entry.kernel = &kernel;
  entry.instructions = instructions;
  entry.code = code;
  entry.config = config;
  entry.counters = counters;
  entry.distances = Recorder::instance().last().distances;
  entry.cost = cost;
  entry.view = ViewRecorder::instance().last();
}

std::string ProfileLog::entry_json(const Entry& entry) {
  const LoadedModule& module = *entry.kernel->module;
  std::map<std::pair<std::string, int>, LineSums> lines;
  wsim_counters totals{};
  for (uint32_t pc = 0; pc < entry.counters.size(); ++pc) {
    const PcCounters& c = entry.counters[pc];
    if (c.issued == 0) continue;
    const Position where = module.position_of(pc).user;
    LineSums& line = lines[{where.file, where.line}];
    fold_counters(module, pc, c, line.counters);
    fold_counters(module, pc, c, totals);
    const auto stalled = entry.cost.stalled_at.find(pc);
    if (stalled != entry.cost.stalled_at.end()) line.stalled += stalled->second;
    if (c.traffic == Traffic::kNone) continue;
    JsonObject access;
    access.text("kind", traffic_name(c.traffic))
        .count("requests", c.requests)
        .count("transactions", c.transactions)
        .count("excess", c.excess)
        .count("bytes", c.bytes)
        .count("unique_bytes", c.unique_bytes);
    const auto distance = entry.distances.find(pc);
    if (distance != entry.distances.end() && distance->second.is_typical()) {
      access.raw("distance", std::to_string(distance->second.bytes));
    }
    line.accesses.push_back(access.str());
  }
  std::vector<std::string> rows;
  for (const auto& [where, line] : lines) {
    rows.push_back(JsonObject()
                       .text("file", where.first)
                       .count("line", static_cast<uint64_t>(where.second))
                       .number("stalled", line.stalled)
                       .raw("counters", counters_json(line.counters))
                       .raw("accesses", json_array(line.accesses))
                       .str());
  }
  const LaunchConfig& config = entry.config;
  JsonObject out;
  if (entry.view != nullptr) out.raw("view", launch_view_json(*entry.view, &entry.counters));
  return out.text("name", entry.kernel->demangled)
      .count("launches", entry.launches)
      .raw("launch", JsonObject()
                         .raw("grid", dim_json(config.grid))
                         .raw("block", dim_json(config.block))
                         .count("shared", entry.kernel->static_shared + config.dynamic_shared)
                         .text("file", config.where.file)
                         .count("line", static_cast<uint64_t>(std::max(0, config.where.line)))
                         .str())
      .raw("cost", cost_json(*entry.kernel, entry.cost))
      .raw("totals", counters_json(totals))
      .raw("lines", json_array(rows))
      .str();
}

std::string ProfileLog::json() const {
  std::vector<std::string> kernels;
  for (const auto& [name, entry] : kernels_) kernels.push_back(entry_json(entry));
  const GpuModel& model = gpu_model();
  return JsonObject()
             .count("format", 1)
             .text("kind", "profile")
             .text("model", model.name)
             .raw("kernels", json_array(kernels))
             .str() +
         "\n";
}

void ProfileLog::write() const {
  std::ofstream file(path_);
  file << json();
  if (!file.flush()) std::fprintf(stderr, "GRADE_SIM_PROFILE: cannot write %s\n", path_.c_str());
}

}  // namespace warplings::sim

// A recorded launch as compact JSON: numbers in rows, addresses as a place in an array and the
// distance from lane to lane where that is the same for all of them.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <map>

#include "core/machine.h"
#include "decode/program.h"
#include "profile/json.h"
#include "profile/trace_values.h"
#include "profile/view_recorder.h"

namespace warplings::sim {
namespace {

const char* kind_of(Traffic traffic) {
  constexpr const char* kNames[] = {
      "",           "global load", "global store",  "shared load",  "shared store",
      "local load", "local store", "global atomic", "shared atomic"};
  return kNames[static_cast<int>(traffic)];
}

// Files are named once, lines are [file, line].
class Places {
 public:
  explicit Places(const LoadedModule& module) : module_(module) {}
  std::string line_of(uint32_t pc) {
    const Position where = module_.position_of(pc).user;
    const auto [entry, is_new] = numbers_.try_emplace(where.file, files_.size());
    if (is_new) files_.push_back(json_string(where.file));
    return std::to_string(entry->second) + "," + std::to_string(where.line);
  }
  std::string files() const { return json_array(files_); }

 private:
  const LoadedModule& module_;
  std::map<std::string, size_t> numbers_;
  std::vector<std::string> files_;
};

std::string ptx_of(const LoadedModule& module, uint32_t pc) {
  std::string_view line = module.source->text_of_line(module.text_lines[pc]);
  const size_t first = line.find_first_not_of(" \t{");
  if (first == std::string_view::npos) return "";
  line.remove_prefix(first);
  return std::string(line.substr(0, std::min(line.find_last_not_of(" \t;\r") + 1, size_t{120})));
}

// In which array all active lanes are; -1: not one.
int array_of(const LaunchView& view, const AccessSample& sample) {
  const auto holds = [&](const ViewArray& array, uint64_t address) {
    constexpr uint64_t kNear = 1 << 16;  // red zones belong to it
    return address + kNear >= array.address && address < array.address + array.bytes + kNear;
  };
  int found = -1;
  uint64_t nearest = ~uint64_t{0};
  const uint64_t first = sample.address[static_cast<size_t>(std::countr_zero(sample.mask))];
  for (size_t i = 0; i < view.arrays.size(); ++i) {
    const ViewArray& array = view.arrays[i];
    if (!holds(array, first)) continue;
    const uint64_t off = first < array.address ? array.address - first
                         : first < array.address + array.bytes
                             ? 0
                             : first - array.address - array.bytes;
    if (off < nearest) {
      nearest = off;
      found = static_cast<int>(i);
    }
  }
  if (found < 0) return -1;
  for (uint32_t rest = sample.mask; rest != 0; rest &= rest - 1) {
    const size_t lane = static_cast<size_t>(std::countr_zero(rest));
    if (!holds(view.arrays[static_cast<size_t>(found)], sample.address[lane])) return -1;
  }
  return found;
}

// "array, first, distance" where lane i is at first + i * distance, else "array, [offsets]" of the
// active lanes. Array -1: plain addresses, or offsets in shared and local memory.
std::string addresses_json(const LaunchView& view, Traffic traffic, const AccessSample& sample) {
  const bool global = traffic == Traffic::kGlobalLoad || traffic == Traffic::kGlobalStore ||
                      traffic == Traffic::kGlobalAtomic;
  const int array = global ? array_of(view, sample) : -1;
  const uint64_t base = array < 0 ? 0 : view.arrays[static_cast<size_t>(array)].address;
  const int first = std::countr_zero(sample.mask);
  const auto offset = [&](int lane) {
    return static_cast<int64_t>(sample.address[static_cast<size_t>(lane)] - base);
  };
  const uint32_t others = sample.mask & (sample.mask - 1);
  int64_t distance = 0;
  bool is_line = true;
  if (others != 0) {
    const int second = std::countr_zero(others);
    distance = (offset(second) - offset(first)) / (second - first);
    for (uint32_t rest = sample.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      is_line &= offset(lane) == offset(first) + (lane - first) * distance;
    }
  }
  std::string text = std::to_string(array) + ",";
  if (is_line) {
    return text + std::to_string(offset(first) - first * distance) + "," + std::to_string(distance);
  }
  std::vector<int64_t> offsets;
  for (uint32_t rest = sample.mask; rest != 0; rest &= rest - 1) {
    offsets.push_back(offset(std::countr_zero(rest)));
  }
  return text + json_array(offsets);
}

std::string site_json(const LaunchView& view, const AccessSite& site, Places& places) {
  std::vector<std::string> samples;
  for (const AccessSample& s : site.samples) {
    samples.push_back("[" + std::to_string(s.number) + "," + std::to_string(s.block) + "," +
                      std::to_string(s.warp) + "," + std::to_string(s.mask) + "," +
                      std::to_string(s.transactions) + "," + addresses_json(view, site.traffic, s) +
                      "]");
  }
  return JsonObject()
      .count("pc", site.pc)
      .raw("line", "[" + places.line_of(site.pc) + "]")
      .text("kind", kind_of(site.traffic))
      .count("bytes", site.bytes)
      .count("element", site.element)
      .count("executions", site.executions)
      .raw("samples", json_array(samples))
      .str();
}

// Times that have not come are -1; an mbarrier is its offset in shared memory.
std::string pipeline_json(const PipelineView& pipeline, Places& places) {
  const auto row = [](std::initializer_list<uint32_t> numbers, const std::string& more = "") {
    std::string text;
    for (const uint32_t n : numbers) {
      text += (text.empty() ? "[" : ",") + (n == kNever ? "-1" : std::to_string(n));
    }
    return text + (more.empty() ? "" : "," + more) + "]";
  };
  std::vector<std::string> phases, flights, waits;
  for (const PhaseSpan& p : pipeline.phases()) {
    phases.push_back(row({p.object, p.number, p.start, p.end}));
  }
  for (const Flight& f : pipeline.flights()) {
    flights.push_back(row({static_cast<uint32_t>(f.kind), f.warp, f.start, f.end, f.shared, f.bytes,
                           f.object, f.phase, f.count},
                          places.line_of(f.pc)));
  }
  for (const PhaseWait& w : pipeline.waits()) {
    waits.push_back(
        row({w.warp, w.lanes, w.start, w.end, w.object, w.phase}, places.line_of(w.pc)));
  }
  return JsonObject()
      .raw("phases", json_array(phases))
      .raw("flights", json_array(flights))
      .raw("waits", json_array(waits))
      .flag("cut", pipeline.is_cut())
      .str();
}

std::string block_json(const BlockView& block, Places& places) {
  std::vector<std::string> steps, stores;
  for (const BlockStep& step : block.steps) {
    steps.push_back("[" + std::to_string(static_cast<int>(step.kind)) + "," +
                    std::to_string(step.warp) + "," + std::to_string(step.start) + "," +
                    std::to_string(step.length) + "," + places.line_of(step.pc) + "," +
                    std::to_string(step.lanes) + "]");
  }
  for (const SharedStore& store : block.stores) {
    std::string values;
    for (const auto& [offset, value] : store.values) {
      values += (values.empty() ? "" : ",") + std::to_string(offset) + "," + value;
    }
    stores.push_back("[" + std::to_string(store.time) + "," + std::to_string(store.warp) + "," +
                     places.line_of(store.pc) + ",[" + values + "]]");
  }
  JsonObject out;
  out.raw("index", dim_json(block.index))
      .flag("wrong", block.is_wrong)
      .flag("cut", block.is_cut)
      .raw("steps", json_array(steps))
      .raw("stores", json_array(stores));
  if (!block.pipeline.empty()) out.raw("pipeline", pipeline_json(block.pipeline, places));
  return out.str();
}

std::string variables_json(const LaunchView& view) {
  const Function& function =
      view.kernel->module->functions[static_cast<size_t>(view.kernel->function)];
  std::vector<std::string> all;
  const auto add = [&](const std::string& name, uint64_t offset, uint64_t size) {
    all.push_back(
        JsonObject().text("name", name).count("offset", offset).count("size", size).str());
  };
  for (const SharedVariable& variable : function.shared_variables) {
    if (variable.size > 0) add(plain_name(variable.name), variable.offset, variable.size);
  }
  if (view.config.dynamic_shared > 0) {
    add("dynamic shared", function.shared_dynamic_at, view.config.dynamic_shared);
  }
  return json_array(all);
}

// Parameters of four bytes, as integers: sizes, as a rule, from which shapes can be guessed.
std::string numbers_json(const LaunchView& view) {
  std::vector<int> numbers;
  for (const Kernel::Param& param : view.kernel->params) {
    if (param.size != 4 || param.offset + 4 > view.params.size()) continue;
    int value = 0;
    std::copy_n(view.params.data() + param.offset, 4, reinterpret_cast<uint8_t*>(&value));
    numbers.push_back(value);
  }
  return json_array(numbers);
}

}  // namespace

std::string dim_json(const Dim3& d) { return json_array(std::vector<unsigned>{d.x, d.y, d.z}); }

std::string launch_view_json(const LaunchView& view, const std::vector<PcCounters>* counters) {
  Places places(*view.kernel->module);
  std::vector<std::string> sites, arrays, code;
  for (const auto& [pc, site] : view.sites) sites.push_back(site_json(view, site, places));
  for (const ViewArray& array : view.arrays) {
    const std::string name =
        array.name.empty() ? "allocation " + std::to_string(array.id) : plain_name(array.name);
    arrays.push_back(JsonObject()
                         .text("name", name)
                         .count("bytes", array.bytes)
                         .count("skew", array.address % 128)
                         .text("made_at", array.made_at)
                         .str());
  }
  for (uint32_t pc = 0; counters != nullptr && pc < counters->size(); ++pc) {
    const PcCounters& c = (*counters)[pc];
    if (c.issued == 0) continue;
    code.push_back("[" + places.line_of(pc) + "," + json_string(ptx_of(*view.kernel->module, pc)) +
                   "," + std::to_string(c.issued) + "," + std::to_string(c.lanes) + "]");
  }
  JsonObject out;
  out.raw("grid", dim_json(view.config.grid))
      .raw("block", dim_json(view.config.block))
      .count("shared_bytes", view.shared_bytes)
      .raw("numbers", numbers_json(view))
      .raw("arrays", json_array(arrays))
      .raw("variables", variables_json(view))
      .raw("sites", json_array(sites))
      .raw("code", json_array(code));
  if (view.has_block) out.raw("steps", block_json(view.block, places));
  return out.raw("files", places.files()).str();
}

std::string scene_json(const Scene& scene) {
  std::vector<std::string> parties;
  for (const Party& party : scene.parties) {
    parties.push_back(JsonObject()
                          .raw("block", dim_json(party.block))
                          .count("warp", static_cast<uint64_t>(party.warp))
                          .count("lanes", party.lanes)
                          .text("file", party.where.file)
                          .count("line", static_cast<uint64_t>(std::max(0, party.where.line)))
                          .text("does", party.does)
                          .str());
  }
  JsonObject out;
  out.raw("grid", dim_json(scene.grid))
      .raw("block", dim_json(scene.block))
      .raw("parties", json_array(parties));
  if (scene.has_place) {
    out.raw("offset", std::to_string(scene.offset))
        .count("bytes", scene.bytes)
        .flag("shared", scene.shared)
        .text("array", plain_name(scene.array))
        .count("array_bytes", scene.array_bytes)
        .count("mask", scene.mask)
        .raw("asked", json_array(std::vector<int64_t>(scene.asked.begin(), scene.asked.end())));
  }
  return out.str();
}

}  // namespace warplings::sim

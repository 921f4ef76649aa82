#include "cli/view/recording.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <regex>

#include "cli/view/picture.h"
#include "course/error.h"

namespace grade::view {
namespace {

const course::Json& member(const course::Json& json, const char* key) {
  const course::Json* value = json.find(key);
  if (value == nullptr) {
    throw course::Error("the recording", 0, std::string("has no \"") + key + "\".");
  }
  return *value;
}

int64_t integer(const course::Json& json) { return static_cast<int64_t>(json.number); }

std::array<int, 3> three(const course::Json& json) {
  std::array<int, 3> out{};
  for (size_t i = 0; i < 3 && i < json.items.size(); ++i) {
    out[i] = static_cast<int>(json.items[i].number);
  }
  return out;
}

Sample sample_of(const course::Json& row) {
  const std::vector<course::Json>& v = row.items;
  Sample sample;
  sample.number = static_cast<uint64_t>(v[0].number);
  sample.block = static_cast<uint64_t>(v[1].number);
  sample.warp = static_cast<int>(v[2].number);
  sample.mask = static_cast<uint32_t>(v[3].number);
  sample.transactions = static_cast<int>(v[4].number);
  sample.array = static_cast<int>(v[5].number);
  size_t next = 0;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!((sample.mask >> lane) & 1)) continue;
    sample.offsets[static_cast<size_t>(lane)] =
        v[6].is_array() ? integer(v[6].items[next++]) : integer(v[6]) + lane * integer(v[7]);
  }
  return sample;
}

// An allocation without a name has that of the pointer which it was made for: `cudaMalloc(&in,
// ...)`.
std::string name_of_array(const course::Json& array, const std::vector<course::Json>& files) {
  std::string name = array.string_or("name");
  const std::string made_at = array.string_or("made_at");
  const size_t colon = made_at.rfind(':');
  if (name.rfind("allocation ", 0) != 0 || colon == std::string::npos) return name;
  static const std::regex kPointer("Malloc\\w*\\((?:reinterpret_cast<[^>]*>\\()?&(\\w+)");
  const int line = std::atoi(made_at.c_str() + colon + 1);
  for (const course::Json& file : files) {
    if (!file.text.ends_with("/" + made_at.substr(0, colon))) continue;
    const std::string text = line_of_file(file.text, line);
    std::smatch found;
    if (std::regex_search(text, found, kPointer)) return found[1];
  }
  return name;
}

std::string shown_value(const course::Json& value) {
  if (value.is_string()) return value.text;
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value.number);
  return text;
}

Pipeline pipeline_of(const course::Json& json, const std::vector<course::Json>& files) {
  Pipeline out;
  const auto reader = [](const course::Json& row) {
    return [&row](size_t i) { return static_cast<int>(row.items[i].number); };
  };
  const auto file_of = [&](const course::Json& row, size_t i) {
    return files[static_cast<size_t>(row.items[i].number)].text;
  };
  for (const course::Json& row : member(json, "phases").items) {
    const auto at = reader(row);
    out.phases.push_back({at(0), at(1), at(2), at(3)});
  }
  for (const course::Json& row : member(json, "flights").items) {
    const auto at = reader(row);
    out.flights.push_back(
        {at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8), at(10), file_of(row, 9)});
  }
  for (const course::Json& row : member(json, "waits").items) {
    const auto at = reader(row);
    out.waits.push_back({at(0), static_cast<uint32_t>(row.items[1].number), at(2), at(3), at(4),
                         at(5), at(7), file_of(row, 6)});
  }
  out.is_cut = json.bool_or("cut");
  return out;
}

void read_block(const course::Json& block, const std::vector<course::Json>& files, Launch* launch) {
  const auto file_of = [&](const course::Json& row, size_t at) {
    return files[static_cast<size_t>(row.items[at].number)].text;
  };
  launch->index = three(member(block, "index"));
  launch->is_cut = block.bool_or("cut");
  for (const course::Json& row : member(block, "steps").items) {
    const auto at = [&](size_t i) { return static_cast<int>(row.items[i].number); };
    launch->steps.push_back({at(0), at(1), at(2), at(3), at(5),
                             static_cast<uint32_t>(row.items[6].number), file_of(row, 4)});
  }
  for (const course::Json& row : member(block, "stores").items) {
    const auto at = [&](size_t i) { return static_cast<int>(row.items[i].number); };
    Store store{at(0), at(1), at(3), file_of(row, 2), {}};
    const std::vector<course::Json>& values = row.items[4].items;
    for (size_t i = 0; i + 1 < values.size(); i += 2) {
      store.values.emplace_back(integer(values[i]), shown_value(values[i + 1]));
    }
    launch->stores.push_back(std::move(store));
  }
  if (const course::Json* json = block.find("pipeline")) {
    launch->pipeline = pipeline_of(*json, files);
  }
}

Launch launch_from(const std::string& kernel, const course::Json& view) {
  Launch launch;
  launch.kernel = kernel;
  launch.grid = three(member(view, "grid"));
  launch.block = three(member(view, "block"));
  const std::vector<course::Json>& files = member(view, "files").items;
  for (const course::Json& array : member(view, "arrays").items) {
    launch.arrays.push_back({name_of_array(array, files), 0,
                             static_cast<int64_t>(array.number_or("bytes")),
                             static_cast<int64_t>(array.number_or("skew"))});
  }
  for (const course::Json& variable : member(view, "variables").items) {
    launch.variables.push_back({variable.string_or("name"),
                                static_cast<int64_t>(variable.number_or("offset")),
                                static_cast<int64_t>(variable.number_or("size")), 0});
  }
  for (const course::Json& json : member(view, "sites").items) {
    Site site;
    const std::vector<course::Json>& line = member(json, "line").items;
    site.file = files[static_cast<size_t>(line[0].number)].text;
    site.line = static_cast<int>(line[1].number);
    site.kind = json.string_or("kind");
    site.bytes = static_cast<int>(json.number_or("bytes"));
    site.element = static_cast<int>(json.number_or("element"));
    site.executions = static_cast<uint64_t>(json.number_or("executions"));
    for (const course::Json& row : member(json, "samples").items) {
      site.samples.push_back(sample_of(row));
    }
    launch.sites.push_back(std::move(site));
  }
  if (const course::Json* block = view.find("steps")) read_block(*block, files, &launch);
  return launch;
}

bool has_line_in(const course::Json& kernel, const std::string& file) {
  const std::vector<course::Json>& lines = member(kernel, "lines").items;
  return std::any_of(lines.begin(), lines.end(), [&](const course::Json& line) {
    return line.string_or("file").ends_with(file);
  });
}

// Passes of lanes that are served together.
std::vector<Pass> serve(const Site& site, const Sample& sample, uint32_t lanes) {
  std::array<std::vector<std::pair<int64_t, std::vector<int>>>, kWarp> banks;
  for (int lane = 0; lane < kWarp; ++lane) {
    if (!((lanes >> lane) & 1)) continue;
    const int64_t first = *sample.offsets[static_cast<size_t>(lane)] / 4;
    for (int64_t w = first; w < first + std::max(1, site.bytes / 4); ++w) {
      auto& queue = banks[static_cast<size_t>(w % kWarp)];
      const auto known =
          std::find_if(queue.begin(), queue.end(), [&](const auto& q) { return q.first == w; });
      if (known != queue.end()) {
        known->second.push_back(lane);
      } else {
        queue.push_back({w, {lane}});
      }
    }
  }
  std::vector<Pass> passes;
  for (int bank = 0; bank < kWarp; ++bank) {
    const auto& queue = banks[static_cast<size_t>(bank)];
    if (passes.size() < queue.size()) passes.resize(queue.size());
    for (size_t p = 0; p < queue.size(); ++p) passes[p][bank] = queue[p].second;
  }
  return passes;
}

bool lanes_share(const Sample& sample, uint32_t lanes) {
  for (const int distance : {1, 2}) {
    bool shared = true;
    for (int lane = 0; lane < kWarp; ++lane) {
      const int other = lane ^ distance;
      if (!((lanes >> lane) & 1) || !((lanes >> other) & 1)) continue;
      shared &=
          sample.offsets[static_cast<size_t>(lane)] == sample.offsets[static_cast<size_t>(other)];
    }
    if (shared) return true;
  }
  return false;
}

}  // namespace

const Sample& Site::worst() const {
  return *std::max_element(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
    return a.transactions < b.transactions;
  });
}

int Launch::end() const {
  int last = 1;
  for (const Step& step : steps) last = std::max(last, step.start + step.length);
  return last;
}

std::string Launch::object_name(int offset) const {
  constexpr int kObject = 8;  // bytes
  for (const Extent& variable : variables) {
    if (offset < variable.begin || offset >= variable.begin + variable.bytes) continue;
    if (variable.bytes == kObject) return variable.name;
    if (variable.name == "dynamic shared") break;
    return variable.name + "[" + std::to_string((offset - variable.begin) / kObject) + "]";
  }
  return "byte " + std::to_string(offset);
}

Extent Launch::target(const Site& site, const Sample& sample) const {
  const int64_t first = *sample.offsets[static_cast<size_t>(std::countr_zero(sample.mask))];
  if (site.is_local()) return {"local memory", 0, 0, 0};
  if (site.is_shared()) {
    for (const Extent& variable : variables) {
      if (first >= variable.begin && first < variable.begin + variable.bytes) return variable;
    }
    return {"shared memory", 0, 0, 0};
  }
  if (sample.array < 0) return {"addresses", 0, 0, 0};
  return arrays[static_cast<size_t>(sample.array)];
}

Recording::Recording(course::Json json) : json_(std::move(json)) {}

const course::Json& Recording::kernel(const std::string& name, const std::string& file) const {
  const course::Json* best = nullptr;
  std::pair<bool, double> rank;
  for (const course::Json& kernel : member(member(json_, "profile"), "kernels").items) {
    if (kernel.string_or("name").find(name) == std::string::npos) continue;
    const std::pair<bool, double> mine{!file.empty() && has_line_in(kernel, file),
                                       member(kernel, "totals").number_or("warp_instructions")};
    if (best == nullptr || mine > rank) {
      best = &kernel;
      rank = mine;
    }
  }
  if (best == nullptr) {
    throw course::Error(
        "the recording", 0,
        name.empty() ? "no kernel was launched." : "no kernel has \"" + name + "\" in its name.");
  }
  return *best;
}

Launch Recording::launch_of(const course::Json& kernel) const {
  return launch_from(kernel.string_or("name"), member(kernel, "view"));
}

std::optional<Launch> Recording::wrong_launch_of(const course::Json& kernel) const {
  for (const course::Json& wrong : member(json_, "wrong").items) {
    if (wrong.string_or("name") == kernel.string_or("name")) {
      return launch_from(wrong.string_or("name"), member(wrong, "view"));
    }
  }
  return std::nullopt;
}

Sectors sectors_of(const Site& site, const Sample& sample, int64_t skew) {
  constexpr int64_t kSector = 32, kLine = 128, kWord = 4;
  Sectors out;
  std::map<int64_t, bool> seen;
  for (int lane = 0; lane < kWarp; ++lane) {
    const std::optional<int64_t> offset = sample.offsets[static_cast<size_t>(lane)];
    if (!offset) continue;
    // The words of a thread lie 128 bytes apart in local memory.
    const int64_t first = site.is_local() ? *offset / 4 * kLine + lane * kWord : *offset + skew;
    const int64_t bytes = site.is_local() ? std::min(4, site.bytes) : site.bytes;
    if (!seen[first]) out.wanted += bytes;
    seen[first] = true;
    for (int64_t at = first; at < first + bytes; at += std::min(kWord, bytes)) {
      out.moved[(at + (kSector << 32)) / kSector - (int64_t{1} << 32)] = true;
      const int64_t line = (at + (kLine << 32)) / kLine - (int64_t{1} << 32);
      std::vector<int>& lanes = out.lines[line][static_cast<int>((at - line * kLine) / kWord)];
      if (lanes.empty() || lanes.back() != lane) lanes.push_back(lane);
    }
  }
  return out;
}

std::vector<Pass> passes_of(const Site& site, const Sample& sample) {
  if (site.bytes <= 4) return serve(site, sample, sample.mask);
  const int width = site.bytes == 8 ? 16 : 8;  // lanes that are served together at least
  std::vector<Pass> out;
  for (int first = 0; first < kWarp; first += 2 * width) {
    const uint32_t half = (uint32_t{1} << width) - 1;
    const uint32_t low = sample.mask & (half << first),
                   high = sample.mask & (half << (first + width));
    std::vector<Pass> apart = serve(site, sample, low);
    for (Pass& pass : serve(site, sample, high)) apart.push_back(std::move(pass));
    if (low != 0 && high != 0 && lanes_share(sample, low | high)) {
      std::vector<Pass> together = serve(site, sample, low | high);
      if (together.size() < apart.size()) apart = std::move(together);
    }
    out.insert(out.end(), apart.begin(), apart.end());
  }
  return out;
}

std::string site_name(const Launch& launch, const Site& site) {
  const char* verb = site.kind.ends_with("load")    ? "read from "
                     : site.kind.ends_with("store") ? "write to "
                                                    : "atomic on ";
  return "line " + std::to_string(site.line) + ": " + verb +
         launch.target(site, site.samples.front()).name;
}

std::string sample_text(const Launch& launch, const Site& site, const Sample& sample) {
  std::string text =
      "Warp " + std::to_string(sample.warp) + " of block " + std::to_string(sample.block) + ": ";
  const int n = sample.transactions;
  if (site.is_shared()) {
    return text + std::to_string(n) + (n == 1 ? " pass" : " passes") + " through the banks";
  }
  const Sectors sectors = sectors_of(site, sample, launch.target(site, sample).skew);
  return text + std::to_string(sectors.moved.size()) +
         (sectors.moved.size() == 1 ? " sector moves, " : " sectors move, ") +
         std::to_string(sectors.wanted) + " of " + std::to_string(32 * sectors.moved.size()) +
         " bytes are wanted";
}

}  // namespace grade::view

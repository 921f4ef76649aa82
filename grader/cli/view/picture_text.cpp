#include <algorithm>
#include <bit>
#include <cstdio>
#include <set>

#include "cli/terminal.h"
#include "cli/view/picture.h"

namespace grade::view {
namespace {

constexpr size_t kMostRows = 8;  // of one lens
constexpr int kSide = 12;        // columns of what stands before a row

std::string padded_left(const std::string& text, size_t columns) {
  return text.size() >= columns ? text : std::string(columns - text.size(), ' ') + text;
}

// Two columns for each word of a line: █ wanted by one lane, ▓ by several, ░ moves for nothing.
std::string lens_rows(const Launch& launch, const Site& site, const Sample& sample) {
  const Extent target = launch.target(site, sample);
  const Sectors sectors = sectors_of(site, sample, target.skew);
  std::string text;
  size_t rows = 0;
  for (const auto& [line, words] : sectors.lines) {
    if (rows++ == kMostRows) break;
    const int64_t element = (line * 128 - target.skew) / std::max(1, site.element);
    std::string name =
        (target.name.size() > 5 ? "" : target.name) + "[" + std::to_string(element) + "]";
    text += padded_left(name.substr(0, kSide - 1), kSide - 1) + " ";
    for (int w = 0; w < kWarp; ++w) {
      if (w % 8 == 0) text += w == 0 ? "▏" : " ▏";
      const auto lanes = words.find(w);
      const bool moves = sectors.moved.count(line * 4 + w / 8) != 0;
      text += lanes == words.end() ? (moves ? "░" : "·") : lanes->second.size() > 1 ? "▓" : "█";
    }
    text += "\n";
  }
  if (sectors.lines.size() > kMostRows) {
    text += std::string(kSide, ' ') + "and " + std::to_string(sectors.lines.size() - kMostRows) +
            " more lines of 128 bytes\n";
  }
  return text;
}

// A column for each bank, as high as it has passes.
std::string bank_rows(const Site& site, const Sample& sample) {
  const std::vector<Pass> passes = passes_of(site, sample);
  std::string text;
  for (size_t p = 0; p < passes.size() && p < kMostRows; ++p) {
    text += padded_left("pass " + std::to_string(p + 1), kSide - 1) + " ▏";
    for (int bank = 0; bank < kWarp; ++bank) {
      const auto lanes = passes[p].find(bank);
      text += lanes == passes[p].end() ? "·" : lanes->second.size() > 1 ? "▓" : "█";
    }
    text += "\n";
  }
  if (passes.size() > kMostRows) {
    text += std::string(kSide, ' ') + "and " + std::to_string(passes.size() - kMostRows) +
            " more passes\n";
  }
  return text;
}

// A row for each warp (or each thread of a small block), a column for a stretch of steps: the most
// lanes that run in it, as a block of eighths; - waits, x waits for ever.
std::string block_rows(const Launch& launch, int columns) {
  constexpr const char* kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const int wide = columns - kSide - 2;
  const int warps = (launch.threads() + kWarp - 1) / kWarp, end = launch.end();
  std::string text;
  for (int w = 0; w < warps && w < 32; ++w) {
    std::vector<int> runs(static_cast<size_t>(wide), 0), waits = runs;
    for (const Step& step : launch.steps) {
      if (step.warp != w) continue;
      const int first = step.start * wide / end;
      const int last =
          std::min(wide - 1, std::max(first, (step.start + step.length) * wide / end - 1));
      for (int x = first; x <= last; ++x) {
        int& most =
            step.kind == Step::kRuns ? runs[static_cast<size_t>(x)] : waits[static_cast<size_t>(x)];
        most = std::max(most, step.kind == Step::kRuns ? std::popcount(step.lanes) : step.kind);
      }
    }
    text += padded_left("warp " + std::to_string(w), kSide - 1) + " ▏";
    for (size_t x = 0; x < runs.size(); ++x) {
      text += runs[x] > 0                       ? kEighths[(runs[x] + 3) / 4]
              : waits[x] == Step::kWaitsForever ? "x"
              : waits[x] == Step::kWaits        ? "-"
                                                : " ";
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string picture_text(const Launch& launch, int columns) {
  std::string text = wrap(launch.kernel, "", columns, true);
  std::set<std::string> shown;
  for (const Site& site : launch.sites) {
    if (site.samples.empty()) continue;
    const Sample& sample = site.worst();
    const std::string name = site_name(launch, site);
    if (!shown.insert(name).second) continue;  // unrolled: the same line again
    text += "\n" + wrap(name, "", columns, true) +
            wrap(sample_text(launch, site, sample), "  ", columns) +
            (site.is_shared() ? bank_rows(site, sample) : lens_rows(launch, site, sample));
  }
  if (!shown.empty()) {
    text += "\n" + wrap("█ wanted by one lane, ▓ by several, ░ moves for nothing, · does not move",
                        "", columns);
  }
  if (!launch.steps.empty()) {
    text += "\n" +
            wrap("Block (" + std::to_string(launch.index[0]) + ", " +
                     std::to_string(launch.index[1]) + ", " + std::to_string(launch.index[2]) +
                     ") over " + course::plural(static_cast<size_t>(launch.end()), "step") +
                     ": full blocks are 32 lanes, - waits at a barrier, x waits for ever",
                 "", columns) +
            block_rows(launch, columns);
  }
  if (!launch.pipeline.empty()) text += "\n" + pipeline_text(launch);
  return text;
}

}  // namespace grade::view

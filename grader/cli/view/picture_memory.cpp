// Pictures of memory: one access of one warp as lines and sectors, or as banks and passes; an array
// and who touches it; an array in shared memory as it changes.
#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "cli/view/picture.h"
#include "cli/view/svg.h"
#include "course/error.h"
#include "course/text.h"

namespace grade::view {

namespace {

std::string number_word(int n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

const Site& site_for(const Launch& launch, const PictureName& name) {
  const bool any = name.kind == PictureName::Kind::kMap;
  const bool shared = name.kind == PictureName::Kind::kBanks;
  int number = name.number;
  std::set<int> others;
  for (const Site& site : launch.sites) {
    if ((!any && site.is_shared() != shared) || site.samples.empty()) continue;
    others.insert(site.line);
    if (site.line == name.line && --number == 0) return site;
  }
  std::vector<std::string> lines;
  for (const int line : others) lines.push_back(std::to_string(line));
  const std::string what = any ? "memory" : shared ? "shared memory" : "global memory";
  throw course::Error("the run", 0,
                      launch.kernel + " has no such access to " + what + " in line " +
                          std::to_string(name.line) + "; " +
                          (lines.empty() ? "it has none at all."
                                         : "there are some in " + course::join(lines, ", ") + "."));
}

// The execution that is asked for by block, warp or number, or else the worst.
const Sample& sample_for(const Launch& launch, const Site& site, const PictureName& name) {
  const int block = name.crop_or("block", -1), warp = name.crop_or("warp", -1);
  const int at = name.crop_or("at", -1);
  if (block < 0 && warp < 0 && at < 0) return site.worst();
  for (const Sample& sample : site.samples) {
    if ((block < 0 || sample.block == static_cast<uint64_t>(block)) &&
        (warp < 0 || sample.warp == warp) &&
        (at < 0 || sample.number == static_cast<uint64_t>(at))) {
      return sample;
    }
  }
  throw course::Error("the run", 0,
                      launch.kernel + " has no execution of line " + std::to_string(site.line) +
                          " by that block and warp among those that were kept.");
}

// The heading of an access, its code below; where the picture begins.
double access_heading(Svg& svg, const Launch& launch, const Site& site, const std::string& words,
                      const SourceLine& source) {
  svg.heading(launch.kernel + ", " + site_name(launch, site), words);
  const std::string code = code_of(source, site.file, site.line);
  if (!code.empty()) svg.code(16, 66, code);
  return code.empty() ? 0 : 20;
}

// A row of 32 words, each wanted by lanes, or moved, or neither.
void memory_row(Svg& svg, double y, const std::map<int, std::vector<int>>& wanted,
                const std::function<bool(int)>& moves) {
  svg.rect(kLeft, y, kWarp * kCell, kCell, "#ffffff", " stroke=\"" + std::string(kRule) + "\"");
  std::string borders;
  for (int w = 1; w < kWarp; ++w) {
    borders +=
        "M" + std::to_string(kLeft + w * kCell) + " " + digits(y) + "v" + std::to_string(kCell);
  }
  svg.path(borders, kRule);
  for (int w = 0; w < kWarp; ++w) {
    const double x = kLeft + w * kCell;
    const auto lanes = wanted.find(w);
    if (lanes != wanted.end()) {
      svg.tile(x + 1, y + 1, kCell - 2, kCell - 2, kWanted);
    } else if (moves(w)) {
      svg.tile(x + 1, y + 1, kCell - 2, kCell - 2, kUnused);
    }
  }
  svg.flush_tiles();
  for (const auto& [w, lanes] : wanted) {
    const size_t n = lanes.size();
    svg.text(kLeft + (w + 0.5) * kCell, y + 14,
             n > 1 ? std::to_string(n) + "×" : std::to_string(lanes.front()), "middle", "#ffffff",
             10);
  }
}

bool shares_words(const std::map<int, std::vector<int>>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(),
                     [](const auto& word) { return word.second.size() > 1; });
}

}  // namespace

std::string lens_svg(const Launch& launch, const PictureName& name, const SourceLine& source) {
  const size_t most = static_cast<size_t>(name.crop_or("rows", 8));
  const Site& site = site_for(launch, name);
  const Sample& sample = sample_for(launch, site, name);
  const Extent target = launch.target(site, sample);
  const Sectors sectors = sectors_of(site, sample, target.skew);
  const std::string words = sample_text(launch, site, sample);
  Svg svg("Memory that one warp asks for, " + site_name(launch, site), words + ".");
  double y = 78 + access_heading(svg, launch, site, words + ". The numbers are lanes.", source);
  for (int k = 0; k < 4; ++k) {
    svg.text(kLeft + (8 * k + 4) * kCell, y - 8, "sector " + std::to_string(k), "middle", kDim, 11);
  }
  size_t shown = 0;
  bool shares = false;
  for (const auto& [line, wanted] : sectors.lines) {
    if (shown++ == most) break;
    const int64_t element = (line * 128 - target.skew) / std::max(1, site.element);
    svg.text(kLeft - 8, y + 14,
             (target.name.size() > 7 ? "" : target.name) + "[" + std::to_string(element) + "]",
             "end", kDim, 11);
    const int64_t number = line;
    shares |= shares_words(wanted);
    memory_row(svg, y, wanted, [&](int w) { return sectors.moved.count(number * 4 + w / 8) != 0; });
    for (int k = 0; k < 4; ++k) {
      const bool moves = sectors.moved.count(line * 4 + k) != 0;
      svg.rect(kLeft + 8 * k * kCell, y - 2, 8 * kCell, kCell + 4, "none",
               std::string(" rx=\"3\" stroke=\"") + (moves ? kDim : kRule) + "\"");
    }
    y += kCell + 8;
  }
  if (sectors.lines.size() > most) {
    svg.text(
        kLeft, y + 12,
        "and " +
            number_word(static_cast<int>(sectors.lines.size() - most), "more line", "more lines") +
            " of 128 bytes",
        "start", kDim, 11);
    y += 22;
  }
  svg.key(kLeft, y + 14, kWanted,
          shares ? "wanted by this lane, or by so many (×)" : "wanted by this lane");
  svg.key(kLeft + 250, y + 14, kUnused, "moves, and nobody wants it");
  return svg.str(kSheet, y + 30);
}

std::string banks_svg(const Launch& launch, const PictureName& name, const SourceLine& source) {
  const size_t most = static_cast<size_t>(name.crop_or("rows", 8));
  const Site& site = site_for(launch, name);
  const Sample& sample = sample_for(launch, site, name);
  const std::vector<Pass> passes = passes_of(site, sample);
  const std::string words = sample_text(launch, site, sample);
  const bool shared = std::any_of(passes.begin(), passes.end(), shares_words);
  Svg svg("The banks that one warp asks, " + site_name(launch, site), words + ".");
  double y = 78 + access_heading(svg, launch, site,
                                 words + ". The numbers are lanes" +
                                     (shared ? "; 2× is one word for two." : "."),
                                 source);
  svg.text(kLeft - 8, y - 10, "bank", "end", kDim, 11);
  for (int bank = 0; bank < kWarp; ++bank) {
    svg.text(kLeft + (bank + 0.5) * kCell, y - 10, std::to_string(bank), "middle", kDim, 10);
  }
  for (size_t p = 0; p < passes.size() && p < most; ++p) {
    svg.text(kLeft - 8, y + 14, "pass " + std::to_string(p + 1), "end", kDim, 11);
    memory_row(svg, y, passes[p], [](int) { return false; });
    y += kCell + 4;
  }
  if (passes.size() > most) {
    svg.text(
        kLeft, y + 12,
        "and " + number_word(static_cast<int>(passes.size() - most), "more pass", "more passes"),
        "start", kDim, 11);
    y += 22;
  }
  return svg.str(kSheet, y + 10);
}

namespace {

// Who touches an element: a thread of a block, in the how manieth execution.
struct Touch {
  uint64_t block = 0;
  int thread = 0, turn = 0;
};

struct Touches {
  Extent target;
  std::map<int64_t, std::vector<Touch>> of;  // element
  std::set<uint64_t> blocks;
  std::set<int> warps;
  int turns = 0;
  bool ordered = true;  // the turns are in the order of time
  uint64_t kept = 0, executions = 0;
};

// All accesses of that kind to that array in that line: unrolled, a loop is several.
Touches touches_of(const Launch& launch, const Site& first) {
  Touches out;
  out.target = launch.target(first, first.samples.front());
  std::map<std::pair<uint64_t, int>, int> turns;  // of a warp
  int sites = 0;
  bool repeats = false;
  for (const Site& site : launch.sites) {
    if (site.line != first.line || site.kind != first.kind || site.samples.empty()) continue;
    if (launch.target(site, site.samples.front()).name != out.target.name) continue;
    out.executions += site.executions;
    ++sites;
    std::set<std::pair<uint64_t, int>> warps;
    for (const Sample& sample : site.samples) {
      ++out.kept;
      repeats |= !warps.insert({sample.block, sample.warp}).second;
      const int turn = turns[{sample.block, sample.warp}]++;
      out.turns = std::max(out.turns, turn + 1);
      out.blocks.insert(sample.block);
      out.warps.insert(sample.warp);
      for (int lane = 0; lane < kWarp; ++lane) {
        const std::optional<int64_t> offset = sample.offsets[static_cast<size_t>(lane)];
        if (!offset) continue;
        for (int at = 0; at < site.bytes; at += std::max(1, site.element)) {
          const int64_t element = (*offset - out.target.begin + at) / std::max(1, site.element);
          out.of[element].push_back({sample.block, kWarp * sample.warp + lane, turn});
        }
      }
    }
  }
  out.ordered = sites == 1 || !repeats;  // who came first of two loops in one is not recorded
  return out;
}

// -1: threads of several groups.
const char* hue_of(int group) { return group < 0 ? "#4a5560" : kHues[group]; }

struct Colouring {
  enum By { kBlock, kWarp, kTurn, kNothing } by = kNothing;
  // The colour that all have, or -1.
  int of(const std::vector<Touch>& all) const {
    const int first = of(all.front());
    const bool same =
        std::all_of(all.begin(), all.end(), [&](const Touch& touch) { return of(touch) == first; });
    return same ? first : -1;
  }
  int of(const Touch& touch) const {
    switch (by) {
      case kBlock:
        return static_cast<int>(touch.block % 8);
      case kWarp:
        return touch.thread / grade::view::kWarp % 8;
      case kTurn:
        return touch.turn % 8;
      case kNothing:
        return 0;
    }
    return 0;
  }
};

// What the colours stand for.
void draw_groups(Svg& svg, double y, const std::set<int>& used, const Colouring& colours,
                 bool is_alone) {
  const char* const kWords[] = {"block ", "warp ", "turn ", ""};
  double x = kLeft;
  for (const int hue : used) {
    if (colours.by == Colouring::kNothing || (colours.by == Colouring::kTurn && is_alone)) break;
    if (hue < 0) continue;
    svg.key(x, y + 16, kHues[hue],
            kWords[colours.by] + std::to_string(hue + (colours.by == Colouring::kTurn ? 1 : 0)));
    x += 80;
  }
}

}  // namespace

std::string map_svg(const Launch& launch, const PictureName& name, const SourceLine& source) {
  const Site& site = site_for(launch, name);
  const Touches touches = touches_of(launch, site);
  const int64_t all = touches.target.bytes / std::max(1, site.element);
  const int64_t last = std::max(touches.of.rbegin()->first + 1, all);
  const int cols = std::clamp(name.crop_or("cols", 16), 1, 32);
  const int64_t from = name.crop_or("from", 0);
  const int64_t rows =
      std::clamp<int64_t>((last - from + cols - 1) / cols, 1, name.crop_or("rows", 8));
  const double cell = std::min(60.0, 640.0 / cols);
  const Colouring colours{touches.blocks.size() > 1              ? Colouring::kBlock
                          : touches.warps.size() > 1             ? Colouring::kWarp
                          : touches.turns > 1 && touches.ordered ? Colouring::kTurn
                                                                 : Colouring::kNothing};
  std::string words = "Cells are elements of " + touches.target.name + ", with the thread that " +
                      (site.kind.ends_with("load")    ? "reads them"
                       : site.kind.ends_with("store") ? "writes them"
                                                      : "updates them");
  size_t crowd = 0;
  for (const auto& [element, who] : touches.of) crowd = std::max(crowd, who.size());
  if (crowd > 1) words += "; 3× is three accesses";
  Svg svg("Elements of " + touches.target.name + " and the threads that touch them", words + ".");
  double y = 64 + access_heading(svg, launch, site, words + ".", source);
  const bool is_alone = launch.threads() == 1;
  std::set<int> used;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t begin = from + r * cols;
    svg.text(kLeft - 8, y + 19, "[" + std::to_string(begin) + "]", "end", kDim, 11);
    for (int c = 0; c < cols && begin + c < last; ++c) {
      const auto who = touches.of.find(begin + c);
      const double x = kLeft + c * cell;
      svg.rect(
          x + 1, y + 1, cell - 2, 26,
          who == touches.of.end() ? "#ffffff" : hue_of(colours.of(who->second)),
          " rx=\"3\" stroke=\"" + std::string(begin + c >= all && all > 0 ? kWrong : kRule) + "\"");
      if (who == touches.of.end()) continue;
      used.insert(colours.of(who->second));
      const size_t n = who->second.size();
      svg.text(x + cell / 2, y + 18,
               n > 1 ? std::to_string(n) + "×"
               : colours.by == Colouring::kTurn && is_alone
                   ? "turn " + std::to_string(who->second[0].turn + 1)
                   : std::to_string(who->second[0].thread),
               "middle", "#ffffff", cols > 20 ? 9 : 11);
    }
    y += 30;
  }
  if (from + rows * cols < last) {
    svg.text(kLeft, y + 12, "and " + std::to_string(last - from - rows * cols) + " more elements",
             "start", kDim, 11);
    y += 20;
  }
  if (touches.kept < touches.executions) {
    svg.text(kLeft, y + 12,
             std::to_string(touches.kept) + " of " + std::to_string(touches.executions) +
                 " accesses of warps are drawn",
             "start", kDim, 11);
    y += 20;
  }
  draw_groups(svg, y, used, colours, is_alone);
  return svg.str(kSheet, y + (used.empty() || colours.by == Colouring::kNothing ? 8 : 30));
}

namespace {

// The elements of a variable after some warps have written it in one line.
struct Moment {
  int line = 0;
  std::string file;
  std::map<int64_t, std::string> values;
  std::set<int64_t> fresh;
};

// A new one begins with another line, and where a warp comes back to the same.
std::vector<Moment> moments_of(const Launch& launch, const Extent& variable) {
  std::vector<Store> stores = launch.stores;
  std::stable_sort(stores.begin(), stores.end(),
                   [](const Store& a, const Store& b) { return a.time < b.time; });
  std::vector<Moment> moments;
  std::set<int> warps;
  for (const Store& store : stores) {
    const auto inside = [&](int64_t offset) {
      return offset >= variable.begin && offset < variable.begin + variable.bytes;
    };
    if (store.values.empty() || !inside(store.values.front().first)) continue;
    if (moments.empty() || moments.back().line != store.line || !warps.insert(store.warp).second) {
      warps = {store.warp};
      moments.push_back({store.line,
                         store.file,
                         moments.empty() ? std::map<int64_t, std::string>() : moments.back().values,
                         {}});
    }
    for (const auto& [offset, value] : store.values) {
      moments.back().values[offset] = value;
      moments.back().fresh.insert(offset);
    }
  }
  return moments;
}

// "the first 16 of 64 elements, the first 8 of 12 steps"
std::string left_out(int cols, int64_t all, size_t rows, size_t moments) {
  std::string more;
  if (cols < all) {
    more = "the first " + std::to_string(cols) + " of " + std::to_string(all) + " elements";
  }
  if (moments > rows) {
    more += (more.empty() ? "" : ", ") +
            ("the first " + std::to_string(rows) + " of " + std::to_string(moments) + " steps");
  }
  return more;
}

}  // namespace

std::string shared_svg(const Launch& launch, const PictureName& name, const SourceLine& source) {
  const auto variable = std::find_if(launch.variables.begin(), launch.variables.end(),
                                     [&](const Extent& v) { return v.name == name.what; });
  if (variable == launch.variables.end()) {
    throw course::Error("the run", 0,
                        launch.kernel + " has no " + name.what + " in shared memory.");
  }
  const std::vector<Moment> moments = moments_of(launch, *variable);
  if (moments.empty()) {
    throw course::Error("the run", 0, launch.kernel + " writes nothing to " + name.what + ".");
  }
  int64_t size = 8;
  for (const auto& [offset, value] : moments.back().values) {
    size = std::gcd(size, offset - variable->begin);
  }
  size = std::max<int64_t>(size, 1);
  const int64_t all = variable->bytes / size;
  const int cols = static_cast<int>(std::min<int64_t>(all, name.crop_or("cols", 16)));
  const size_t rows = std::min(moments.size(), static_cast<size_t>(name.crop_or("rows", 8)));
  constexpr double kName = 60;
  const double cell = std::min(60.0, (kSheet - 16 - kName - 16) / cols);
  Svg svg(name.what + " in shared memory, step by step",
          number_word(static_cast<int>(rows), "step", "steps") + " of " + launch.kernel + ".");
  svg.heading(launch.kernel + ": " + name.what + " in shared memory, step by step",
              "Block " + std::to_string(launch.index[0]) +
                  ". Each row is after the line beside it; blue is what that line wrote, a dot was "
                  "never written.");
  double y = 70;
  for (int c = 0; c < cols; ++c) {
    svg.text(16 + kName + (c + 0.5) * cell, y, std::to_string(c), "middle", kDim, 10);
  }
  y += 8;
  std::map<int, std::string> lines;
  for (size_t r = 0; r < rows; ++r) {
    const Moment& moment = moments[r];
    lines[moment.line] = code_of(source, moment.file, moment.line);
    svg.text(16 + kName - 8, y + 18, "line " + std::to_string(moment.line), "end", kDim, 11);
    for (int c = 0; c < cols; ++c) {
      const int64_t offset = variable->begin + c * size;
      const auto value = moment.values.find(offset);
      const bool fresh = moment.fresh.count(offset) != 0;
      const double x = 16 + kName + c * cell;
      svg.rect(x + 1, y + 1, cell - 2, 26, fresh ? kWanted : "#ffffff",
               " rx=\"3\" stroke=\"" + std::string(kRule) + "\"");
      svg.text(x + cell / 2, y + 18, value == moment.values.end() ? "·" : value->second, "middle",
               fresh ? "#ffffff" : kInk, 11);
    }
    y += 30;
  }
  if (moments.size() > rows || cols < all) {
    svg.text(16 + kName, y + 12, left_out(cols, all, rows, moments.size()), "start", kDim, 11);
    y += 18;
  }
  for (const auto& [line, code] : lines) {
    if (code.empty()) continue;
    svg.text(16 + kName - 8, y + 16, std::to_string(line), "end", kDim, 11);
    svg.code(16 + kName, y + 16, code);
    y += 18;
  }
  return svg.str(kSheet, y + 12);
}

}  // namespace grade::view

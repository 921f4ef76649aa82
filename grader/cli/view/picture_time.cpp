// Pictures of time: the threads of a block, and the streams of a program.
#include <algorithm>
#include <set>

#include "cli/view/picture.h"
#include "cli/view/svg.h"
#include "course/error.h"
#include "course/text.h"

namespace grade::view {

namespace {

constexpr const char* kOther = "#9aa5b1";  // lines that are not named
constexpr size_t kNamed = 7;               // lines with a colour of their own

// The lines in which a block spends most, by their number; each has a colour.
std::map<int, std::pair<std::string, std::string>> colours_of(const Launch& launch) {
  std::map<int, std::pair<long, std::string>> spent;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::kRuns) continue;
    spent[step.line].first += step.length;
    spent[step.line].second = step.file;
  }
  std::vector<std::pair<long, int>> order;
  for (const auto& [line, what] : spent) order.emplace_back(-what.first, line);
  std::sort(order.begin(), order.end());
  if (order.size() > kNamed) order.resize(kNamed);
  std::set<int> named;
  for (const auto& [length, line] : order) named.insert(line);
  std::map<int, std::pair<std::string, std::string>> out;  // colour, file
  size_t next = 0;
  for (const int line : named) out[line] = {kHues[next++], spent[line].second};
  return out;
}

struct Band {  // warps that do the same, step by step
  int first = 0, last = 0;
  std::vector<const Step*> steps;
  bool same_as(const Band& other) const {
    return steps.size() == other.steps.size() &&
           std::equal(steps.begin(), steps.end(), other.steps.begin(),
                      [](const Step* a, const Step* b) {
                        return a->kind == b->kind && a->start == b->start &&
                               a->length == b->length && a->line == b->line && a->lanes == b->lanes;
                      });
  }
};

std::vector<Band> bands_of(const Launch& launch) {
  std::vector<Band> warps(static_cast<size_t>((launch.threads() + kWarp - 1) / kWarp));
  for (const Step& step : launch.steps) {
    if (static_cast<size_t>(step.warp) < warps.size()) {
      warps[static_cast<size_t>(step.warp)].steps.push_back(&step);
    }
  }
  std::vector<Band> bands;
  for (size_t w = 0; w < warps.size(); ++w) {
    warps[w].first = warps[w].last = static_cast<int>(w);
    if (!bands.empty() && bands.back().same_as(warps[w])) {
      bands.back().last = static_cast<int>(w);
    } else {
      bands.push_back(warps[w]);
    }
  }
  return bands;
}

// The lanes of a band's steps between two times, as rectangles.
void draw_band(Svg& svg, const Band& band, double y, double lane, int threads, double left,
               const std::function<double(int)>& x,
               const std::map<int, std::pair<std::string, std::string>>& colours) {
  for (const Step* step : band.steps) {
    const double begin = std::max(left, x(step->start)), end = x(step->start + step->length);
    if (end <= begin) continue;
    const auto colour = colours.find(step->line);
    const std::string fill = step->kind == Step::kWaits          ? kUnused
                             : step->kind == Step::kWaitsForever ? kWrong
                             : colour == colours.end()           ? kOther
                                                                 : colour->second.first;
    for (int first = 0; first < threads;) {
      int last = first;
      while (last < threads && ((step->lanes >> last) & 1)) ++last;
      if (last > first) {
        svg.tile(begin, y + first * lane, end - begin, (last - first) * lane, fill);
      }
      first = std::max(last, first + 1);
    }
  }
}

// The lines that the colours stand for; where it goes on below.
double draw_lines(Svg& svg, double y,
                  const std::map<int, std::pair<std::string, std::string>>& colours,
                  const SourceLine& source) {
  for (const auto& [line, what] : colours) {
    svg.rect(kLeft, y - 10, 12, 12, what.first, " rx=\"2\"");
    svg.text(kLeft + 18, y, "line " + std::to_string(line), "start", kDim, 11);
    const std::string code = code_of(source, what.second, line);
    if (!code.empty()) svg.code(kLeft + 66, y, code);
    y += 17;
  }
  return y;
}

}  // namespace

std::string block_svg(const Launch& launch, const PictureName& name, const SourceLine& source) {
  constexpr double kWide = 640, kTop = 76;
  constexpr size_t kMostBands = 8;
  if (launch.steps.empty()) throw course::Error("the run", 0, "recorded no block of this kernel.");
  const int from = name.crop_or("from", 0);
  const int to = std::min(launch.end(), name.crop_or("to", launch.end()));
  std::vector<Band> bands = bands_of(launch);
  const size_t left_out = bands.size() > kMostBands ? bands.size() - kMostBands : 0;
  bands.resize(bands.size() - left_out);
  const int threads = std::min(kWarp, launch.threads());
  const double lane = threads <= 8 ? 12 : bands.size() <= 2 ? 4 : bands.size() <= 4 ? 2.5 : 1.5;
  const auto colours = colours_of(launch);
  long waits = 0, runs = 0;
  bool forever = false;
  for (const Step& step : launch.steps) {
    (step.kind == Step::kRuns ? runs : waits) += step.length * __builtin_popcount(step.lanes);
    forever |= step.kind == Step::kWaitsForever;
  }
  const std::string words =
      course::plural(static_cast<size_t>(launch.threads()), "thread") + ", " +
      std::to_string(launch.end()) + " steps" +
      (waits > 0 ? "; " + std::to_string(100 * waits / std::max(1L, waits + runs)) +
                       " % of the threads' time is waiting"
                 : "");
  Svg svg("One block of " + launch.kernel, "Threads down, time across: " + words + ".");
  svg.heading("Block " + std::to_string(launch.index[0]) + " of " + launch.kernel +
                  ": threads down, time across",
              words + ". A step is one instruction of a warp.");
  const auto x = [&](int step) { return kLeft + kWide * (step - from) / std::max(1, to - from); };
  for (int tick = 0; tick <= 4; ++tick) {
    const int step = from + (to - from) * tick / 4;
    svg.text(std::min(x(step), kLeft + kWide), kTop - 8, std::to_string(step),
             tick == 4   ? "end"
             : tick == 0 ? "start"
                         : "middle",
             kDim, 10);
  }
  double y = kTop;
  for (const Band& band : bands) {
    const int here = std::min(kWarp, launch.threads() - kWarp * band.first);
    svg.rect(kLeft, y, kWide, here * lane, "#ffffff");
    draw_band(
        svg, band, y, lane, here, kLeft, [&](int s) { return std::min(x(s), kLeft + kWide); },
        colours);
    if (threads <= 8) {
      for (int t = 0; t < here; ++t) {
        svg.text(kLeft - 8, y + (t + 0.8) * lane, "thread " + std::to_string(t), "end", kDim, 10);
      }
    } else {
      const std::string range = band.last > band.first ? "warps " + std::to_string(band.first) +
                                                             "–" + std::to_string(band.last)
                                                       : "warp " + std::to_string(band.first);
      svg.text(kLeft - 8, y + std::min(here * lane / 2 + 4, 40.0), range, "end", kDim, 11);
    }
    y += here * lane + 8;
  }
  svg.flush_tiles();
  if (left_out > 0) {
    svg.text(kLeft, y + 8, "and " + std::to_string(left_out) + " more warps", "start", kDim, 11);
    y += 18;
  }
  y += 14;
  y = draw_lines(svg, y, colours, source);
  if (waits > 0) {
    svg.key(kLeft, y, kUnused, "waits at a barrier");
    if (forever) svg.key(kLeft + 180, y, kWrong, "waits, and nobody will come");
    y += 17;
  }
  return svg.str(kSheet, y + 2);
}

namespace {

const char* hue_of(const std::string& kind) {
  if (kind == "kernel") return kHues[0];
  if (kind == "library call") return kHues[7];
  if (kind == "copy to device") return kHues[1];
  if (kind == "copy to host") return kHues[3];
  if (kind == "copy on device") return kHues[2];
  if (kind == "copy between devices") return kHues[5];
  return kHues[4];
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1e-4 ? "%.1f µs" : "%.0f µs", seconds * 1e6);
  return text;
}

std::string bytes_of(double bytes) {
  constexpr double kThousand = 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s",
                bytes >= kThousand * kThousand ? bytes / kThousand / kThousand
                : bytes >= kThousand           ? bytes / kThousand
                                               : bytes,
                bytes >= kThousand * kThousand ? "MB"
                : bytes >= kThousand           ? "KB"
                                               : "bytes");
  return text;
}

// What stands in the bar of a piece of work.
std::string label_of(const course::Json& item) {
  const std::string kind = item.string_or("kind");
  if (kind == "kernel" || kind == "library call") return item.string_or("name");
  const double bytes = item.number_or("bytes");
  return bytes > 0 ? bytes_of(bytes) : kind;
}

struct Rows {
  std::vector<std::pair<int, std::string>> of;  // device, stream
  bool many_devices = false;
  explicit Rows(const std::vector<course::Json>& items) {
    std::set<int> devices;
    for (const course::Json& item : items) {
      const auto row = place(item);
      devices.insert(row.first);
      if (std::find(of.begin(), of.end(), row) == of.end()) of.push_back(row);
    }
    std::sort(of.begin(), of.end());
    many_devices = devices.size() > 1;
  }
  static std::pair<int, std::string> place(const course::Json& item) {
    return {static_cast<int>(item.number_or("device")), item.string_or("stream")};
  }
  size_t row(const course::Json& item) const {
    return static_cast<size_t>(std::find(of.begin(), of.end(), place(item)) - of.begin());
  }
  std::string name(size_t row) const {
    if (!many_devices) return of[row].second;
    const bool unnamed = of[row].second == "the default stream";
    return "GPU " + std::to_string(of[row].first) + (unnamed ? "" : ", " + of[row].second);
  }
};

}  // namespace

std::string time_svg(const Recording& recording) {
  constexpr double kWide = 580, kSide = 148, kTop = 78, kRow = 28, kLetter = 6.4;
  const course::Json* timeline = recording.json().find("timeline");
  if (timeline == nullptr) throw course::Error("the run", 0, "has no timeline.");
  const std::vector<course::Json>& items = timeline->find("items")->items;
  double begin = items.front().number_or("issued"), end = begin;
  std::set<std::string> kinds;
  for (const course::Json& item : items) {
    begin = std::min(begin, item.number_or("issued"));
    end = std::max(end, item.number_or("end"));
    kinds.insert(item.string_or("kind"));
  }
  const Rows rows(items);
  const std::string words = course::plural(items.size(), "piece") + " of work in " +
                            course::plural(rows.of.size(), "stream") + ", " +
                            microseconds(end - begin) + " from the first call to the last end";
  Svg svg("Streams over time", words + ".");
  svg.heading("Streams over time, " + timeline->string_or("label"), words + ".");
  const auto x = [&](double t) {
    return kSide + kWide * std::clamp((t - begin) / (end - begin), 0.0, 1.0);
  };
  for (int tick = 0; tick <= 4; ++tick) {
    svg.text(x(begin + (end - begin) * tick / 4), kTop - 8,
             tick == 0 ? "0" : microseconds((end - begin) * tick / 4),
             tick == 4   ? "end"
             : tick == 0 ? "start"
                         : "middle",
             kDim, 10);
  }
  svg.text(kSide - 8, kTop + 17, "host", "end", kInk, 11);
  svg.path("M" + digits(kSide) + " " + digits(kTop + kRow - 2) + "h" + digits(kWide), kRule);
  bool waits = false;
  for (const course::Json& wait : timeline->find("waits")->items) {
    const double from = wait.items[0].number, to = wait.items[1].number;
    if (to <= begin || from >= end) continue;
    waits = true;
    svg.tile(x(from), kTop + 6, std::max(1.0, x(to) - x(from)), kRow - 14, kUnused);
  }
  svg.flush_tiles();
  std::string calls;
  for (const course::Json& item : items) {
    calls += "M" + digits(x(item.number_or("issued"))) + " " + digits(kTop + 4) + "v18";
  }
  svg.path(calls, kInk);
  for (size_t r = 0; r < rows.of.size(); ++r) {
    const double y = kTop + static_cast<double>(r + 1) * kRow;
    svg.text(kSide - 8, y + 17, rows.name(r), "end", kInk, 11);
    svg.path("M" + digits(kSide) + " " + digits(y + kRow - 2) + "h" + digits(kWide), kRule);
  }
  for (const course::Json& item : items) {
    const double y = kTop + static_cast<double>(rows.row(item) + 1) * kRow;
    const double from = x(item.number_or("start")), to = x(item.number_or("end"));
    svg.rect(from, y + 2, std::max(1.5, to - from), kRow - 8, hue_of(item.string_or("kind")),
             " rx=\"2\" stroke=\"#ffffff\" stroke-width=\"0.5\"");
    const std::string label = label_of(item);
    if (kLetter * static_cast<double>(label.size()) + 6 < to - from) {
      svg.text((from + to) / 2, y + 16, label, "middle", "#ffffff", 10);
    }
  }
  double at = kSide;
  const double y = kTop + static_cast<double>(rows.of.size() + 1) * kRow + 18;
  for (const std::string& kind : kinds) {
    svg.key(at, y, hue_of(kind), kind);
    at += 36 + kLetter * static_cast<double>(kind.size());
  }
  if (waits) svg.key(at, y, kUnused, "the host waits");
  svg.text(kSide, y + 18, "A stroke in the row of the host is a call that hands over work.",
           "start", kDim, 11);
  return svg.str(kSheet, y + 32);
}

}  // namespace grade::view

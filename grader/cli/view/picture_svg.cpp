#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <set>

#include "cli/view/picture.h"
#include "course/error.h"
#include "course/text.h"

namespace grade::view {
namespace {

// The course's colours: a light sheet of its own, so that a picture reads the same on light and
// dark pages.
constexpr const char* kInk = "#1f2933";
constexpr const char* kDim = "#5b6672";
constexpr const char* kRule = "#c3cbd4";
constexpr const char* kWanted = "#1f5f99";
constexpr const char* kUnused = "#d9dee4";
constexpr const char* kWrong = "#a5281b";
constexpr const char* kHues[] = {"#1f5f99", "#d98a00", "#1b7f5c", "#a85a86",
                                 "#5aa3cf", "#b84f00", "#77781a", "#6b6f76"};
constexpr int kCell = 20, kLeft = 84;

std::string escaped(const std::string& text) {
  std::string out = course::replace_all(text, "&", "&amp;");
  return course::replace_all(course::replace_all(out, "<", "&lt;"), ">", "&gt;");
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string out = text;
  while (out.back() == '0') out.pop_back();
  if (out.back() == '.') out.pop_back();
  return out;
}

class Svg {
 public:
  Svg(std::string title, std::string words) : title_(std::move(title)), words_(std::move(words)) {}
  void rect(double x, double y, double w, double h, const std::string& fill,
            const std::string& more = "") {
    body_ += "  <rect x=\"" + digits(x) + "\" y=\"" + digits(y) + "\" width=\"" + digits(w) +
             "\" height=\"" + digits(h) + "\" fill=\"" + fill + "\"" + more + "/>\n";
  }
  void path(const std::string& way, const std::string& colour) {
    body_ += "  <path d=\"" + way + "\" stroke=\"" + colour + "\" fill=\"none\"/>\n";
  }
  void text(double x, double y, const std::string& words, const char* anchor = "start",
            const std::string& fill = kInk, int size = 12, bool bold = false) {
    body_ += "  <text x=\"" + digits(x) + "\" y=\"" + digits(y) + "\" font-size=\"" +
             std::to_string(size) + "\" fill=\"" + fill + "\" text-anchor=\"" + anchor + "\"" +
             (bold ? " font-weight=\"bold\"" : "") + ">" + escaped(words) + "</text>\n";
  }
  std::string str(double width, double height) const {
    const std::string w = digits(width), h = digits(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + w + " " + h +
           "\" width=\"" + w + "\" height=\"" + h +
           "\" role=\"img\" aria-labelledby=\"title desc\" "
           "font-family=\"Helvetica, Arial, sans-serif\">\n  <title id=\"title\">" +
           escaped(title_) + "</title>\n  <desc id=\"desc\">" + escaped(words_) +
           "</desc>\n  <!-- Drawn by grade view from a run. -->\n"
           "  <rect width=\"" +
           w + "\" height=\"" + h + "\" rx=\"10\" fill=\"#f7f8fa\"/>\n" + body_ + "</svg>\n";
  }

 private:
  std::string title_, words_, body_;
};

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
    if (lanes == wanted.end()) {
      if (moves(w)) svg.rect(x + 1, y + 1, kCell - 2, kCell - 2, kUnused);
      continue;
    }
    svg.rect(x + 1, y + 1, kCell - 2, kCell - 2, kWanted);
    const size_t n = lanes->second.size();
    svg.text(x + kCell / 2.0, y + 14,
             n > 1 ? std::to_string(n) + "×" : std::to_string(lanes->second.front()), "middle",
             "#ffffff", 10);
  }
}

std::string lens_svg(const Launch& launch, const Site& site) {
  constexpr size_t kMostLines = 12;
  const Sample& sample = site.worst();
  const Extent target = launch.target(site, sample);
  const Sectors sectors = sectors_of(site, sample, target.skew);
  const std::string words = sample_text(launch, site, sample);
  Svg svg("Memory that one warp asks for, " + site_name(launch, site), words + ".");
  svg.text(16, 26, site_name(launch, site), "start", kInk, 14, true);
  svg.text(16, 46, words + ". The numbers are lanes.", "start", kDim, 12);
  for (int k = 0; k < 4; ++k) {
    svg.text(kLeft + (8 * k + 4) * kCell, 68, "sector " + std::to_string(k), "middle", kDim, 11);
  }
  double y = 78;
  size_t shown = 0;
  for (const auto& [line, wanted] : sectors.lines) {
    if (shown++ == kMostLines) break;
    const int64_t element = (line * 128 - target.skew) / site.element;
    svg.text(kLeft - 8, y + 14,
             (target.name.size() > 7 ? "" : target.name) + "[" + std::to_string(element) + "]",
             "end", kDim, 11);
    const int64_t number = line;
    memory_row(svg, y, wanted, [&](int w) { return sectors.moved.count(number * 4 + w / 8) != 0; });
    for (int k = 0; k < 4; ++k) {
      const bool moves = sectors.moved.count(line * 4 + k) != 0;
      svg.rect(kLeft + 8 * k * kCell, y - 2, 8 * kCell, kCell + 4, "none",
               std::string(" rx=\"3\" stroke=\"") + (moves ? kDim : kRule) + "\"");
    }
    y += kCell + 8;
  }
  if (sectors.lines.size() > kMostLines) {
    svg.text(kLeft, y + 12,
             "and " + std::to_string(sectors.lines.size() - kMostLines) +
                 " more lines of 128 bytes, like these",
             "start", kDim, 11);
    y += 22;
  }
  svg.rect(kLeft, y + 4, 12, 12, kWanted, " rx=\"2\"");
  svg.text(kLeft + 18, y + 14, "wanted by the lane", "start", kDim, 11);
  svg.rect(kLeft + 150, y + 4, 12, 12, kUnused, " rx=\"2\"");
  svg.text(kLeft + 168, y + 14, "moves, and nobody wants it", "start", kDim, 11);
  return svg.str(kLeft + kWarp * kCell + 16, y + 30);
}

std::string banks_svg(const Launch& launch, const Site& site) {
  constexpr size_t kMostPasses = 12;
  const Sample& sample = site.worst();
  const std::vector<Pass> passes = passes_of(site, sample);
  const std::string words = sample_text(launch, site, sample);
  Svg svg("The banks that one warp asks, " + site_name(launch, site), words + ".");
  svg.text(16, 26, site_name(launch, site), "start", kInk, 14, true);
  svg.text(16, 46, words + ". The numbers are lanes.", "start", kDim, 12);
  svg.text(kLeft - 8, 68, "bank", "end", kDim, 11);
  for (int bank = 0; bank < kWarp; ++bank) {
    svg.text(kLeft + (bank + 0.5) * kCell, 68, std::to_string(bank), "middle", kDim, 10);
  }
  double y = 78;
  for (size_t p = 0; p < passes.size() && p < kMostPasses; ++p) {
    svg.text(kLeft - 8, y + 14, "pass " + std::to_string(p + 1), "end", kDim, 11);
    memory_row(svg, y, passes[p], [](int) { return false; });
    y += kCell + 4;
  }
  if (passes.size() > kMostPasses) {
    svg.text(kLeft, y + 12,
             "and " + std::to_string(passes.size() - kMostPasses) + " more passes, like these",
             "start", kDim, 11);
    y += 22;
  }
  return svg.str(kLeft + kWarp * kCell + 16, y + 10);
}

std::string block_svg(const Launch& launch) {
  constexpr double kWide = 640, kTop = 62;
  if (launch.steps.empty()) throw course::Error("the run", 0, "recorded no block of this kernel.");
  const int warps = (launch.threads() + kWarp - 1) / kWarp, end = launch.end();
  const double lane = warps == 1 ? 6 : warps <= 4 ? 3 : warps <= 8 ? 2 : 1;
  const double band = std::min(kWarp, launch.threads()) * lane + 6;
  std::set<int> lines;
  for (const Step& step : launch.steps) {
    if (step.kind == Step::kRuns) lines.insert(step.line);
  }
  const auto hue = [&](int line) {
    return kHues[std::distance(lines.begin(), lines.find(line)) % 8];
  };
  Svg svg("One block of " + launch.kernel, "Threads down, time across: " + std::to_string(warps) +
                                               " warps, " + std::to_string(end) + " steps.");
  svg.text(16, 26, "One block of " + launch.kernel + ": threads down, time across", "start", kInk,
           14, true);
  svg.text(16, 46, std::to_string(end) + " steps; grey: waits at a barrier", "start", kDim, 12);
  for (int w = 0; w < warps; ++w) {
    const int threads = std::min(kWarp, launch.threads() - kWarp * w);
    svg.text(kLeft - 8, kTop + w * band + 11, "warp " + std::to_string(w), "end", kDim, 11);
    svg.rect(kLeft, kTop + w * band, kWide, threads * lane, "#ffffff");
  }
  for (const Step& step : launch.steps) {
    const double x = kLeft + kWide * step.start / end, width = kWide * step.length / end;
    const std::string fill = step.kind == Step::kRuns    ? hue(step.line)
                             : step.kind == Step::kWaits ? kUnused
                                                         : kWrong;
    for (int first = 0; first < kWarp;) {
      int last = first;
      while (last < kWarp && ((step.lanes >> last) & 1)) ++last;
      if (last > first) {
        svg.rect(x, kTop + step.warp * band + first * lane, width, (last - first) * lane, fill);
      }
      first = std::max(last, first + 1);
    }
  }
  double y = kTop + warps * band + 14, x = kLeft;
  for (const int line : lines) {
    if (x > kLeft + kWide - 60) {
      x = kLeft;
      y += 18;
    }
    svg.rect(x, y - 9, 11, 11, hue(line), " rx=\"2\"");
    svg.text(x + 16, y, "line " + std::to_string(line), "start", kDim, 11);
    x += 72;
  }
  return svg.str(kLeft + kWide + 16, y + 16);
}

const char* hue_of(const std::string& kind) {
  if (kind == "kernel") return kHues[0];
  if (kind == "library call") return kHues[4];
  if (kind == "copy to device") return kHues[1];
  if (kind == "copy to host") return kHues[3];
  if (kind == "copy on device") return kHues[2];
  return kHues[7];
}

std::string time_svg(const Recording& recording) {
  constexpr double kWide = 600, kSide = 130, kTop = 62, kRow = 26;
  const course::Json* timeline = recording.json().find("timeline");
  if (timeline == nullptr) throw course::Error("the run", 0, "has no timeline.");
  const std::vector<course::Json>& items = timeline->find("items")->items;
  double begin = items.front().number_or("issued"), end = begin;
  std::vector<std::string> rows;
  std::set<std::string> kinds;
  for (const course::Json& item : items) {
    begin = std::min(begin, item.number_or("issued"));
    end = std::max(end, item.number_or("end"));
    const std::string stream = item.string_or("stream");
    if (std::find(rows.begin(), rows.end(), stream) == rows.end()) rows.push_back(stream);
    kinds.insert(item.string_or("kind"));
  }
  Svg svg("Timeline", std::to_string(items.size()) + " pieces of work in " +
                          course::plural(rows.size(), "stream") + ".");
  svg.text(16, 26, "Streams over time, " + timeline->string_or("label"), "start", kInk, 14, true);
  svg.text(16, 46, digits((end - begin) * 1e6) + " µs from the first call to the last end", "start",
           kDim, 12);
  for (size_t r = 0; r < rows.size(); ++r) {
    const double y = kTop + static_cast<double>(r) * kRow;
    svg.text(kSide - 8, y + 15, rows[r], "end", kInk, 11);
    svg.path("M" + digits(kSide) + " " + digits(y + kRow - 2) + "h" + digits(kWide), kRule);
  }
  for (const course::Json& item : items) {
    const auto row = std::find(rows.begin(), rows.end(), item.string_or("stream")) - rows.begin();
    const double x = kSide + kWide * (item.number_or("start") - begin) / (end - begin);
    const double w = kWide * (item.number_or("end") - item.number_or("start")) / (end - begin);
    svg.rect(x, kTop + static_cast<double>(row) * kRow + 2, std::max(1.0, w), kRow - 8,
             hue_of(item.string_or("kind")), " rx=\"2\"");
  }
  double x = kSide;
  const double y = kTop + static_cast<double>(rows.size()) * kRow + 18;
  for (const std::string& kind : kinds) {
    svg.rect(x, y - 9, 11, 11, hue_of(kind), " rx=\"2\"");
    svg.text(x + 16, y, kind, "start", kDim, 11);
    x += 36 + 6.2 * static_cast<double>(kind.size());
  }
  return svg.str(kSide + kWide + 16, y + 16);
}

const Site& site_for(const Launch& launch, const PictureName& name) {
  const bool shared = name.kind == PictureName::Kind::kBanks;
  int number = name.number;
  std::set<int> others;
  for (const Site& site : launch.sites) {
    if (site.is_shared() != shared || site.samples.empty()) continue;
    others.insert(site.line);
    if (site.line == name.line && --number == 0) return site;
  }
  std::vector<std::string> lines;
  for (const int line : others) lines.push_back(std::to_string(line));
  throw course::Error("the run", 0,
                      launch.kernel + " has no such access to " + (shared ? "shared" : "global") +
                          " memory in line " + std::to_string(name.line) + "; " +
                          (lines.empty() ? "it has none at all."
                                         : "there are some in " + course::join(lines, ", ") + "."));
}

}  // namespace

PictureName picture_name(const std::string& text, const std::string& option) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  PictureName name;
  if (kind == "block" && colon == std::string::npos) return name;
  if (kind == "time" && colon == std::string::npos) {
    name.kind = PictureName::Kind::kTime;
    return name;
  }
  int used = 0;
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  const int read = std::sscanf(rest.c_str(), "%d%n.%d%n", &name.line, &used, &name.number, &used);
  if ((kind != "lens" && kind != "banks") || read < 1 || used != static_cast<int>(rest.size())) {
    throw course::Error(
        option, 0,
        "a picture is lens:LINE, banks:LINE, block or time (lens:12.2 is the second "
        "access of line 12).");
  }
  name.kind = kind == "lens" ? PictureName::Kind::kLens : PictureName::Kind::kBanks;
  return name;
}

std::string picture_svg(const Recording& recording, const Launch& launch, const PictureName& name) {
  switch (name.kind) {
    case PictureName::Kind::kLens:
      return lens_svg(launch, site_for(launch, name));
    case PictureName::Kind::kBanks:
      return banks_svg(launch, site_for(launch, name));
    case PictureName::Kind::kBlock:
      return block_svg(launch);
    case PictureName::Kind::kTime:
      return time_svg(recording);
  }
  return "";
}

}  // namespace grade::view

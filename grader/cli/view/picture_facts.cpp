// Pictures of facts about a whole program: a counter of each of its kernels, and what was found
// wrong.
#include <algorithm>

#include "cli/view/picture.h"
#include "cli/view/svg.h"
#include "course/error.h"
#include "course/text.h"

namespace grade::view {

namespace {

std::string with_commas(double value) {
  std::string text = std::to_string(static_cast<long long>(value));
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

// As many words to a line as fit.
std::vector<std::string> wrapped(const std::string& text, size_t columns) {
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string bars_svg(const Recording& recording, const PictureName& name) {
  constexpr double kSide = 200, kWide = 420, kRow = 30;
  constexpr size_t kMost = 10;
  const course::Json* profile = recording.json().find("profile");
  std::vector<std::pair<std::string, double>> rows;
  for (const course::Json& kernel : profile->find("kernels")->items) {
    const course::Json* totals = kernel.find("totals");
    rows.emplace_back(kernel.string_or("name"),
                      totals->number_or(name.what, kernel.number_or(name.what)));
  }
  double most = 0;
  for (const auto& [kernel, value] : rows) most = std::max(most, value);
  if (most == 0) {
    throw course::Error("the run", 0, "no kernel of it has a counter called " + name.what + ".");
  }
  if (rows.size() > kMost) rows.resize(kMost);
  const std::string what = course::replace_all(name.what, "_", " ");
  std::string words;
  for (const auto& [kernel, value] : rows) {
    words += (words.empty() ? "" : ", ") + kernel + " " + with_commas(value);
  }
  Svg svg("Kernels by their " + what, words + ".");
  svg.heading("Kernels by their " + what, "Counted in the simulator, all launches together.");
  double y = 62;
  for (const auto& [kernel, value] : rows) {
    svg.text(kSide - 8, y + 18, kernel.size() > 28 ? kernel.substr(0, 26) + "..." : kernel, "end",
             kInk, 12);
    svg.rect(kSide, y + 4, std::max(1.0, kWide * value / most), kRow - 10, kWanted, " rx=\"3\"");
    svg.text(kSide + std::max(1.0, kWide * value / most) + 8, y + 19, with_commas(value), "start",
             kInk, 12);
    y += kRow;
  }
  return svg.str(kSheet, y + 10);
}

namespace {

std::vector<int> lanes_of(uint32_t mask) {
  std::vector<int> lanes;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane) & 1) lanes.push_back(lane);
  }
  return lanes;
}

// "block 1, thread 33"
std::string who(const course::Json& party) {
  const std::vector<int> lanes = lanes_of(static_cast<uint32_t>(party.number_or("lanes")));
  const int lane = lanes.empty() ? 0 : lanes.front();
  const std::vector<course::Json>& block = party.find("block")->items;
  return "block " + std::to_string(static_cast<int>(block[0].number)) + ", thread " +
         std::to_string(kWarp * static_cast<int>(party.number_or("warp")) + lane);
}

// Who did what: a line of time for each, the accesses one below the other.
double draw_parties(Svg& svg, const std::vector<course::Json>& parties, double y,
                    const SourceLine& source) {
  constexpr size_t kMost = 4;
  constexpr double kSide = 170;
  const size_t shown = std::min(parties.size(), kMost);
  for (size_t i = 0; i < shown; ++i) {
    const course::Json& party = parties[i];
    const int line = static_cast<int>(party.number_or("line"));
    svg.text(kSide - 10, y + 16, who(party), "end", kInk, 12);
    svg.path("M" + digits(kSide) + " " + digits(y + 12) + "H720", kRule);
    const std::string does = party.string_or("does") + ", line " + std::to_string(line);
    const double x = kSide + 20 + 140.0 * static_cast<double>(i);
    svg.rect(x, y, 130, 24, kHues[i], " rx=\"12\"");
    svg.text(x + 65, y + 16, does, "middle", "#ffffff", 11);
    y += 34;
    const std::string code = source ? source(party.string_or("file"), line) : "";
    if (!code.empty()) {
      svg.code(kSide, y + 4, code.substr(0, 84));
      y += 22;
    }
  }
  if (parties.size() > shown) {
    svg.text(kSide, y + 10, "and " + std::to_string(parties.size() - shown) + " more", "start",
             kDim, 11);
    y += 20;
  }
  return y;
}

// The border of an array, and the lanes that ask for something beyond it.
double draw_border(Svg& svg, const course::Json& scene, double y) {
  constexpr int kBefore = 6, kBehind = 14;
  constexpr double kWord = 32;
  const double bytes = std::max(1.0, scene.number_or("bytes"));
  const std::vector<course::Json>& asked = scene.find("asked")->items;
  const std::vector<int> lanes = lanes_of(static_cast<uint32_t>(scene.number_or("mask")));
  double low = 0;
  for (const int lane : lanes) low = std::min(low, asked[static_cast<size_t>(lane)].number);
  const bool before = low < 0;
  const double border = before ? 0 : scene.number_or("array_bytes");
  const int from = before ? -kBehind : -kBefore, to = before ? kBefore : kBehind;
  const std::string array =
      scene.string_or("array").empty() ? "the array" : scene.string_or("array");
  for (int e = from; e < to; ++e) {
    const double x = 40 + (e - from) * kWord;
    const bool inside = before ? e >= 0 : e < 0;
    std::vector<int> who;
    for (const int lane : lanes) {
      const double at = (asked[static_cast<size_t>(lane)].number - border) / bytes;
      if (at >= e && at < e + 1) who.push_back(lane);
    }
    svg.rect(x + 1, y + 16, kWord - 2, 26,
             !who.empty() ? (inside ? kWanted : kWrong)
             : inside     ? kUnused
                          : "#ffffff",
             " rx=\"3\" stroke=\"" + std::string(kRule) + "\"");
    if (!who.empty()) {
      svg.text(x + kWord / 2, y + 33,
               who.size() > 1 ? std::to_string(who.size()) + "×" : std::to_string(who[0]), "middle",
               "#ffffff", 11);
    }
    if ((e - from) % 2 == 0) {
      svg.text(x + kWord / 2, y + 58, std::to_string(static_cast<long long>(border / bytes) + e),
               "middle", kDim, 10);
    }
  }
  const double x = 40 - from * kWord;
  svg.path("M" + digits(x) + " " + digits(y + 4) + "v44", kWrong, " stroke-width=\"2\"");
  svg.text(x + (before ? -6 : 6), y + 10, array + (before ? " begins here" : " ends here"),
           before ? "end" : "start", kWrong, 11, true);
  svg.text(40, y + 78, "Numbers in the cells are lanes, numbers below elements.", "start", kDim,
           11);
  return y + 84;
}

}  // namespace

std::string finding_svg(const Recording& recording, const PictureName& name,
                        const SourceLine& source) {
  constexpr size_t kColumns = 100;
  int number = name.crop_or("number", 1);
  for (const course::Json& finding : recording.json().find("findings")->items) {
    if (finding.bool_or("note") || --number > 0) continue;
    const std::string message = finding.string_or("message");
    Svg svg(finding.string_or("check") + ": " + finding.string_or("kind"), message);
    svg.text(16, 26, finding.string_or("check") + ": " + finding.string_or("kind"), "start", kInk,
             14, true);
    double y = 46;
    for (const std::string& line : wrapped(message, kColumns)) {
      svg.text(16, y, line, "start", kDim, 12);
      y += 17;
    }
    y += 6;
    const course::Json* scene = finding.find("scene");
    if (scene != nullptr) {
      const std::vector<course::Json>& parties = scene->find("parties")->items;
      if (scene->find("asked") != nullptr && scene->number_or("array_bytes") > 0 &&
          parties.size() == 1) {
        y = draw_border(svg, *scene, y);
      } else {
        y = draw_parties(svg, parties, y, source);
      }
    }
    return svg.str(kSheet, y + 10);
  }
  throw course::Error("the run", 0, "nothing was found wrong in it.");
}

}  // namespace grade::view

// Which picture is asked for.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/view/picture.h"
#include "course/error.h"
#include "course/text.h"

namespace grade::view {

namespace {

using Kind = PictureName::Kind;

constexpr struct {
  const char* word;
  Kind kind;
} kKinds[] = {{"lens", Kind::kLens},     {"banks", Kind::kBanks}, {"map", Kind::kMap},
              {"shared", Kind::kShared}, {"block", Kind::kBlock}, {"pipeline", Kind::kPipeline},
              {"time", Kind::kTime},     {"bars", Kind::kBars},   {"finding", Kind::kFinding}};

bool wants_line(Kind kind) {
  return kind == Kind::kLens || kind == Kind::kBanks || kind == Kind::kMap;
}
bool wants_word(Kind kind) { return kind == Kind::kShared || kind == Kind::kBars; }

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse(const std::string& option) {
  throw course::Error(option, 0,
                      "a picture is lens:LINE, banks:LINE, map:LINE, shared:NAME, block, pipeline, "
                      "time, bars:COUNTER or finding (lens:12.2 is the second access of line 12; "
                      "map:12,cols=8 shows eight to a row).");
}

}  // namespace

int PictureName::crop_or(const char* key, int otherwise) const {
  const auto found = crop.find(key);
  return found == crop.end() ? otherwise : found->second;
}

PictureName picture_name(const std::string& text, const std::string& option) {
  const std::vector<std::string> parts = split(text);
  const size_t colon = parts[0].find(':');
  const std::string word = parts[0].substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : parts[0].substr(colon + 1);
  const auto* const known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [&](const auto& k) { return word == k.word; });
  if (known == std::end(kKinds)) refuse(option);
  PictureName name;
  name.kind = known->kind;
  name.what = rest;
  if (wants_line(name.kind)) {
    int used = 0;
    const int read = std::sscanf(rest.c_str(), "%d%n.%d%n", &name.line, &used, &name.number, &used);
    if (read < 1 || used != static_cast<int>(rest.size())) refuse(option);
  } else if (wants_word(name.kind) == rest.empty()) {
    refuse(option);
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equal = parts[i].find('=');
    int value = 0;
    if (equal == std::string::npos ||
        std::sscanf(parts[i].c_str() + equal + 1, "%d", &value) != 1) {
      refuse(option);
    }
    name.crop[parts[i].substr(0, equal)] = value;
  }
  return name;
}

std::string code_of(const SourceLine& source, const std::string& file, int line) {
  constexpr size_t kMost = 88;
  const std::string text = source ? source(file, line) : "";
  return text.size() > kMost ? text.substr(0, kMost - 3) + "..." : text;
}

std::string line_of_file(const std::string& file, int line) {
  std::error_code error;
  if (line < 1 || !std::filesystem::is_regular_file(file, error)) return "";
  const std::vector<std::string> lines = course::split_lines(course::read_text(file));
  const size_t at = static_cast<size_t>(line) - 1;
  return at < lines.size() ? course::trim(lines[at]) : "";
}

std::string picture_svg(const Recording& recording, const Launch& launch, const PictureName& name,
                        const SourceLine& source) {
  switch (name.kind) {
    case Kind::kLens:
      return lens_svg(launch, name, source);
    case Kind::kBanks:
      return banks_svg(launch, name, source);
    case Kind::kMap:
      return map_svg(launch, name, source);
    case Kind::kShared:
      return shared_svg(launch, name, source);
    case Kind::kBlock:
      return block_svg(launch, name, source);
    case Kind::kPipeline:
      return pipeline_svg(launch, name);
    case Kind::kTime:
      return time_svg(recording);
    case Kind::kBars:
      return bars_svg(recording, name);
    case Kind::kFinding:
      return finding_svg(recording, name, source);
  }
  return "";
}

}  // namespace grade::view

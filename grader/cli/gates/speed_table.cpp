#include "cli/gates/speed_table.h"

#include <cstdio>
#include <set>

#include "cli/speed_text.h"
#include "course/text.h"

namespace grade {
namespace {

SpeedRatio read_ratio(const course::Json& json) {
  SpeedRatio ratio;
  ratio.kind = json.string_or("kind");
  ratio.name = json.string_or("name");
  ratio.ratio = json.number_or("ratio");
  return ratio;
}

// "IsFastOnWideRows" of "Softmax.IsFastOnWideRows".
std::string test_name(const course::Json& speed) {
  const std::string full = speed.string_or("test");
  return full.substr(full.find('.') + 1);
}

// Work is counted in operations where it does many for every byte, else in bytes.
std::string rate(const course::Json& speed) {
  constexpr double kManyPerByte = 8;
  const double bytes = speed.number_or("bytes"), flops = speed.number_or("flops");
  const double seconds = speed.number_or("seconds");
  if (flops > kManyPerByte * bytes) return rate_text(flops, seconds, "FLOP/s");
  return bytes > 0 ? rate_text(bytes, seconds, "B/s") : "";
}

std::string rows_of(const std::string& exercise, const course::Json& speed) {
  std::string rows;
  const course::Json* ratios = speed.find("ratios");
  for (size_t i = 0; ratios != nullptr && i < ratios->items.size(); ++i) {
    const bool first = i == 0;
    rows += "| " + (first ? exercise + ": " + test_name(speed) : "") + " | " +
            (first ? time_text(speed.number_or("seconds")) : "") + " | " +
            (first ? rate(speed) : "") + " | " + ratio_text(read_ratio(ratios->items[i])) + " |\n";
  }
  return rows;
}

}  // namespace

std::string speed_table(const course::Json& run, const std::string& chapter) {
  std::string rows;
  std::set<std::string> days;  // a part of the course may have been run again on another day
  const course::Json* runs = run.find("runs");
  for (size_t i = 0; runs != nullptr && i < runs->items.size(); ++i) {
    const course::Json& row = runs->items[i];
    const std::string id = row.string_or("exercise");
    const course::Json* speeds = row.find("speeds");
    if (speeds == nullptr || id.rfind(chapter + "/", 0) != 0) continue;
    for (const course::Json& speed : speeds->items) {
      rows += rows_of(id.substr(chapter.size() + 1), speed);
      const std::string day = row.string_or("date");
      days.insert(day.empty() ? run.string_or("date") : day);
    }
  }
  if (rows.empty()) return "";
  return run.string_or("card") + ", CUDA " + run.string_or("toolkit") + ", " +
         course::join({days.begin(), days.end()}, " and ") +
         ".\n\n| solution: test | a call takes | rate | compared |\n"
         "| --- | --- | --- | --- |\n" +
         rows;
}

}  // namespace grade

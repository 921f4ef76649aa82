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

// "IsFast, cols = 1024" of the test "Softmax.IsFast" in its case "cols = 1024".
std::string test_name(const course::Json& speed) {
  const std::string full = speed.string_or("test"), where = speed.string_or("case");
  return full.substr(full.find('.') + 1) + (where.empty() ? "" : ", " + where);
}

// Work is counted in operations where it does many for every byte, else in bytes.
bool counts_operations(const course::Json& speed) {
  constexpr double kManyPerByte = 8;
  return speed.number_or("flops") > kManyPerByte * speed.number_or("bytes");
}

// What a call must move or compute at least: says how large it is. "" where the test does not.
std::string work(const course::Json& speed) {
  const bool operations = counts_operations(speed);
  const double amount = speed.number_or(operations ? "flops" : "bytes");
  return amount > 0 ? rate_text(amount, 1, operations ? "FLOP" : "B") : "";
}

std::string rate(const course::Json& speed) {
  const bool operations = counts_operations(speed);
  const double amount = speed.number_or(operations ? "flops" : "bytes");
  const double seconds = speed.number_or("seconds");
  return amount > 0 ? rate_text(amount, seconds, operations ? "FLOP/s" : "B/s") : "";
}

std::string rows_of(const std::string& exercise, const course::Json& speed) {
  std::string rows;
  const course::Json* ratios = speed.find("ratios");
  for (size_t i = 0; ratios != nullptr && i < ratios->items.size(); ++i) {
    const bool first = i == 0;
    rows += "| " + (first ? exercise + ": " + test_name(speed) : "") + " | " +
            (first ? work(speed) : "") + " | " +
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
         ".\n\n| solution: test | work | a call takes | rate | compared |\n"
         "| --- | --- | --- | --- | --- |\n" +
         rows;
}

}  // namespace grade

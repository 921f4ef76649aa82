#include "cli/gates/report.h"

#include <algorithm>
#include <map>

#include "course/text.h"

namespace grade {
namespace {

struct Count {
  size_t passed = 0, failed = 0, skipped = 0, reused = 0;
};

Count count(const std::vector<Item>& items, int gate = -1) {
  Count sum;
  for (const Item& item : items) {
    if (gate >= 0 && item.gate != gate) continue;
    sum.passed += item.state == Item::State::kPassed ? 1 : 0;
    sum.failed += item.state == Item::State::kFailed ? 1 : 0;
    sum.skipped += item.state == Item::State::kSkipped ? 1 : 0;
    sum.reused += item.reused ? 1 : 0;
  }
  return sum;
}

std::string counts_text(const Count& sum) {
  std::string text =
      std::to_string(sum.passed) + " passed, " + std::to_string(sum.failed) + " failed";
  if (sum.skipped != 0) text += ", " + std::to_string(sum.skipped) + " skipped";
  return text;
}

std::string label(const Item& item) {
  if (item.gate == 0) return item.name;
  return "gate " + std::to_string(item.gate) + " (" + name_of_gate(item.gate) + ") " + item.name;
}

std::string indented(const std::string& text) {
  std::string out;
  for (const std::string& line : course::split_lines(text)) out += "    " + harmless(line) + "\n";
  return out;
}

// Exercises by the time of all their programs: solution, starter, ablations, mutants, variants.
std::string slowest_exercises_text(const std::vector<Item>& items, size_t most) {
  std::map<std::string, std::pair<double, int>> sums;  // seconds, programs
  for (const Item& item : items) {
    if (item.gate < 4 || item.gate > 8 || item.reused || item.seconds <= 0) continue;
    auto& [seconds, programs] = sums[item.name.substr(0, item.name.find(':'))];
    seconds += item.seconds;
    ++programs;
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, sum] : sums) {
    order.push_back({sum.first, name + ", " + course::plural(sum.second, "program")});
  }
  std::sort(order.rbegin(), order.rend());
  if (order.size() > most) order.resize(most);
  std::string text = order.empty() ? "" : "Slowest exercises:\n";
  for (const auto& [seconds, name] : order) {
    text += "  " + pad_left(seconds_text(seconds), 7) + "  " + name + "\n";
  }
  return text;
}

}  // namespace

std::string gate_table(const std::vector<Item>& items, const Terminal& terminal) {
  std::string text;
  for (int gate = 1; gate <= 9; ++gate) {
    const Count sum = count(items, gate);
    if (sum.passed + sum.failed + sum.skipped == 0) continue;
    std::string line = counts_text(sum);
    if (sum.reused != 0) line += " (" + std::to_string(sum.reused) + " unchanged)";
    text += "  gate " + std::to_string(gate) + "  " + pad(name_of_gate(gate), 10) + "  " +
            (sum.failed == 0 ? line : terminal.paint(Style::kBad, line)) + "\n";
  }
  return text;
}

std::string failures_text(const std::vector<Item>& items, const Terminal& terminal) {
  std::string text;
  for (const Item& item : items) {
    if (item.state != Item::State::kFailed) continue;
    text += terminal.paint(Style::kBad, "FAIL") + "  " + harmless(label(item)) + "\n" +
            indented(item.message);
  }
  for (const Item& item : items) {
    if (item.state != Item::State::kSkipped) continue;
    const size_t end = std::min(item.message.find('\n'), item.message.size());
    text += "skip  " + label(item) + ": " + item.message.substr(0, end) + "\n" +
            (end < item.message.size() ? indented(item.message.substr(end + 1)) : "");
  }
  return text;
}

std::string slowest_text(const std::vector<Item>& items, size_t most) {
  std::vector<const Item*> order;
  for (const Item& item : items) {
    if (item.seconds > 0 && !item.reused) order.push_back(&item);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const Item* a, const Item* b) { return a->seconds > b->seconds; });
  if (order.size() > most) order.resize(most);
  if (order.empty()) return "";
  std::string text = "Slowest:\n";
  for (const Item* item : order) {
    text += "  " + pad_left(seconds_text(item->seconds), 7) + "  " + label(*item) + "\n";
  }
  return text + slowest_exercises_text(items, most);
}

std::string last_line(const std::vector<Item>& items) { return counts_text(count(items)) + "\n"; }

std::vector<Item> skipped_tests(const std::string& program, const std::string& output) {
  constexpr const char* kMark = "[  SKIPPED ] ";
  std::vector<Item> items;
  std::string before;  // GoogleTest prints the reason and then the mark with its milliseconds
  for (const std::string& line : course::split_lines(output)) {
    const size_t time = line.rfind(" (");
    if (course::starts_with(line, kMark) && time != std::string::npos && line.back() == ')') {
      const size_t name = std::string(kMark).size();
      items.push_back(skipped(0, program + " " + line.substr(name, time - name), before));
    }
    if (!course::trim(line).empty()) before = course::trim(line);
  }
  return items;
}

bool all_well(const std::vector<Item>& items) {
  const Count sum = count(items);
  return sum.failed == 0 && sum.passed > 0;
}

}  // namespace grade

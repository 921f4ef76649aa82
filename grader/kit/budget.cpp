#include <cstdio>

#include "kit/context.h"
#include "kit/kit.h"

namespace kit {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// ". 96 % of it is spent at vector_add.cu:9" for the line that spends most of a counter.
std::string hottest_line(uint64_t Counters::*counter) {
  if (counter == nullptr) return "";
  uint64_t total = 0;
  const LineCounters* hottest = nullptr;
  for (const LineCounters& line : context().last_lines) {
    const uint64_t spent = line.counters.*counter;
    total += spent;
    if (hottest == nullptr || spent > hottest->counters.*counter) hottest = &line;
  }
  if (total == 0 || hottest->file.empty()) return "";
  char share[16];
  std::snprintf(
      share, sizeof share, "%.0f %%",
      100.0 * static_cast<double>(hottest->counters.*counter) / static_cast<double>(total));
  return std::string(" ") + share + " of it is spent at " + base_name(hottest->file) + ":" +
         std::to_string(hottest->line) + ".";
}

// The bytes that the launcher had copied on the device, where kernels load and store as many, and
// the call that copies most of them.
uint64_t copied_on_device(std::string* most) {
  uint64_t bytes = 0, largest = 0;
  const int count = wsim_timeline_count();
  for (int i = 0; i < count; ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0) break;
    if (std::string(item.kind) != "copy on device" || is_test_file(item.file)) continue;
    bytes += item.bytes;
    if (item.bytes <= largest) continue;
    largest = item.bytes;
    *most =
        std::string(item.name) + " at " + base_name(item.file) + ":" + std::to_string(item.line);
  }
  return bytes;
}

}  // namespace

bool budget(const std::string& name, double value, Limit limit, const std::string& reason,
            uint64_t Counters::*spent_on, Site site) {
  if (!simulated()) return true;
  if (internal::case_failed()) return false;
  // Arrays that begin elsewhere lie in other sectors, and take other ways through a kernel.
  if (context().any_begin) return true;
  // A copy by the runtime moves what a kernel that copies would load and store.
  std::string copies;
  const bool is_traffic =
      spent_on == &Counters::global_load_bytes || spent_on == &Counters::global_store_bytes;
  const double counted =
      is_traffic ? static_cast<double>(context().last_run.counters().*spent_on) : 0;
  if (limit.at_most && counted > 0) {
    value *= 1 + static_cast<double>(copied_on_device(&copies)) / counted;
  }
  const bool passed = limit.at_most ? value <= limit.value : value >= limit.value;  // NaN: false
  std::string message;
  if (!passed) {
    message = "Right, but over budget. " + name + ": " + number(value) + ", " +
              (limit.at_most ? "at most " : "at least ") + number(limit.value) +
              (limit.at_most ? " allowed. " : " needed. ") + reason;
    if (message.back() != '.') message += '.';
    message += hottest_line(spent_on);
    if (!copies.empty()) message += " What " + copies + " copies on the device counts as well.";
  }
  context().channel.send("budget", JsonObject()
                                       .text("test", context().test)
                                       .text("case", case_label())
                                       .text("name", name)
                                       .number("value", value)
                                       .number("limit", limit.value)
                                       .text("unit", limit.at_most ? "at most" : "at least")
                                       .boolean("passed", passed)
                                       .text("message", message));
  return passed || fail(message, site);
}

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

double useful_share(const Counters& counters) {
  const double useful =
      static_cast<double>(counters.global_load_unique_bytes + counters.global_store_unique_bytes);
  const double moved =
      32.0 * static_cast<double>(counters.global_load_sectors + counters.global_store_sectors);
  return ratio(useful, moved);
}

}  // namespace kit

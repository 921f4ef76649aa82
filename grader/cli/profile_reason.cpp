// Which line of a kernel is worth a look, and why, in words.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/profile_text.h"
#include "course/text.h"

namespace grade {
namespace {

using course::Json;

// Cycles of a multiprocessor, roughly: what a line would save if it did the least that its bytes
// need.
constexpr double kCyclesPerSector = 2;
constexpr double kCyclesPerInstruction = 0.25;
constexpr double kCyclesPerGlobalAtomic = 4;
constexpr double kWorthSaying = 0.1;  // of all cycles of the kernel
constexpr double kSectorBytes = 32;

struct Waste {
  double cycles = 0;
  std::string reason, cure;
};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value - std::round(value)) < 0.05 ? "%.0f" : "%.1f",
                value);
  return text;
}

std::string apart(const Json& access, const char* verb) {
  const Json* distance = access.find("distance");
  if (distance == nullptr) {
    return std::string("the threads of a warp ") + verb + " scattered addresses";
  }
  return std::string("neighbouring threads ") + verb + " addresses " +
         number(std::abs(distance->number)) + " bytes apart";
}

Waste global_waste(const Json& access, bool store) {
  const double requests = access.number_or("requests"), sectors = access.number_or("transactions");
  const double per_request = access.number_or("unique_bytes") / requests;
  const double least = std::max(1.0, std::ceil(per_request / kSectorBytes));
  Waste waste;
  waste.cycles = kCyclesPerSector * (sectors - requests * least);
  waste.reason = "Each request touches " + number(sectors / requests) + " sectors of 32 bytes, " +
                 number(least) + " would do: ";
  const Json* distance = access.find("distance");
  const double bytes = access.number_or("bytes") / requests / 32;
  const bool in_a_row = distance != nullptr && std::abs(distance->number) <= bytes + 0.5;
  waste.reason += in_a_row
                      ? "the threads' addresses lie in a row, but do not begin where a sector does."
                      : apart(access, store ? "write" : "read") + ".";
  return waste;
}

Waste shared_waste(const Json& access, bool store) {
  const double requests = access.number_or("requests"), passes = access.number_or("transactions");
  Waste waste;
  waste.cycles = access.number_or("excess");
  waste.reason = "Each request takes " + number(passes / requests) +
                 " passes through shared memory, " + number((passes - waste.cycles) / requests) +
                 " would do: " + apart(access, store ? "write" : "read") + ", in the same bank.";
  waste.cure = "One word more in each row of the array moves them apart.";
  return waste;
}

Waste atomic_waste(const Json& access, bool global) {
  Waste waste;
  const double steps = access.number_or("excess"), requests = access.number_or("requests");
  waste.cycles = steps * (global ? kCyclesPerGlobalAtomic : 1);
  waste.reason = "Lanes of a warp change the same address, one after the other: " +
                 number(steps / requests + 1) + " steps for each atomic operation of a warp.";
  waste.cure = "Adding up in the warp or the block first leaves one.";
  return waste;
}

Waste access_waste(const Json& access) {
  const std::string kind = access.string_or("kind");
  if (access.number_or("requests") == 0) return {};
  if (kind == "global load" || kind == "global store")
    return global_waste(access, kind == "global store");
  if (kind == "shared load" || kind == "shared store")
    return shared_waste(access, kind == "shared store");
  if (kind == "global atomic" || kind == "shared atomic") {
    return atomic_waste(access, kind == "global atomic");
  }
  if (kind == "local load" || kind == "local store") {
    return {kCyclesPerSector * access.number_or("transactions"),
            "This goes through local memory: an array of a thread whose index is known at run time "
            "only, or registers that were spilled.",
            "Unrolled loops with constant indices keep it in registers."};
  }
  return {};
}

Waste divergence_waste(const Json& counters) {
  const double instructions = counters.number_or("warp_instructions");
  if (instructions == 0) return {};
  const double lanes = counters.number_or("thread_instructions") / instructions;
  return {kCyclesPerInstruction * instructions * (1 - lanes / 32),
          "On average " + number(lanes) +
              " of 32 lanes work here: the threads of a warp go different ways, and the warp goes "
              "each.",
          ""};
}

double all_cycles(const Json& kernel) {
  double cycles = 0;
  for (const Json& line : kernel.find("lines")->items) {
    cycles += kCyclesPerInstruction * line.find("counters")->number_or("warp_instructions");
    for (const Json& access : line.find("accesses")->items) {
      const bool shared = course::starts_with(access.string_or("kind"), "shared");
      cycles += access.number_or("transactions") * (shared ? 1 : kCyclesPerSector);
    }
  }
  return cycles;
}

// Where warps wait most.
WorstLine slowest_line(const Json& kernel) {
  constexpr double kStandsOut = 0.3;  // of all waiting
  WorstLine worst;
  double most = kStandsOut;
  for (const Json& line : kernel.find("lines")->items) {
    const double stalled = line.number_or("stalled");
    if (stalled < most) continue;
    most = stalled;
    worst.file = line.string_or("file");
    worst.line = static_cast<int>(line.number_or("line"));
    const Json& counters = *line.find("counters");
    const bool loads = counters.number_or("global_load_requests") > 0;
    const bool waits = counters.number_or("barriers") > 0;
    worst.reason = number(100 * stalled) + " % of the waiting of warps ends at this line" +
                   (waits   ? ": they wait for each other at the barrier."
                    : loads ? ": they wait for values from memory, here or just before."
                            : ": they wait for results of the lines before.");
  }
  return worst;
}

}  // namespace

WorstLine worst_line(const Json& kernel) {
  WorstLine worst;
  double most = kWorthSaying * all_cycles(kernel);
  for (const Json& line : kernel.find("lines")->items) {
    // The accesses of a line add up; the one that wastes most gives the words.
    Waste sum, largest = divergence_waste(*line.find("counters"));
    sum.cycles = largest.cycles;
    for (const Json& access : line.find("accesses")->items) {
      Waste waste = access_waste(access);
      sum.cycles += waste.cycles;
      if (waste.cycles > largest.cycles) largest = std::move(waste);
    }
    if (sum.cycles <= most) continue;
    most = sum.cycles;
    worst = {line.string_or("file"), static_cast<int>(line.number_or("line")), largest.reason,
             largest.cure};
  }
  return worst.line != 0 ? worst : slowest_line(kernel);
}

}  // namespace grade

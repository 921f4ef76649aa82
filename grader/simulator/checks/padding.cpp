#include "checks/padding.h"

#include <algorithm>
#include <bit>
#include <map>

namespace warplings::sim {
namespace {

constexpr size_t kMostGaps = 4;       // padded places of one structure
constexpr size_t kFewestRepeats = 3;  // structures that have to show the same gap

bool same_gap(const ByteRun& a, const ByteRun& b, uint64_t stride) {
  return a.size == b.size && b.start - a.start == stride;
}

struct Period {
  size_t runs = 0;      // per structure; 0: none found
  uint64_t stride = 0;  // bytes of a structure
};

// The smallest number of runs after which most of them return at one distance.
Period find_period(const std::vector<ByteRun>& runs) {
  for (size_t k = 1; k <= kMostGaps && runs.size() >= k + kFewestRepeats - 1; ++k) {
    std::map<uint64_t, size_t> distances;
    for (size_t i = 0; i + k < runs.size(); ++i) {
      if (runs[i].size == runs[i + k].size) ++distances[runs[i + k].start - runs[i].start];
    }
    const auto most =
        std::max_element(distances.begin(), distances.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == distances.end()) continue;
    const size_t pairs = runs.size() - k;
    if (most->second + 1 >= kFewestRepeats && 4 * most->second >= 3 * pairs) {
      return {k, most->first};
    }
  }
  return {};
}

bool fits_alignment(const ByteRun& run, uint64_t stride) {
  const uint64_t alignment = std::bit_ceil(run.size + 1);
  return alignment <= 16 && (run.start + run.size) % alignment == 0 && stride % alignment == 0 &&
         stride > alignment;
}

}  // namespace

std::vector<bool> padding_like(const std::vector<ByteRun>& runs) {
  std::vector<bool> result(runs.size(), false);
  const Period period = find_period(runs);
  if (period.runs == 0) return result;
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool before = i >= period.runs && same_gap(runs[i - period.runs], runs[i], period.stride);
    const bool after =
        i + period.runs < runs.size() && same_gap(runs[i], runs[i + period.runs], period.stride);
    result[i] = (before || after) && fits_alignment(runs[i], period.stride);
  }
  return result;
}

}  // namespace warplings::sim

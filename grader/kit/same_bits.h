// Results of which a header promises the same bits at every run. Sums of floats depend on the order
// of their additions, and which block comes first is chance; so is it which warp of a block does.
//
//   kit::expect_same_bits("dw", [&] { return backward(in, s).dw.download(); });
#ifndef WARPLINGS_KIT_SAME_BITS_H_
#define WARPLINGS_KIT_SAME_BITS_H_

#include <cstring>
#include <functional>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "kit/kit.h"

namespace kit {

// All values, one array behind the other.
inline std::vector<float> joined(const std::vector<DeviceBuffer<float>>& arrays) {
  std::vector<float> all;
  for (const DeviceBuffer<float>& array : arrays) {
    const std::vector<float> values = array.download();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// Calls `results`, which runs the exercise and returns what came out, while the blocks of its
// launches begin in each order (several times on a GPU), and fails where a bit is another than at
// first. Let the values be random: sums of small integers are exact in any order.
inline void expect_same_bits(const std::string& what,
                             const std::function<std::vector<float>()>& results,
                             Site site = Site::here()) {
  std::vector<float> first;
  const auto compare = [&](const std::vector<float>& now) {
    for (size_t i = 0; i < now.size() && now.size() == first.size(); ++i) {
      if (std::memcmp(&now[i], &first[i], sizeof(float)) == 0) continue;
      std::ostringstream text;
      text << std::setprecision(9) << what << "[" << i << "] is " << now[i]
           << ", and another run with the same input gave " << first[i]
           << ": the last bits depend on which block or warp comes first, and that changes from "
              "run to run. Let the order of the additions be fixed by where a value lies, not by "
              "who is "
              "done.";
      fail(text.str(), site);
      return;
    }
  };
  for_each_block_order([&] {
    for (int call = 0; call < work_scale(1, 5); ++call) {
      const std::vector<float> now = results();
      if (internal::case_failed()) return;
      if (first.empty()) first = now;
      compare(now);
    }
  });
}

}  // namespace kit

#endif  // WARPLINGS_KIT_SAME_BITS_H_

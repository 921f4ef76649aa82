#include "kit/left_behind.h"

#include <warplings/sim.h>

#include <algorithm>

#include "kit/context.h"
#include "kit/kit.h"

namespace kit {
namespace {

// "2 streams", "1 allocation of device memory", "2 allocations of device memory".
std::string count_of(int64_t n, std::string what) {
  if (n != 1) {
    const size_t of = what.find(" of ");
    const size_t that = what.find(" that ");
    what.insert(std::min({of, that, what.size()}), "s");
  }
  return std::to_string(n) + " " + what;
}

}  // namespace

std::string device_left_behind() {
  const int device = context().device_left;
  if (device < 0) return "";
  return "Left behind: device " + std::to_string(device) +
         " is the current one, and it was device " + std::to_string(current_device()) +
         " before the call. Put back what you change, on every way out.";
}

Belongings Belongings::now() {
  Belongings now;
  const int count = wsim_holding_count();
  for (int i = 0; i < count; ++i) {
    wsim_holding holding;
    if (wsim_get_holding(i, &holding) != 0) break;
    now.all_[{holding.what, holding.object}] = holding.value;
  }
  return now;
}

bool Belongings::empty() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& one) {
    return one.first.second != nullptr || one.second == 0;  // modes are always there
  });
}

std::string Belongings::left_behind(int calls) const {
  for (const auto& [key, value] : now().all_) {
    const auto& [what, object] = key;
    const auto found = all_.find(key);
    const int64_t before = found == all_.end() ? 0 : found->second;
    if (value == before) continue;
    if (object != nullptr) {
      // A handle that this call made itself is counted above.
      const bool is_new = found == all_.end() && value == 0;
      if (is_new) continue;
      return "Left behind: the " + what + " is another than before the call (" +
             std::to_string(value) + ", it was " + std::to_string(before) +
             "). Put back what you change, on every way out.";
    }
    if (value < before) {
      return "Left behind: there is " + count_of(before - value, what) +
             " less than before the call. Destroy what you made, and nothing that you were given.";
    }
    if (what.find("group of NCCL calls") != std::string::npos) {
      return "Left behind: a group of NCCL calls is open. Call ncclGroupEnd() on every way out, "
             "also "
             "behind a call that has failed: until then no call of NCCL is run in this thread.";
    }
    const int64_t more = value - before;
    const bool each_time = calls > 1 && more % calls == 0;
    return "Left behind: " + count_of(each_time ? more / calls : more, what) + ", which " +
           (each_time ? "each" : "the") +
           " call made and did not give back. Whatever it makes has to be destroyed on every way "
           "out.";
  }
  return "";
}

}  // namespace kit

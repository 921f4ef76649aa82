// What the self-test asks today and leaves to other days, so that it keeps its time.
#ifndef WARPLINGS_CLI_DEV_SHARE_OF_TODAY_H_
#define WARPLINGS_CLI_DEV_SHARE_OF_TODAY_H_

#include <set>
#include <string>

#include "cli/app.h"

namespace grade {

// 0 to parts - 1, another one each day.
size_t part_of_today(size_t parts);

// Every `parts`-th exercise, and up to 20 more that the newest commits have changed.
class ShareOfToday {
 public:
  ShareOfToday(App& app, size_t parts);
  bool has(const course::Exercise& exercise) const { return ids_.count(exercise.id) != 0; }
  size_t size() const { return ids_.size(); }

 private:
  std::set<std::string> ids_;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_DEV_SHARE_OF_TODAY_H_

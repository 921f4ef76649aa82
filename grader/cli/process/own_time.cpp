#include "cli/process/own_time.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace grade {
namespace {

namespace fs = std::filesystem;

// The numbers of the entries of a folder of /proc.
std::vector<pid_t> numbers_in(const fs::path& folder) {
  std::vector<pid_t> numbers;
  std::error_code error;  // the process may have ended
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    numbers.push_back(std::atoi(entry->path().filename().c_str()));
  }
  return numbers;
}

}  // namespace

void OwnTime::restart() {
  began_ = Clock::now();
  ran_ = waited_ = 0;
}

TimeHad OwnTime::of(pid_t root) {
  constexpr std::chrono::milliseconds kBetweenLooks(200);
  const Clock::time_point now = Clock::now();
  if (now - looked_ >= kBetweenLooks) {
    looked_ = now;
    look(root);
  }
  TimeHad had;
  had.clock = std::chrono::duration<double>(now - began_).count();
  had.own = std::max(had.clock - waited_, had.clock / 4);
  had.processor = ran_;
  return had;
}

void OwnTime::look(pid_t process) {
  const fs::path tasks = "/proc/" + std::to_string(process) + "/task";
  for (const pid_t id : numbers_in(tasks)) {
    const fs::path task = tasks / std::to_string(id);
    Thread now;
    if (std::ifstream(task / "schedstat") >> now.ran >> now.waited) {
      Thread& known = threads_[id];
      constexpr double kNanosecond = 1e-9;
      if (now.ran >= known.ran) ran_ += static_cast<double>(now.ran - known.ran) * kNanosecond;
      if (now.waited >= known.waited) {
        waited_ += static_cast<double>(now.waited - known.waited) * kNanosecond;
      }
      known = now;
    }
    std::ifstream children(task / "children");
    for (pid_t child = 0; children >> child;) look(child);
  }
}

}  // namespace grade

#include "runtime/background.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/api.h"
#include "runtime/stream.h"

namespace warplings::sim {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(20);
constexpr int kBlockedIntervals = 3;
constexpr double kSpinSeconds = 1.0;  // of processor time

// 'S' for a thread that sleeps, 'R' for one that runs or wants to.
char state_of(const std::string& thread) {
  std::ifstream file("/proc/self/task/" + thread + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');  // the name may hold anything, also parentheses
  return name_end == std::string::npos || name_end + 2 >= line.size() ? 'S' : line[name_end + 2];
}

bool all_other_threads_sleep() {
  const long self = syscall(SYS_gettid);
  DIR* directory = opendir("/proc/self/task");
  if (directory == nullptr) return false;
  bool asleep = true;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name[0] == '.' || std::strtol(name.c_str(), nullptr, 10) == self) continue;
    if (state_of(name) != 'S') asleep = false;
  }
  closedir(directory);
  return asleep;
}

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class Watcher {
 public:
  void look() {
    std::unique_lock lock(api_mutex(), std::try_to_lock);
    if (!lock.owns_lock() || !Streams::instance().any_pending() || called_since()) {
      restart();
      return;
    }
    blocked_ = all_other_threads_sleep() ? blocked_ + 1 : 0;
    if (blocked_ < kBlockedIntervals && processor_seconds() - start_ < kSpinSeconds) return;
    Streams::instance().run_all();
    restart();
  }

 private:
  bool called_since() {
    const uint64_t calls = all_api_calls();
    const bool called = calls != calls_;
    calls_ = calls;
    return called;
  }
  void restart() {
    blocked_ = 0;
    start_ = processor_seconds();
  }

  uint64_t calls_ = 0;
  int blocked_ = 0;
  double start_ = 0;
};

}  // namespace

void start_background_progress() {
  std::thread([] {
    Watcher watcher;
    for (;;) {
      std::this_thread::sleep_for(kInterval);
      watcher.look();
    }
  }).detach();
}

}  // namespace warplings::sim

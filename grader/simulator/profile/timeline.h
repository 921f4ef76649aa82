// The modelled timeline: when the calls of the host and the work of the device happen on the
// modelled machine. Formulas and units: TIMELINE.md.
//
// The host clock moves with the calls of the runtime and with its waits; what the program computes
// itself takes no time on it. Work is placed when something asks for its end and it has run in the
// simulator, so that its length is known: whatever became ready first is placed first. All
// functions are called under the lock of the runtime.
#ifndef WARPLINGS_SIMULATOR_PROFILE_TIMELINE_H_
#define WARPLINGS_SIMULATOR_PROFILE_TIMELINE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/work.h"
#include "profile/kernel_time.h"
#include "profile/schedule.h"

namespace warplings::sim {

struct TimelineItem {
  uint64_t serial = 0;               // in the order of the calls, from 1
  std::shared_ptr<const Work> work;  // nullptr: an event
  StreamTraits stream;
  bool in_graph = false;
  double issued = 0;            // when the host had made the call
  std::vector<uint64_t> after;  // serials
  bool has_run = false;         // in the simulator: `seconds` and `demand` are known
  bool is_placed = false;
  double seconds = 0;  // with the device for itself
  Demand demand;
  double start = 0, end = 0;
  std::shared_ptr<double> reached;  // an event's time, for who holds the event
};

// The host in a call that waits.
struct HostWait {
  double start = 0, end = 0;
  const char* call = "";             // the function of the runtime or of a library
  const void* returns_to = nullptr;  // in the program
};

class Timeline {
 public:
  static Timeline& instance();

  // The program calls it, and goes on at that address; `name` lives as long as the program.
  void host_enters(const char* name, const void* returns_to);
  void host_call(std::string_view name);
  void graph_instantiated(size_t nodes);

  // The serial of the new item.
  uint64_t enqueued(const StreamTraits& stream, std::shared_ptr<const Work> work);
  // A graph launch: `after[i]` are indices of earlier nodes. The serial of the first node; those
  // of the others follow.
  uint64_t enqueued_graph(const StreamTraits& stream,
                          const std::vector<std::shared_ptr<const Work>>& nodes,
                          const std::vector<std::vector<size_t>>& after);
  uint64_t last_of(uint64_t stream) { return streams_[stream].last; }
  std::shared_ptr<double> event_time(uint64_t serial);
  void stream_waits(const StreamTraits& stream, uint64_t event);

  // The work is about to run, and has run, in the simulator.
  void starts(uint64_t serial);
  void kernel_took(const KernelTime& time);  // of the item that runs
  // How much longer each of the next kernels takes.
  void slow_down(const std::deque<double>& seconds) { delays_ = seconds; }
  void ends(uint64_t serial);
  double running_since();  // when the kernel that runs began on the modelled device

  // The host waits until the end of work that has run.
  void host_waits_for(uint64_t serial);
  void host_waits_for_last(const StreamTraits& stream);
  void host_waits_for_stream(const StreamTraits& stream);
  void host_waits_for_device(int device);

  double now() const { return host_; }  // the host's clock
  void place_what_has_run();

  // Since reset(), as far as they are still remembered.
  const std::deque<TimelineItem>& items() const { return items_; }
  const std::vector<HostWait>& host_waits() const { return host_waits_; }
  void reset();  // forgets what is over
  void forget_loaded_code() { loaded_.clear(); }
  void forget_pending();  // work was dropped: after a fault, or at cudaDeviceReset

 private:
  struct Device {
    SharedDevice multiprocessors;
    Engine to_device, to_host, peer;
  };
  struct StreamEnd {
    StreamTraits traits;
    uint64_t last = 0;
    std::vector<uint64_t> waits;  // of the next item
  };

  TimelineItem* find(uint64_t serial);
  TimelineItem& add(const StreamTraits& stream, std::shared_ptr<const Work> work);
  std::vector<uint64_t> dependencies(const StreamTraits& stream);
  double ready_time(const TimelineItem& item);
  using Devices = std::map<int, Device>;
  static Span reserve(Devices& devices, const TimelineItem& item, double ready);
  bool has_length(TimelineItem& item) const;
  void host_reaches(double time);
  void forget_old();

  double host_ = 0;
  HostWait call_;  // which the host makes now
  uint64_t next_serial_ = 1;
  std::deque<TimelineItem> items_;
  std::set<uint64_t> unplaced_;
  std::map<uint64_t, StreamEnd> streams_;
  Devices devices_;                               // in use by what has been placed
  std::map<std::string, KernelTime> last_time_;   // of each kernel
  std::set<std::pair<std::string, int>> loaded_;  // kernels, by device
  std::vector<HostWait> host_waits_;
  std::deque<double> delays_;  // in seconds, of the kernels that run next
  uint64_t running_ = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_TIMELINE_H_

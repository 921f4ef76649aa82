// Streamcheck: work of different streams, and the host, that touch the same bytes without an order.
//
// Happens-before is known when work is enqueued: the order of its stream, the events that it waits
// for, the rules of the default stream, and everything that the host has waited for by then. Which
// bytes it touches is known at the call (copies, fills) or when it has run (kernels). A pair is
// compared when the second of the two has run. Host loads and stores are seen through protected
// pages (checks/host_guard.h).
//
// All host threads count as one: how they wait for each other cannot be seen. All functions are
// called under the lock of the runtime.
#ifndef WARPLINGS_SIMULATOR_CHECKS_STREAM_ORDER_H_
#define WARPLINGS_SIMULATOR_CHECKS_STREAM_ORDER_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checks/host_guard.h"
#include "checks/order_clock.h"
#include "core/work.h"
#include "memory/footprint.h"

namespace warplings::sim {

struct HostAccess {
  uint64_t address = 0;
  bool write = false;
  Position where;
  bool in_host_function = false;
};

// A piece of work that may still meet work, or the host, without an order.
struct OrderEntry {
  WorkId id;
  StreamTraits stream;
  std::shared_ptr<const Work> work;
  OrderClock before;        // finished when it starts
  OrderClock host_at_call;  // what the host knew when it enqueued this
  Footprint footprint;
  bool has_run = false;
  bool is_overlapped = false;             // the kernel behind it may begin before it has ended
  bool has_waited = false;                // a thread of it, for the kernels before it
  std::vector<HostAccess> host_accesses;  // made before it ran, without an order
};

class StreamOrder {
 public:
  static StreamOrder& instance();

  // ---- the order ---------------------------------------------------------------------------
  void enqueued(const StreamTraits& stream, uint64_t sequence, std::shared_ptr<const Work> work);
  // What an event recorded now in this stream stands for.
  OrderClock end_of(uint64_t stream) const;
  void stream_waits(const StreamTraits& stream, const OrderClock& event);
  // Work that counts as writing `ranges` and does nothing: it begins when all these streams are
  // there, and none of them goes on before it has ended.
  void caller_works(const std::vector<StreamTraits>& streams, std::vector<MemoryRange> ranges);
  // The host is about to wait: for an event, for a stream (the default one stands for the blocking
  // ones of its device as well), for a device, for everything before an item.
  void host_waits(const OrderClock& event);
  void host_waits(const StreamTraits& stream);
  void host_waits_for_device(int device);
  void host_waits_for_start_of(const WorkId& id);
  void host_waited();  // the call that waited is over
  // The program gives pinned memory back, in a call of that name: does something still use it?
  void host_gives_back(const MemoryRange& memory, const char* call, const Position& where) const;

  // ---- what runs ---------------------------------------------------------------------------
  void starts(const WorkId& id);
  void ends(const WorkId& id);
  void dropped(const WorkId& id);  // an earlier fault: it does not run
  // The kernels before the one that runs that it may overlap, the last one first: that before it,
  // and as long as nobody in one has waited, the one before that
  // (grader/tests/gpu/dependent_chain.cu).
  const std::vector<OrderEntry*>& overlapped() const { return overlapped_; }
  void running_waits();
  // A host function runs as part of the item.
  void host_function_starts(const WorkId& id);
  void host_function_ends();
  void reset();  // forgets everything: cudaDeviceReset

  // ---- the host ----------------------------------------------------------------------------
  bool guards(uint64_t address) const { return guard_.covers(address); }
  // The program touched a guarded page: reports what is wrong and opens the page.
  void host_touched(uint64_t address, bool write, const Position& where);
  // A __managed__ variable: kernels reach it without an argument.
  void add_managed_variable(uint64_t address, uint64_t size);

 private:
  struct StreamEnd {
    StreamTraits traits;
    OrderClock clock;  // includes the last item
  };
  using Entries = std::list<OrderEntry>;

  OrderEntry* find(const WorkId& id);
  OrderClock clock_of_next(const StreamTraits& stream);
  OrderEntry& add(const WorkId& id, const StreamTraits& stream, std::shared_ptr<const Work> work,
                  OrderClock before);
  void protect(const OrderEntry& entry);
  bool is_unordered(const OrderEntry& a, const OrderEntry& b) const;
  bool needs_footprint(const OrderEntry& entry) const;
  OrderEntry* kernel_before(const OrderEntry& entry);
  void compare(OrderEntry& entry);
  bool is_ordered_with_host(const OrderEntry& entry) const;
  void learn_from_flags(const OrderEntry& entry);
  bool can_meet_nobody(const OrderEntry& entry) const;
  void erase(Entries::iterator entry);
  void forget_what_is_over();

  std::map<uint64_t, StreamEnd> streams_;
  OrderClock host_;
  Entries entries_;  // in the order of the calls
  std::vector<OrderEntry*> overlapped_;
  OrderEntry* running_ = nullptr;
  std::map<WorkId, Entries::iterator> index_;
  std::map<uint64_t, int> entries_of_stream_;
  uint64_t caller_works_ = 0;                    // how often so far
  std::map<WorkId, OrderClock> host_functions_;  // waiting ones, and what they know
  WorkId host_function_;                         // running now; sequence 0: none
  OrderClock host_function_knows_;
  std::vector<MemoryRange> managed_variables_;
  HostGuard guard_;
};

// Findings, in words (checks/explain_order.cpp).
// "byte 16 of `c` (8192 bytes, allocated at add.cu:12)".
std::string place_of(uint64_t address);
void report_unordered(const OrderEntry& first, const OrderEntry& second, const Conflict& conflict);
void report_host_access(const OrderEntry& entry, const HostAccess& access,
                        const Conflict& conflict);
void report_given_back(const OrderEntry& entry, const char* call, const Position& where);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_STREAM_ORDER_H_

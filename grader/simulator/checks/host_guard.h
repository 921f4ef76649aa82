// Pages of memory that the host sees, closed to it while work that it has not waited for may use
// them: a load or store of the program then arrives at the handler of host_fault.cpp.
//
// System calls do not fault, they fail with EFAULT: so only what pending work was given is closed.
#ifndef WARPLINGS_SIMULATOR_CHECKS_HOST_GUARD_H_
#define WARPLINGS_SIMULATOR_CHECKS_HOST_GUARD_H_

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "checks/order_clock.h"

namespace warplings::sim {

class HostGuard {
 public:
  // The item uses [address, address + size). If it only reads, the host may read as well.
  void add(const WorkId& id, uint64_t address, uint64_t size, bool host_may_read);
  // Opens what only items that the clock includes have closed.
  void release(const OrderClock& finished);
  void clear();

  bool covers(uint64_t address) const;
  bool lets_host_read(uint64_t address) const;
  void open(uint64_t address);  // the page, until close_again()
  void close_again();
  bool is_used() const { return !ranges_.empty(); }

 private:
  // First page, one past the last byte of the last page, and whether the host may read.
  struct Range {
    uint64_t begin = 0, end = 0;
    bool host_may_read = false;
    bool operator<(const Range& other) const {
      return std::tie(begin, end, host_may_read) <
             std::tie(other.begin, other.end, other.host_may_read);
    }
  };
  void apply(uint64_t begin, uint64_t end) const;

  std::map<Range, std::vector<WorkId>> ranges_;
  std::vector<uint64_t> opened_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_HOST_GUARD_H_

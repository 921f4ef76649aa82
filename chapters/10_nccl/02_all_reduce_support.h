// What the tests of NCCL's calls share: ranks of one process, results as failures, and what went
// over the links.
#ifndef CHAPTERS_10_NCCL_02_ALL_REDUCE_SUPPORT_H_
#define CHAPTERS_10_NCCL_02_ALL_REDUCE_SUPPORT_H_

#include <nccl.h>

#include <cstring>
#include <string>
#include <vector>

#include "kit/kit.h"
#include "support.h"

// Fails the running case if `function` has not returned a success.
inline void expect_success(const std::string& function, ncclResult_t result,
                           kit::Site site = kit::Site::here()) {
  if (result == ncclSuccess) return;
  kit::fail(
      function + " returned " + std::to_string(result) + " (" + ncclGetErrorString(result) + ").",
      site);
}

// kit::run of a call of the exercise, whose result must be a success. What the simulator found says
// more than the result, so it comes first.
template <class Call>
kit::Run run_call(const std::string& function, const Call& call,
                  kit::Site site = kit::Site::here()) {
  ncclResult_t result = ncclSuccess;
  const kit::Run run = kit::run([&] { return result = call(); }, site);
  expect_success(function, result, site);
  expect_no_wait(function, site);
  return run;
}

// Communicators of the first `devices` devices; rank d is device d.
class Ranks {
 public:
  explicit Ranks(int devices) : comms_(devices) {
    expect_success("ncclCommInitAll", ncclCommInitAll(comms_.data(), devices, nullptr));
  }
  ~Ranks() {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  const ncclComm_t* data() const { return comms_.data(); }
  ncclComm_t operator[](int rank) const { return comms_[rank]; }

 private:
  std::vector<ncclComm_t> comms_;
};

// Of the last kit::run, on one device: calls of NCCL that went over its link, the bytes that it
// sent, and the modelled time that its link was in use. Zeros on a GPU.
struct LinkUse {
  int calls = 0;
  double bytes = 0, seconds = 0;
};
inline LinkUse link_use(int device) {
  LinkUse use;
  for (int i = 0; i < wsim_timeline_count(); ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0) break;
    if (item.device != device || std::strncmp(item.name, "nccl", 4) != 0) continue;
    use.calls += 1;
    use.bytes += static_cast<double>(item.bytes);
    use.seconds += item.end - item.start;
  }
  return use;
}

// Element by element, in double: the sum of what the devices hold.
inline std::vector<double> sum_over_devices(const std::vector<std::vector<float>>& hosts) {
  std::vector<double> sum(hosts[0].size(), 0);
  for (const std::vector<float>& host : hosts) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += host[i];
  }
  return sum;
}

#endif  // CHAPTERS_10_NCCL_02_ALL_REDUCE_SUPPORT_H_

// The ranks of a communicator, and the calls of theirs that wait for each other.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_NCCL_CLIQUE_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_NCCL_CLIQUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nccl/operation.h"
#include "nccl/remote.h"

namespace warplings::libraries {

// All functions are called with rendezvous_mutex() held.
struct Clique {
  explicit Clique(int size) : devices(static_cast<size_t>(size), -1), pending(devices.size()) {}

  int size() const { return static_cast<int>(devices.size()); }
  bool complete() const;
  // Gives the operations that have found each other to their streams.
  void match();
  // "rank 1 of 2", "ranks 1 and 3 of 4": who has not made the call that this one waits for.
  std::string missing_for(const Operation& operation) const;
  void withdraw(const Operation& operation);

  std::vector<int> devices;  // of each rank in this process; -1: not there yet, or elsewhere
  // Where the other ranks are in other processes: this process has one rank.
  std::unique_ptr<Remote> remote;
  std::vector<std::deque<Operation>> pending;

 private:
  bool match_collective();
  bool match_transfers();
};

std::mutex& rendezvous_mutex();
std::condition_variable& rendezvous();  // notified when something has been matched

// Gives calls of one rank to their streams, to be done together with the ranks elsewhere.
ncclResult_t launch_remote(const std::shared_ptr<Clique>& clique,
                           const std::vector<Operation>& operations);

// Waits for other threads of the program until `done`. False if that will not happen: there is no
// other thread, or none has come in two seconds.
bool wait_for_others(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_NCCL_CLIQUE_H_

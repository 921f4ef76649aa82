// Ranks in other processes of this machine: a socket to each, and the calls that come over it.
//
// A rank listens under a name made from the unique id and its number (abstract names of Unix
// sockets: nothing lies in the file system, and a process that ends closes them). It calls every
// rank below its own. Each call of a collective goes to all others with its data; a send goes to
// its receiver, which answers when a receive has taken it. Every wait has an end.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_NCCL_REMOTE_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_NCCL_REMOTE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "nccl/operation.h"

namespace warplings::libraries {

// How long a rank waits for others: GRADE_SIM_NCCL_SECONDS, 10 unless set.
std::chrono::duration<double> patience();

class Remote {
 public:
  Remote(uint64_t id, int rank, int ranks);
  ~Remote();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  // Listens; "" or what is wrong.
  std::string open();
  // Calls and answers once, without waiting. Ranks of `here` live in this process and are left out.
  // "" or what is wrong.
  std::string meet(const std::vector<bool>& here);
  int connected() const;
  // "rank 1 of 2", "ranks 1, 3 of 4": not connected.
  std::string absent() const;

  // Does these calls of this rank together with those of the others; waits for them. What goes
  // wrong is reported at the call, and all later calls fail.
  void perform(const std::vector<Operation>& operations);
  ncclResult_t state() const { return state_; }

 private:
  struct Message {
    Operation operation;  // of the other rank, without pointers
    std::vector<char> data;
  };
  struct Peer {
    int fd = -1;
    bool greeted = false, gone = false;
    int process = 0;
    std::string out, in;
    std::deque<Message> collectives, sends;
    size_t taken = 0;  // answers to sends that no call of ours has counted yet
  };

  void call_below(const std::vector<bool>& here);
  void accept_above();
  std::string greet(int fd, const char* bytes, size_t size);
  std::string name_of(int rank) const;
  void queue(int to, uint32_t type, const Operation& operation, const std::vector<char>& data);
  void exchange(int milliseconds);  // sends and receives what is possible
  void flush(Peer& peer);
  void fill(Peer& peer);
  void parse(int from, Peer& peer);
  bool lacks(const std::vector<Operation>& operations, int rank) const;
  bool is_complete(const std::vector<Operation>& operations) const;
  bool is_hopeless(const std::vector<Operation>& operations) const;
  void answer(const std::vector<Operation>& operations, std::vector<size_t>* answered);
  void deliver(const std::vector<Operation>& operations);
  void deliver_collective(const Operation& mine);
  void give_up(const std::vector<Operation>& operations);
  std::string what_of(int rank, const Operation& mine) const;

  uint64_t id_;
  int rank_, ranks_, door_ = -1;
  std::vector<Peer> peers_;
  std::vector<int> unnamed_;  // connections whose rank is not known yet
  ncclResult_t state_ = ncclSuccess;
};

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_NCCL_REMOTE_H_

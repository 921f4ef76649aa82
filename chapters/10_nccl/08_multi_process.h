// 10/08 Multi-process: what the test and the program of 08_multi_process_main.cpp call.
#ifndef CHAPTERS_10_NCCL_08_MULTI_PROCESS_H_
#define CHAPTERS_10_NCCL_08_MULTI_PROCESS_H_

#include <nccl.h>

#include <cstddef>
#include <cstdint>

// The other processes, as whatever has started them shows them: MPI, or files in a folder. All
// ranks make the same calls in the same order.
class World {
 public:
  virtual ~World() = default;
  virtual int rank() const = 0;  // 0 .. ranks() - 1
  virtual int ranks() const = 0;
  // What rank `root` has in `data` goes to `data` of all.
  virtual void broadcast(void* data, size_t bytes, int root) = 0;
  // Rank r has `bytes` bytes in `mine`; afterwards every rank has them at all + r * bytes.
  virtual void all_gather(const void* mine, void* all, size_t bytes) = 0;
};

// What a process is in the group of all: a communicator, its device, a stream there.
struct Member {
  ncclComm_t comm = nullptr;  // null: not (or no longer) one of the group
  cudaStream_t stream = nullptr;
  int device = 0;
};

// Given: a number that is the same for all processes of a machine, and another on each machine.
uint64_t host_id();

// hosts[r]: the machine of rank r. How many of the ranks below `rank` are on its machine?
int local_rank(const uint64_t* hosts, int rank);

// Makes this process a member: a device of its own on its machine, and a communicator over all
// processes. Everybody calls it, and makes the same calls of World, whatever fails: the others wait
// for them. Returns the first result that is no success.
ncclResult_t join(World& world, Member* member);

// In place: d_x, n floats on the device of the member, becomes the mean over all ranks. Does not
// wait.
ncclResult_t mean_over_ranks(const Member& member, float* d_x, size_t n);

// Waits for the stream of the member, for `seconds` at most. A success if all its work is done,
// also if `seconds` is 0. If the communicator reports an error, or time is over, the communicator
// is aborted (member->comm becomes null) and the error, or ncclRemoteError, is returned.
ncclResult_t wait_or_abort(Member* member, double seconds);

// Given: destroys what join has made, as far as it is there.
void leave(Member* member);

#endif  // CHAPTERS_10_NCCL_08_MULTI_PROCESS_H_

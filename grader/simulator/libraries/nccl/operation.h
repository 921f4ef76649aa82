// What ranks do together: one operation of each, and the bytes that come out.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_NCCL_OPERATION_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_NCCL_OPERATION_H_

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/call.h"

namespace warplings::libraries {

enum class Kind : uint8_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kSend,
  kReceive
};
inline bool is_point_to_point(Kind kind) { return kind >= Kind::kSend; }

size_t size_of(ncclDataType_t type);  // 0: not known

// What a call waits for: the calls of the other ranks.
struct Ticket {
  bool matched = false;
  ncclResult_t result = ncclSuccess;
};

struct Range {
  size_t begin, end;
};

// The call of one rank.
struct Operation {
  Kind kind = Kind::kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclFloat;
  ncclRedOp_t reduction = ncclSum;
  int peer = 0;  // or the root
  int rank = 0, ranks = 1, device = 0;
  cudaStream_t stream = nullptr;
  bool only_edges = false;  // wsim_run_only_edges: of 2^32 elements a few thousand are looked at
  Call call{"", nullptr};
  std::shared_ptr<Ticket> ticket;

  // The elements of `count` that are looked at: all, or those at both ends and around powers of two
  // from either of them, which the blocks of a kernel at its edges write and read.
  std::vector<Range> looked_at() const;
  size_t looked_at_bytes() const;
  size_t sent() const;      // elements that it reads
  size_t received() const;  // elements that it writes
  bool reads() const;       // false: not its root, or a receiver
  bool writes() const;
  // Bytes that a ring sends over the link of this rank, in one direction.
  double link_bytes() const;
};

// Whether the ranks have made the same call; "" if so, else what differs.
std::string difference(const Operation& a, const Operation& b);
// Whether the buffers overlap otherwise than the rules for calls in place allow.
bool overlaps(const Operation& operation);

// The bytes that a rank sends, empty if it does not.
std::vector<char> input_of(const Operation& operation);
// The whole result of a collective, from what all ranks have sent.
std::vector<char> combined(const Operation& operation,
                           const std::vector<std::vector<char>>& inputs);
// Writes what this rank receives of it, or of a send.
void output_to(const Operation& operation, const std::vector<char>& result);

// Of the buffers of a call, the elements that it uses: begin and end of each piece.
std::vector<Range> sent_ranges(const Operation& operation);
std::vector<Range> received_ranges(const Operation& operation);

// Does what one operation of every rank asks for; reads all inputs before it writes.
void perform_collective(const std::vector<Operation>& of_ranks);
// Copies from each send to the receive at the same place.
void perform_transfers(const std::vector<Operation>& sends, const std::vector<Operation>& receives);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_NCCL_OPERATION_H_

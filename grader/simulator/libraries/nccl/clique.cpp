#include "nccl/clique.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

namespace warplings::libraries {
namespace {

// Operations that run as one: whoever's stream gets there first does the work of all, since every
// stream waits for what the others were given before.
struct Batch {
  std::function<void()> perform;
  std::vector<uint64_t> runs;  // of each party; a graph may run them again
  uint64_t performed = 0;
  bool broken = false;  // somebody's buffers cannot be used

  void run(size_t party) {
    if (++runs[party] <= performed || broken) return;
    perform();
    ++performed;
  }
};

// A rank's part: operations in one stream.
struct Party {
  std::vector<Operation> operations;
};

void add_operands(const Operation& o, Operands* operands) {
  const size_t size = size_of(o.type);
  const auto add = [&](const char* role, const void* data, const std::vector<Range>& ranges,
                       Access access) {
    for (const Range& range : ranges) {
      const auto count = static_cast<int64_t>(range.end - range.begin);
      operands->add(role, static_cast<const char*>(data) + range.begin * size, size,
                    {{count, static_cast<int64_t>(size)}}, access);
    }
  };
  if (!o.only_edges) {
    if (o.reads()) add("send buffer", o.send, {{0, o.sent()}}, Access::kRead);
    if (o.writes()) add("receive buffer", o.receive, {{0, o.received()}}, Access::kWrite);
    return;
  }
  if (o.reads()) add("send buffer", o.send, sent_ranges(o), Access::kRead);
  if (o.writes()) add("receive buffer", o.receive, received_ranges(o), Access::kWrite);
}

// What the work of a party is: its memory, and its bytes on the link, which carries both directions
// at once.
void describe(const std::vector<Operation>& operations, Operands* operands, Placement* placement) {
  double sent = 0, received = 0;
  for (const Operation& o : operations) {
    add_operands(o, operands);
    if (o.kind != Kind::kReceive) sent += o.link_bytes();
    if (o.kind != Kind::kSend) received += o.link_bytes();
  }
  placement->device = operations[0].device;
  placement->stream = operations[0].stream;
  placement->link_bytes = std::max(sent, received);
}

void launch(const std::vector<Operation>& operations, std::function<void()> perform) {
  std::map<std::pair<int, cudaStream_t>, Party> by_stream;
  for (const Operation& o : operations) by_stream[{o.device, o.stream}].operations.push_back(o);
  std::vector<wsim_device_stream> streams;
  for (const auto& [place, party] : by_stream) streams.push_back({place.first, place.second});
  const auto batch = std::make_shared<Batch>();
  batch->perform = std::move(perform);
  batch->runs.resize(by_stream.size());
  ncclResult_t result = ncclSuccess;
  if (wsim_library_join(streams.data(), streams.size()) != cudaSuccess) {
    result = ncclUnhandledCudaError;
  }
  size_t index = 0;
  for (const auto& [place, party] : by_stream) {
    Operands operands;
    Placement placement;
    describe(party.operations, &operands, &placement);
    const cudaError_t error = party.operations[0].call.enqueue(
        placement, operands, [batch, i = index++] { batch->run(i); });
    if (error != cudaSuccess) result = ncclUnhandledCudaError;
  }
  batch->broken = result != ncclSuccess;
  for (const Operation& o : operations) {
    o.ticket->matched = true;
    o.ticket->result = result;
  }
}

}  // namespace

ncclResult_t launch_remote(const std::shared_ptr<Clique>& clique,
                           const std::vector<Operation>& operations) {
  std::map<std::pair<int, cudaStream_t>, Party> by_stream;
  for (const Operation& o : operations) by_stream[{o.device, o.stream}].operations.push_back(o);
  for (const auto& [place, party] : by_stream) {
    Operands operands;
    Placement placement;
    describe(party.operations, &operands, &placement);
    const cudaError_t error = party.operations[0].call.enqueue(
        placement, operands, [clique, mine = party.operations] { clique->remote->perform(mine); });
    if (error != cudaSuccess) return ncclUnhandledCudaError;
  }
  return ncclSuccess;
}

std::mutex& rendezvous_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

std::condition_variable& rendezvous() {
  static auto* const condition = new std::condition_variable();
  return *condition;
}

bool wait_for_others(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done) {
  if (done()) return true;
  const auto threads = std::filesystem::directory_iterator("/proc/self/task");
  if (std::distance(begin(threads), end(threads)) < 2) return false;
  // Threads of a program make the same call within milliseconds of each other.
  constexpr auto kPatience = std::chrono::seconds(2);
  return rendezvous().wait_for(lock, kPatience, done);
}

bool Clique::complete() const {
  return std::none_of(devices.begin(), devices.end(), [](int device) { return device < 0; });
}

void Clique::match() {
  bool any = false;
  while (match_collective() || match_transfers()) any = true;
  if (any) rendezvous().notify_all();
}

// The next call of every rank is a collective.
bool Clique::match_collective() {
  for (const auto& queue : pending) {
    if (queue.empty() || is_point_to_point(queue.front().kind)) return false;
  }
  std::vector<Operation> operations;
  for (auto& queue : pending) {
    operations.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  for (const Operation& o : operations) {
    const std::string what = difference(operations[0], o);
    if (what.empty()) continue;
    o.call.report("nccl-mismatch", "of rank " + std::to_string(o.rank) + " " + what +
                                       " than rank 0. Nothing was done; on a GPU it may hang or "
                                       "write anywhere. All ranks make the same calls in the same "
                                       "order, with the same sizes and types.");
    for (const Operation& each : operations) *each.ticket = {true, ncclInvalidUsage};
    return true;
  }
  launch(operations, [operations] { perform_collective(operations); });
  return true;
}

// Sends and receives in front of the next collective of each rank. Between two ranks the first send
// belongs to the first receive.
bool Clique::match_transfers() {
  std::vector<Operation> sends, receives;
  for (auto& queue : pending) {
    for (auto send = queue.begin(); send != queue.end() && is_point_to_point(send->kind);) {
      const auto here = send;
      auto& other = pending[static_cast<size_t>(here->peer)];
      const auto end = std::find_if(other.begin(), other.end(),
                                    [](const Operation& o) { return !is_point_to_point(o.kind); });
      const auto receive = std::find_if(other.begin(), end, [&](const Operation& o) {
        return o.kind == Kind::kReceive && o.peer == here->rank;
      });
      if (here->kind != Kind::kSend || receive == end) {
        ++send;
        continue;
      }
      sends.push_back(*here);
      receives.push_back(*receive);
      withdraw(receives.back());
      withdraw(sends.back());
      send = queue.begin();
    }
  }
  if (sends.empty()) return false;
  std::vector<Operation> all = sends;
  all.insert(all.end(), receives.begin(), receives.end());
  for (size_t i = 0; i < sends.size(); ++i) {
    const size_t sent = sends[i].count * size_of(sends[i].type);
    const size_t room = receives[i].count * size_of(receives[i].type);
    if (sent == room) continue;
    receives[i].call.report("nccl-mismatch",
                            "expects " + std::to_string(room) + " bytes from rank " +
                                std::to_string(receives[i].peer) + ", which sends " +
                                std::to_string(sent) + ". Nothing was done; on a GPU it may hang.");
    for (const Operation& each : all) *each.ticket = {true, ncclInvalidUsage};
    return true;
  }
  launch(all, [sends, receives] { perform_transfers(sends, receives); });
  return true;
}

void Clique::withdraw(const Operation& operation) {
  auto& queue = pending[static_cast<size_t>(operation.rank)];
  const auto at = std::find_if(queue.begin(), queue.end(),
                               [&](const Operation& o) { return o.ticket == operation.ticket; });
  if (at != queue.end()) queue.erase(at);
}

std::string Clique::missing_for(const Operation& operation) const {
  if (is_point_to_point(operation.kind)) {
    return "rank " + std::to_string(operation.peer) +
           (operation.kind == Kind::kSend ? " to receive" : " to send");
  }
  std::string ranks;
  int count = 0;
  for (size_t rank = 0; rank < pending.size(); ++rank) {
    if (!pending[rank].empty()) continue;
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    ++count;
  }
  return (count == 1 ? "rank " : "ranks ") + ranks + " of " + std::to_string(size());
}

}  // namespace warplings::libraries

// NCCL's functions: communicators, groups, and calls that become operations of a clique.
#include <nccl.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nccl/clique.h"

using namespace warplings::libraries;

struct ncclComm {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  int device = 0;
};

namespace {

// A rank that asks to join; its communicator exists already and is not connected yet.
struct Joining {
  ncclComm_t* place;
  ncclComm_t comm;
  Call call;
};

// Calls between ncclGroupStart and ncclGroupEnd of one thread.
struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;  // the first
  std::vector<Joining> joining;
  std::vector<std::pair<ncclComm_t, Operation>> operations;
};

Group& group() {
  thread_local Group of_thread;
  return of_thread;
}

std::set<ncclComm_t>& communicators() {
  static auto* const set = new std::set<ncclComm_t>();
  return *set;
}

bool is_live(ncclComm_t comm) {
  const std::lock_guard lock(rendezvous_mutex());
  return communicators().contains(comm);
}

// Cliques that ranks are joining, by the number in their unique id.
std::map<uint64_t, std::shared_ptr<Clique>>& forming() {
  static auto* const map = new std::map<uint64_t, std::shared_ptr<Clique>>();
  return *map;
}

void report_deadlock(const Call& call, const std::string& waits_for) {
  call.report("nccl-deadlock",
              "waits for " + waits_for +
                  ", and nobody else will come: on a GPU the program hangs here. One thread that "
                  "drives several ranks puts their calls between ncclGroupStart() and "
                  "ncclGroupEnd(); otherwise each rank has its own thread.");
}

// The end of the outermost group, or a single call outside of one.
ncclResult_t finish_joining(std::unique_lock<std::mutex>& lock, const std::vector<Joining>& all) {
  rendezvous().notify_all();
  for (const Joining& joining : all) {
    const std::shared_ptr<Clique> clique = joining.comm->clique;
    if (wait_for_others(lock, [&] { return clique->complete(); })) {
      *joining.place = joining.comm;
      communicators().insert(joining.comm);
      continue;
    }
    int missing = 0;
    for (const int device : clique->devices) missing += device < 0 ? 1 : 0;
    report_deadlock(joining.call, std::to_string(missing) + " of " +
                                      std::to_string(clique->size()) + " ranks to join");
    return ncclInternalError;
  }
  return ncclSuccess;
}

ncclResult_t finish_operations(std::unique_lock<std::mutex>& lock,
                               const std::vector<std::pair<ncclComm_t, Operation>>& all) {
  std::set<Clique*> cliques;
  for (const auto& [comm, operation] : all) {
    comm->clique->pending[static_cast<size_t>(operation.rank)].push_back(operation);
    cliques.insert(comm->clique.get());
  }
  for (Clique* clique : cliques) clique->match();
  ncclResult_t result = ncclSuccess;
  for (const auto& [comm, operation] : all) {
    const std::shared_ptr<Ticket> ticket = operation.ticket;
    if (!wait_for_others(lock, [&] { return ticket->matched; })) {
      report_deadlock(operation.call, comm->clique->missing_for(operation));
      for (const auto& [other, waiting] : all) other->clique->withdraw(waiting);
      return ncclInternalError;
    }
    if (result == ncclSuccess) result = ticket->result;
  }
  return result;
}

ncclResult_t finish(Group& finished) {
  const Group all = std::exchange(finished, Group());
  if (all.error != ncclSuccess) {
    for (const Joining& joining : all.joining) delete joining.comm;
    return all.error;
  }
  std::unique_lock lock(rendezvous_mutex());
  const ncclResult_t joined = finish_joining(lock, all.joining);
  return joined == ncclSuccess ? finish_operations(lock, all.operations) : joined;
}

// Within a group an error also becomes that of its end.
ncclResult_t remember(ncclResult_t error) {
  if (group().depth > 0 && group().error == ncclSuccess) group().error = error;
  return error;
}

ncclResult_t post(const Call& call, Operation operation, ncclComm_t comm) {
  if (!is_live(comm)) return remember(ncclInvalidArgument);
  const bool reduces = operation.kind == Kind::kAllReduce || operation.kind == Kind::kReduce ||
                       operation.kind == Kind::kReduceScatter;
  const int ranks = comm->clique->size();
  if (reduces && (operation.reduction < ncclSum || operation.reduction >= ncclNumOps)) {
    return remember(ncclInvalidArgument);
  }
  if (operation.peer < 0 || operation.peer >= ranks) return remember(ncclInvalidArgument);
  if (operation.type == ncclFloat8e4m3 || operation.type == ncclFloat8e5m2) {
    call.not_simulated("8-bit floats");
    return remember(ncclInvalidUsage);
  }
  if (size_of(operation.type) == 0) return remember(ncclInvalidArgument);
  operation.rank = comm->rank;
  operation.ranks = ranks;
  operation.device = comm->device;
  operation.call = call;
  operation.ticket = std::make_shared<Ticket>();
  if (overlaps(operation)) {
    call.report("nccl-overlap",
                "was given buffers that overlap in a way that no call in place allows: the result "
                "is undefined on a GPU. In place, both pointers are equal; for all-gather the send "
                "buffer, for reduce-scatter the receive buffer, is this rank's part of the other.");
    return remember(ncclInvalidArgument);
  }
  if (operation.count == 0) return ncclSuccess;
  group().operations.emplace_back(comm, std::move(operation));
  return group().depth > 0 ? ncclSuccess : finish(group());
}

Operation operation_of(Kind kind, const void* send, void* receive, size_t count,
                       ncclDataType_t type, cudaStream_t stream) {
  Operation operation;
  operation.kind = kind;
  operation.send = send;
  operation.receive = receive;
  operation.count = count;
  operation.type = type;
  operation.stream = stream;
  return operation;
}

uint64_t number_of(const ncclUniqueId& id) {
  uint64_t number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  return number;
}

ncclResult_t join(const Call& call, ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank) {
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  const int device = current_device();
  {
    const std::lock_guard lock(rendezvous_mutex());
    std::shared_ptr<Clique>& clique = forming()[number_of(id)];
    // An id may be used again once its ranks are complete.
    if (clique == nullptr || clique->complete()) clique = std::make_shared<Clique>(ranks);
    if (clique->size() != ranks) return ncclInvalidArgument;
    if (clique->devices[static_cast<size_t>(rank)] >= 0) return ncclInvalidUsage;
    for (const int other : clique->devices) {
      if (other != device) continue;
      call.explain("nccl-device-twice", "asks for a second rank on device " +
                                            std::to_string(device) +
                                            ". Each rank has its own: cudaSetDevice first.");
      return ncclInvalidUsage;
    }
    clique->devices[static_cast<size_t>(rank)] = device;
    group().joining.push_back({comm, new ncclComm{clique, rank, device}, call});
  }
  return group().depth > 0 ? ncclSuccess : finish(group());
}

ncclResult_t destroy(ncclComm_t comm) {
  const std::lock_guard lock(rendezvous_mutex());
  if (communicators().erase(comm) == 0) return ncclInvalidArgument;
  delete comm;
  return ncclSuccess;
}

ncclResult_t get(ncclComm_t comm, int* value, int (*field)(const ncclComm&)) {
  if (!is_live(comm) || value == nullptr) return ncclInvalidArgument;
  *value = field(*comm);
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "success";
    case ncclUnhandledCudaError:
      return "a call of CUDA failed";
    case ncclSystemError:
      return "a call of the system failed";
    case ncclInternalError:
      return "the library failed";
    case ncclInvalidArgument:
      return "an argument has a wrong value";
    case ncclInvalidUsage:
      return "the call is not allowed here";
    case ncclRemoteError:
      return "another rank failed";
    case ncclInProgress:
      return "the operation goes on";
    default:
      return "no such result";
  }
}

const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  if (uniqueId == nullptr) return ncclInvalidArgument;
  static std::atomic<uint64_t> made{0};
  const uint64_t number = ++made;
  std::memset(uniqueId, 0, sizeof *uniqueId);
  std::memcpy(uniqueId->internal, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  WARPLINGS_LIBRARY_CALL(ncclCommInitRank);
  return remember(join(call, comm, nranks, commId, rank));
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  int present = 0;
  cudaGetDeviceCount(&present);
  if (comm == nullptr || ndev < 0) return ncclInvalidArgument;
  const auto clique = std::make_shared<Clique>(ndev);
  std::set<int> used;
  for (int i = 0; i < ndev; ++i) {
    const int device = devlist == nullptr ? i : devlist[i];
    if (device < 0 || device >= present) return ncclInvalidArgument;
    if (!used.insert(device).second) return ncclInvalidUsage;
    clique->devices[static_cast<size_t>(i)] = device;
  }
  const std::lock_guard lock(rendezvous_mutex());
  for (int i = 0; i < ndev; ++i) {
    comm[i] = new ncclComm{clique, i, clique->devices[static_cast<size_t>(i)]};
    communicators().insert(comm[i]);
  }
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return is_live(comm) ? ncclSuccess : ncclInvalidArgument;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  return comm == nullptr ? ncclSuccess : destroy(comm);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  return comm == nullptr ? ncclSuccess : destroy(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  if (!is_live(comm) || asyncError == nullptr) return ncclInvalidArgument;
  *asyncError = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return get(comm, count, [](const ncclComm& c) { return c.clique->size(); });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return get(comm, device, [](const ncclComm& c) { return c.device; });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return get(comm, rank, [](const ncclComm& c) { return c.rank; });
}

ncclResult_t ncclGroupStart(void) {
  ++group().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  if (group().depth == 0) return ncclInvalidUsage;
  if (--group().depth > 0) return ncclSuccess;
  return finish(group());
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclAllReduce);
  Operation o = operation_of(Kind::kAllReduce, sendbuff, recvbuff, count, datatype, stream);
  o.reduction = op;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclReduce);
  Operation o = operation_of(Kind::kReduce, sendbuff, recvbuff, count, datatype, stream);
  o.reduction = op;
  o.peer = root;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclBroadcast);
  Operation o = operation_of(Kind::kBroadcast, sendbuff, recvbuff, count, datatype, stream);
  o.peer = root;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclBcast);
  Operation o = operation_of(Kind::kBroadcast, buff, buff, count, datatype, stream);
  o.peer = root;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclAllGather);
  return post(call, operation_of(Kind::kAllGather, sendbuff, recvbuff, sendcount, datatype, stream),
              comm);
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclReduceScatter);
  Operation o = operation_of(Kind::kReduceScatter, sendbuff, recvbuff, recvcount, datatype, stream);
  o.reduction = op;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclSend);
  Operation o = operation_of(Kind::kSend, sendbuff, nullptr, count, datatype, stream);
  o.peer = peer;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_LIBRARY_CALL(ncclRecv);
  Operation o = operation_of(Kind::kReceive, nullptr, recvbuff, count, datatype, stream);
  o.peer = peer;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  if (ptr == nullptr) return ncclInvalidArgument;
  return cudaMalloc(ptr, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void* ptr) {
  return cudaFree(ptr) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

}  // extern "C"

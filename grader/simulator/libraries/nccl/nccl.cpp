// NCCL's functions: communicators, groups, and calls that become operations of a clique.
#include <nccl.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/held.h"
#include "nccl/clique.h"

using namespace warplings::libraries;

struct ncclComm {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  int device = 0;
  warplings::libraries::Held held{"NCCL communicator"};
};

namespace {

// A rank that asks to join; its communicator exists already and is not connected yet.
struct Joining {
  ncclComm_t* place;
  ncclComm_t comm;
  Call call;
  uint64_t id;
};

constexpr char kOpenGroup[] = "group of NCCL calls that is open";

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

// Waits until all ranks of a clique are in this process, or all others in other ones.
ncclResult_t wait_for_ranks(std::unique_lock<std::mutex>& lock, const Joining& joining) {
  const std::shared_ptr<Clique> clique = joining.comm->clique;
  if (clique->complete()) return ncclSuccess;
  auto remote = std::make_unique<Remote>(joining.id, joining.comm->rank, clique->size());
  std::string problem = remote->open();
  const auto end = std::chrono::steady_clock::now() + patience();
  const auto others_are_here = [&] { return clique->complete(); };
  while (problem.empty() && !clique->complete()) {
    std::vector<bool> here;
    for (const int device : clique->devices) here.push_back(device >= 0);
    problem = remote->meet(here);
    if (remote->connected() == clique->size() - 1) {
      clique->remote = std::move(remote);
      return ncclSuccess;
    }
    if (problem.empty() && std::chrono::steady_clock::now() >= end) {
      joining.call.report("nccl-deadlock",
                          "waits for " + remote->absent() +
                              " to join, in vain: on a GPU the program hangs here. Ranks of one "
                              "thread join between ncclGroupStart() and ncclGroupEnd(). Ranks of "
                              "other processes have to pass the same unique id, which one of them "
                              "has made, and each its own number.");
      return ncclInternalError;
    }
    rendezvous().wait_for(lock, std::chrono::milliseconds(1), others_are_here);
  }
  if (problem.empty()) return ncclSuccess;
  joining.call.report("nccl-mismatch", problem);
  return ncclInvalidUsage;
}

// The end of the outermost group, or a single call outside of one.
ncclResult_t finish_joining(std::unique_lock<std::mutex>& lock, const std::vector<Joining>& all) {
  rendezvous().notify_all();
  for (const Joining& joining : all) {
    const ncclResult_t result = wait_for_ranks(lock, joining);
    if (result != ncclSuccess) return result;
    *joining.place = joining.comm;
    communicators().insert(joining.comm);
  }
  return ncclSuccess;
}

ncclResult_t finish_operations(std::unique_lock<std::mutex>& lock,
                               const std::vector<std::pair<ncclComm_t, Operation>>& all) {
  std::set<Clique*> cliques;
  std::map<std::shared_ptr<Clique>, std::vector<Operation>> elsewhere;
  for (const auto& [comm, operation] : all) {
    if (comm->clique->remote != nullptr) {
      elsewhere[comm->clique].push_back(operation);
      operation.ticket->matched = true;
      continue;
    }
    comm->clique->pending[static_cast<size_t>(operation.rank)].push_back(operation);
    cliques.insert(comm->clique.get());
  }
  for (Clique* clique : cliques) clique->match();
  ncclResult_t result = ncclSuccess;
  for (const auto& [clique, operations] : elsewhere) {
    const ncclResult_t given = launch_remote(clique, operations);
    if (result == ncclSuccess) result = given;
  }
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

// What has become of the ranks in other processes.
ncclResult_t state_of(const ncclComm& comm) {
  return comm.clique->remote == nullptr ? ncclSuccess : comm.clique->remote->state();
}

ncclResult_t post(const Call& call, Operation operation, ncclComm_t comm) {
  if (!is_live(comm)) return remember(ncclInvalidArgument);
  if (state_of(*comm) != ncclSuccess) return remember(state_of(*comm));
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
  operation.only_edges = wsim_library_only_edges() != 0;
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

// What a unique id holds.
struct IdContent {
  uint64_t number;  // unique among all processes of this machine
  uint64_t mark;    // kIdMark: ncclGetUniqueId has made it
};
constexpr uint64_t kIdMark = 0x77617270'6c696e67;

IdContent content_of(const ncclUniqueId& id) {
  IdContent content{};
  std::memcpy(&content, id.internal, sizeof content);
  return content;
}

ncclResult_t join(const Call& call, ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank) {
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  const auto [number, mark] = content_of(id);
  if (mark != kIdMark) {
    call.explain("nccl-no-id",
                 "was given an id that ncclGetUniqueId has not made. One rank makes it, and it has "
                 "to reach all others before they join: by MPI, by a file.");
    return ncclInvalidArgument;
  }
  const int device = current_device();
  {
    const std::lock_guard lock(rendezvous_mutex());
    std::shared_ptr<Clique>& clique = forming()[number];
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
    group().joining.push_back({comm, new ncclComm{clique, rank, device}, call, number});
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
  WARPLINGS_MAY_FAIL(ncclGetUniqueId, ncclSystemError);
  if (uniqueId == nullptr) return ncclInvalidArgument;
  std::random_device random;
  const IdContent content{static_cast<uint64_t>(random()) << 32 | random(), kIdMark};
  std::memset(uniqueId, 0, sizeof *uniqueId);
  std::memcpy(uniqueId->internal, &content, sizeof content);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  WARPLINGS_MAY_FAIL(ncclCommInitRank, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclCommInitRank);
  return remember(join(call, comm, nranks, commId, rank));
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
  WARPLINGS_MAY_FAIL(ncclCommInitAll, ncclSystemError);
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
  *asyncError = state_of(*comm);
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
  if (++group().depth == 1) wsim_library_holds(kOpenGroup, 1);
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  if (group().depth == 0) return ncclInvalidUsage;
  if (--group().depth > 0) return ncclSuccess;
  wsim_library_holds(kOpenGroup, -1);
  if (wsim_library_must_fail({__func__, __builtin_return_address(0)}) != 0) {
    group().error = ncclSystemError;
  }
  return finish(group());
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclAllReduce, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclAllReduce);
  Operation o = operation_of(Kind::kAllReduce, sendbuff, recvbuff, count, datatype, stream);
  o.reduction = op;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclReduce, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclReduce);
  Operation o = operation_of(Kind::kReduce, sendbuff, recvbuff, count, datatype, stream);
  o.reduction = op;
  o.peer = root;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclBroadcast, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclBroadcast);
  Operation o = operation_of(Kind::kBroadcast, sendbuff, recvbuff, count, datatype, stream);
  o.peer = root;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclBcast, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclBcast);
  Operation o = operation_of(Kind::kBroadcast, buff, buff, count, datatype, stream);
  o.peer = root;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclAllGather, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclAllGather);
  return post(call, operation_of(Kind::kAllGather, sendbuff, recvbuff, sendcount, datatype, stream),
              comm);
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclReduceScatter, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclReduceScatter);
  Operation o = operation_of(Kind::kReduceScatter, sendbuff, recvbuff, recvcount, datatype, stream);
  o.reduction = op;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclSend, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclSend);
  Operation o = operation_of(Kind::kSend, sendbuff, nullptr, count, datatype, stream);
  o.peer = peer;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  WARPLINGS_MAY_FAIL(ncclRecv, remember(ncclSystemError));
  WARPLINGS_LIBRARY_CALL(ncclRecv);
  Operation o = operation_of(Kind::kReceive, nullptr, recvbuff, count, datatype, stream);
  o.peer = peer;
  return post(call, std::move(o), comm);
}

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
  WARPLINGS_MAY_FAIL(ncclMemAlloc, ncclSystemError);
  if (ptr == nullptr) return ncclInvalidArgument;
  return cudaMalloc(ptr, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void* ptr) {
  return cudaFree(ptr) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

}  // extern "C"

// NCCL on one device: communicators, collectives of one rank, and bad arguments. What several ranks
// do is tested in the simulator alone (grader/tests/simulator/libraries/nccl_test.cpp).
#include <nccl.h>

#include <cstring>

#include "conformance.h"

using conformance::Device;
using conformance::right;
using conformance::status;

namespace {

void collectives(ncclComm_t comm, cudaStream_t stream) {
  const size_t n = 1000;
  const std::vector<float> x = conformance::random_floats(n, 1);
  Device<float> from(x), to(n);
  const auto check = [&](const char* name, ncclResult_t result) {
    status(name, result);
    conformance::require(cudaStreamSynchronize(stream));
    right(name, conformance::relative_error(to.host(), x), 0);
    conformance::require(cudaMemset(to.get(), 0, n * sizeof(float)));
  };
  check("all-reduce", ncclAllReduce(from.get(), to.get(), n, ncclFloat, ncclSum, comm, stream));
  check("average", ncclAllReduce(from.get(), to.get(), n, ncclFloat, ncclAvg, comm, stream));
  check("broadcast", ncclBroadcast(from.get(), to.get(), n, ncclFloat, 0, comm, stream));
  check("reduce", ncclReduce(from.get(), to.get(), n, ncclFloat, ncclMax, 0, comm, stream));
  check("all-gather", ncclAllGather(from.get(), to.get(), n, ncclFloat, comm, stream));
  check("reduce-scatter",
        ncclReduceScatter(from.get(), to.get(), n, ncclFloat, ncclSum, comm, stream));
  status("group", ncclGroupStart());
  status("send in a group", ncclSend(from.get(), n, ncclFloat, 0, comm, stream));
  status("receive in a group", ncclRecv(to.get(), n, ncclFloat, 0, comm, stream));
  check("send to itself", ncclGroupEnd());
  status("no elements", ncclAllReduce(from.get(), to.get(), 0, ncclFloat, ncclSum, comm, stream));
  status("type 99", ncclAllReduce(from.get(), to.get(), n, static_cast<ncclDataType_t>(99), ncclSum,
                                  comm, stream));
  status("operation 99", ncclAllReduce(from.get(), to.get(), n, ncclFloat,
                                       static_cast<ncclRedOp_t>(99), comm, stream));
  status("root 1 of 1", ncclBroadcast(from.get(), to.get(), n, ncclFloat, 1, comm, stream));
  status("root -1", ncclReduce(from.get(), to.get(), n, ncclFloat, ncclSum, -1, comm, stream));
  status("no communicator",
         ncclAllReduce(from.get(), to.get(), n, ncclFloat, ncclSum, nullptr, stream));
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  conformance::require(cudaStreamCreate(&stream));
  ncclComm_t comm = nullptr;
  status("init all", ncclCommInitAll(&comm, 1, nullptr));
  int value = -1;
  status("count", ncclCommCount(comm, &value));
  std::printf("count: %d\n", value);
  status("rank", ncclCommUserRank(comm, &value));
  std::printf("rank: %d\n", value);
  status("device", ncclCommCuDevice(comm, &value));
  std::printf("device: %d\n", value);
  collectives(comm, stream);
  ncclResult_t state = ncclInternalError;
  status("asynchronous error", ncclCommGetAsyncError(comm, &state));
  std::printf("state: %d\n", state);
  status("finalize", ncclCommFinalize(comm));
  status("destroy", ncclCommDestroy(comm));

  ncclUniqueId id;
  std::printf("bytes of an id: %zu\n", sizeof id);
  status("id", ncclGetUniqueId(&id));
  status("init rank", ncclCommInitRank(&comm, 1, id, 0));
  collectives(comm, stream);
  status("abort", ncclCommAbort(comm));

  status("no id", ncclGetUniqueId(nullptr));
  status("no communicators", ncclCommInitAll(nullptr, 1, nullptr));
  status("0 devices", ncclCommInitAll(&comm, 0, nullptr));
  const int bad[] = {99};
  status("device 99", ncclCommInitAll(&comm, 1, bad));
  status("rank 1 of 1", ncclCommInitRank(&comm, 1, id, 1));
  status("0 ranks", ncclCommInitRank(&comm, 0, id, 0));
  status("end of no group", ncclGroupEnd());
  status("count of nothing", ncclCommCount(nullptr, &value));
  status("destroy nothing", ncclCommDestroy(nullptr));
}

// Ranks that join one by one with a unique id, as processes do, and calls from the last to the
// first.
#include "02_all_reduce.h"

ncclResult_t make_ranks(ncclComm_t* comms, int devices) {
  ncclUniqueId id;
  ncclResult_t result = ncclGetUniqueId(&id);
  if (result != ncclSuccess) return result;
  int before = 0;
  cudaGetDevice(&before);
  result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    cudaSetDevice(d);
    result = ncclCommInitRank(&comms[d], devices, id, d);
  }
  cudaSetDevice(before);
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

ncclResult_t all_reduce_sum(float* const* d_x, size_t n, const ncclComm_t* comms,
                            const cudaStream_t* streams, int devices) {
  ncclResult_t result = ncclGroupStart();
  for (int d = devices - 1; d >= 0 && result == ncclSuccess; --d) {
    result = ncclAllReduce(d_x[d], d_x[d], n, ncclFloat, ncclSum, comms[d], streams[d]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  if (result == ncclSuccess) result = ended;
  return result;
}

ncclResult_t facts_of_all(const float* const* d_x, float* const* d_facts, int n,
                          const ncclComm_t* comms, const cudaStream_t* streams, int devices) {
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);  // a launch needs its device, a call of NCCL knows it
    launch_facts(d_x[d], d_facts[d], n, streams[d]);
    if (cudaPeekAtLastError() != cudaSuccess) break;
  }
  cudaSetDevice(before);
  if (cudaGetLastError() != cudaSuccess) return ncclUnhandledCudaError;
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result = ncclAllReduce(d_facts[d], d_facts[d], 1, ncclFloat, ncclSum, comms[d], streams[d]);
    if (result == ncclSuccess) {
      result = ncclAllReduce(d_facts[d] + 1, d_facts[d] + 1, 1, ncclFloat, ncclMax, comms[d],
                             streams[d]);
    }
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

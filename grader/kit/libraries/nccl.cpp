// NCCL, as one process uses it that drives several GPUs. Communicators and a stream for each
// device, made at the first call of a number of devices.
#include <nccl.h>

#include <map>
#include <vector>

#include "kit/libraries/entry_points.h"

namespace {

const char* text(ncclResult_t result) {
  return result == ncclSuccess ? nullptr : ncclGetErrorString(result);
}

struct Clique {
  std::vector<ncclComm_t> comms;
  std::vector<cudaStream_t> streams;

  const char* make(int devices) {
    comms.resize(devices);
    streams.resize(devices);
    if (const char* failed = text(ncclCommInitAll(comms.data(), devices, nullptr))) return failed;
    int before = 0;
    cudaGetDevice(&before);
    cudaError_t error = cudaSuccess;
    for (int d = 0; d < devices && error == cudaSuccess; ++d) {
      cudaSetDevice(d);
      error = cudaStreamCreateWithFlags(&streams[d], cudaStreamNonBlocking);
    }
    cudaSetDevice(before);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
  }
};

}  // namespace

const char* warplings_nccl_all_reduce(const float* const* in, float* const* out, size_t n,
                                      int devices) {
  static std::map<int, Clique> cliques;
  Clique& clique = cliques[devices];
  if (clique.comms.empty()) {
    if (const char* failed = clique.make(devices)) return failed;
  }
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    result =
        ncclAllReduce(in[d], out[d], n, ncclFloat, ncclSum, clique.comms[d], clique.streams[d]);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return text(result == ncclSuccess ? ended : result);
}

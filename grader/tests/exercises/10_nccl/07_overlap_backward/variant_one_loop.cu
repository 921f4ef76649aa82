// Layers are launched one by one inside the group of their all-reduce.
#include "07_overlap_backward.h"

int first_of_bucket(const size_t* begins, int last, size_t least) {
  for (int first = last; first > 0; --first) {
    if (begins[last + 1] - begins[first] >= least) return first;
  }
  return 0;
}

ncclResult_t backward_overlapped(const Pass& pass, const Replica* replicas, int devices,
                                 size_t least) {
  int before = 0;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  // Device by device: the layers of a bucket on all devices, then its all-reduce behind them.
  for (int last = pass.layers - 1; last >= 0 && result == ncclSuccess;) {
    const int first = first_of_bucket(pass.begins, last, least);
    const size_t begin = pass.begins[first], count = pass.begins[last + 1] - begin;
    ncclGroupStart();
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      const Replica& r = replicas[d];
      cudaSetDevice(d);
      for (int layer = last; layer >= first; --layer) {
        if (launch_layers(pass, r, layer, layer) != cudaSuccess) result = ncclUnhandledCudaError;
      }
      cudaEventRecord(r.event, r.compute);
      cudaStreamWaitEvent(r.link, r.event, 0);
      if (result == ncclSuccess) {
        result = ncclAllReduce(r.gradient + begin, r.gradient + begin, count, ncclFloat, ncclAvg,
                               r.comm, r.link);
      }
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
    if (cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
    last = first - 1;
  }
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    cudaEventRecord(replicas[d].event, replicas[d].link);
    cudaStreamWaitEvent(replicas[d].compute, replicas[d].event, 0);
  }
  cudaSetDevice(before);
  if (cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
  return result;
}

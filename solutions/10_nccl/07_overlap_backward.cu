// 10/07 Overlap backward: the gradients of the last layers cross the links while those of the first
// are being computed.
//   replicas[d]  what device d has: arrays, a communicator, a stream to compute in, a stream for
//                the link, an event (07_overlap_backward.h)
//   Every call costs some microseconds besides its bytes, so several layers share one: a bucket.
//   TODOs        3
#include "07_overlap_backward.h"

int first_of_bucket(const size_t* begins, int last, size_t least) {
  //~ static_cast<void>(begins), static_cast<void>(least);
  //~ return last;  // TODO(1): The first layer of the bucket that ends with `last` (about 3 lines).
  //~begin 1
  int first = last;
  while (first > 0 && begins[last + 1] - begins[first] < least) --first;
  return first;
  //~end
}

ncclResult_t backward_overlapped(const Pass& pass, const Replica* replicas, int devices,
                                 size_t least) {
  ncclResult_t result = ncclSuccess;
  //~ // TODO(2): Bucket after bucket, from the last layer down: its layers are computed in the compute
  //~ // streams, and its mean is taken in the link streams, behind its own layers and beside those of the
  //~ // buckets that follow (about 26 lines). The current device stays what it was.
  //~ static_cast<void>(pass), static_cast<void>(least);
  //~begin 2
  int before = 0;
  cudaGetDevice(&before);
  for (int last = pass.layers - 1; last >= 0 && result == ncclSuccess;) {
    const int first = first_of_bucket(pass.begins, last, least);
    for (int d = 0; d < devices; ++d) {
      cudaSetDevice(d);
      if (launch_layers(pass, replicas[d], first, last) != cudaSuccess) {
        result = ncclUnhandledCudaError;
      }
      cudaEventRecord(replicas[d].event, replicas[d].compute);
      cudaStreamWaitEvent(replicas[d].link, replicas[d].event, 0);
    }
    const size_t begin = pass.begins[first], count = pass.begins[last + 1] - begin;
    ncclGroupStart();
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      float* const bucket = replicas[d].gradient + begin;
      result = ncclAllReduce(bucket, bucket, count, ncclFloat, ncclAvg, replicas[d].comm,
                             replicas[d].link);
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
    last = first - 1;
  }
  cudaSetDevice(before);
  //~end
  //~ // TODO(3): What the compute streams are given from now on finds the mean (about 4 lines).
  //~ static_cast<void>(replicas), static_cast<void>(devices);
  //~begin 3
  for (int d = 0; d < devices; ++d) {
    cudaEventRecord(replicas[d].event, replicas[d].link);
    cudaStreamWaitEvent(replicas[d].compute, replicas[d].event, 0);
  }
  // Of any of the calls that returned it and were not asked.
  if (result == ncclSuccess && cudaGetLastError() != cudaSuccess) result = ncclUnhandledCudaError;
  //~end
  return result;
}

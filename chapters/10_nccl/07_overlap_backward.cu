// 10/07 Overlap backward: the gradients of the last layers cross the links while those of the first
// are being computed.
//   replicas[d]  what device d has: arrays, a communicator, a stream to compute in, a stream for
//                the link, an event (07_overlap_backward.h)
//   Every call costs some microseconds besides its bytes, so several layers share one: a bucket.
//   TODOs        4
#include "07_overlap_backward.h"

int first_of_bucket(const size_t* begins, int last, size_t least) {
  return last;  // TODO(1): Go down from `last` until there are enough floats (about 4 lines).
}

ncclResult_t backward_overlapped(const Pass& pass, const Replica* replicas, int devices,
                                 size_t least) {
  int before = 0;
  cudaGetDevice(&before);
  ncclResult_t result = ncclSuccess;
  for (int last = pass.layers - 1; last >= 0 && result == ncclSuccess;) {
    const int first = first_of_bucket(pass.begins, last, least);
    for (int d = 0; d < devices; ++d) {
      cudaSetDevice(d);
      if (launch_layers(pass, replicas[d], first, last) != cudaSuccess) {
        result = ncclUnhandledCudaError;
      }
      // TODO(2): The link may go on from here when this bucket is computed. Which stream records
      // the event of the replica, and which one waits for it (2 lines)?
    }
    // TODO(3): The mean of the bucket over all devices, in place, as work of the link streams
    // (about 9 lines). The bucket is floats [begins[first], begins[last + 1]).
    last = first - 1;
  }
  // TODO(4): Whatever comes next in the compute streams needs the mean (about 5 lines).
  cudaSetDevice(before);
  return result;
}

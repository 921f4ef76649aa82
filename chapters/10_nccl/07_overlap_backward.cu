// 10/07 Overlap backward: the gradients of the last layers cross the links while those of the first
// are being computed.
//   replicas[d]  what device d has: arrays, a communicator, a stream to compute in, a stream for
//                the link, an event (07_overlap_backward.h)
//   Every call costs some microseconds besides its bytes, so several layers share one: a bucket.
//   TODOs        3
#include "07_overlap_backward.h"

int first_of_bucket(const size_t* begins, int last, size_t least) {
  static_cast<void>(begins), static_cast<void>(least);
  return last;  // TODO(1): The first layer of the bucket that ends with `last` (about 3 lines).
}

ncclResult_t backward_overlapped(const Pass& pass, const Replica* replicas, int devices,
                                 size_t least) {
  ncclResult_t result = ncclSuccess;
  // TODO(2): Bucket after bucket, from the last layer down: its layers are computed in the compute
  // streams, and its mean is taken in the link streams, behind its own layers and beside those of the
  // buckets that follow (about 26 lines). The current device stays what it was.
  static_cast<void>(pass), static_cast<void>(least);
  // TODO(3): What the compute streams are given from now on finds the mean (about 4 lines).
  static_cast<void>(replicas), static_cast<void>(devices);
  return result;
}

// A stream for tests: it neither waits for the default stream nor is waited for by it, so that work
// which a learner's function puts into another stream than its own shows.
#ifndef WARPLINGS_KIT_STREAM_H_
#define WARPLINGS_KIT_STREAM_H_

#include <cuda_runtime_api.h>

namespace kit {

class Stream {
 public:
  Stream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace kit
#endif  // WARPLINGS_KIT_STREAM_H_

// The host waits for the device without a call of the runtime: on a condition that a host function
// signals, then on a flag in mapped memory that a kernel sets.
#include <condition_variable>
#include <mutex>

#include "check.h"

__global__ void set_flag(volatile int* flag) { *flag = 1; }

struct Signal {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

int main() {
  volatile int* flag = nullptr;
  CHECK_CUDA(cudaHostAlloc(reinterpret_cast<void**>(const_cast<int**>(&flag)), sizeof(int),
                           cudaHostAllocMapped));
  *flag = 0;
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));

  Signal signal;
  const auto finish = [](void* data) {
    auto* shared = static_cast<Signal*>(data);
    const std::lock_guard<std::mutex> lock(shared->mutex);
    shared->done = true;
    shared->changed.notify_one();
  };
  CHECK_CUDA(cudaLaunchHostFunc(stream, finish, &signal));
  {
    std::unique_lock<std::mutex> lock(signal.mutex);
    signal.changed.wait(lock, [&] { return signal.done; });
  }

  set_flag<<<1, 1, 0, stream>>>(flag);
  CHECK_CUDA(cudaGetLastError());
  while (*flag == 0) {
  }

  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaFreeHost(const_cast<int*>(flag)));
  std::printf("PASSED\n");
  return 0;
}

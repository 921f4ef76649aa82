// Pinned memory, two streams, an event between them, polling, and a host function.
#include "check.h"

__global__ void add(int* data, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}

int main() {
  const int n = 1 << 16;
  const size_t bytes = n * sizeof(int);
  int *host = nullptr, *device = nullptr;
  CHECK_CUDA(cudaMallocHost(&host, bytes));
  CHECK_CUDA(cudaMalloc(&device, bytes));
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaStream_t copy_stream, work_stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&copy_stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamCreateWithFlags(&work_stream, cudaStreamNonBlocking));
  cudaEvent_t copied, done;
  CHECK_CUDA(cudaEventCreate(&copied));
  CHECK_CUDA(cudaEventCreate(&done));

  CHECK_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, copy_stream));
  CHECK_CUDA(cudaEventRecord(copied, copy_stream));
  CHECK_CUDA(cudaStreamWaitEvent(work_stream, copied, 0));
  add<<<n / 256, 256, 0, work_stream>>>(device, 26, n);
  CHECK_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, work_stream));
  bool called = false;
  CHECK_CUDA(cudaLaunchHostFunc(
      work_stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &called));
  CHECK_CUDA(cudaEventRecord(done, work_stream));
  int polls = 0;
  while (cudaEventQuery(done) == cudaErrorNotReady) ++polls;
  CHECK(polls > 0);
  CHECK(called);
  for (int i = 0; i < n; ++i) CHECK(host[i] == i + 26);

  CHECK_CUDA(cudaEventDestroy(copied));
  CHECK_CUDA(cudaEventDestroy(done));
  CHECK_CUDA(cudaStreamDestroy(copy_stream));
  CHECK_CUDA(cudaStreamDestroy(work_stream));
  CHECK_CUDA(cudaFreeHost(host));
  CHECK_CUDA(cudaFree(device));
  std::printf("PASSED\n");
  return 0;
}

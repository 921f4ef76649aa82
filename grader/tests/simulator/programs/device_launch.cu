// Kernels that launch kernels: parameters, order inside of a stream, tail launches, nesting, errors.
#include "check.h"

struct Pair {
  char tag;
  double value;
};

__global__ void append(int* log, int letter) { log[++log[0]] = letter; }

__global__ void scale(double* data, Pair pair, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= pair.value + (pair.tag == 'x' ? 0.5 : 0.0);
}

__global__ void in_order(int* log) {
  append<<<1, 1>>>(log, 1);
  append<<<1, 1>>>(log, 2);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 9);
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, nullptr);
  cudaStreamWaitEvent(stream, event, 0);
  append<<<1, 1, 0, stream>>>(log, 3);
  cudaEventDestroy(event);
  cudaStreamDestroy(stream);
}

__global__ void one_per_thread(double* data, int n) {
  const int first = threadIdx.x * (n / blockDim.x);
  scale<<<(n / blockDim.x + 63) / 64, 64>>>(data + first, Pair{'x', 1.5}, n / blockDim.x);
}

__global__ void nested(int* log, int depth) {
  log[++log[0]] = depth;
  if (depth < 5) nested<<<1, 1>>>(log, depth + 1);
}

__global__ void too_large(int* error) {
  append<<<1, 4096>>>(error, 1);
  error[0] = cudaPeekAtLastError();
  error[1] = cudaGetLastError();
  error[2] = cudaGetLastError();
}

__global__ void copies(int* to, const int* from, int n) {
  cudaMemcpyAsync(to, from, n * sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamFireAndForget);
  cudaMemsetAsync(to + n, 1, sizeof(int), cudaStreamTailLaunch);
}

int main() {
  int *log = nullptr, host[16] = {};
  CHECK_CUDA(cudaMalloc(&log, sizeof host));
  const auto read = [&] {
    CHECK_CUDA(cudaMemcpy(host, log, sizeof host, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemset(log, 0, sizeof host));
  };
  CHECK_CUDA(cudaMemset(log, 0, sizeof host));
  in_order<<<1, 1>>>(log);
  read();
  CHECK(host[0] == 4 && host[1] == 1 && host[2] == 2 && host[3] == 3 && host[4] == 9);

  nested<<<1, 1>>>(log, 1);
  append<<<1, 1>>>(log, 7);  // the next launch waits for all that the first one launched
  read();
  CHECK(host[0] == 6 && host[5] == 5 && host[6] == 7);

  const int n = 1024;
  double* data = nullptr;
  CHECK_CUDA(cudaMallocManaged(&data, n * sizeof(double)));
  for (int i = 0; i < n; ++i) data[i] = i;
  one_per_thread<<<1, 8>>>(data, n);
  CHECK_CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) CHECK(data[i] == 2.0 * i);

  too_large<<<1, 1>>>(log);
  read();
  CHECK(host[0] == cudaErrorInvalidConfiguration && host[1] == host[0] && host[2] == 0);

  CHECK_CUDA(cudaMemset(log, 3, 4 * sizeof(int)));
  copies<<<1, 1>>>(log + 8, log, 4);
  read();
  CHECK(host[8] == 0x03030303 && host[11] == 0x03030303 && host[12] == 0x01010101);

  CHECK_CUDA(cudaFree(data));
  CHECK_CUDA(cudaFree(log));
  std::printf("PASSED\n");
  return 0;
}

#include <vector>

#include "kernels.h"

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void twice_alone(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}

__global__ void store(float* p, int offset, float value) { p[offset] = value; }

__global__ void branch_on(const float* p, int offset, float* out) {
  // Two values that a selection could give would decide nothing.
  if (p[offset] > 0) out[0] = 1;
}

__global__ void nothing() {}

__global__ void scattered(float* y) { y[(blockIdx.x * blockDim.x + threadIdx.x) * 32] = 1; }

__global__ void tickets(int* next, int* block) { block[atomicAdd(next, 1)] = blockIdx.x; }

__global__ void thread_tickets(int* next, int* thread) { thread[atomicAdd(next, 1)] = threadIdx.x; }

void launch_twice(const float* d_x, float* d_y, int n) {
  constexpr int kBlock = 64;
  twice<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_x, d_y, n);
}

void launch_twice_and_copy(const float* d_x, float* d_between, float* d_y, int n) {
  launch_twice(d_x, d_between, n);
  cudaMemcpyAsync(d_y, d_between, n * sizeof(float), cudaMemcpyDeviceToDevice);
}

void launch_twice_on_the_host(const float* d_x, float* d_y, int n) {
  std::vector<float> host(static_cast<size_t>(n));
  cudaMemcpy(host.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float& value : host) value *= 2;
  cudaMemcpy(d_y, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}

void launch_twice_by_one_thread(const float* d_x, float* d_y, int n) {
  twice_alone<<<1, 1>>>(d_x, d_y, n);
}

void launch_store(float* d_p, int offset, float value) { store<<<1, 1>>>(d_p, offset, value); }

void launch_branch_on(const float* d_p, int offset, float* d_out) {
  branch_on<<<1, 1>>>(d_p, offset, d_out);
}

void launch_nothing_with_zero_threads() { nothing<<<1, 0>>>(); }

void launch_scattered(float* d_y, int n) { scattered<<<n / 32 / 32, 32>>>(d_y); }

void launch_tickets(int* d_next, int* d_block, int count) {
  tickets<<<count, 1>>>(d_next, d_block);
}

void launch_thread_tickets(int* d_next, int* d_thread, int count) {
  thread_tickets<<<1, count>>>(d_next, d_thread);
}

void launch_and_leak(int count) {
  for (int i = 0; i < count; ++i) {
    void* memory = nullptr;
    cudaMalloc(&memory, 1000);
  }
}

__global__ void twice_rows(const float* x, float* y, int cols, int stride, Index index) {
  const int row = static_cast<int>(blockIdx.x), col = static_cast<int>(threadIdx.x);
  if (col >= cols) return;
  if (index == Index::k64) {
    const long long at = static_cast<long long>(row) * stride + col;
    y[at] = 2 * x[at];
  } else if (index == Index::kInt) {
    const int at = static_cast<int>(static_cast<unsigned>(row) * stride) + col;
    y[at] = 2 * x[at];
  } else {
    const long long from = static_cast<long long>(row) * stride + col;
    const unsigned to = static_cast<unsigned>(row) * stride + col;
    y[to] = 2 * x[from];
  }
}

void launch_twice_rows(const float* d_x, float* d_y, int rows, int cols, int stride, Index index) {
  twice_rows<<<rows, 32>>>(d_x, d_y, cols, stride, index);
}

__global__ void twice_in_strides(const float* x, float* y, int cols, int end) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  for (int row = blockIdx.y; row < end; row += gridDim.y) {
    const size_t i = static_cast<size_t>(row) * cols + col;
    y[i] = 2 * x[i];
  }
}

void launch_twice_in_strides(const float* d_x, float* d_y, int rows, int cols, int end) {
  constexpr int kRows = 1000;  // of blocks
  twice_in_strides<<<dim3((cols + 255) / 256, rows < kRows ? rows : kRows), 256>>>(d_x, d_y, cols,
                                                                                   end);
}

// A tile of 32 x 32 for each block of a grid with one dimension.
__global__ void twice_upside_down(const float* x, float* y, size_t rows, size_t cols) {
  constexpr size_t kSide = 32;
  const size_t first = blockIdx.x / (cols / kSide) * kSide;
  const size_t col = blockIdx.x % (cols / kSide) * kSide + threadIdx.x;
  for (size_t row = first; row < first + kSide; ++row) {
    y[(rows - 1 - row) * cols + col] = 2 * x[row * cols + col];
  }
}

void launch_twice_upside_down(const float* d_x, float* d_y, int rows, int cols) {
  twice_upside_down<<<rows / 32 * (cols / 32), 32>>>(d_x, d_y, rows, cols);
}

cudaError_t twice_by_copy(const float* d_x, float* d_y, int n, Care care) {
  const size_t bytes = static_cast<size_t>(n) * sizeof(float);
  float* d_copy = nullptr;
  cudaError_t status = cudaMalloc(&d_copy, bytes);
  if (status != cudaSuccess && care != kUsesWhatIsNotThere) return status;
  status = cudaMemcpy(d_copy, d_x, bytes, cudaMemcpyDeviceToDevice);
  if (status == cudaSuccess || care == kUsesWhatIsNotThere) {
    twice<<<(n + 63) / 64, 64>>>(d_copy, d_y, n);
    status = cudaGetLastError();
    if (care == kDropsTheLaunch) status = cudaSuccess;
  }
  if (status == cudaSuccess) {
    const cudaError_t cleared = cudaMemsetAsync(d_copy, 0, bytes);
    if (care != kDropsTheMemset) status = cleared;
  }
  if (status != cudaSuccess && care == kLeaksOnError) return status;
  cudaFree(d_copy);
  if (status != cudaSuccess && care == kLeavesADeviceOnError) cudaSetDevice(1);
  return status;
}

void launch_twice_and_wait(const float* d_x, float* d_y, int n, Wait wait) {
  launch_twice(d_x, d_y, n);
  if (wait == Wait::kSynchronize) cudaDeviceSynchronize();
  if (wait == Wait::kQuery) {
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
    }
  }
  if (wait == Wait::kForResult) {
    float first = 0;
    cudaDeviceSynchronize();
    cudaMemcpy(&first, d_y, sizeof first, cudaMemcpyDeviceToHost);
  }
  if (wait == Wait::kForResultInAStream) {
    float first = 0;
    cudaMemcpyAsync(&first, d_y, sizeof first, cudaMemcpyDeviceToHost);
    cudaStreamSynchronize(nullptr);
  }
  if (wait == Wait::kForMappedInput) {
    static std::vector<float> h_x(64, 1.0f);
    float* mapped = nullptr;
    cudaHostRegister(h_x.data(), h_x.size() * sizeof(float), cudaHostRegisterMapped);
    cudaHostGetDevicePointer(&mapped, h_x.data(), 0);
    launch_branch_on(mapped, 0, d_y);
    launch_twice(d_x, d_y, n);
    cudaDeviceSynchronize();
    cudaHostUnregister(h_x.data());
  }
  if (wait == Wait::kForManaged) {
    float* result = nullptr;
    cudaMallocManaged(&result, sizeof(float));
    launch_branch_on(d_y, 0, result);
    cudaDeviceSynchronize();
    cudaFree(result);
  }
}

__global__ void reversed_without_barrier(const float* x, float* y, int n) {
  __shared__ float s[64];
  const int i = threadIdx.x;
  s[i] = x[i];
  y[i] = 2.0f * s[n - 1 - i];
}

void launch_reversed_without_barrier(const float* d_x, float* d_y, int n) {
  reversed_without_barrier<<<1, n>>>(d_x, d_y, n);
}

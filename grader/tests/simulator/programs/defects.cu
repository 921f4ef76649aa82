// One planted defect per argument; run with GRADE_EXEC=1 the status must be 99.
#include <cuda_fp16.h>
#include <mma.h>

#include <cassert>
#include <cstring>

#include "check.h"

__global__ void fill(int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i;
}

__global__ void check_sign(const int* data) { assert(data[0] < 0); }

// The first threads meet, named by their number.
template <int kNamed>
__global__ void meet(int* to) {
  if (threadIdx.x >= kNamed) return;
  asm volatile("bar.sync 1, %0;" ::"n"(kNamed) : "memory");
  to[threadIdx.x] = 1;
}

// One 16 x 16 tile times itself, through shared memory.
__global__ void square_tile(const half* data, float* result, bool synchronised) {
  using namespace nvcuda::wmma;
  __shared__ alignas(32) half tile[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] = data[i];
  if (synchronised) __syncthreads();
  fragment<matrix_a, 16, 16, 16, half, row_major> a;
  fragment<matrix_b, 16, 16, 16, half, col_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, 0.0f);
  load_matrix_sync(a, tile, 16);
  load_matrix_sync(b, data, 16);
  mma_sync(c, a, b, c);
  if (threadIdx.x < 32) store_matrix_sync(result, c, 16, mem_row_major);
}

// Both warps of the block store their fragment to one place.
__global__ void store_twice(float* result, float step) {
  using namespace nvcuda::wmma;
  fragment<accumulator, 16, 16, 16, float> c;
  fill_fragment(c, step * static_cast<float>(threadIdx.x / 32));
  store_matrix_sync(result, c, 16, mem_row_major);
}

void run_store_twice(float step) {
  float* result = nullptr;
  CHECK_CUDA(cudaMalloc(&result, 256 * sizeof(float)));
  store_twice<<<1, 64>>>(result, step);
  cudaDeviceSynchronize();
  cudaFree(result);
}

void run_square_tile(int halves, int written, int threads, bool synchronised) {
  half* data = nullptr;
  float* result = nullptr;
  CHECK_CUDA(cudaMalloc(&data, halves * sizeof(half)));
  CHECK_CUDA(cudaMalloc(&result, 256 * sizeof(float)));
  CHECK_CUDA(cudaMemset(data, 0, written * sizeof(half)));
  square_tile<<<1, threads>>>(data, result, synchronised);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(result);
}

int main(int argc, char** argv) {
  const char* defect = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(defect, name) == 0; };
  int* data = nullptr;
  int host[64] = {};
  CHECK_CUDA(cudaMalloc(&data, 64 * sizeof(int)));
  if (is("host-access")) std::printf("%d\n", data[3]);
  if (is("copy-too-long")) cudaMemcpy(data, host, 2 * sizeof(host), cudaMemcpyHostToDevice);
  if (is("unwritten")) {
    fill<<<1, 32>>>(data, 64);
    cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  }
  if (is("double-free")) {
    cudaFree(data);
    cudaFree(data);
    return 0;
  }
  if (is("unchecked-launch")) fill<<<1, 2048>>>(data, 64);
  if (is("unawaited")) {  // out of bounds, and nothing waits for it
    fill<<<1, 128>>>(data, 128);
    return 0;
  }
  if (is("assert")) {
    cudaMemset(data, 0, sizeof(host));
    check_sign<<<1, 1>>>(data);
    CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
    return 0;
  }
  if (is("barrier-count")) meet<40><<<1, 64>>>(data);
  if (is("barrier-clean")) meet<32><<<1, 64>>>(data);  // no defect
  if (is("matrix-undefined")) run_square_tile(256, 250, 64, true);
  if (is("matrix-past-end")) run_square_tile(250, 250, 64, true);
  if (is("matrix-half-warp")) run_square_tile(256, 256, 16, true);
  if (is("matrix-race")) run_square_tile(256, 256, 64, false);
  if (is("matrix-store-race")) run_store_twice(1.0f);
  if (is("matrix-same-value")) run_store_twice(0.0f);           // a note
  if (is("matrix-clean")) run_square_tile(256, 256, 64, true);  // no defect
  if (is("checked-launch")) {  // no defect: the program looks at the error
    fill<<<1, 2048>>>(data, 64);
    CHECK(cudaGetLastError() != cudaSuccess);
  }
  cudaFree(data);
  std::printf("end\n");
  return 0;
}

// Times of every rung of chapter 07 on a GPU, as JSON; matmul_ladder.py builds and runs it.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "02_matmul_naive.h"
#include "03_matmul_coalesced.h"
#include "04_matmul_shared.h"
#include "05_matmul_dynamic_tile.h"
#include "06_matmul_1d_tile.h"
#include "07_matmul_2d_tile.h"
#include "08_matmul_vectorized.h"
#include "09_matmul_double_buffer.h"
#include "10_matmul_async_copy.h"
#include "11_matmul_warp_shape.h"
#include "12_matmul_warp_tiled.h"
#include "14_matmul_5120.h"

namespace {

using Product = std::function<void(const float*, const float*, float*, int, int, int)>;
using Rungs = std::vector<std::pair<const char*, Product>>;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

__global__ void empty() {}

struct Event {
  cudaEvent_t event = nullptr;
  Event() { check(cudaEventCreate(&event)); }
  ~Event() { cudaEventDestroy(event); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
};

// Milliseconds of a call: the median of event-timed ones, after one more. What is slow is called
// less often.
float milliseconds(const std::function<void()>& call) {
  const Event begin, end;
  std::vector<float> times;
  float spent = 0;
  for (int i = 0; i < 52 && (i < 6 || spent < 400); ++i) {
    check(cudaEventRecord(begin.event));
    call();
    check(cudaEventRecord(end.event));
    check(cudaEventSynchronize(end.event));
    float time = 0;
    check(cudaEventElapsedTime(&time, begin.event, end.event));
    spent += time;
    if (i > 0) times.push_back(time);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

struct Matrices {
  float *a = nullptr, *b = nullptr, *c = nullptr;
  Matrices(size_t m, size_t n, size_t k) {
    std::vector<float> values(std::max(m * k, k * n));
    unsigned state = 1;
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
    }
    check(cudaMalloc(&a, m * k * sizeof(float)));
    check(cudaMalloc(&b, k * n * sizeof(float)));
    check(cudaMalloc(&c, m * n * sizeof(float)));
    check(cudaMemcpy(a, values.data(), m * k * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(b, values.data(), k * n * sizeof(float), cudaMemcpyHostToDevice));
  }
  ~Matrices() { cudaFree(a), cudaFree(b), cudaFree(c); }
  Matrices(const Matrices&) = delete;
  Matrices& operator=(const Matrices&) = delete;
};

void print(const Rungs& rungs, int m, int n, int k) {
  const Matrices of(m, n, k);
  bool first = true;
  for (const auto& rung : rungs) {
    const float time = milliseconds([&] { rung.second(of.a, of.b, of.c, m, n, k); });
    check(cudaGetLastError());
    std::printf("%s\"%s\": %.5f", first ? "" : ", ", rung.first, time);
    first = false;
  }
}

Product lecture(Lecture kernel, int width) {
  return [=](const float* a, const float* b, float* c, int m, int n, int k) {
    launch_lecture(kernel, width, a, b, c, m, n, k);
  };
}

}  // namespace

int main() {
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  const auto cublas = [&](const float* a, const float* b, float* c, int m, int n, int k) {
    const float one = 1, zero = 0;  // column-major: c^T = b^T a^T
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
  };
  const Rungs large = {{"2d_tile", launch_matmul_2d_tile},
                       {"vectorized", launch_matmul_vectorized},
                       {"double_buffer", launch_matmul_double_buffer},
                       {"async_copy", launch_matmul_async_copy},
                       {"warp_shape", launch_matmul_warp_shape},
                       {"warp_tiled", launch_matmul_warp_tiled},
                       {"5120", launch_matmul_5120},
                       {"cublas", cublas}};
  Rungs all = {{"naive", launch_matmul_naive},
               {"coalesced", launch_matmul_coalesced},
               {"shared", launch_matmul_shared},
               {"dynamic_tile", launch_matmul_dynamic_tile},
               {"1d_tile", launch_matmul_1d_tile}};
  all.insert(all.end(), large.begin(), large.end());
  std::printf("{\"milliseconds\": {");
  for (const int n : {1024, 2048, 4096, 8192}) {
    std::printf("%s\"%d\": {", n > 1024 ? ", " : "", n);
    print(n <= 4096 ? all : large, n, n, n);
    std::printf("}");
  }
  const Rungs lectures = {
      {"empty", [](const float*, const float*, float*, int, int, int) { empty<<<1, 1>>>(); }},
      {"naive_16", lecture(Lecture::kNaive, 16)},
      {"naive_32", lecture(Lecture::kNaive, 32)},
      {"dynamic_16", lecture(Lecture::kDynamicTile, 16)},
      {"dynamic_32", lecture(Lecture::kDynamicTile, 32)},
      {"static_16", lecture(Lecture::kStaticTile, 16)},
      {"static_32", lecture(Lecture::kStaticTile, 32)},
      {"5120", launch_matmul_5120},
      {"cublas", cublas}};
  std::printf("}, \"lecture\": {");
  print(lectures, 5120, 5120, 256);
  std::printf("}}\n");
  cublasDestroy(handle);
  return 0;
}

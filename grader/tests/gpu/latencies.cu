// Measures the latencies of the modelled cost (grader/simulator/MODEL.md) on the GPU of this
// machine and prints them as JSON: cycles from one instruction to the next that needs its result.
//
//   nvcc -O2 -std=c++17 -arch=native grader/tests/gpu/latencies.cu -o latencies && ./latencies
//
// One block runs alone; each figure is the least of kRepeats runs.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kRepeats = 5;
constexpr int kSteps = 256;  // of a chain that is unrolled

#define CHECK(call)                                                                \
  do {                                                                             \
    const cudaError_t error_ = (call);                                             \
    if (error_ != cudaSuccess) {                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// `step(x)` makes the next link of the chain from x. The result is stored, so that it is needed.
template <class T, class Step>
__device__ void time_chain(long long* cycles, T* sink, T x, Step step) {
  long long least = 1LL << 40;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const long long begin = clock64();
#pragma unroll
    for (int i = 0; i < kSteps; ++i) step(x);
    least = min(least, clock64() - begin);
  }
  if (threadIdx.x == 0) *cycles = least;
  sink[threadIdx.x] = x;
}

__global__ void fma_f32(long long* cycles, float* sink, float a) {
  time_chain(cycles, sink, a, [=](float& x) {
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(a));
  });
}
__global__ void mad_s32(long long* cycles, int* sink, int a) {
  time_chain(cycles, sink, a, [=](int& x) {
    asm volatile("mad.lo.s32 %0, %0, %1, %1;" : "+r"(x) : "r"(a));
  });
}
__global__ void fma_f64(long long* cycles, double* sink, double a) {
  time_chain(cycles, sink, a, [=](double& x) {
    asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(a));
  });
}
__global__ void ex2(long long* cycles, float* sink, float a) {
  time_chain(cycles, sink, a, [](float& x) {
    asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  });
}
__global__ void barrier(long long* cycles, int* sink, int a) {
  time_chain(cycles, sink, a, [](int&) { asm volatile("bar.sync 0;" ::: "memory"); });
}

// m16n8k16 of halves: the accumulator is the chain.
__global__ void mma(long long* cycles, float4* sink, float4 a) {
  const unsigned ones = 0x3c003c00u;
  time_chain(cycles, sink, a, [=](float4& x) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
        : "+f"(x.x), "+f"(x.y), "+f"(x.z), "+f"(x.w)
        : "r"(ones));
  });
}

// Each word holds the address of the next.
__global__ void load_shared(long long* cycles, unsigned* sink) {
  __shared__ unsigned next[kSteps];
  const auto first = static_cast<unsigned>(__cvta_generic_to_shared(next));
  for (int i = 0; i < kSteps; ++i) next[i] = first + (i + 1) % kSteps * 4;
  time_chain(cycles, sink, first, [](unsigned& x) {
    asm volatile("ld.shared.u32 %0, [%0];" : "+r"(x));
  });
}

// A chain of pointers through memory; `kCached`: also through L1.
template <bool kCached>
__global__ void load_global(long long* cycles, char** sink, char* first, int steps, int repeats) {
  long long least = 1LL << 60;
  char* x = first;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const long long begin = clock64();
    for (int i = 0; i < steps; ++i) {
      if (kCached) {
        asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(x));
      } else {
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(x));
      }
    }
    least = min(least, clock64() - begin);
  }
  *cycles = least;
  *sink = x;
}

bool first_line = true;
void print(const char* name, double value) {
  std::printf("%s\n  \"%s\": %.1f", first_line ? "" : ",", name, value);
  first_line = false;
}

struct Cell {
  long long* cycles = nullptr;
  void* sink = nullptr;
  Cell() {
    CHECK(cudaMallocManaged(&cycles, sizeof(long long)));
    CHECK(cudaMalloc(&sink, 1024 * sizeof(float4)));
  }
  ~Cell() {
    cudaFree(cycles);
    cudaFree(sink);
  }
};

template <class T, class... Arguments>
void print_chain(const char* name, void (*kernel)(long long*, T*, Arguments...), int threads,
                 Arguments... arguments) {
  const Cell cell;
  for (int i = 0; i < 2; ++i) {  // the first loads the code
    kernel<<<1, threads>>>(cell.cycles, static_cast<T*>(cell.sink), arguments...);
    CHECK(cudaDeviceSynchronize());
  }
  print(name, static_cast<double>(*cell.cycles) / kSteps);
}

// Fills L2 with other bytes.
void flush_l2() {
  constexpr size_t kBytes = size_t{256} << 20;
  void* other = nullptr;
  CHECK(cudaMalloc(&other, kBytes));
  CHECK(cudaMemset(other, 0, kBytes));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(other));
}

// Visits `bytes` in steps of `stride`, each once, in an order that no prefetcher guesses; `cold`:
// once, from DRAM.
template <bool kCached>
void print_chase(const char* name, size_t bytes, size_t stride, bool cold) {
  const size_t links = bytes / stride;
  std::vector<size_t> order(links);
  for (size_t i = 0; i < links; ++i) order[i] = i;
  unsigned long long random = 88172645463325252ull;
  for (size_t i = links - 1; i > 0; --i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    std::swap(order[i], order[random % (i + 1)]);
  }
  char* device = nullptr;
  CHECK(cudaMalloc(&device, bytes));
  std::vector<char> host(bytes);
  for (size_t i = 0; i < links; ++i) {
    *reinterpret_cast<char**>(&host[order[i] * stride]) = device + order[(i + 1) % links] * stride;
  }
  CHECK(cudaMemcpy(device, host.data(), bytes, cudaMemcpyHostToDevice));
  const Cell cell;
  const int steps = static_cast<int>(links);
  if (cold) flush_l2();
  load_global<kCached>
      <<<1, 1>>>(cell.cycles, static_cast<char**>(cell.sink), device, steps, cold ? 1 : kRepeats);
  CHECK(cudaDeviceSynchronize());
  print(name, static_cast<double>(*cell.cycles) / steps);
  CHECK(cudaFree(device));
}

}  // namespace

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("{\n  \"device\": \"%s\",\n  \"cycles\": {", properties.name);
  print_chain("fp32", fma_f32, 32, 1.0f);
  print_chain("int32", mad_s32, 32, 1);
  print_chain("fp64", fma_f64, 32, 1.0);
  print_chain("special", ex2, 32, 1.0f);
  print_chain("mma", mma, 32, float4{});
  print_chain("barrier_of_1_warp", barrier, 32, 1);
  print_chain("barrier_of_8_warps", barrier, 256, 1);
  print_chain("barrier_of_32_warps", barrier, 1024, 1);
  print_chain("shared", load_shared, 1);
  print_chase<true>("l1", size_t{16} << 10, 128, false);
  print_chase<false>("l2", size_t{8} << 20, 128, false);
  print_chase<false>("dram_128_mib", size_t{128} << 20, 4224, true);
  print_chase<false>("dram_1_gib", size_t{1} << 30, 4224, true);
  std::printf("\n  }\n}\n");
  return 0;
}

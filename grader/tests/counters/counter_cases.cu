#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "counter_cases.h"
#include "global_kernels.cuh"
#include "matmul_kernels.cuh"
#include "shared_kernels.cuh"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "counters: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Input of small positive numbers, output of zeros; freed at the end of the case.
class Buffers {
 public:
  Buffers(size_t in, size_t out) {
    std::vector<float> values(in);
    for (size_t i = 0; i < in; ++i) values[i] = static_cast<float>(i * 7 % 61);
    check(cudaMalloc(&in_, in * sizeof(float)));
    check(cudaMalloc(&out_, out * sizeof(float)));
    check(cudaMemcpy(in_, values.data(), in * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemset(out_, 0, out * sizeof(float)));
  }
  ~Buffers() {
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaFree(in_));
    check(cudaFree(out_));
  }
  template <class T>
  const T* in() const {
    return reinterpret_cast<const T*>(in_);
  }
  template <class T>
  T* out() const {
    return reinterpret_cast<T*>(out_);
  }

 private:
  void* in_ = nullptr;
  void* out_ = nullptr;
};

constexpr int kBlock = 256;
int blocks(int threads) { return (threads + kBlock - 1) / kBlock; }

template <class In, class Out, void (*kKernel)(const In*, Out*, int), int kPerThread = 1>
void linear(int n) {
  const Buffers data(static_cast<size_t>(n) + kBlock, static_cast<size_t>(n) + 2048);
  kKernel<<<blocks(n / kPerThread), kBlock>>>(data.in<In>(), data.out<Out>(), n);
}

template <void (*kKernel)(const float*, float*, int)>
void banks(int n) {
  constexpr int kBlocks = 8;
  const Buffers data(1024, kBlocks * kBlock);
  kKernel<<<kBlocks, kBlock>>>(data.in<float>(), data.out<float>(), n);
}

template <void (*kKernel)(const float*, float*, int)>
void square(int n) {
  const Buffers data(static_cast<size_t>(n) * n, static_cast<size_t>(n) * n);
  kKernel<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(data.in<float>(), data.out<float>(), n);
}

template <void (*kKernel)(const float*, const float*, float*, int), int kTile, int kX, int kY>
void product(int n) {
  const size_t size = static_cast<size_t>(n) * n;
  const Buffers data(2 * size, size);
  kKernel<<<dim3(n / kTile, n / kTile), dim3(kX, kY)>>>(data.in<float>(), data.in<float>() + size,
                                                        data.out<float>(), n);
}

// `n` dependent steps in one warp of each of few blocks.
template <int kChains>
void dependent(int n) {
  const Buffers data(1024, 32 * 1024);
  chains<kChains><<<132, 32>>>(data.in<float>(), data.out<float>(), n);
}

// The same blocks for everybody: a warp, or as many as fit, read `n` words that they share.
template <void (*kKernel)(const float*, float*, int), int kWarps>
void reading(int n) {
  const Buffers data(1 << 15, 132 * 1024);
  kKernel<<<132, 32 * kWarps>>>(data.in<float>(), data.out<float>(), n);
}

// Each thread follows its own chain through memory. Shared memory that nobody uses decides how many
// blocks are resident.
template <int kSharedKiB>
void chasing(int n) {
  constexpr int kBlocks = 32, kThreads = 64, kApart = 1024;  // kApart as in the kernel
  std::vector<int> next(static_cast<size_t>(kBlocks) * kThreads * kApart);
  for (size_t i = 0; i < next.size(); ++i) {
    next[i] = static_cast<int>((i * 5 + 12345) % next.size());
  }
  const Buffers data(next.size(), static_cast<size_t>(kBlocks) * kThreads);
  int* numbers = const_cast<int*>(data.in<int>());
  check(cudaMemcpy(numbers, next.data(), next.size() * sizeof(int), cudaMemcpyHostToDevice));
  check(
      cudaFuncSetAttribute(chase, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedKiB * 1024));
  chase<<<kBlocks, kThreads, kSharedKiB * 1024>>>(numbers, data.out<float>(), n);
}

constexpr int kWords = 1 << 16;

}  // namespace

const CounterCase kCounterCases[] = {
    {"copy", linear<float, float, copy_strided<1>>, kWords},
    {"copy_stride_2", linear<float, float, copy_strided<2>>, kWords},
    {"copy_stride_32", linear<float, float, copy_strided<32>>, kWords},
    {"copy_misaligned", linear<float, float, copy_misaligned>, kWords},
    {"copy_float2", linear<float2, float2, copy_float2, 2>, kWords},
    {"copy_float4", linear<float4, float4, copy_float4, 4>, kWords},
    {"copy_bytes", linear<unsigned char, unsigned char, copy_bytes>, kWords},
    {"copy_double", linear<double, double, copy_double, 2>, kWords},
    {"store_strided", linear<float, float, store_strided, 8>, kWords},
    {"load_broadcast", linear<float, float, load_broadcast>, kWords},
    {"load_broadcast_float4", linear<float4, float4, load_broadcast_float4, 4>, kWords},
    {"gather", linear<float, float, gather>, kWords},
    {"structures", linear<Particle, float, structures, 3>, 3 * 20480},
    {"every_other_lane", linear<float, float, every_other_lane>, kWords},
    {"atomic_uniform", linear<float, int, atomic_uniform>, kWords},
    {"atomic_uniform_values", linear<float, int, atomic_uniform_values>, kWords},
    {"atomic_uniform_result", linear<float, int, atomic_uniform_result>, 4096},
    {"atomic_uniform_float", linear<float, float, atomic_uniform_float>, kWords},
    {"atomic_bins", linear<float, int, atomic_bins>, kWords},
    {"atomic_apart", linear<float, int, atomic_apart>, kWords},
    {"atomic_shared_uniform", linear<float, int, atomic_shared_uniform>, kWords},
    {"tensor_products", linear<float, float, tensor_products>, kWords},
    {"histogram_shared", linear<float, int, histogram_shared>, kWords},
    {"divergent", linear<float, float, divergent>, kWords},
    {"local_array", linear<float, float, local_array>, 1 << 14},
    {"read4_unit", banks<read_banks<float, Unit>>, 16},
    {"read4_stride_2", banks<read_banks<float, Strided<2>>>, 16},
    {"read4_stride_32", banks<read_banks<float, Strided<32>>>, 16},
    {"read4_broadcast", banks<read_banks<float, All>>, 16},
    {"read8_unit", banks<read_banks<float2, Unit>>, 16},
    {"read8_stride_2", banks<read_banks<float2, Strided<2>>>, 16},
    {"read8_pairs", banks<read_banks<float2, Together<2>>>, 16},
    {"read8_folded_16", banks<read_banks<float2, Folded<16>>>, 16},
    {"read8_swapped_pairs", banks<read_banks<float2, SwappedPairs>>, 16},
    {"read8_broadcast", banks<read_banks<float2, All>>, 16},
    {"read16_unit", banks<read_banks<float4, Unit>>, 16},
    {"read16_stride_2", banks<read_banks<float4, Strided<2>>>, 16},
    {"read16_pairs", banks<read_banks<float4, Together<2>>>, 16},
    {"read16_fours", banks<read_banks<float4, Together<4>>>, 16},
    {"read16_folded_8", banks<read_banks<float4, Folded<8>>>, 16},
    {"read16_folded_16", banks<read_banks<float4, Folded<16>>>, 16},
    {"read16_broadcast", banks<read_banks<float4, All>>, 16},
    {"write4_stride_32", banks<write_banks<float, Strided<32>>>, 16},
    {"write8_unit", banks<write_banks<float2, Unit>>, 16},
    {"write16_unit", banks<write_banks<float4, Unit>>, 16},
    {"write16_stride_2", banks<write_banks<float4, Strided<2>>>, 16},
    {"transpose_naive", square<transpose_naive>, 256},
    {"transpose_tile", square<transpose_tile<0>>, 256},
    {"transpose_padded", square<transpose_tile<1>>, 256},
    {"reduce_shared", linear<float, float, reduce_shared>, kWords},
    {"reduce_shuffle", linear<float, float, reduce_shuffle, 4>, kWords},
    {"scan_block", linear<float, float, scan_block>, kWords},
    {"stencil", linear<float, float, stencil>, kWords},
    {"stencil_shared", linear<float, float, stencil_shared>, kWords},
    {"matmul_uncoalesced", product<matmul_uncoalesced, 16, 16, 16>, 128},
    {"matmul_naive", product<matmul_naive, 16, 16, 16>, 128},
    {"matmul_tiled_16", product<matmul_tiled<16>, 16, 16, 16>, 128},
    {"matmul_tiled_32", product<matmul_tiled<32>, 32, 32, 32>, 128},
    {"matmul_registers", product<matmul_registers, 64, 256, 1>, 128},
    {"matmul_large", product<matmul_large<1>, 128, 256, 1>, 256},
    {"matmul_double_buffered", product<matmul_large<2>, 128, 256, 1>, 256},
    {"chains_1", dependent<1>, 2048},
    {"chains_4", dependent<4>, 2048},
    {"loads_plain", reading<eight_loads<Read::kPlain>, 1>, 1 << 15},
    {"loads_guarded", reading<eight_loads<Read::kGuarded>, 1>, 1 << 15},
    {"loads_volatile", reading<eight_loads<Read::kVolatile>, 1>, 1 << 15},
    {"lines_in_one_bank", reading<lines_in_l1<false>, 32>, 256},
    {"lines_in_all_banks", reading<lines_in_l1<true>, 32>, 256},
    {"chase_few_blocks", chasing<100>, 32},
    {"chase_many_blocks", chasing<4>, 32},
};
const int kCounterCaseCount = sizeof kCounterCases / sizeof kCounterCases[0];

bool run_counter_case(const char* name, int n) {
  for (const CounterCase& known : kCounterCases) {
    if (std::strcmp(known.name, name) != 0) continue;
    known.run(n > 0 ? n : known.n);
    return true;
  }
  return false;
}

// Kernels of compute capability 9.0 whose counters a card can say: bulk and tensor copies, memory
// of other blocks, and products on tensor cores. A program of their own, as they need sm_90a.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "counter_cases.h"
#include "hopper_copies.cuh"
#include "hopper_products.cuh"

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "counters: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr size_t kBytes = 1 << 20;

// Small numbers of every type, and zeros.
class Buffers {
 public:
  Buffers() {
    const std::vector<unsigned char> ones(kBytes, 1);
    check(cudaMalloc(&in_, kBytes));
    check(cudaMalloc(&out_, kBytes));
    check(cudaMemcpy(in_, ones.data(), kBytes, cudaMemcpyHostToDevice));
    check(cudaMemset(out_, 0, kBytes));
  }
  ~Buffers() {
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    check(cudaFree(in_));
    check(cudaFree(out_));
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  template <class T>
  T* in() const {
    return static_cast<T*>(in_);
  }
  template <class T>
  T* out() const {
    return static_cast<T*>(out_);
  }

 private:
  void* in_ = nullptr;
  void* out_ = nullptr;
};

struct Tensor {
  CUtensorMapDataType type;
  cuuint32_t bytes;  // of an element
  std::vector<cuuint64_t> extent;
  std::vector<cuuint32_t> box, steps;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

CUtensorMap encode(Tensor t, void* data) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &found));
  std::vector<cuuint64_t> strides;
  cuuint64_t bytes = t.bytes;
  // One more than there are: the pointer is not null for a line either.
  for (size_t d = 0; d < t.extent.size(); ++d) strides.push_back(bytes *= t.extent[d]);
  t.steps.resize(t.extent.size(), 1);
  alignas(64) CUtensorMap map = {};
  if (reinterpret_cast<Encode>(function)(
          &map, t.type, static_cast<cuuint32_t>(t.extent.size()), data, t.extent.data(),
          strides.data(), t.box.data(), t.steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::fprintf(stderr, "counters: the tensor map was refused\n");
    std::exit(1);
  }
  return map;
}

// ---- copies

void bulk_copies(int n) {
  const Buffers data;
  copy_pieces<<<4, 64>>>(data.in<char>() + 16, data.out<char>(), n);
}

void bulk_sums(int n) {
  const Buffers data;
  add_pieces<<<4, 64>>>(data.in<char>(), data.out<char>(), n);
}

constexpr CUtensorMapDataType kFloat = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;

void tensor_1d(int n) {
  const Buffers data;
  const Tensor line{kFloat, 4, {static_cast<cuuint64_t>(n)}, {64}, {}};
  const int blocks = (n + 63) / 64 + 1;  // the last is behind the end
  copy_box<1><<<blocks, 64>>>(encode(line, data.in<void>()), encode(line, data.out<void>()),
                              {64, 0, 0}, 0, 256);
}

// Tiles of 64 x 64 halves.
void tensor_2d_swizzle_128(int n) {
  const Buffers data;
  const auto size = static_cast<cuuint64_t>(n);
  const Tensor matrix{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, {size, size}, {64, 64}, {},
                      CU_TENSOR_MAP_SWIZZLE_128B};
  copy_box<2><<<dim3(n / 64, n / 64), 64>>>(
      encode(matrix, data.in<void>()), encode(matrix, data.out<void>()), {64, 64, 0}, 0, 64 * 128);
}

// Tiles whose rows are 20 floats, so that they begin and end in the middle of sectors.
void tensor_2d_odd_rows(int n) {
  const Buffers data;
  const auto size = static_cast<cuuint64_t>(n);
  const Tensor matrix{kFloat, 4, {size, size}, {20, 9}, {}};
  copy_box<2><<<dim3(4, 4), 64>>>(encode(matrix, data.in<void>()), encode(matrix, data.out<void>()),
                                  {20, 9, 0}, 0, 20 * 9 * 4);
}

// With a border of 4, 1 and 1 elements, which is zeros beyond the edges; nothing is stored.
void tensor_3d_border(int n) {
  const Buffers data;
  const Tensor cube{kFloat, 4, {static_cast<cuuint64_t>(n), 24, 12}, {24, 6, 4}, {}};
  load_box<3><<<dim3(n / 16, 6, 6), 64>>>(encode(cube, data.in<void>()), {16, 4, 2}, 1,
                                          24 * 6 * 4 * 4, data.out<float>());
}

// Every second row of a plane.
void tensor_3d_every_second(int n) {
  const Buffers data;
  const Tensor cube{kFloat,     4,         {static_cast<cuuint64_t>(n), 24, 12},
                    {16, 8, 2}, {1, 2, 1}, CU_TENSOR_MAP_SWIZZLE_64B};
  load_box<3><<<dim3(n / 16, 3, 6), 64>>>(encode(cube, data.in<void>()), {16, 8, 2}, 0, 64 * 4 * 2,
                                          data.out<float>());
}

void tensor_multicast(int n) {
  const Buffers data;
  const Tensor matrix{kFloat, 4, {32, static_cast<cuuint64_t>(n)}, {32, 8}, {}};
  share_rows<<<n / 32, 64>>>(encode(matrix, data.in<void>()), data.out<float>());
}

void tensor_sums(int n) {
  const Buffers data;
  const auto size = static_cast<cuuint64_t>(n);
  const Tensor matrix{kFloat, 4, {size, size}, {32, 16}, {}};
  add_box<<<dim3(n / 32, n / 16), 64>>>(encode(matrix, data.in<void>()),
                                        encode(matrix, data.out<void>()));
}

void cluster_reads(int n) {
  const Buffers data;
  read_neighbour<<<n, 64>>>(data.in<int>(), data.out<int>());
}

void cluster_sends(int n) {
  const Buffers data;
  send_to_neighbour<<<n, 64>>>(data.in<int>(), data.out<int>());
}

// ---- products

template <class Form>
void product(int n) {
  const Buffers data;
  const auto size = static_cast<cuuint64_t>(n);
  const cuuint32_t row = 128 / Form::kBytes;
  const Tensor a{Form::kType, Form::kBytes, {size, 128}, {row, 64}, {}, CU_TENSOR_MAP_SWIZZLE_128B};
  const Tensor b{Form::kType, Form::kBytes, {size, 64}, {row, 32}, {}, CU_TENSOR_MAP_SWIZZLE_128B};
  const Tensor c{CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, {64, 128}, {32, 64}, {}};
  multiply_tiles<Form><<<dim3(2, 2), 160>>>(
      encode(a, data.in<void>()), encode(b, data.in<char>() + kBytes / 2),
      encode(c, data.out<void>()), data.out<typename Form::Sum>(), n / static_cast<int>(row));
}

template <int kPitch>
void fragments(int n) {
  const Buffers data;
  multiply_fragments<kPitch><<<n, 128>>>(data.in<__half>(), data.out<__half>());
}

template <class Form>
void registers(int n) {
  const Buffers data;
  multiply_registers<Form><<<n, 64>>>(data.in<uint32_t>(), data.out<uint32_t>());
}

}  // namespace

const CounterCase kCounterCases[] = {
    {"bulk_copies", bulk_copies, 4},
    {"bulk_sums", bulk_sums, 4},
    {"tensor_1d", tensor_1d, 1000},
    {"tensor_2d_swizzle_128", tensor_2d_swizzle_128, 256},
    {"tensor_2d_odd_rows", tensor_2d_odd_rows, 68},
    {"tensor_3d_border", tensor_3d_border, 64},
    {"tensor_3d_every_second", tensor_3d_every_second, 64},
    {"tensor_multicast", tensor_multicast, 256},
    {"tensor_sums", tensor_sums, 128},
    {"cluster_reads", cluster_reads, 8},
    {"cluster_sends", cluster_sends, 8},
    {"wgmma_f16", product<WgmmaF16>, 512},
    {"wgmma_bf16", product<WgmmaBF16>, 512},
    {"wgmma_tf32", product<WgmmaTF32>, 256},
    {"wgmma_e4m3", product<WgmmaE4M3>, 512},
    {"wgmma_s8_registers", product<WgmmaS8>, 512},
    {"mma_f16_conflicts", fragments<64>, 8},
    {"mma_f16_padded", fragments<72>, 8},
    {"mma_tf32", registers<MmaTF32>, 8},
    {"mma_e4m3", registers<MmaE4M3>, 8},
    {"mma_s8", registers<MmaS8>, 8},
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

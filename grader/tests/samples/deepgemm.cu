// Runs the fp8 product of DeepGEMM (github.com/deepseek-ai/DeepGEMM, sm90_fp8_gemm_1d2d.cuh), which its own
// project compiles at run time and starts from PyTorch: d = (a * scales of a) x (b * scales of b), with a scale
// for every 128 elements of a row of a (1 x 128) and for every block of 128 x 128 of b. Compared with a sum in
// double on the host. Pipelines with and without multicast, tiles that a scale of b does and does not fit.
//   nvcc -O2 -std=c++20 -gencode=arch=compute_90a,code=sm_90a --expt-relaxed-constexpr -cudart shared
//        -I DeepGEMM/deep_gemm/include -I cutlass/include deepgemm.cu
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <typename T>
struct Array {
  explicit Array(const std::vector<T>& host) {
    check(cudaMalloc(&data, host.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(data, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~Array() { cudaFree(data); }
  T* data = nullptr;
};

// A row-major matrix of `rows` x `columns` elements, copied in boxes of box_rows x box_columns.
CUtensorMap map_of(void* data, CUtensorMapDataType type, int element, int rows, int columns, int box_rows,
                   int box_columns, CUtensorMapSwizzle swizzle) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
        "cuTensorMapEncodeTiled");
  const cuuint64_t extent[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t stride[1] = {static_cast<cuuint64_t>(columns) * element};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t step[2] = {1, 1};
  CUtensorMap map;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  if (encode(&map, type, 2, data, extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    std::printf("a tensor map is refused\n");
    std::exit(1);
  }
  return map;
}

CUtensorMapSwizzle swizzle_of(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

// Returns whether all elements of an m x n product over k are right. Blocks are kM x kN; kD is the swizzle of d
// in bytes; kCluster blocks share the tiles of a (kOnA) or of b.
template <uint32_t kM, uint32_t kN, uint32_t kD, uint32_t kStages, uint32_t kCluster, bool kOnA>
bool product(int m, int n, int k) {
  constexpr uint32_t kBlocks = 4;
  constexpr uint32_t kMath = kM <= 64 ? 128 : 256;
  const auto kernel =
      deep_gemm::sm90_fp8_gemm_1d2d_impl<cute::UMMA::Major::K, 0, 0, 0, 1, kM, kN, 128, 128, 128, kD, kStages,
                                         128, kMath, kCluster, kOnA, kBlocks, deep_gemm::GemmType::Normal,
                                         cutlass::bfloat16_t,
                                         deep_gemm::epilogue::transform::EpilogueIdentity>;
  const int blocks_of_k = (k + 127) / 128;
  const int rows_of_scales = (m + 3) / 4 * 4;
  std::mt19937 random(m * 31 + n * 7 + k);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<__nv_fp8_e4m3> a(size_t(m) * k), b(size_t(n) * k);
  for (auto& x : a) x = __nv_fp8_e4m3(value(random));
  for (auto& x : b) x = __nv_fp8_e4m3(value(random));
  std::vector<float> scale_a(size_t(rows_of_scales) * blocks_of_k, 0);
  std::vector<float> scale_b(size_t((n + 127) / 128) * blocks_of_k);
  for (auto& x : scale_a) x = 1 + value(random) / 2;
  for (auto& x : scale_b) x = 1 + value(random) / 2;
  Array device_a(a), device_b(b);
  Array device_scale_a(scale_a), device_scale_b(scale_b);
  Array<__nv_bfloat16> device_d(std::vector<__nv_bfloat16>(size_t(m) * n, __float2bfloat16(-7)));

  const int columns_of_d = kD == 0 ? kN : kD / 2;
  const auto bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const CUtensorMap map_a = map_of(device_a.data, bytes, 1, m, k, kM, 128, swizzle_of(128));
  const CUtensorMap map_b = map_of(device_b.data, bytes, 1, n, k, kN, 128, swizzle_of(128));
  const CUtensorMap map_d = map_of(device_d.data, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, m, n, kM, columns_of_d,
                                   swizzle_of(kD));
  const CUtensorMap map_scale = map_of(device_scale_a.data, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, blocks_of_k,
                                       rows_of_scales, 1, kM, swizzle_of(0));

  const size_t tile_of_d = (kM * kN * 2 + 1023) / 1024 * 1024;
  const size_t stage = kM * 128 + kN * 128 + (kM * 4 + 127) / 128 * 128;
  const size_t shared = tile_of_d + kStages * stage + (size_t(blocks_of_k) * 8 + 7) / 8 * 8 + kStages * 16;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)), "shared memory");
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {kCluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = {kBlocks, 1, 1};
  config.blockDim = {128 + kMath, 1, 1};
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, kernel, device_scale_b.data, static_cast<int*>(nullptr), uint32_t(m),
                           uint32_t(n), uint32_t(k), map_a, map_b, map_d, map_scale),
        "launch");
  std::vector<__nv_bfloat16> d(size_t(m) * n);
  check(cudaMemcpy(d.data(), device_d.data, d.size() * 2, cudaMemcpyDeviceToHost), "result");

  double worst = 0, largest = 0;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        const double scale = double(scale_a[size_t(i / 128) * rows_of_scales + row]) *
                             scale_b[size_t(column / 128) * blocks_of_k + i / 128];
        sum += scale * float(a[size_t(row) * k + i]) * float(b[size_t(column) * k + i]);
      }
      worst = std::fmax(worst, std::fabs(sum - __bfloat162float(d[size_t(row) * n + column])));
      largest = std::fmax(largest, std::fabs(sum));
    }
  }
  // Half a unit of bfloat16's eight bits, and what the tensor core drops of sums of fp8 products.
  const bool right = worst <= largest * (1.0 / 256);
  std::printf("%4d x %4d x %4d, tiles %3u x %3u, %u stages, clusters of %u: largest error %.4f of %.2f: %s\n", m, n, k,
              kM, kN, kStages, kCluster, worst, largest, right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main() {
  bool right = product<128, 128, 128, 4, 1, false>(256, 256, 512);
  right &= product<128, 128, 128, 4, 2, true>(256, 512, 512);
  right &= product<128, 128, 128, 3, 2, false>(512, 256, 384);
  right &= product<64, 96, 64, 5, 1, false>(192, 288, 640);
  right &= product<128, 96, 64, 4, 2, false>(200, 192, 256);
  std::printf("%s\n", right ? "all products are right" : "some products are WRONG");
  return right ? 0 : 1;
}

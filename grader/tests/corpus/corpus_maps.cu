// Tensor maps that a kernel changes, and where copies by them may begin: see corpus.cu for the form.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

#include "corpus.h"

namespace {

namespace ptx = cuda::ptx;

constexpr int kColumns = 16;
constexpr int kRows = 8;
constexpr int kWords = kColumns * kRows;

// Two tensors, and a map of the first in global memory.
struct Tensors {
  int *first = nullptr, *second = nullptr, *out = nullptr;
  CUtensorMap* map = nullptr;
  Tensors() {
    for (int** words : {&first, &second, &out}) {
      cudaMalloc(words, kWords * sizeof(int));
      cudaMemset(*words, 0, kWords * sizeof(int));
    }
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                     &found);
    const cuuint64_t extent[] = {kColumns, kRows}, strides[] = {kColumns * sizeof(int)};
    const cuuint32_t box[] = {kColumns, kRows}, steps[] = {1, 1};
    alignas(64) CUtensorMap host;
    reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
        &host, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, first, extent, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    cudaMalloc(&map, sizeof host);
    cudaMemcpy(map, &host, sizeof host, cudaMemcpyHostToDevice);
  }
  ~Tensors() {
    cudaDeviceSynchronize();
    for (int* words : {first, second, out}) cudaFree(words);
    cudaFree(map);
  }
};

__device__ void prepare(uint64_t* full) {
  ptx::mbarrier_init(full, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                 kWords * sizeof(int));
}

#define RUN_WITH_MAP(name)                             \
  template <bool kPlanted>                             \
  void run_##name() {                                  \
    Tensors m;                                         \
    name<kPlanted><<<1, 32>>>(m.map, m.second, m.out); \
  }

template <bool kPlanted>
__global__ void map_not_acquired(CUtensorMap* map, int* second, int* out) {
  __shared__ alignas(128) int tile[kWords];
  __shared__ uint64_t full;
  const int32_t at[2] = {0, 0};
  if (threadIdx.x == 0) {
    prepare(&full);
    ptx::tensormap_replace_global_address(ptx::space_global, map, second);
    ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
    if (!kPlanted) {
      ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>{});
    }
    // planted: map_not_acquired racecheck/missing-tensormap-fence
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at, &full);
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}
RUN_WITH_MAP(map_not_acquired)

template <bool kPlanted>
__global__ void map_not_released(CUtensorMap* map, int* second, int* out) {
  __shared__ alignas(128) int tile[kWords];
  __shared__ uint64_t full;
  const int32_t at[2] = {0, 0};
  if (threadIdx.x == 0) {
    prepare(&full);
    ptx::tensormap_replace_global_address(ptx::space_global, map, second);
    if (!kPlanted) ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>{});
    // planted: map_not_released racecheck/missing-tensormap-fence
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at, &full);
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}
RUN_WITH_MAP(map_not_released)

// ---- where a copy begins ---------------------------------------------------------------------

template <bool kPlanted>
__global__ void tensor_starts_between(CUtensorMap* map, int*, int* out) {
  __shared__ alignas(128) int tile[kWords];
  __shared__ uint64_t full;
  const int32_t at[2] = {kPlanted ? 2 : 4, 0};  // four words are 16 bytes
  if (threadIdx.x == 0) {
    prepare(&full);
    // planted: tensor_starts_between memcheck/bulk-operand
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at, &full);
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}
RUN_WITH_MAP(tensor_starts_between)

constexpr int kImage = 6, kChannels = 4, kPixels = 12;

// Images of 6 x 6 pixels of four channels, and a border of one pixel.
CUtensorMap image_map(int* images) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &function, 12000, cudaEnableDefault,
                                   &found);
  const cuuint64_t extent[] = {kChannels, kImage, kImage, 2};
  const cuuint64_t strides[] = {kChannels * 4, kChannels * 4 * kImage,
                                kChannels * 4 * kImage * kImage};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  const int lower[] = {-1, -1}, upper[] = {-1, -1};
  alignas(64) CUtensorMap map;
  reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(function)(
      &map, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, images, extent, strides, lower, upper, kChannels,
      kPixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

// A macro, so that a finding is on the line that uses it.
#define LOAD_COLUMN(to, map, at, full, offset)                                                    \
  asm volatile(                                                                                   \
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(address_of(to)),                            \
      "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(address_of(&full)),          \
      "h"(offset[0]), "h"(offset[1])                                                              \
      : "memory")

__device__ uint32_t address_of(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

template <bool kPlanted>
__global__ void column_starts_outside(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int column[kPixels * kChannels];
  __shared__ uint64_t full;
  const int32_t at[4] = {0, kPlanted ? kImage - 1 : kImage - 2, 0, 0};
  const uint16_t offset[2] = {1, 2};  // of this element of a filter
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   sizeof column);
    // planted: column_starts_outside memcheck/bulk-operand
    LOAD_COLUMN(column, map, at, full, offset);
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  out[threadIdx.x] = column[threadIdx.x];
}

template <bool kPlanted>
void run_column_starts_outside() {
  int *images = nullptr, *out = nullptr;
  constexpr int kAll = kChannels * kImage * kImage * 2;
  cudaMalloc(&images, kAll * sizeof(int));
  cudaMemset(images, 0, kAll * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  column_starts_outside<kPlanted><<<1, 32>>>(image_map(images), out);
  cudaDeviceSynchronize();
  cudaFree(images);
  cudaFree(out);
}

}  // namespace

const CorpusCase kMapCases[] = {
    CASE(map_not_acquired, "bulk.map"),
    CASE(map_not_released, "bulk.map"),
    CASE(tensor_starts_between, "bulk.start"),
    CASE(column_starts_outside, "bulk.start"),
};
extern const CorpusPart kMapCorpus = {kMapCases, sizeof(kMapCases) / sizeof(kMapCases[0])};

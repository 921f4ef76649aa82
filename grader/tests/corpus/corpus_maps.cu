// Tensor maps that a kernel changes: see corpus.cu for the form.
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

}  // namespace

const CorpusCase kMapCases[] = {
    CASE(map_not_acquired, "bulk.map"),
    CASE(map_not_released, "bulk.map"),
};
extern const CorpusPart kMapCorpus = {kMapCases, sizeof(kMapCases) / sizeof(kMapCases[0])};

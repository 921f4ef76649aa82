// Tensor copies through cuTensorMapEncodeTiled, as programs for compute capability 9.0 use them: a
// tile of a matrix with each swizzle, borders that are filled, tensors of 1 to 5 dimensions, stores
// and reductions, multicast in a cluster, and what the driver refuses.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/barrier>
#include <cuda/ptx>
#include <vector>

#include "check.h"

namespace ptx = cuda::ptx;

namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                            const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                            const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

Encode find_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                              cudaEnableDefault, &found));
  CHECK(found == cudaDriverEntryPointSuccess && function != nullptr);
  return reinterpret_cast<Encode>(function);
}

struct Tensor {
  std::vector<cuuint64_t> extent, strides;  // strides in bytes, of all dimensions but the first
  std::vector<cuuint32_t> box;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_INT32;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
};

CUresult encode(CUtensorMap* map, const Tensor& t, void* address) {
  const std::vector<cuuint32_t> steps(t.extent.size(), 1);
  return find_encode()(map, t.type, static_cast<cuuint32_t>(t.extent.size()), address,
                       t.extent.data(), t.strides.data(), t.box.data(), steps.data(),
                       CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                       t.fill);
}

CUtensorMap encoded(const Tensor& t, void* address) {
  alignas(64) CUtensorMap map;
  CHECK(encode(&map, t, address) == CUDA_SUCCESS);
  return map;
}

struct Numbers {
  int* data = nullptr;
  explicit Numbers(int n) {
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) values[i] = i;
    CHECK_CUDA(cudaMalloc(&data, n * sizeof(int)));
    CHECK_CUDA(cudaMemcpy(data, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  }
  ~Numbers() { cudaFree(data); }
  std::vector<int> read(int n) const {
    std::vector<int> values(n);
    CHECK_CUDA(cudaMemcpy(values.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
    return values;
  }
};

constexpr int kMostBytes = 8192;

// One box, as it lies in shared memory.
template <int kDimensions>
__global__ void load_box(const __grid_constant__ CUtensorMap map, int c0, int c1, int c2, int c3,
                         int c4, int bytes, int* out) {
  __shared__ alignas(1024) int box[kMostBytes / 4];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   bytes);
    const int at[5] = {c0, c1, c2, c3, c4};
    int32_t coordinates[kDimensions];
    for (int d = 0; d < kDimensions; ++d) coordinates[d] = at[d];
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &map, coordinates,
                              &barrier);
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = box[i];
}

template <int kDimensions>
std::vector<int> loaded(const Tensor& t, const Numbers& from, std::vector<int> at) {
  at.resize(5);
  int n = 1;
  for (const cuuint32_t size : t.box) n *= static_cast<int>(size);
  Numbers out(n);
  const CUtensorMap map = encoded(t, from.data);
  load_box<kDimensions><<<1, 32>>>(map, at[0], at[1], at[2], at[3], at[4], n * 4, out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  return out.read(n);
}

constexpr int kRows = 40, kColumns = 64;

void tiles_of_a_matrix() {
  const Numbers matrix(kRows * kColumns);
  Tensor t;
  t.extent = {kColumns, kRows};
  t.strides = {kColumns * 4};
  t.box = {16, 8};
  const std::vector<int> tile = loaded<2>(t, matrix, {32, 24});
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 16; ++x) CHECK(tile[y * 16 + x] == (24 + y) * kColumns + 32 + x);
  }
  // Across all four borders: zeros.
  for (const int x0 : {-4, 56}) {  // in steps of 16 bytes
    for (const int y0 : {-5, 37}) {
      const std::vector<int> edge = loaded<2>(t, matrix, {x0, y0});
      for (int y = 0; y < 8; ++y) {
        for (int x = 0; x < 16; ++x) {
          const int gx = x0 + x, gy = y0 + y;
          const bool inside = gx >= 0 && gx < kColumns && gy >= 0 && gy < kRows;
          CHECK(edge[y * 16 + x] == (inside ? gy * kColumns + gx : 0));
        }
      }
    }
  }
}

// Chunk c of row r lies where chunk c xor (r mod 8 ...) would: the three patterns of the ISA.
void swizzles() {
  const Numbers matrix(kRows * kColumns);
  const struct {
    CUtensorMapSwizzle swizzle;
    int width;
  } patterns[] = {{CU_TENSOR_MAP_SWIZZLE_32B, 32},
                  {CU_TENSOR_MAP_SWIZZLE_64B, 64},
                  {CU_TENSOR_MAP_SWIZZLE_128B, 128}};
  for (const auto& pattern : patterns) {
    Tensor t;
    t.extent = {kColumns, kRows};
    t.strides = {kColumns * 4};
    t.box = {static_cast<cuuint32_t>(pattern.width / 4), 16};
    t.swizzle = pattern.swizzle;
    const std::vector<int> tile = loaded<2>(t, matrix, {0, 8});
    for (int y = 0; y < 16; ++y) {
      for (int x = 0; x < pattern.width / 4; ++x) {
        const int byte = y * pattern.width + x * 4;
        const int chunks = pattern.width / 16 - 1;
        const int swizzled = byte ^ ((byte / 128 & chunks) * 16);
        CHECK(tile[swizzled / 4] == (8 + y) * kColumns + x);
      }
    }
  }
}

void other_dimensions() {
  const Numbers numbers(4096);
  Tensor line;
  line.extent = {1000};
  line.strides = {0};  // none is read, but the pointer may not be null
  line.box = {32};
  const std::vector<int> part = loaded<1>(line, numbers, {988});
  for (int x = 0; x < 32; ++x) CHECK(part[x] == (988 + x < 1000 ? 988 + x : 0));
  Tensor five;
  five.extent = {8, 4, 4, 4, 4};
  five.strides = {32, 128, 512, 2048};
  five.box = {4, 2, 2, 2, 2};
  const std::vector<int> box = loaded<5>(five, numbers, {4, 1, 0, 2, 3});
  int i = 0;
  for (int v = 3; v < 5; ++v) {
    for (int w = 2; w < 4; ++w) {
      for (int z = 0; z < 2; ++z) {
        for (int y = 1; y < 3; ++y) {
          for (int x = 4; x < 8; ++x) {
            const bool inside = v < 4;
            CHECK(box[i++] == (inside ? x + 8 * (y + 4 * (z + 4 * (w + 4 * v))) : 0));
          }
        }
      }
    }
  }
  Tensor floats;
  floats.extent = {8, 8};
  floats.strides = {32};
  floats.box = {8, 2};
  floats.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  floats.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  const std::vector<int> filled = loaded<2>(floats, numbers, {0, 7});
  for (int x = 0; x < 8; ++x) {
    CHECK(filled[x] == 56 + x);
    const int bits = filled[8 + x];
    CHECK((bits & 0x7f800000) == 0x7f800000 && (bits & 0x7fffff) != 0);
  }
}

// Each block adds its tile to the output, or stores it; what lies outside of the tensor stays.
template <bool kReduce>
__global__ void store_tile(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int tile[8][16];
  for (int i = threadIdx.x; i < 128; i += blockDim.x) tile[i / 16][i % 16] = 1000 + i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int32_t at[2] = {static_cast<int>(blockIdx.x) * 16, static_cast<int>(blockIdx.y) * 8};
    if (kReduce) {
      ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at,
                                       tile);
    } else {
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, at, tile);
    }
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

void stores() {
  constexpr int kWide = 40, kHigh = 20;  // of a tensor inside a matrix of 48 columns
  for (const bool reduce : {false, true}) {
    const Numbers matrix(48 * 24);
    Tensor t;
    t.extent = {kWide, kHigh};
    t.strides = {48 * 4};
    t.box = {16, 8};
    const CUtensorMap map = encoded(t, matrix.data);
    if (reduce) {
      store_tile<true><<<dim3(3, 3), 32>>>(map);
    } else {
      store_tile<false><<<dim3(3, 3), 32>>>(map);
    }
    CHECK_CUDA(cudaDeviceSynchronize());
    const std::vector<int> now = matrix.read(48 * 24);
    for (int y = 0; y < 24; ++y) {
      for (int x = 0; x < 48; ++x) {
        const int before = y * 48 + x, tile = 1000 + y % 8 * 16 + x % 16;
        const bool inside = x < kWide && y < kHigh;
        CHECK(now[y * 48 + x] == (!inside ? before : reduce ? before + tile : tile));
      }
    }
  }
}

// Each block of a cluster of four brings a quarter of the tile to all of them.
__global__ void __cluster_dims__(4, 1, 1)
    multicast(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[4][32];
  __shared__ uint64_t barrier;
  const uint32_t rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   sizeof(tile));
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0) {
    const int32_t at[2] = {0, static_cast<int>(rank)};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[rank], &map, at, &barrier,
                              static_cast<uint16_t>(0xf));
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (int row = 0; row < 4; ++row) {
    out[(blockIdx.x * 4 + row) * 32 + threadIdx.x] = tile[row][threadIdx.x];
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

void multicasts() {
  const Numbers matrix(4 * 32), out(8 * 4 * 32);
  Tensor t;
  t.extent = {32, 4};
  t.strides = {128};
  t.box = {32, 1};
  multicast<<<8, 32>>>(encoded(t, matrix.data), out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> all = out.read(8 * 128);
  for (int i = 0; i < 8 * 128; ++i) CHECK(all[i] == i % 128);
}

// Takes the map of one tensor, makes it one of another of other extents in shared memory, and
// copies by it: what lies beyond the new extents is zero.
__global__ void change_map(const __grid_constant__ CUtensorMap old, CUtensorMap* changed,
                           const int* other, int columns, int rows, int* out) {
  __shared__ alignas(1024) int box[16 * 8];
  __shared__ alignas(128) CUtensorMap map;
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   sizeof box);
    map = old;
    ptx::tensormap_replace_global_address(ptx::space_shared, &map, other);
    ptx::tensormap_replace_global_dim(ptx::space_shared, &map, ptx::n32_t<0>{}, columns);
    ptx::tensormap_replace_global_dim(ptx::space_shared, &map, ptx::n32_t<1>{}, rows);
    ptx::tensormap_replace_global_stride(ptx::space_shared, &map, ptx::n32_t<0>{},
                                         static_cast<uint64_t>(columns) * 4);
  }
  __syncwarp();
  ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, changed, &map, ptx::n32_t<128>{});
  ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, changed, ptx::n32_t<128>{});
  if (threadIdx.x == 0) {
    const int32_t at[2] = {0, 0};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, changed, at, &barrier);
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (int i = threadIdx.x; i < 16 * 8; i += 32) out[i] = box[i];
}

void changed_maps() {
  constexpr int kNewColumns = 12, kNewRows = 5;
  const Numbers matrix(kRows * kColumns), other(kNewRows * kNewColumns), out(16 * 8);
  Tensor t;
  t.extent = {kColumns, kRows};
  t.strides = {kColumns * 4};
  t.box = {16, 8};
  CUtensorMap* changed = nullptr;
  CHECK_CUDA(cudaMalloc(&changed, sizeof *changed));
  change_map<<<1, 32>>>(encoded(t, matrix.data), changed, other.data, kNewColumns, kNewRows,
                        out.data);
  CHECK_CUDA(cudaDeviceSynchronize());
  const std::vector<int> tile = out.read(16 * 8);
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 16; ++x) {
      const bool inside = x < kNewColumns && y < kNewRows;
      CHECK(tile[y * 16 + x] == (inside ? y * kNewColumns + x : 0));
    }
  }
  CHECK_CUDA(cudaFree(changed));
}

void refusals() {
  const Numbers matrix(kRows * kColumns);
  Tensor good;
  good.extent = {kColumns, kRows};
  good.strides = {kColumns * 4};
  good.box = {16, 8};
  alignas(64) CUtensorMap map;
  CHECK(encode(&map, good, matrix.data) == CUDA_SUCCESS);
  CHECK(encode(&map, good, matrix.data + 1) == CUDA_ERROR_INVALID_VALUE);
  const auto refused = [&](auto change) {
    Tensor t = good;
    change(t);
    CHECK(encode(&map, t, matrix.data) == CUDA_ERROR_INVALID_VALUE);
  };
  refused([](Tensor& t) { t.box[0] = 3; });
  refused([](Tensor& t) { t.box[1] = 257; });
  refused([](Tensor& t) { t.box[1] = 0; });
  refused([](Tensor& t) { t.strides[0] = 100; });
  refused([](Tensor& t) { t.extent[1] = 0; });
  refused([](Tensor& t) {
    t.extent = {kColumns};
    t.box = {16};
    t.strides = std::vector<cuuint64_t>();
  });
  refused([](Tensor& t) { t.swizzle = CU_TENSOR_MAP_SWIZZLE_32B; });
  refused([](Tensor& t) { t.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; });
}

}  // namespace

int main() {
  tiles_of_a_matrix();
  swizzles();
  other_dimensions();
  stores();
  multicasts();
  changed_maps();
  refusals();
  std::printf("tensor copies: all as expected\n");
  return 0;
}

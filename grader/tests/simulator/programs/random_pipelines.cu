// Random pipelines: tensor copies fill stages of shared memory, wgmma multiplies them, and the sums
// leave as plain stores, tensor stores or reductions. The type (halves or 8-bit floats), how many
// stages and steps, boxes, swizzles, starts before and behind the edges, batches, one or two
// warpgroups, blocks that share the copies by multicast: all of it is drawn from the number of the
// case. Every sum is exact, and is compared bit for bit with a product of integers on the host.
//
//   nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a
//   grader/tests/simulator/programs/random_pipelines.cu
//   ./a.out [COUNT [FIRST]]
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.h"

namespace {

constexpr int kMostStages = 4, kMostShared = 200 << 10, kGroup = 128;
constexpr int kDepth = 32;  // bytes of k of one product
constexpr int kRows = 64;   // of a warpgroup

enum class Leave { kPlain, kTensorStore, kTensorAdd };
enum class Type { kBF16, kF16, kE4M3, kE5M2 };

struct Plan {
  Type type = Type::kBF16;
  bool columns = false;  // b as [k][n] instead of [n][k]
  int n = 8, swizzle = 128, stages = 1, steps = 1, groups = 1, cluster = 1, clusters = 1;
  int batches = 1, batch = 0;   // of a and b; where the copies look
  int row = 0, col = 0, k = 0;  // where they begin
  int tensor_rows = 64, tensor_cols = 8, tensor_k = 64;
  Leave leave = Leave::kPlain;
  __host__ __device__ int element() const { return type >= Type::kE4M3 ? 1 : 2; }  // bytes
  __host__ __device__ int step() const { return swizzle / element(); }             // elements of k
  __host__ __device__ int bytes_a() const { return groups * kRows * swizzle; }
  __host__ __device__ int bytes_b() const {
    return columns ? (n + 63) / 64 * 64 * step() * 2 : n * swizzle;
  }
  __host__ __device__ int stage_bytes() const {
    return (bytes_a() + bytes_b() + 1023) / 1024 * 1024;
  }
  __host__ __device__ int threads() const { return groups * kGroup + 32; }
  int blocks() const { return cluster * clusters; }
};

// ---- instructions

__device__ uint32_t address_of(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ uint32_t address_in(uint32_t address, int rank) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
__device__ void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "again;\n}" ::"r"(address_of(barrier)),
      "r"(parity)
      : "memory");
}
__device__ void arrive_at(uint64_t* barrier, int rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   address_in(address_of(barrier), rank))
               : "memory");
}
__device__ void load(void* to, const CUtensorMap* map, int x, int y, int z, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(address_of(to)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(address_of(barrier))
      : "memory");
}
__device__ void load_for(void* to, const CUtensorMap* map, int x, int y, int z, uint64_t* barrier,
                         int blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(address_of(to)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(address_of(barrier)), "h"(static_cast<uint16_t>(blocks))
      : "memory");
}
__device__ void leave(const CUtensorMap* map, int x, int y, const void* from, bool adds) {
  if (adds) {
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::
            "l"(map),
        "r"(x), "r"(y), "r"(address_of(from))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(x), "r"(y), "r"(address_of(from))
        : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ uint64_t describe(const void* matrix, int swizzle, int leading) {
  const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
  return (address_of(matrix) & 0x3ffff) >> 4 | static_cast<uint64_t>(leading >> 4) << 16 |
         static_cast<uint64_t>(8 * swizzle >> 4) << 32 | mode << 62;
}

// sums += a b: 64 rows and kN columns; b is "transposed" where its columns lie together.
template <int kN>
struct Product;
#define SUMS4(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define SUMS16(i) SUMS4(i), SUMS4(i + 4), SUMS4(i + 8), SUMS4(i + 12)
// clang-format off
#define FORM(n, places, addresses, sums, k, type, orders)                                          \
  asm volatile("{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"                                      \
               "wgmma.mma_async.sync.aligned.m64n" n k ".f32." type "." type " {" places "}, "       \
               addresses ", add, 1, 1" orders ";\n}" : sums : "l"(a), "l"(b))
#define PRODUCT(n, places, addresses, ...)                                                         \
  template <>                                                                                      \
  struct Product<n> {                                                                              \
    template <Type kType, bool kColumns>                                                           \
    __device__ static void add(float (&sums)[n / 2], uint64_t a, uint64_t b) {                     \
      constexpr bool kHalf = kType == Type::kF16, kBrain = kType == Type::kBF16;                   \
      if (kHalf && kColumns) FORM(#n, places, addresses, LIST(__VA_ARGS__), "k16", "f16", ", 0, 1");    \
      if (kHalf && !kColumns) FORM(#n, places, addresses, LIST(__VA_ARGS__), "k16", "f16", ", 0, 0");   \
      if (kBrain && kColumns) FORM(#n, places, addresses, LIST(__VA_ARGS__), "k16", "bf16", ", 0, 1");  \
      if (kBrain && !kColumns) FORM(#n, places, addresses, LIST(__VA_ARGS__), "k16", "bf16", ", 0, 0"); \
      if (kType == Type::kE4M3) FORM(#n, places, addresses, LIST(__VA_ARGS__), "k32", "e4m3", "");      \
      if (kType == Type::kE5M2) FORM(#n, places, addresses, LIST(__VA_ARGS__), "k32", "e5m2", "");      \
    }                                                                                              \
  };
#define LIST(...) __VA_ARGS__
#define PLACES32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
PRODUCT(8, "%0, %1, %2, %3", "%4, %5", SUMS4(0))
PRODUCT(64, PLACES32, "%32, %33", SUMS16(0), SUMS16(16))
PRODUCT(128, PLACES32 ", "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63",
        "%64, %65", SUMS16(0), SUMS16(16), SUMS16(32), SUMS16(48))
#undef PRODUCT
#undef FORM
#undef LIST
#undef PLACES32
// clang-format on

// ---- the kernel

struct Stages {
  unsigned char* data;
  uint64_t *full, *empty;
};

__device__ void fill(const Plan& plan, const CUtensorMap* map_a, const CUtensorMap* map_b,
                     const Stages& stages, int rank) {
  const int block_row = plan.row + static_cast<int>(blockIdx.x) * plan.groups * kRows;
  for (int i = 0; i < plan.steps; ++i) {
    const int stage = i % plan.stages, parity = i / plan.stages & 1;
    uint64_t* const full = &stages.full[stage];
    wait(&stages.empty[stage], parity ^ 1);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(full)),
                 "r"(plan.bytes_a() + plan.bytes_b())
                 : "memory");
    unsigned char* const a = stages.data + stage * plan.stage_bytes();
    unsigned char* const b = a + plan.bytes_a();
    const int k = plan.k + i * plan.step();
    load(a, map_a, k, block_row, plan.batch, full);
    if (plan.columns) {
      for (int s = 0; s < (plan.n + 63) / 64; ++s) {
        load(b + s * 128 * plan.step(), map_b, plan.col + 64 * s, k, plan.batch, full);
      }
    } else if (plan.cluster == 1) {
      load(b, map_b, k, plan.col, plan.batch, full);
    } else {  // each block brings its share to all of them
      const int share = plan.n / plan.cluster;
      load_for(b + rank * share * plan.swizzle, map_b, k, plan.col + rank * share, plan.batch, full,
               (1 << plan.cluster) - 1);
    }
  }
}

template <int kN, Type kType, bool kColumns>
__device__ void multiply(const Plan& plan, const Stages& stages, float (&sums)[kN / 2]) {
  const int group = threadIdx.x / kGroup;
  int before = -1;
  for (int i = 0; i < plan.steps; ++i) {
    const int stage = i % plan.stages, parity = i / plan.stages & 1;
    wait(&stages.full[stage], parity);
    const unsigned char* const a =
        stages.data + stage * plan.stage_bytes() + group * kRows * plan.swizzle;
    const unsigned char* const b = stages.data + stage * plan.stage_bytes() + plan.bytes_a();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int part = 0; part < plan.swizzle / kDepth; ++part) {
      const uint64_t of_a = describe(a + part * kDepth, plan.swizzle, 16);
      const uint64_t of_b = kColumns ? describe(b + part * kDepth * 64, 128, 128 * plan.step())
                                     : describe(b + part * kDepth, plan.swizzle, 16);
      Product<kN>::template add<kType, kColumns>(sums, of_a, of_b);
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (before >= 0 && threadIdx.x % kGroup < plan.cluster) {
      arrive_at(&stages.empty[before], threadIdx.x % kGroup);
    }
    before = plan.stages > 1 ? stage : -1;
    if (plan.stages == 1) {
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (threadIdx.x % kGroup < plan.cluster) arrive_at(&stages.empty[0], threadIdx.x % kGroup);
    }
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

template <int kN>
__device__ void write_sums(const Plan& plan, const float (&sums)[kN / 2], float* to, int pitch) {
  const int t = threadIdx.x % kGroup, group = threadIdx.x / kGroup;
  for (int i = 0; i < kN / 2; ++i) {
    const int row = group * kRows + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
    to[row * pitch + i / 4 * 8 + t % 4 * 2 + i % 2] = sums[i];
  }
}

template <int kN, Type kType, bool kColumns>
__global__ void run_plan(const __grid_constant__ CUtensorMap map_a,
                         const __grid_constant__ CUtensorMap map_b,
                         const __grid_constant__ CUtensorMap map_c, float* c, const Plan plan) {
  extern __shared__ unsigned char raw[];
  __shared__ alignas(8) uint64_t full[kMostStages], empty[kMostStages];
  Stages stages = {raw + (1024 - address_of(raw) % 1024) % 1024, full, empty};
  const int rank = static_cast<int>(blockIdx.x) % plan.cluster;
  if (threadIdx.x == 0) {
    for (int s = 0; s < plan.stages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full[s])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&empty[s])),
                   "r"(plan.groups * plan.cluster)
                   : "memory");
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  const bool multiplies = threadIdx.x < static_cast<unsigned>(plan.groups * kGroup);
  float sums[kN / 2] = {};
  if (multiplies) multiply<kN, kType, kColumns>(plan, stages, sums);
  if (threadIdx.x == static_cast<unsigned>(plan.groups * kGroup)) {
    fill(plan, &map_a, &map_b, stages, rank);
  }
  const int first_row = static_cast<int>(blockIdx.x) * plan.groups * kRows;
  if (plan.leave == Leave::kPlain) {
    if (multiplies) write_sums<kN>(plan, sums, c + static_cast<size_t>(first_row) * kN, kN);
  } else {
    // The stages are free once nobody's copies or products use them.
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
    float* const tile = reinterpret_cast<float*>(stages.data);
    if (multiplies) write_sums<kN>(plan, sums, tile, kN);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) leave(&map_c, 0, first_row, tile, plan.leave == Leave::kTensorAdd);
  }
  // No block leaves while another still arrives at its mbarriers.
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

// ---- the host

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encoder() {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &address, 12000,
                                              cudaEnableDefault, &found));
  CHECK(address != nullptr);
  return reinterpret_cast<Encode>(address);
}

CUtensorMap encode(CUtensorMapDataType type, int element, void* data,
                   std::vector<cuuint64_t> extent, std::vector<cuuint32_t> box, int swizzle) {
  std::vector<cuuint64_t> strides;
  cuuint64_t bytes = static_cast<cuuint64_t>(element);
  for (size_t d = 0; d + 1 < extent.size(); ++d) strides.push_back(bytes *= extent[d]);
  const std::vector<cuuint32_t> every(extent.size(), 1);
  const CUtensorMapSwizzle pattern = swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                     : CU_TENSOR_MAP_SWIZZLE_NONE;
  alignas(64) CUtensorMap map = {};
  CHECK(encoder()(&map, type, static_cast<cuuint32_t>(extent.size()), data, extent.data(),
                  strides.data(), box.data(), every.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, pattern,
                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
  return map;
}

Plan draw(unsigned seed) {
  std::mt19937 rng(seed * 2654435761u + 1);
  const auto pick = [&](std::vector<int> of) { return of[rng() % of.size()]; };
  const auto between = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<unsigned>(high - low + 1));
  };
  Plan p;
  p.type = rng() % 2 != 0 ? Type::kF16 : Type::kBF16;
  const bool is_small = seed % 3 == 1;
  if (is_small) p.type = p.type == Type::kF16 ? Type::kE4M3 : Type::kE5M2;
  const int unit = is_small ? 16 : 8;  // elements of 16 bytes
  p.columns = rng() % 3 == 0 && !is_small;
  p.n = pick({8, 64, 128});
  if (p.columns) p.n = pick({64, 128});
  p.swizzle = p.columns ? 128 : pick({32, 64, 128});
  p.groups = pick({1, 1, 2});
  p.cluster = !p.columns && p.n > 8 ? pick({1, 1, 2, 4}) : 1;
  p.clusters = between(1, 2);
  p.stages = between(1, kMostStages);
  while (p.stages * p.stage_bytes() > kMostShared) --p.stages;
  p.steps = between(1, 7);
  p.batches = between(1, 3);
  p.batch = rng() % 8 == 0 ? between(-1, p.batches) : between(0, p.batches - 1);
  p.tensor_rows = between(1, p.blocks() * p.groups * kRows + 20);
  p.tensor_cols = 8 * between(1, p.n / 8 + 2);
  p.tensor_k = unit * between(1, p.steps * p.step() / unit + 2);
  // Inside, over an edge, or behind it.
  p.row = rng() % 2 == 0 ? 0 : between(-70, p.tensor_rows);
  p.k = rng() % 2 == 0 ? 0 : unit * between(-5, p.tensor_k / unit);
  p.col = rng() % 2 == 0 ? 0 : (p.columns ? 8 : 1) * between(-3, p.tensor_cols / 8);
  p.leave = static_cast<Leave>(rng() % 3);
  return p;
}

// Small integers, which all types have.
int value_at(size_t i, unsigned seed) {
  return static_cast<int>((i * 2654435761u + seed * 40503u) >> 7 & 7) - 3;
}

uint16_t bits_of(int value, Type type) {
  const auto x = static_cast<float>(value);
  if (type == Type::kF16) return __half_as_ushort(__float2half(x));
  if (type == Type::kBF16) return __bfloat16_as_ushort(__float2bfloat16(x));
  return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, type == Type::kE4M3 ? __NV_E4M3 : __NV_E5M2);
}

struct Matrix {
  std::vector<int> values;
  void* data = nullptr;
  Matrix(size_t count, unsigned seed, const Plan& plan) : values(count) {
    const auto element = static_cast<size_t>(plan.element());
    std::vector<uint8_t> bytes(count * element);
    for (size_t i = 0; i < count; ++i) {
      values[i] = value_at(i, seed);
      const uint16_t bits = bits_of(values[i], plan.type);
      std::memcpy(&bytes[i * element], &bits, element);
    }
    CHECK_CUDA(cudaMalloc(&data, bytes.size()));
    CHECK_CUDA(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  }
  ~Matrix() { cudaFree(data); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
};

template <int kN, Type kType, bool kColumns>
void launch(const Plan& p, const CUtensorMap (&maps)[3], float* c) {
  const auto kernel = run_plan<kN, kType, kColumns>;
  const int tile = p.groups * kRows * kN * 4;
  const int bytes = std::max(p.stages * p.stage_bytes(), tile) + 1024;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(p.blocks()));
  config.blockDim = dim3(static_cast<unsigned>(p.threads()));
  config.dynamicSmemBytes = static_cast<size_t>(bytes);
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = static_cast<unsigned>(p.cluster);
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, maps[0], maps[1], maps[2], c, p));
  CHECK_CUDA(cudaDeviceSynchronize());
}

template <int kN>
void launch(const Plan& p, const CUtensorMap (&maps)[3], float* c) {
  if constexpr (kN >= 64) {
    if (p.columns && p.type == Type::kF16) return launch<kN, Type::kF16, true>(p, maps, c);
    if (p.columns) return launch<kN, Type::kBF16, true>(p, maps, c);
  }
  switch (p.type) {
    case Type::kBF16:
      return launch<kN, Type::kBF16, false>(p, maps, c);
    case Type::kF16:
      return launch<kN, Type::kF16, false>(p, maps, c);
    case Type::kE4M3:
      return launch<kN, Type::kE4M3, false>(p, maps, c);
    case Type::kE5M2:
      return launch<kN, Type::kE5M2, false>(p, maps, c);
  }
}

// Sums of the rows that all blocks have, by the host.
std::vector<float> product_of(const Plan& p, const std::vector<int>& a, const std::vector<int>& b) {
  const int rows = p.blocks() * p.groups * kRows;
  std::vector<float> c(static_cast<size_t>(rows) * p.n);
  if (p.batch < 0 || p.batch >= p.batches) return c;
  const size_t batch_a = static_cast<size_t>(p.batch) * p.tensor_rows * p.tensor_k;
  const size_t batch_b = static_cast<size_t>(p.batch) * p.tensor_cols * p.tensor_k;
  const int k0 = std::max(0, p.k), k1 = std::min(p.tensor_k, p.k + p.steps * p.step());
  for (int i = 0; i < rows; ++i) {
    if (p.row + i < 0 || p.row + i >= p.tensor_rows) continue;
    for (int j = 0; j < p.n; ++j) {
      const int col = p.col + j;
      if (col < 0 || col >= p.tensor_cols) continue;
      int sum = 0;
      for (int k = k0; k < k1; ++k) {
        const size_t at_b = batch_b + (p.columns ? static_cast<size_t>(k) * p.tensor_cols + col
                                                 : static_cast<size_t>(col) * p.tensor_k + k);
        sum += a[batch_a + static_cast<size_t>(p.row + i) * p.tensor_k + k] * b[at_b];
      }
      c[static_cast<size_t>(i) * p.n + j] = static_cast<float>(sum);
    }
  }
  return c;
}

bool is_right(unsigned seed) {
  const Plan p = draw(seed);
  const int rows = p.blocks() * p.groups * kRows;
  const size_t count_a = static_cast<size_t>(p.batches) * p.tensor_rows * p.tensor_k;
  const size_t count_b = static_cast<size_t>(p.batches) * p.tensor_cols * p.tensor_k;
  const Matrix a(count_a, seed, p), b(count_b, seed + 1000, p);
  std::vector<float> before(static_cast<size_t>(rows) * p.n), c(before.size());
  for (size_t i = 0; i < before.size(); ++i) before[i] = static_cast<float>(i % 100);
  float* d_c = nullptr;
  CHECK_CUDA(cudaMalloc(&d_c, before.size() * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_c, before.data(), before.size() * sizeof(float), cudaMemcpyHostToDevice));
  const auto u64 = [](int x) { return static_cast<cuuint64_t>(x); };
  const auto u32 = [](int x) { return static_cast<cuuint32_t>(x); };
  const CUtensorMapDataType type = p.type == Type::kF16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                   : p.type == Type::kBF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                           : CU_TENSOR_MAP_DATA_TYPE_UINT8;
  const CUtensorMap maps[3] = {
      encode(type, p.element(), a.data, {u64(p.tensor_k), u64(p.tensor_rows), u64(p.batches)},
             {u32(p.step()), u32(p.groups * kRows), 1}, p.swizzle),
      p.columns
          ? encode(type, p.element(), b.data, {u64(p.tensor_cols), u64(p.tensor_k), u64(p.batches)},
                   {64, u32(p.step()), 1}, 128)
          : encode(type, p.element(), b.data, {u64(p.tensor_k), u64(p.tensor_cols), u64(p.batches)},
                   {u32(p.step()), u32(p.n / p.cluster), 1}, p.swizzle),
      encode(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, d_c, {u64(p.n), u64(rows)},
             {u32(p.n), u32(p.groups * kRows)}, 0)};
  if (p.n == 8) launch<8>(p, maps, d_c);
  if (p.n == 64) launch<64>(p, maps, d_c);
  if (p.n == 128) launch<128>(p, maps, d_c);
  CHECK_CUDA(cudaMemcpy(c.data(), d_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(d_c));
  std::vector<float> expected = product_of(p, a.values, b.values);
  size_t wrong = 0;
  for (size_t i = 0; i < c.size(); ++i) {
    const float right = expected[i] + (p.leave == Leave::kTensorAdd ? before[i] : 0.0f);
    if (c[i] == right) continue;
    if (wrong++ == 0) {
      std::printf("case %u: row %zu column %zu is %g, expected %g\n", seed,
                  i / static_cast<size_t>(p.n), i % static_cast<size_t>(p.n), c[i], right);
    }
  }
  if (wrong == 0) return true;
  constexpr const char* kNames[] = {"bf16", "f16", "e4m3", "e5m2"};
  std::printf(
      "case %u: %zu of %zu sums are wrong: %s n %d swizzle %d%s stages %d steps %d groups %d "
      "cluster %d, leave %d\n",
      seed, wrong, c.size(), kNames[static_cast<int>(p.type)], p.n, p.swizzle,
      p.columns ? " columns" : "", p.stages, p.steps, p.groups, p.cluster,
      static_cast<int>(p.leave));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 40;
  const unsigned first = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 0;
  unsigned failed = 0;
  for (unsigned i = first; i < first + count; ++i) failed += !is_right(i);
  std::printf("%u random pipelines, %u wrong\n", count, failed);
  return failed == 0 ? 0 : 1;
}

// Products on tensor cores: wgmma behind a ring of tensor copies, mma from ldmatrix and from
// registers.
#pragma once

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "hopper_copies.cuh"

// ---- forms of wgmma: 64 x 32 sums, 32 bytes of k

#define SUMS4(c, i) c(sums[i]), c(sums[i + 1]), c(sums[i + 2]), c(sums[i + 3])
#define SUMS16(c) SUMS4(c, 0), SUMS4(c, 4), SUMS4(c, 8), SUMS4(c, 12)
#define PLACES16 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define WGMMA(form, flags, c)                                                                \
  asm volatile(                                                                              \
      "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"                                         \
      "wgmma.mma_async.sync.aligned.m64n32" form " " PLACES16 ", %16, %17, add" flags ";\n}" \
      : SUMS16(c)                                                                            \
      : "l"(a), "l"(b))

#define WGMMA_FORM(name, element_type, bytes, form, flags)                  \
  struct name {                                                             \
    static constexpr CUtensorMapDataType kType = element_type;              \
    static constexpr cuuint32_t kBytes = bytes;                             \
    static constexpr bool kRegisters = false;                               \
    using Sum = float;                                                      \
    __device__ static void add(float (&sums)[16], uint64_t a, uint64_t b) { \
      WGMMA(form, flags, "+f");                                             \
    }                                                                       \
  };
WGMMA_FORM(WgmmaF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, "k16.f32.f16.f16", ", 1, 1, 0, 0")
WGMMA_FORM(WgmmaBF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
WGMMA_FORM(WgmmaTF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, "k8.f32.tf32.tf32", ", 1, 1")
WGMMA_FORM(WgmmaE4M3, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, "k32.f32.e4m3.e4m3", ", 1, 1")
#undef WGMMA_FORM
#undef WGMMA

// A from registers, which ldmatrix fills.
struct WgmmaS8 {
  static constexpr CUtensorMapDataType kType = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  static constexpr cuuint32_t kBytes = 1;
  static constexpr bool kRegisters = true;
  using Sum = int32_t;
  __device__ static void add(int32_t (&sums)[16], const uint32_t (&a)[4], uint64_t b) {
    asm volatile(
        "{\n.reg .pred add;\nsetp.eq.u32 add, 0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8 " PLACES16
        ", {%16, %17, %18, %19}, %20, add;\n}"
        : SUMS16("+r")
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
  }
};
#undef SUMS4
#undef SUMS16
#undef PLACES16

constexpr int kTileRow = 128;  // bytes of k
constexpr int kRingStages = 3, kTileA = 64 * kTileRow, kTileB = 32 * kTileRow;

struct RingStage {
  alignas(1024) char a[kTileA];
  alignas(1024) char b[kTileB];
};

__device__ inline uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
// Rows of 128 bytes, swizzled.
__device__ inline uint64_t describe_tile(const char* tile) {
  return shared_address(tile) >> 4 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

__device__ inline void load_matrices(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
__device__ inline void load_matrices_transposed(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
__device__ inline void store_matrices(uint32_t to, const uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}
__device__ inline uint32_t two_halves(float low, float high) {
  const __half2 both = __floats2half2_rn(low, high);
  uint32_t bits;
  memcpy(&bits, &both, sizeof bits);
  return bits;
}

template <class Form>
__device__ void add_step(typename Form::Sum (&sums)[16], const RingStage& stage, int step) {
  const uint64_t b = describe_tile(stage.b) + static_cast<uint64_t>(step * 2);
  if constexpr (Form::kRegisters) {
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int row = warp * 16 + lane % 16, chunk = step * 2 + lane / 16;
    uint32_t a[4];
    load_matrices(a, shared_address(stage.a) +
                         static_cast<uint32_t>(row * kTileRow + (chunk ^ row % 8) * 16));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    Form::add(sums, a, b);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  } else {
    Form::add(sums, describe_tile(stage.a) + static_cast<uint64_t>(step * 2), b);
  }
}

// 64 x 32 sums of each block; a fifth warp brings the tiles. With halves the sums leave as a tensor
// copy, else as plain stores.
template <class Form>
__global__ void __launch_bounds__(160)
    multiply_tiles(const __grid_constant__ CUtensorMap map_a,
                   const __grid_constant__ CUtensorMap map_b,
                   const __grid_constant__ CUtensorMap map_c, typename Form::Sum* c, int tiles) {
  __shared__ RingStage stages[kRingStages];
  __shared__ alignas(128) __half halves[64][32];
  __shared__ uint64_t full[kRingStages], empty[kRingStages];
  const int top = static_cast<int>(blockIdx.y) * 64, left = static_cast<int>(blockIdx.x) * 32;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  for (int s = 0; s < kRingStages; ++s) {
    begin_barrier(&full[s], 1);
    begin_barrier(&empty[s], 1);
  }
  if (t == 128) {
    for (int i = 0; i < tiles; ++i) {
      const int s = i % kRingStages, parity = i / kRingStages & 1;
      wait_for(&empty[s], parity ^ 1);
      expect(&full[s], kTileA + kTileB);
      const int k = i * kTileRow / static_cast<int>(Form::kBytes);
      const int32_t at_a[2] = {k, top}, at_b[2] = {k, left};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stages[s].a, &map_a, at_a,
                                &full[s]);
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stages[s].b, &map_b, at_b,
                                &full[s]);
    }
  }
  if (t >= 128) return;
  typename Form::Sum sums[16] = {};
  for (int i = 0; i < tiles; ++i) {
    const int s = i % kRingStages;
    wait_for(&full[s], i / kRingStages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int step = 0; step < kTileRow / 32; ++step) add_step<Form>(sums, stages[s], step);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("bar.sync 1, 128;" ::: "memory");  // all four warps are done with the stage
    if (t == 0) ptx::mbarrier_arrive(&empty[s]);
  }
  if constexpr (Form::kType == CU_TENSOR_MAP_DATA_TYPE_FLOAT16) {
    for (int part = 0; part < 2; ++part) {  // of 16 columns
      const auto two = [&](int i) {
        const int first = part * 8 + i;
        return two_halves(sums[first], sums[first + 1]);
      };
      const uint32_t packed[4] = {two(0), two(2), two(4), two(6)};
      const int row = warp * 16 + lane % 16;
      store_matrices(shared_address(&halves[row][part * 16 + lane / 16 * 8]), packed);
    }
    ptx::fence_proxy_async(ptx::space_shared);
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (t == 0) {
      const int32_t at[2] = {left, top};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map_c, at, halves);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
  } else {
    for (int i = 0; i < 16; ++i) {
      const int row = top + warp * 16 + lane / 4 + i / 2 % 2 * 8;
      c[row * 64 + left + i / 4 * 8 + lane % 4 * 2 + i % 2] = sums[i];
    }
  }
}

// ---- mma of one warp

// Each warp multiplies 16 x 16 by 16 x 16 halves; kPitch of 64 has rows on the same banks.
template <int kPitch>
__global__ void multiply_fragments(const __half* in, __half* out) {
  __shared__ alignas(16) __half a[64][kPitch], b[16][kPitch], c[64][kPitch];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  for (int i = t; i < 64 * 16; i += 128) a[i / 16][i % 16] = in[i];
  for (int i = t; i < 16 * 16; i += 128) b[i / 16][i % 16] = in[i];
  __syncthreads();  // both matrices are complete
  uint32_t of_a[4], of_b[4];
  load_matrices(of_a, shared_address(&a[warp * 16 + lane % 16][lane / 16 * 8]));
  load_matrices_transposed(of_b, shared_address(&b[lane % 16][lane / 16 * 8]));
  float sums[2][4] = {};
  for (int n = 0; n < 2; ++n) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])
        : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[2 * n]),
          "r"(of_b[2 * n + 1]));
  }
  const uint32_t packed[4] = {
      two_halves(sums[0][0], sums[0][1]), two_halves(sums[0][2], sums[0][3]),
      two_halves(sums[1][0], sums[1][1]), two_halves(sums[1][2], sums[1][3])};
  store_matrices(shared_address(&c[warp * 16 + lane % 16][lane / 16 * 8]), packed);
  __syncthreads();  // c is complete
  for (int i = t; i < 64 * 16; i += 128) out[blockIdx.x * 64 * 16 + i] = c[i / 16][i % 16];
}

#define MMA_FORM(name, form, c, sum)                                                    \
  struct name {                                                                         \
    __device__ static void add(uint32_t (&bits)[4], const uint32_t (&a)[4],             \
                               const uint32_t (&b)[2]) {                                \
      sum s[4];                                                                         \
      memcpy(s, bits, sizeof s);                                                        \
      asm volatile("mma.sync.aligned.m16n8" form                                        \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                   : c(s[0]), c(s[1]), c(s[2]), c(s[3])                                 \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
      memcpy(bits, s, sizeof s);                                                        \
    }                                                                                   \
  };
MMA_FORM(MmaTF32, "k8.row.col.f32.tf32.tf32.f32", "+f", float)
MMA_FORM(MmaE4M3, "k32.row.col.f32.e4m3.e4m3.f32", "+f", float)
MMA_FORM(MmaS8, "k32.row.col.s32.s8.s8.s32", "+r", int32_t)
#undef MMA_FORM

template <class Form>
__global__ void multiply_registers(const uint32_t* in, uint32_t* out) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  uint32_t a[4], b[2], sums[4] = {};
  for (int i = 0; i < 4; ++i) a[i] = in[t * 4 + i];
  for (int i = 0; i < 2; ++i) b[i] = in[t + i * 1024];
  for (int i = 0; i < 3; ++i) Form::add(sums, a, b);
  out[t] = sums[0] + sums[1] + sums[2] + sums[3];
}

// Bulk copies, tensor copies, and memory of other blocks of a cluster.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

// ---- one mbarrier that a block waits for

__device__ inline void begin_barrier(uint64_t* barrier, int arrivals) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, arrivals);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
}
__device__ inline void expect(uint64_t* barrier, uint32_t bytes) {
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier,
                                 bytes);
}
__device__ inline void wait_for(uint64_t* barrier, int parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}
__device__ inline void meet_cluster() {
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

// ---- bytes in a row

constexpr int kPiece = 2048;  // bytes

// Block b copies n pieces one after the other, through shared memory.
__global__ void copy_pieces(const char* in, char* out, int n) {
  __shared__ alignas(128) char piece[kPiece];
  __shared__ uint64_t barrier;
  begin_barrier(&barrier, 1);
  if (threadIdx.x != 0) return;
  for (int i = 0; i < n; ++i) {
    const int at = (static_cast<int>(blockIdx.x) * n + i) * kPiece;
    expect(&barrier, kPiece);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, piece, in + at, kPiece, &barrier);
    wait_for(&barrier, i & 1);
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + at, piece, kPiece);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}

// All blocks add their pieces to the same place.
__global__ void add_pieces(const char* in, char* out, int n) {
  __shared__ alignas(128) char piece[kPiece];
  __shared__ uint64_t barrier;
  begin_barrier(&barrier, 1);
  if (threadIdx.x != 0) return;
  for (int i = 0; i < n; ++i) {
    expect(&barrier, kPiece);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, piece,
                       in + (static_cast<int>(blockIdx.x) * n + i) * kPiece, kPiece, &barrier);
    wait_for(&barrier, i & 1);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add,
                              reinterpret_cast<int32_t*>(out),
                              reinterpret_cast<const int32_t*>(piece), kPiece);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
  }
}

// ---- boxes of tensors

constexpr int kMostBytes = 16384;  // of a box

struct Step {
  int x, y, z;  // from block to block
};

template <int kDimensions>
__device__ void place_of_block(Step step, int before, int32_t (&at)[kDimensions]) {
  const int all[3] = {static_cast<int>(blockIdx.x) * step.x - 4 * before,
                      static_cast<int>(blockIdx.y) * step.y - before,
                      static_cast<int>(blockIdx.z) * step.z - before};
  for (int d = 0; d < kDimensions; ++d) at[d] = all[d];
}

// Out as it came in: shared memory keeps the order that the map gives it.
template <int kDimensions>
__global__ void copy_box(const __grid_constant__ CUtensorMap from,
                         const __grid_constant__ CUtensorMap to, Step step, int before, int bytes) {
  __shared__ alignas(1024) char box[kMostBytes];
  __shared__ uint64_t barrier;
  begin_barrier(&barrier, 1);
  if (threadIdx.x != 0) return;
  int32_t at[kDimensions];
  place_of_block<kDimensions>(step, before, at);
  expect(&barrier, static_cast<uint32_t>(bytes));
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &from, at, &barrier);
  wait_for(&barrier, 0);
  ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, at, box);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

// Each thread reads its part of the box, 16 bytes at a time.
template <int kDimensions>
__global__ void load_box(const __grid_constant__ CUtensorMap from, Step step, int before, int bytes,
                         float* out) {
  __shared__ alignas(1024) float4 box[kMostBytes / sizeof(float4)];
  __shared__ uint64_t barrier;
  begin_barrier(&barrier, 1);
  if (threadIdx.x == 0) {
    int32_t at[kDimensions];
    place_of_block<kDimensions>(step, before, at);
    expect(&barrier, static_cast<uint32_t>(bytes));
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &from, at, &barrier);
  }
  wait_for(&barrier, 0);
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < bytes / 16; i += static_cast<int>(blockDim.x)) {
    sum += box[i].x + box[i].y + box[i].z + box[i].w;
  }
  const int block =
      static_cast<int>(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  out[block * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)] = sum;
}

__global__ void add_box(const __grid_constant__ CUtensorMap from,
                        const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) float box[16 * 32];
  __shared__ uint64_t barrier;
  begin_barrier(&barrier, 1);
  if (threadIdx.x != 0) return;
  const int32_t at[2] = {static_cast<int>(blockIdx.x) * 32, static_cast<int>(blockIdx.y) * 16};
  expect(&barrier, sizeof box);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, box, &from, at, &barrier);
  wait_for(&barrier, 0);
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &to, at, box);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

// ---- clusters

// Each of four blocks brings a quarter of the rows to all of them.
__global__ void __cluster_dims__(4)
    share_rows(const __grid_constant__ CUtensorMap from, float* out) {
  __shared__ alignas(128) float rows[4][8][32];
  __shared__ uint64_t barrier;
  begin_barrier(&barrier, 1);
  if (threadIdx.x == 0) expect(&barrier, sizeof rows);
  meet_cluster();
  const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
  if (threadIdx.x == 0) {
    const int32_t at[2] = {0, (static_cast<int>(blockIdx.x) / 4 * 4 + rank) * 8};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, rows[rank], &from, at,
                              &barrier, static_cast<uint16_t>(0xf));
  }
  wait_for(&barrier, 0);
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += (&rows[0][0][0])[i * 64 + threadIdx.x];
  out[blockIdx.x * 64 + threadIdx.x] = sum;
  meet_cluster();
}

template <class T>
__device__ T* at_neighbour(T* mine) {
  const uint32_t other = ptx::get_sreg_cluster_ctarank() ^ 1;
  uint64_t there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(mine), "r"(other));
  return reinterpret_cast<T*>(there);
}
__device__ inline uint32_t remote(const void* mine) {
  const uint32_t other = ptx::get_sreg_cluster_ctarank() ^ 1;
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(mine))), "r"(other));
  return there;
}

// Loads, stores and atomics on the memory of the other block.
__global__ void __cluster_dims__(2) read_neighbour(const int* in, int* out) {
  __shared__ int values[128], sums[64];
  const int t = static_cast<int>(threadIdx.x);
  values[t] = in[blockIdx.x * 64 + t];
  sums[t] = 0;
  meet_cluster();
  int read = 0, wide[2] = {};
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(read) : "r"(remote(&values[t])));
  asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
               : "=r"(wide[0]), "=r"(wide[1])
               : "r"(remote(&values[t / 2 * 2])));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote(&values[64 + t])), "r"(read)
               : "memory");
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(remote(&sums[t / 4])),
               "r"(wide[0] + wide[1])
               : "memory");
  meet_cluster();
  out[blockIdx.x * 64 + t] = values[64 + t] + sums[t];
}

// What is sent to the other block, which waits for its bytes.
__global__ void __cluster_dims__(2) send_to_neighbour(const int* in, int* out) {
  __shared__ alignas(16) int mine[64], words[64], pairs[128], piece[64];
  __shared__ uint64_t barrier;
  const int t = static_cast<int>(threadIdx.x);
  mine[t] = in[blockIdx.x * 64 + t];
  ptx::fence_proxy_async(ptx::space_shared);
  begin_barrier(&barrier, 1);
  if (t == 0) expect(&barrier, sizeof words + sizeof pairs + sizeof piece);
  meet_cluster();
  const int value = mine[t];
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   remote(&words[t])),
               "r"(value), "r"(remote(&barrier))
               : "memory");
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
          remote(&pairs[2 * t])),
      "r"(value), "r"(t), "r"(remote(&barrier))
      : "memory");
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, at_neighbour(&piece[0]), mine,
                       sizeof piece, at_neighbour(&barrier));
  }
  wait_for(&barrier, 0);
  out[blockIdx.x * 64 + t] = words[t] + pairs[2 * t] + pairs[2 * t + 1] + piece[t];
  meet_cluster();
}

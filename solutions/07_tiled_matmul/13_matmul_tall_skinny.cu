// 07/13 Matmul, tall and skinny: 50,000 x 784 by 784 x 10 takes as long as reading a.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block keeps ten columns of b in shared memory. Each warp has room there for four rows of a:
//   while it multiplies one part of them, the others are on their way. The lanes of a warp lie
//   along k, each with 4 x 10 sums. Where there is no room for whole rows, the launcher cuts k into
//   slabs.
//   TODOs  3
#include "13_matmul_tall_skinny.h"
#include "13_matmul_tall_skinny_support.h"

constexpr int kCols = 10;             // of b and c, per block
constexpr int kRows = 4;              // of a and c, per warp and turn
constexpr int kSums = kRows * kCols;  // of a lane
constexpr int kWarps = 12;            // of a block
constexpr int kParts = 3;             // of a row, each a group of copies
constexpr int kBytesPerK = sizeof(float) * (kCols + kWarps * kRows);  // of shared memory
constexpr int kKept = 8;  // turns whose sums are written together: writes slow the reads down
constexpr int kBytesOfSums = sizeof(float) * kWarps * kKept * kSums;
using Columns = ColumnLoads<kCols, 32 * kWarps>;  // of b

// The rows of a that a warp has in shared memory, and where their parts begin.
struct Rows {
  float4* quads;  // [kRows][count]: four neighbours of a row in each
  int count;      // quads of a row
  // First quad of a part; the lanes take whole turns.
  __device__ int begin(int part) const {
    const int turns = (count + 31) / 32;
    return min(count, turns * part / kParts * 32);
  }
};

// Begins to copy a part of the kRows rows from `first` on: every lane what it will multiply itself.
// a has m rows of k floats, of which `width` are multiplied.
template <bool kAligned>
__device__ void begin_part(const Rows& rows, const float* a, int first, int part, int m, int width,
                           int k) {
  const int end = rows.begin(part + 1);
  int i = rows.begin(part) + threadIdx.x % 32;
  if (kAligned && first + kRows <= m) {
    const float* from = a + static_cast<size_t>(first) * k + 4 * i;
    for (; i < end; i += 32, from += 4 * 32) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        copy16_async(rows.quads + r * rows.count + i, from + static_cast<size_t>(r) * k);
      }
    }
  } else if (first < m) {  // rows that end anywhere, or the last ones
    for (; i < end; i += 32) {
      copy_quads_async<kRows>(rows.quads, rows.count, i, a, first, m, width, k);
    }
  }
  close_copy_group();  // also an empty one: groups are counted
}

// Adds this lane's products of a part to its sums. columns: [kCols][rows.count].
__device__ void multiply_part(float (&sums)[kRows][kCols], const Rows& rows, const float4* columns,
                              int part) {
  //~ // TODO(1): The products of this lane's quads of a part, of all rows with all columns. A quad of
  //~ // a row is read once, and so is a quad of a column.
  //~begin 1
#pragma unroll 1
  for (int i = rows.begin(part) + threadIdx.x % 32; i < rows.begin(part + 1); i += 32) {
    float4 x[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) x[r] = rows.quads[r * rows.count + i];
#pragma unroll
    for (int s = 0; s < kCols; ++s) {
      const float4 y = columns[s * rows.count + i];
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r][s] += x[r].x * y.x;
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r][s] += x[r].y * y.y;
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r][s] += x[r].z * y.z;
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r][s] += x[r].w * y.w;
    }
  }
  //~end
}

// Adds up the sums that the lanes have over their own parts of k, and keeps them: [kRows][kCols].
__device__ void keep_sums(float (&sums)[kRows][kCols], float* kept) {
  //~ // TODO(3): share_out_sums<kSums, 16> adds up the sums of the 32 lanes and leaves some of them
  //~ // with each lane: they go to their places in `kept`. And below: from there to c.
  //~begin 3
  const int lane = threadIdx.x % 32;
  int from = 0, to = kSums;
  share_out_sums<kSums, 16>(&sums[0][0], lane, from, to);
#pragma unroll
  for (int j = 0; j < sums_left<kSums, 16>(); ++j) {
    if (from + j < to) kept[from + j] = (&sums[0][0])[j];
  }
  //~end
}

// Writes what was kept of `turns` turns to c, or adds it. The last turn was at row `last`, and from
// one turn of a warp to its next it is `turn` rows. Columns begin at `col`. Neighbours in c are
// written by neighbours, so that memory gets whole sectors.
__device__ void write_sums(const float* kept, int turns, float* c, int last, int turn, int col,
                           int m, int n, bool add) {
  //~begin 3
  __syncwarp();  // closes write against read: a lane writes what other lanes have kept
  for (int e = threadIdx.x % 32; e < turns * kSums; e += 32) {
    const int row = last - (turns - 1 - e / kSums) * turn + e % kSums / kCols;
    const int s = col + e % kCols;
    if (row < m && s < n) {
      float* at = c + static_cast<size_t>(row) * n + s;
      *at = (add ? *at : 0.0f) + kept[e];
    }
  }
  __syncwarp();  // closes read against write: the sums of the next turn go to the same place
  //~end
}

template <bool kAligned>
__global__ void __launch_bounds__(32 * kWarps, 1)
    matmul_tall_skinny(const float* a, const float* b, float* c, int m, int n, int k, int width,
                       bool add) {
  //~ // TODO(2): All warps of the grid share out the rows, kRows at a time, and each has room in
  //~ // shared memory for its rows, in kParts parts. While a part is multiplied, the others are on
  //~ // their way. The block keeps its columns of b there, too, and the sums of kKept turns of each
  //~ // warp, which are written together. In this order: columns, the rows of each warp, the sums of
  //~ // each warp; kBytesPerK and kBytesOfSums say how much room there is.
  //~begin 2
  extern __shared__ float4 columns[];  // [kCols][count]; then rows and sums of all warps
  const int warp = threadIdx.x / 32, count = (width + 3) / 4, first_col = blockIdx.x * kCols;
  const Rows rows = {columns + (kCols + warp * kRows) * count, count};
  int turns = 0;  // whose sums are kept
  float* own = reinterpret_cast<float*>(columns + (kCols + kWarps * kRows) * count);
  own += warp * kKept * kSums;                  // [kKept][kSums]
  const int turn = gridDim.y * kWarps * kRows;  // rows that all warps take together
  int first = (warp * gridDim.y + blockIdx.y) * kRows;
  Columns loads;
  begin_part<kAligned>(rows, a, first, 0, m, width, k);  // first what takes longest
  loads.load(b, first_col, width, n);
  for (int part = 1; part < kParts; ++part) {
    begin_part<kAligned>(rows, a, first, part, m, width, k);
  }
  loads.store(reinterpret_cast<float*>(columns), count);
  __syncthreads();  // closes write against read: all threads have stored columns
  for (; first < m; first += turn) {
    float sums[kRows][kCols] = {};
#pragma unroll 1
    for (int part = 0; part < kParts; ++part) {
      wait_for_copies<kParts - 1>();
      multiply_part(sums, rows, columns, part);
      begin_part<kAligned>(rows, a, first + turn, part, m, width, k);
    }
    keep_sums(sums, own + turns * kSums);
    if (++turns == kKept || first + turn >= m) {
      write_sums(own, turns, c, first, turn, first_col, m, n, add);
      turns = 0;
    }
  }
  //~end
}

void launch_matmul_tall_skinny(const float* d_a, const float* d_b, float* d_c, int m, int n,
                               int k) {
  if (m == 0 || n == 0) return;
  int device = 0, multiprocessors = 0, shared = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  const bool aligned = k % 4 == 0 && reinterpret_cast<uintptr_t>(d_a) % 16 == 0;
  const auto kernel = aligned ? matmul_tall_skinny<true> : matmul_tall_skinny<false>;
  // Slabs of k of about equal width, as few as shared memory and registers allow.
  const int fit = (shared - kBytesOfSums) / kBytesPerK, held = Columns::kMostRows;
  const int most = (fit < held ? fit : held) / 4 * 4, slabs = (k + most - 1) / most;
  const int slab = slabs > 1 ? ((k + slabs - 1) / slabs + 3) / 4 * 4 : k;
  const int bytes = (slab + 3) / 4 * 4 * kBytesPerK + kBytesOfSums;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  const int needed = (m + kWarps * kRows - 1) / (kWarps * kRows);
  // Columns of c, which may be many, along x: a grid has at most 65,535 blocks in y.
  const dim3 grid((n + kCols - 1) / kCols, needed < multiprocessors ? needed : multiprocessors);
  int first = 0;
  do {  // once with k = 0: c is zeros then
    const int width = k - first < slab ? k - first : slab;
    kernel<<<grid, 32 * kWarps, bytes>>>(d_a + first, d_b + static_cast<size_t>(first) * n, d_c, m,
                                         n, k, width, first > 0);
    first += slab;
  } while (first < k);
}

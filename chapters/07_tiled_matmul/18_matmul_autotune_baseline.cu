// Given kernels of 07/18: that of 08 as a template over the shape of its tiles, and the list of
// shapes.
#include "18_matmul_autotune.h"
#include "support.h"

namespace {

// A block makes kRows x kCols elements of c in steps of kStep along k, a thread kEachRow x kEachCol
// of them: groups of four rows and four columns, as in 08.
template <Edges kEdges, int kRows, int kCols, int kStep, int kEachRow, int kEachCol>
__global__ void __launch_bounds__(kRows / kEachRow * (kCols / kEachCol))
    matmul_shape(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kSideX = kCols / kEachCol, kSideY = kRows / kEachRow, kThreads = kSideX * kSideY;
  constexpr int kPitchA = kRows + 4;
  extern __shared__ __align__(16) float tiles[];
  float* const tile_a = tiles;                    // [step of k][row of c], rows of kPitchA
  float* const tile_b = tiles + kStep * kPitchA;  // [step of k][column of c]
  const int t = threadIdx.x, tx = t % kSideX, ty = t / kSideX;
  const int first_row = blockIdx.y * kRows, first_col = blockIdx.x * kCols;
  float sums[kEachRow][kEachCol] = {};
  for (int first = 0; first < k; first += kStep) {
#pragma unroll
    for (int e = t; e < kRows * kStep / 4; e += kThreads) {
      const int row = e / (kStep / 4), i = e % (kStep / 4) * 4;
      const float4 v = load4<kEdges>(a + static_cast<size_t>(first_row + row) * k + first + i,
                                     m - first_row - row, k - first - i);
      float* const to = tile_a + i * kPitchA + row;
      to[0] = v.x, to[kPitchA] = v.y, to[2 * kPitchA] = v.z, to[3 * kPitchA] = v.w;
    }
#pragma unroll
    for (int e = t; e < kCols * kStep / 4; e += kThreads) {
      const int i = e / (kCols / 4), col = e % (kCols / 4) * 4;
      *reinterpret_cast<float4*>(tile_b + i * kCols + col) =
          load4<kEdges>(b + static_cast<size_t>(first + i) * n + first_col + col, k - first - i,
                        n - first_col - col);
    }
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
#pragma unroll 8
    for (int i = 0; i < kStep; ++i) {
      float4 from_a[kEachRow / 4], from_b[kEachCol / 4];
      for (int g = 0; g < kEachRow / 4; ++g) {
        from_a[g] = *reinterpret_cast<float4*>(tile_a + i * kPitchA + 4 * (ty + kSideY * g));
      }
      for (int g = 0; g < kEachCol / 4; ++g) {
        from_b[g] = *reinterpret_cast<float4*>(tile_b + i * kCols + 4 * (tx + kSideX * g));
      }
      const float* x = reinterpret_cast<const float*>(from_a);
      const float* y = reinterpret_cast<const float*>(from_b);
      for (int r = 0; r < kEachRow; ++r) {
        for (int s = 0; s < kEachCol; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  for (int r = 0; r < kEachRow; ++r) {
    for (int s = 0; s < kEachCol; s += 4) {
      const int row = first_row + 4 * (ty + kSideY * (r / 4)) + r % 4;
      const int col = first_col + 4 * (tx + kSideX * (s / 4));
      store4<kEdges>(c + static_cast<size_t>(row) * n + col,
                     make_float4(sums[r][s], sums[r][s + 1], sums[r][s + 2], sums[r][s + 3]),
                     m - row, n - col);
    }
  }
}

// A kernel of the list, for rows of whole float4 and for any rows.
struct Shape {
  using Kernel = void (*)(const float*, const float*, float*, int, int, int);
  const char* name;
  int rows, cols, threads;
  size_t shared_bytes;
  Kernel vectors, scalars;
};

template <int kRows, int kCols, int kStep, int kEachRow, int kEachCol>
Shape shape(const char* name) {
  return {name,
          kRows,
          kCols,
          kRows / kEachRow * (kCols / kEachCol),
          kStep * (kRows + 4 + kCols) * sizeof(float),
          matmul_shape<Edges::kVectors, kRows, kCols, kStep, kEachRow, kEachCol>,
          matmul_shape<Edges::kScalars, kRows, kCols, kStep, kEachRow, kEachCol>};
}

const Shape kShapes[] = {
    shape<128, 128, 16, 8, 8>("128 x 128 x 16, 8 x 8 per thread"),
    shape<128, 128, 64, 8, 8>("128 x 128 x 64, 8 x 8 per thread"),
    shape<64, 64, 16, 8, 4>("64 x 64 x 16, 8 x 4 per thread"),
    shape<64, 64, 32, 4, 4>("64 x 64 x 32, 4 x 4 per thread"),
    shape<32, 32, 32, 4, 4>("32 x 32 x 32, 4 x 4 per thread"),
};

}  // namespace

int shapes() { return sizeof(kShapes) / sizeof(kShapes[0]); }

const char* shape_name(int shape) { return kShapes[shape].name; }

bool launch_matmul_shape(int shape, const float* d_a, const float* d_b, float* d_c, int m, int n,
                         int k) {
  const Shape& s = kShapes[shape];
  int device = 0, most = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (s.shared_bytes > static_cast<size_t>(most)) return false;
  const bool any = edges_of(d_a, d_b, d_c, m, n, k, s.rows, s.cols, 1) == Edges::kScalars;
  const Shape::Kernel kernel = any ? s.scalars : s.vectors;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(s.shared_bytes));
  const dim3 grid((n + s.cols - 1) / s.cols, (m + s.rows - 1) / s.rows);
  if (grid.x > 0 && grid.y > 0) kernel<<<grid, s.threads, s.shared_bytes>>>(d_a, d_b, d_c, m, n, k);
  return true;
}

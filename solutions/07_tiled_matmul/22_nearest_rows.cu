// 07/22 Nearest rows, the capstone: for every row of x the nearest row of y, and how near it is.
//   x         m x k floats, y  n x k floats, row-major; m from 0, n and k from 1
//   nearest   nearest[i] is the row of y whose distance to row i of x is least, the first of equals
//   distance  distance[i] is the square of that distance
//   Budget: no table of m x n is written; 1/20 word from global memory for each of the m n k
//   differences, and 0.6 words from shared memory.
//   Bar: ten times the speed of a thread for each row of x on a card, three times in the model.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "22_nearest_rows.h"

//~begin 1
namespace {

constexpr int kTile = 64;               // rows of x, and rows of y, of a tile
constexpr int kStep = 16;               // coordinates that are in shared memory at a time
constexpr int kOwn = 4;                 // rows of x, and rows of y, of a thread
constexpr int kSide = kTile / kOwn;     // threads of a block in either direction
constexpr int kThreads = kSide * kSide;
constexpr unsigned kAllLanes = 0xffffffffu;

// part[i][r] = coordinate first + i of row first_row + r, 0 where there is none.
__device__ void load_turned(const float* matrix, int first_row, int first, int rows, int k,
                            float (*part)[kTile + 1]) {
  for (int e = threadIdx.x; e < kTile * kStep; e += kThreads) {
    const int r = e / kStep, i = e % kStep;
    const bool inside = first_row + r < rows && first + i < k;
    const size_t at = static_cast<size_t>(first_row + r) * k + first + i;
    part[i][r] = inside ? matrix[at] : 0.0f;
  }
}

// |x - y|^2 = |x|^2 - 2 x y + |y|^2. The first term is the same for all y, so it decides nothing:
// what is left is a product of two matrices, and the squares of y beside it.
__global__ void __launch_bounds__(kThreads)
    nearest_rows(const float* x, const float* y, int* nearest, float* distance, int m, int n,
                 int k) {
  __shared__ float part_x[kStep][kTile + 1], part_y[kStep][kTile + 1];  // [coordinate][row]
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
  const int first_x = blockIdx.x * kTile;
  float least[kOwn];
  int place[kOwn];
  for (int r = 0; r < kOwn; ++r) {
    least[r] = INFINITY;
    place[r] = 0;
  }
  for (int first_y = 0; first_y < n; first_y += kTile) {
    float dots[kOwn][kOwn] = {}, squares[kOwn] = {};  // [row of x][row of y]
    for (int first = 0; first < k; first += kStep) {
      load_turned(x, first_x, first, m, k, part_x);
      load_turned(y, first_y, first, n, k, part_y);
      __syncthreads();  // write against read: both parts are whole
#pragma unroll
      for (int i = 0; i < kStep; ++i) {
        float of_x[kOwn], of_y[kOwn];
        for (int o = 0; o < kOwn; ++o) of_x[o] = part_x[i][ty + o * kSide];
        for (int o = 0; o < kOwn; ++o) of_y[o] = part_y[i][tx + o * kSide];
        for (int c = 0; c < kOwn; ++c) {
          squares[c] += of_y[c] * of_y[c];
          for (int r = 0; r < kOwn; ++r) dots[r][c] += of_x[r] * of_y[c];
        }
      }
      __syncthreads();  // read against write: the next parts take the place of these
    }
    for (int c = 0; c < kOwn; ++c) {
      const int j = first_y + tx + c * kSide;  // rising, so the first of equals stays
      for (int r = 0; r < kOwn; ++r) {
        const float value = squares[c] - 2.0f * dots[r][c];
        if (j < n && value < least[r]) {
          least[r] = value;
          place[r] = j;
        }
      }
    }
  }
  for (int r = 0; r < kOwn; ++r) {
    // The kSide threads of a row are neighbouring lanes.
    for (int step = kSide / 2; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, least[r], step);
      const int other_place = __shfl_xor_sync(kAllLanes, place[r], step);
      if (other < least[r] || (other == least[r] && other_place < place[r])) {
        least[r] = other;
        place[r] = other_place;
      }
    }
    // Once more, for this pair alone, and without a difference of large numbers.
    const int row = first_x + ty + r * kSide;
    float sum = 0.0f;
    for (int l = tx; l < k && row < m; l += kSide) {
      const float difference =
          x[static_cast<size_t>(row) * k + l] - y[static_cast<size_t>(place[r]) * k + l];
      sum += difference * difference;
    }
    for (int step = kSide / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    if (tx == 0 && row < m) {
      nearest[row] = place[r];
      distance[row] = sum;
    }
  }
}

}  // namespace

//~end
void launch_nearest_rows(const float* d_x, const float* d_y, int* d_nearest, float* d_distance,
                         int m, int n, int k) {
  //~ static_cast<void>(d_x), static_cast<void>(d_y), static_cast<void>(d_nearest);
  //~ static_cast<void>(d_distance), static_cast<void>(m), static_cast<void>(n), static_cast<void>(k);
  //~begin 1
  if (m == 0) return;
  const int grid = (m + kTile - 1) / kTile;
  nearest_rows<<<grid, kThreads>>>(d_x, d_y, d_nearest, d_distance, m, n, k);
  //~end
}

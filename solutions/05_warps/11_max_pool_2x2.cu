// 05/11 Max pool 2x2: one kernel halves images by maximum or by average, with the ReLU before it.
//   x      planes x height x width floats, x fastest, aligned to 8 bytes; height, width >= 2
//   y      planes x (height / 2) x (width / 2); an odd last row or column of x is left out
//   A thread makes one output; the lanes of a warp make neighbours. What is done to a window is a
//   template parameter: one kernel, no branch, and the ReLU costs no pass of its own.
//   TODOs  3
#include "11_max_pool_2x2.h"

constexpr int kBlock = 256;  // threads

// The two rows of a window: top.x top.y over bottom.x bottom.y.
struct ReluMax {
  __device__ float operator()(float2 top, float2 bottom) const {
    //~ // TODO(1): relu of four values, then the greatest: fewer steps than it sounds (about 2 lines).
    //~ return top.x + 0.0f * bottom.x;
    //~begin 1
    // relu keeps the order of values, so it may come last, once; or be one more candidate.
    return fmaxf(fmaxf(fmaxf(top.x, top.y), fmaxf(bottom.x, bottom.y)), 0.0f);
    //~end
  }
};

struct ReluAverage {
  __device__ float operator()(float2 top, float2 bottom) const {
    //~ // TODO(2): relu of four values, then the average. May relu come last here, too? (about 3 lines)
    //~ return top.x + 0.0f * bottom.x;
    //~begin 2
    // (-3 + 1 + 1 + 1) / 4 = 0, but the average of 0, 1, 1, 1 is 0.75: relu comes first, four
    // times.
    const float of_top = fmaxf(top.x, 0.0f) + fmaxf(top.y, 0.0f);
    const float of_bottom = fmaxf(bottom.x, 0.0f) + fmaxf(bottom.y, 0.0f);
    return 0.25f * (of_top + of_bottom);
    //~end
  }
};

// Two neighbouring floats: by one load where rows begin at multiples of 8 bytes.
template <bool kEvenWidth>
__device__ float2 load_pair(const float* x, size_t i) {
  if (kEvenWidth) return *reinterpret_cast<const float2*>(x + i);
  return make_float2(x[i], x[i + 1]);
}

template <bool kEvenWidth, class Pool>
__global__ void pool_2x2(const float* x, float* y, int planes, int height, int width, Pool pool) {
  const int out_height = height / 2, out_width = width / 2;
  const size_t count = static_cast<size_t>(planes) * out_height * out_width;
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  //~ // TODO(3): Where the window of output i begins in x: its plane, row and column (about 5 lines).
  //~ const size_t corner = i;
  //~begin 3
  const int col = i % out_width;
  const size_t row_of_all = i / out_width;  // rows of all planes, counted on
  const int row = row_of_all % out_height;
  const size_t plane = row_of_all / out_height;
  const size_t corner = (plane * height + 2 * row) * width + 2 * col;
  //~end
  y[i] = pool(load_pair<kEvenWidth>(x, corner), load_pair<kEvenWidth>(x, corner + width));
}

template <class Pool>
void launch_pool(const float* d_x, float* d_y, int planes, int height, int width, Pool pool) {
  const size_t count = static_cast<size_t>(planes) * (height / 2) * (width / 2);
  const int grid = static_cast<int>((count + kBlock - 1) / kBlock);
  if (grid == 0) return;
  if (width % 2 == 0) {
    pool_2x2<true><<<grid, kBlock>>>(d_x, d_y, planes, height, width, pool);
  } else {
    pool_2x2<false><<<grid, kBlock>>>(d_x, d_y, planes, height, width, pool);
  }
}

void launch_relu_max_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pool(d_x, d_y, planes, height, width, ReluMax());
}

void launch_relu_average_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pool(d_x, d_y, planes, height, width, ReluAverage());
}

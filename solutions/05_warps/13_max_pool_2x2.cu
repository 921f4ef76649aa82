// 05/13 Max pool 2x2: one kernel halves images by maximum or by average, with the ReLU before it.
//   x      planes x height x width floats, x fastest, aligned to 8 bytes; height, width >= 2
//   y      planes x (height / 2) x (width / 2); an odd last row or column of x is left out
//   One kernel and one launch each: the ReLU costs no pass of its own. What is done to a window is
//   a template parameter, and so is whether rows begin at multiples of 8 bytes.
//   TODOs  3
#include "13_max_pool_2x2.h"

inline constexpr int kBlock = 256;  // threads

// The two rows of a window: top.x top.y over bottom.x bottom.y.
struct ReluMax {
  __device__ float operator()(float2 top, float2 bottom) const {
    //~ return top.x + 0.0f * bottom.x;  // TODO(1): The greatest, after relu (1 line).
    //~begin 1
    // relu keeps the order of values, so it may come last, once; or be one more candidate.
    return fmaxf(fmaxf(fmaxf(top.x, top.y), fmaxf(bottom.x, bottom.y)), 0.0f);
    //~end
  }
};

struct ReluAverage {
  __device__ float operator()(float2 top, float2 bottom) const {
    //~ return top.x + 0.0f * bottom.x;  // TODO(2): The average, after relu (about 3 lines).
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
  //~ return make_float2(x[i], x[i]);  // TODO(3): x[i] and x[i + 1], by as few loads as may be.
  //~begin 3
  if (kEvenWidth) return *reinterpret_cast<const float2*>(x + i);
  return make_float2(x[i], x[i + 1]);
  //~end
}

template <bool kEvenWidth, class Pool>
__global__ void pool_2x2(const float* x, float* y, int planes, int height, int width, Pool pool) {
  //~ // Still TODO(3): Every output is made once, by pool(top row, bottom row) of its window, and lanes
  //~ // that are neighbours make neighbours (about 10 lines).
  //~begin 3
  const int out_height = height / 2, out_width = width / 2;
  const size_t count = static_cast<size_t>(planes) * out_height * out_width;
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int col = i % out_width;
  const size_t row_of_all = i / out_width;  // rows of all planes, counted on
  const int row = row_of_all % out_height;
  const size_t plane = row_of_all / out_height;
  const size_t corner = (plane * height + 2 * row) * width + 2 * col;
  y[i] = pool(load_pair<kEvenWidth>(x, corner), load_pair<kEvenWidth>(x, corner + width));
  //~end
}

template <class Pool>
void launch_pool(const float* d_x, float* d_y, int planes, int height, int width, Pool pool) {
  //~ // Still TODO(3): One launch, for even and for odd widths; none without planes (about 8 lines).
  //~begin 3
  const size_t count = static_cast<size_t>(planes) * (height / 2) * (width / 2);
  const int grid = static_cast<int>((count + kBlock - 1) / kBlock);
  if (grid == 0) return;
  if (width % 2 == 0) {
    pool_2x2<true><<<grid, kBlock>>>(d_x, d_y, planes, height, width, pool);
  } else {
    pool_2x2<false><<<grid, kBlock>>>(d_x, d_y, planes, height, width, pool);
  }
  //~end
}

void launch_relu_max_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pool(d_x, d_y, planes, height, width, ReluMax());
}

void launch_relu_average_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pool(d_x, d_y, planes, height, width, ReluAverage());
}

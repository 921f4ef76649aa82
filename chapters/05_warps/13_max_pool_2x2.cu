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
    return top.x + 0.0f * bottom.x;  // TODO(1): The greatest, after relu (1 line).
  }
};

struct ReluAverage {
  __device__ float operator()(float2 top, float2 bottom) const {
    return top.x + 0.0f * bottom.x;  // TODO(2): The average, after relu (about 3 lines).
  }
};

// Two neighbouring floats: by one load where rows begin at multiples of 8 bytes.
template <bool kEvenWidth>
__device__ float2 load_pair(const float* x, size_t i) {
  return make_float2(x[i], x[i]);  // TODO(3): x[i] and x[i + 1], by as few loads as may be.
}

template <bool kEvenWidth, class Pool>
__global__ void pool_2x2(const float* x, float* y, int planes, int height, int width, Pool pool) {
  // Still TODO(3): Every output is made once, by pool(top row, bottom row) of its window, and lanes
  // that are neighbours make neighbours (about 10 lines).
}

template <class Pool>
void launch_pool(const float* d_x, float* d_y, int planes, int height, int width, Pool pool) {
  // Still TODO(3): One launch, for even and for odd widths; none without planes (about 8 lines).
}

void launch_relu_max_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pool(d_x, d_y, planes, height, width, ReluMax());
}

void launch_relu_average_pool(const float* d_x, float* d_y, int planes, int height, int width) {
  launch_pool(d_x, d_y, planes, height, width, ReluAverage());
}

// cuDNN's pooling, forward and backward.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cudnn/tensor.h"

using namespace warplings::libraries;

namespace {

struct Output {
  int64_t h, w;
};

int64_t out_size(int64_t in, int window, int pad, int stride) {
  const int64_t room = in + 2 * pad - window;
  return room < 0 ? 0 : room / stride + 1;
}

Output output_of(const cudnnPoolingStruct& pool, const Layout& x) {
  return {out_size(x.size[2], pool.window[0], pool.pad[0], pool.stride[0]),
          out_size(x.size[3], pool.window[1], pool.pad[1], pool.stride[1])};
}

// Part of a window that lies inside of the image.
struct Window {
  int64_t top, bottom, left, right;  // rows and columns [top, bottom), [left, right)
  int64_t count() const { return (bottom - top) * (right - left); }
};

// Calls visit(offset of the plane in x, window, index of the output) for every output.
template <class Visit>
void for_each_window(const cudnnPoolingStruct& pool, const Layout& x, Visit visit) {
  const Output out = output_of(pool, x);
  const int64_t h = x.size[2], w = x.size[3];
  int64_t to = 0;
  for (int64_t plane = 0; plane < x.size[0] * x.size[1]; ++plane) {
    for (int64_t i = 0; i < out.h; ++i) {
      for (int64_t j = 0; j < out.w; ++j) {
        const int64_t top = i * pool.stride[0] - pool.pad[0];
        const int64_t left = j * pool.stride[1] - pool.pad[1];
        const Window window = {std::max<int64_t>(top, 0), std::min(top + pool.window[0], h),
                               std::max<int64_t>(left, 0), std::min(left + pool.window[1], w)};
        visit(plane * h * w, window, static_cast<size_t>(to++));
      }
    }
  }
}

bool is_average(cudnnPoolingMode_t mode) {
  return mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ||
         mode == CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING;
}

int64_t divisor(const cudnnPoolingStruct& pool, const Window& window) {
  return pool.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
             ? int64_t{pool.window[0]} * pool.window[1]
             : window.count();
}

// The first of the largest elements of a window; a NaN counts as largest if it is to be passed on.
template <class T>
size_t largest(const cudnnPoolingStruct& pool, const std::vector<T>& x, int64_t plane, int64_t w,
               const Window& window) {
  size_t best = static_cast<size_t>(plane + window.top * w + window.left);
  for (int64_t row = window.top; row < window.bottom; ++row) {
    for (int64_t column = window.left; column < window.right; ++column) {
      const auto at = static_cast<size_t>(plane + row * w + column);
      const bool nan = std::isnan(x[at]) && !std::isnan(x[best]);
      const bool skip = std::isnan(x[best]) && !std::isnan(x[at]);
      const bool propagate = pool.nan == CUDNN_PROPAGATE_NAN;
      if (x[at] > x[best] || (propagate ? nan : skip)) best = at;
    }
  }
  return best;
}

template <class T>
std::vector<T> pool_forward(const cudnnPoolingStruct& pool, const Layout& lx,
                            const std::vector<T>& x, size_t outputs) {
  std::vector<T> y(outputs);
  const int64_t w = lx.size[3];
  for_each_window(pool, lx, [&](int64_t plane, const Window& window, size_t to) {
    if (!is_average(pool.mode)) {
      y[to] = x[largest(pool, x, plane, w, window)];
      return;
    }
    T sum = 0;
    for (int64_t row = window.top; row < window.bottom; ++row) {
      for (int64_t column = window.left; column < window.right; ++column) {
        sum += x[static_cast<size_t>(plane + row * w + column)];
      }
    }
    y[to] = sum / static_cast<T>(divisor(pool, window));
  });
  return y;
}

template <class T>
std::vector<T> pool_backward(const cudnnPoolingStruct& pool, const Layout& lx,
                             const std::vector<T>& x, const std::vector<T>& dy) {
  std::vector<T> dx(x.size());
  const int64_t w = lx.size[3];
  for_each_window(pool, lx, [&](int64_t plane, const Window& window, size_t from) {
    if (!is_average(pool.mode)) {
      dx[largest(pool, x, plane, w, window)] += dy[from];
      return;
    }
    const T share = dy[from] / static_cast<T>(divisor(pool, window));
    for (int64_t row = window.top; row < window.bottom; ++row) {
      for (int64_t column = window.left; column < window.right; ++column) {
        dx[static_cast<size_t>(plane + row * w + column)] += share;
      }
    }
  });
  return dx;
}

// x and y of one pooling.
void check(LayerCall* call, const cudnnPoolingStruct* pool, const cudnnTensorStruct* x,
           const cudnnTensorStruct* y) {
  call->require(pool != nullptr && pool->set && x != nullptr && x->layout.is_set() &&
                    y != nullptr && y->layout.is_set(),
                CUDNN_STATUS_BAD_PARAM, "a descriptor is missing or not set");
  if (!call->ok()) return;
  const Output out = output_of(*pool, x->layout);
  const Index& size = y->layout.size;
  call->require(size[0] == x->layout.size[0] && size[1] == x->layout.size[1] && size[2] == out.h &&
                    size[3] == out.w && x->layout.type == y->layout.type,
                CUDNN_STATUS_BAD_PARAM,
                "the output has another size than cudnnGetPooling2dForwardOutputDim says");
  call->require(pool->pad[0] < pool->window[0] && pool->pad[1] < pool->window[1],
                CUDNN_STATUS_NOT_SUPPORTED, "the padding is smaller than the window");
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetPooling2dForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
                                                const cudnnTensorDescriptor_t inputTensorDesc,
                                                int* n, int* c, int* h, int* w) {
  if (poolingDesc == nullptr || inputTensorDesc == nullptr || n == nullptr || c == nullptr ||
      h == nullptr || w == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const Output out = output_of(*poolingDesc, inputTensorDesc->layout);
  if (out.h < 1 || out.w < 1) return CUDNN_STATUS_BAD_PARAM;  // the window is larger than the image
  *n = static_cast<int>(inputTensorDesc->layout.size[0]);
  *c = static_cast<int>(inputTensorDesc->layout.size[1]);
  *h = static_cast<int>(out.h);
  *w = static_cast<int>(out.w);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc,
                                  const void* alpha, const cudnnTensorDescriptor_t xDesc,
                                  const void* x, const void* beta,
                                  const cudnnTensorDescriptor_t yDesc, void* y) {
  WARPLINGS_LIBRARY_CALL(cudnnPoolingForward);
  LayerCall layer(call, handle);
  check(&layer, poolingDesc, xDesc, yDesc);
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &ly = yDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.writes("output y", ly, y, b);
  return layer.run(static_cast<double>(ly.count()), [=, pool = *poolingDesc] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      store_dense(
          ly, view(y),
          pool_forward(pool, lx, load_dense<T>(lx, view(x)), static_cast<size_t>(ly.count())), a,
          b);
    });
  });
}

cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, const cudnnPoolingDescriptor_t poolingDesc,
                                   const void* alpha, const cudnnTensorDescriptor_t yDesc,
                                   const void* y, const cudnnTensorDescriptor_t dyDesc,
                                   const void* dy, const cudnnTensorDescriptor_t xDesc,
                                   const void* x, const void* beta,
                                   const cudnnTensorDescriptor_t dxDesc, void* dx) {
  WARPLINGS_LIBRARY_CALL(cudnnPoolingBackward);
  LayerCall layer(call, handle);
  check(&layer, poolingDesc, xDesc, yDesc);
  check(&layer, poolingDesc, dxDesc, dyDesc);
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &ly = yDesc->layout, &lg = dyDesc->layout, &lo = dxDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.reads("output y", ly, y);
  layer.reads("gradient dy", lg, dy);
  layer.writes("gradient dx", lo, dx, b);
  return layer.run(static_cast<double>(lx.count()), [=, pool = *poolingDesc] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      store_dense(lo, view(dx),
                  pool_backward(pool, lx, load_dense<T>(lx, view(x)), load_dense<T>(lg, view(dy))),
                  a, b);
    });
  });
}

}  // extern "C"

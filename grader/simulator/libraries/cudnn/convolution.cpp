#include "cudnn/convolution.h"

#include <algorithm>

namespace warplings::libraries {
namespace {

int64_t out_size(int64_t in, int64_t filter, int pad, int stride, int dilation) {
  const int64_t room = in + 2 * pad - ((filter - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

// Outputs [begin, end) whose input `i * stride + shift` lies in [0, in).
struct Span {
  int64_t begin, end;
};
Span valid_outputs(int64_t in, int64_t out, int64_t stride, int64_t shift) {
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t end = in - shift <= 0 ? 0 : (in - shift - 1) / stride + 1;
  return {std::min(begin, out), std::min(std::max(begin, end), out)};
}

// Calls visit(x row, filter element, y row, count, step in x) for every run of products of a
// row: y[j] and x[j * step] for j below count belong to the filter element.
template <class Visit>
void for_each_run(const ConvolutionShape& t, Visit visit) {
  const cudnnConvolutionStruct& how = t.how;
  const bool turned = how.mode == CUDNN_CONVOLUTION;
  const int64_t group_k = t.k / how.groups;
  for (int64_t n = 0; n < t.n; ++n) {
    for (int64_t k = 0; k < t.k; ++k) {
      for (int64_t c = 0; c < t.group_c; ++c) {
        const int64_t x_plane = (n * t.c + k / group_k * t.group_c + c) * t.h * t.w;
        const int64_t y_plane = (n * t.k + k) * t.out_h * t.out_w;
        for (int64_t at = 0; at < t.r * t.s; ++at) {
          const int64_t r = at / t.s, s = at % t.s;
          const int64_t element =
              (k * t.group_c + c) * t.r * t.s + (turned ? t.r * t.s - 1 - at : at);
          const int64_t row_shift = r * how.dilation[0] - how.pad[0];
          const int64_t column_shift = s * how.dilation[1] - how.pad[1];
          const Span rows = valid_outputs(t.h, t.out_h, how.stride[0], row_shift);
          const Span columns = valid_outputs(t.w, t.out_w, how.stride[1], column_shift);
          if (columns.begin == columns.end) continue;
          for (int64_t i = rows.begin; i < rows.end; ++i) {
            visit(x_plane + (i * how.stride[0] + row_shift) * t.w + columns.begin * how.stride[1] +
                      column_shift,
                  element, y_plane + i * t.out_w + columns.begin, columns.end - columns.begin,
                  how.stride[1]);
          }
        }
      }
    }
  }
}

}  // namespace

ConvolutionShape::ConvolutionShape(const Layout& x, const Layout& filter,
                                   const cudnnConvolutionStruct& convolution)
    : n(x.size[0]),
      c(x.size[1]),
      h(x.size[2]),
      w(x.size[3]),
      k(filter.size[0]),
      group_c(filter.size[1]),
      r(filter.size[2]),
      s(filter.size[3]),
      how(convolution),
      two_dimensional(x.rank == 4 && filter.rank == 4) {
  out_h = out_size(h, r, how.pad[0], how.stride[0], how.dilation[0]);
  out_w = out_size(w, s, how.pad[1], how.stride[1], how.dilation[1]);
}

bool ConvolutionShape::is_valid() const {
  return two_dimensional && how.set && c == group_c * how.groups && k % how.groups == 0 &&
         out_h > 0 && out_w > 0;
}

bool ConvolutionShape::gives(const Layout& y) const {
  return y.size[0] == n && y.size[1] == k && y.size[2] == out_h && y.size[3] == out_w;
}

double ConvolutionShape::operations() const {
  return 2.0 * static_cast<double>(n * k * out_h * out_w) * static_cast<double>(group_c * r * s);
}

template <class T>
void convolve(const ConvolutionShape& shape, const std::vector<T>& x, const std::vector<T>& filter,
              std::vector<T>* y) {
  for_each_run(shape, [&](int64_t from, int64_t element, int64_t to, int64_t count, int64_t step) {
    const T factor = filter[static_cast<size_t>(element)];
    const T* a = x.data() + from;
    T* sums = y->data() + to;
    if (step == 1) {
      for (int64_t j = 0; j < count; ++j) sums[j] += factor * a[j];
    } else {
      for (int64_t j = 0; j < count; ++j) sums[j] += factor * a[j * step];
    }
  });
}

template <class T>
void convolve_back_to_data(const ConvolutionShape& shape, const std::vector<T>& filter,
                           const std::vector<T>& dy, std::vector<T>* dx) {
  for_each_run(shape, [&](int64_t from, int64_t element, int64_t to, int64_t count, int64_t step) {
    const T factor = filter[static_cast<size_t>(element)];
    T* sums = dx->data() + from;
    const T* a = dy.data() + to;
    for (int64_t j = 0; j < count; ++j) sums[j * step] += factor * a[j];
  });
}

template <class T>
void convolve_back_to_filter(const ConvolutionShape& shape, const std::vector<T>& x,
                             const std::vector<T>& dy, std::vector<T>* filter) {
  for_each_run(shape, [&](int64_t from, int64_t element, int64_t to, int64_t count, int64_t step) {
    const T *a = x.data() + from, *b = dy.data() + to;
    T sum = 0;
    for (int64_t j = 0; j < count; ++j) sum += a[j * step] * b[j];
    (*filter)[static_cast<size_t>(element)] += sum;
  });
}

#define WARPLINGS_CONVOLUTIONS(T)                                                                  \
  template void convolve<T>(const ConvolutionShape&, const std::vector<T>&, const std::vector<T>&, \
                            std::vector<T>*);                                                      \
  template void convolve_back_to_data<T>(const ConvolutionShape&, const std::vector<T>&,           \
                                         const std::vector<T>&, std::vector<T>*);                  \
  template void convolve_back_to_filter<T>(const ConvolutionShape&, const std::vector<T>&,         \
                                           const std::vector<T>&, std::vector<T>*);
WARPLINGS_CONVOLUTIONS(float)
WARPLINGS_CONVOLUTIONS(double)
#undef WARPLINGS_CONVOLUTIONS

bool is_supported(const ConvolutionShape& t, Method method) {
  const auto is = [](const int(&pair)[2], int value) {
    return pair[0] == value && pair[1] == value;
  };
  const bool dense = is(t.how.stride, 1) && is(t.how.dilation, 1) && t.how.groups == 1;
  const bool pads_less = t.how.pad[0] < t.r && t.how.pad[1] < t.s;
  switch (method) {
    case Method::kImplicit:
    case Method::kPrecomputed:
      return true;
    case Method::kGemm:
      return is(t.how.dilation, 1) && t.how.groups == 1;
    case Method::kFft:
      return dense && pads_less && t.h + 2 * t.how.pad[0] <= 256 && t.w + 2 * t.how.pad[1] <= 256;
    case Method::kFftTiling:
      return dense && pads_less && t.r <= 32 && t.s <= 32;
    case Method::kWinograd:
      return dense && t.r == t.s && (t.r == 3 || t.r == 5);
    case Method::kNone:
      return false;
  }
  return false;
}

size_t workspace_bytes(const ConvolutionShape& t, Method method) {
  constexpr int64_t kFloat = 4, kComplex = 8;
  int64_t bytes = 0;
  switch (method) {
    case Method::kImplicit:
    case Method::kNone:
      break;
    case Method::kPrecomputed:  // an offset for each tap
      bytes = t.group_c * t.r * t.s * kFloat;
      break;
    case Method::kGemm:  // the unfolded input of one image
      bytes = t.c * t.r * t.s * t.out_h * t.out_w * kFloat;
      break;
    case Method::kFft: {  // spectra of input, filter and output
      const int64_t size = (t.h + 2 * t.how.pad[0]) * ((t.w + 2 * t.how.pad[1]) / 2 + 1);
      bytes = (t.n * t.c + t.k * t.c + t.n * t.k) * size * kComplex;
      break;
    }
    case Method::kFftTiling: {  // of tiles of 32 x 32
      const int64_t tiles = (t.out_h / 16 + 1) * (t.out_w / 16 + 1);
      bytes = (tiles * t.n * t.c + t.k * t.c + tiles * t.n * t.k) * 32 * 17 * kComplex;
      break;
    }
    case Method::kWinograd: {  // transformed tiles of 4 x 4 outputs
      const int64_t edge = t.r + 3, tiles = ((t.out_h + 3) / 4) * ((t.out_w + 3) / 4);
      bytes = (tiles * t.n * (t.c + t.k) + t.k * t.c) * edge * edge * kFloat;
      break;
    }
  }
  return static_cast<size_t>(bytes);
}

}  // namespace warplings::libraries

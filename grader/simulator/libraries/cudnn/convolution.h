// The sums of a convolution, and what is known of its algorithms.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_CONVOLUTION_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_CONVOLUTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cudnn/tensor.h"

namespace warplings::libraries {

// x: n x c x h x w, filter: k x c / groups x r x s, y: n x k x out_h x out_w.
struct ConvolutionShape {
  int64_t n = 0, c = 0, h = 0, w = 0;
  int64_t k = 0, group_c = 0, r = 0, s = 0;
  int64_t out_h = 0, out_w = 0;
  cudnnConvolutionStruct how;
  bool two_dimensional = false;

  ConvolutionShape(const Layout& x, const Layout& filter, const cudnnConvolutionStruct& how);
  // Whether there is such a convolution at all.
  bool is_valid() const;
  bool gives(const Layout& y) const;
  double operations() const;  // fp32, a product and a sum each
};

// Dense arrays in the order above. Each adds to its result.
template <class T>
void convolve(const ConvolutionShape& shape, const std::vector<T>& x, const std::vector<T>& filter,
              std::vector<T>* y);
template <class T>
void convolve_back_to_data(const ConvolutionShape& shape, const std::vector<T>& filter,
                           const std::vector<T>& dy, std::vector<T>* dx);
template <class T>
void convolve_back_to_filter(const ConvolutionShape& shape, const std::vector<T>& x,
                             const std::vector<T>& dy, std::vector<T>* filter);

// How an algorithm of cuDNN's works; here it decides what is supported and how much workspace a
// program has to bring. The sums are the same for all.
enum class Method { kImplicit, kPrecomputed, kGemm, kFft, kFftTiling, kWinograd, kNone };
bool is_supported(const ConvolutionShape& shape, Method method);
size_t workspace_bytes(const ConvolutionShape& shape, Method method);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_CONVOLUTION_H_

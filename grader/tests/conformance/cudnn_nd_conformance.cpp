// cuDNN's functions for any number of dimensions, with those of images: what they set and give has
// to be what the functions for two dimensions set and give.
#include <cudnn.h>

#include "conformance.h"

using conformance::status;

namespace {

constexpr auto kFloat = CUDNN_DATA_FLOAT;
constexpr auto kNchw = CUDNN_TENSOR_NCHW;
constexpr auto kCross = CUDNN_CROSS_CORRELATION;

void print_tensor(const char* name, cudnnTensorDescriptor_t tensor) {
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  int v[8] = {};
  const cudnnStatus_t read = cudnnGetTensor4dDescriptor(tensor, &type, &v[0], &v[1], &v[2], &v[3],
                                                        &v[4], &v[5], &v[6], &v[7]);
  std::printf("%s: %d, type %d, %d x %d x %d x %d, strides %d %d %d %d\n", name, read, type, v[0],
              v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
}

void tensors() {
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnCreateTensorDescriptor(&tensor);
  const int sizes[] = {2, 3, 4, 5}, empty[] = {2, 0, 4, 5};
  status("tensor", cudnnSetTensorNdDescriptorEx(tensor, kNchw, kFloat, 4, sizes));
  print_tensor("tensor", tensor);
  status("channels last",
         cudnnSetTensorNdDescriptorEx(tensor, CUDNN_TENSOR_NHWC, kFloat, 4, sizes));
  print_tensor("channels last", tensor);
  status("no channels", cudnnSetTensorNdDescriptorEx(tensor, kNchw, kFloat, 4, empty));
  cudnnDestroyTensorDescriptor(tensor);
}

void filters() {
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnCreateFilterDescriptor(&filter);
  const int sizes[] = {6, 3, 3, 2}, empty[] = {6, 3, 0, 2};
  status("filter", cudnnSetFilterNdDescriptor(filter, kFloat, kNchw, 4, sizes));
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NHWC;
  int k = 0, c = 0, h = 0, w = 0;
  status("filter, read", cudnnGetFilter4dDescriptor(filter, &type, &format, &k, &c, &h, &w));
  std::printf("filter: type %d, format %d, %d x %d x %d x %d\n", type, format, k, c, h, w);
  status("no rows", cudnnSetFilterNdDescriptor(filter, kFloat, kNchw, 4, empty));
  status("two dimensions", cudnnSetFilterNdDescriptor(filter, kFloat, kNchw, 2, sizes));
  cudnnDestroyFilterDescriptor(filter);
}

void convolutions() {
  cudnnTensorDescriptor_t x = nullptr;
  cudnnFilterDescriptor_t f = nullptr;
  cudnnConvolutionDescriptor_t how = nullptr;
  cudnnCreateTensorDescriptor(&x);
  cudnnCreateFilterDescriptor(&f);
  cudnnCreateConvolutionDescriptor(&how);
  cudnnSetTensor4dDescriptor(x, kNchw, kFloat, 2, 3, 9, 7);
  cudnnSetFilter4dDescriptor(f, kFloat, kNchw, 6, 3, 3, 2);
  const int pad[] = {1, 0}, stride[] = {2, 1}, dilation[] = {1, 2}, negative[] = {-1, 0},
            none[] = {0, 1};
  status("convolution",
         cudnnSetConvolutionNdDescriptor(how, 2, pad, stride, dilation, kCross, kFloat));
  int v[6] = {};
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  status("convolution, read", cudnnGetConvolution2dDescriptor(how, &v[0], &v[1], &v[2], &v[3],
                                                              &v[4], &v[5], &mode, &type));
  std::printf("convolution: pad %d %d, stride %d %d, dilation %d %d, mode %d, type %d\n", v[0],
              v[1], v[2], v[3], v[4], v[5], mode, type);
  int out[4] = {};
  status("size", cudnnGetConvolutionNdForwardOutputDim(how, x, f, 4, out));
  std::printf("size: %d x %d x %d x %d\n", out[0], out[1], out[2], out[3]);
  status("a negative padding",
         cudnnSetConvolutionNdDescriptor(how, 2, negative, stride, dilation, kCross, kFloat));
  status("a stride of zero",
         cudnnSetConvolutionNdDescriptor(how, 2, pad, none, dilation, kCross, kFloat));
  cudnnSetFilter4dDescriptor(f, kFloat, kNchw, 6, 3, 12, 2);
  cudnnSetConvolutionNdDescriptor(how, 2, pad, stride, dilation, kCross, kFloat);
  status("a filter larger than the image",
         cudnnGetConvolutionNdForwardOutputDim(how, x, f, 4, out));
  cudnnDestroyConvolutionDescriptor(how);
  cudnnDestroyFilterDescriptor(f);
  cudnnDestroyTensorDescriptor(x);
}

void pooling() {
  cudnnTensorDescriptor_t x = nullptr;
  cudnnPoolingDescriptor_t pool = nullptr;
  cudnnCreateTensorDescriptor(&x);
  cudnnCreatePoolingDescriptor(&pool);
  cudnnSetTensor4dDescriptor(x, kNchw, kFloat, 2, 3, 9, 7);
  const int window[] = {3, 2}, pad[] = {1, 0}, stride[] = {2, 3}, none[] = {0, 2};
  status("pooling", cudnnSetPoolingNdDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2,
                                                window, pad, stride));
  int out[4] = {};
  status("size", cudnnGetPoolingNdForwardOutputDim(pool, x, 4, out));
  std::printf("size: %d x %d x %d x %d\n", out[0], out[1], out[2], out[3]);
  status("no window", cudnnSetPoolingNdDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN, 2,
                                                  none, pad, stride));
  cudnnDestroyPoolingDescriptor(pool);
  cudnnDestroyTensorDescriptor(x);
}

}  // namespace

int main() {
  tensors();
  filters();
  convolutions();
  pooling();
}

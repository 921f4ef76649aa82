// Creating, setting and reading descriptors of cuDNN.
#include <cstdint>

#include "cudnn/tensor.h"

using namespace warplings::libraries;

namespace {

// Counted, so that a test can see that what is made is destroyed as well.
template <class T>
cudnnStatus_t create(const char* function, T** descriptor) {
  wsim_library_count(function);
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *descriptor = new T();
  return CUDNN_STATUS_SUCCESS;
}

template <class T>
cudnnStatus_t destroy(const char* function, T* descriptor) {
  wsim_library_count(function);
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

bool is_type(cudnnDataType_t type) {
  return (type >= CUDNN_DATA_FLOAT && type <= CUDNN_DATA_INT64);
}

bool is_format(cudnnTensorFormat_t format) {
  return format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC;
}

// What tensors and filters of four dimensions may be.
cudnnStatus_t check_4d(const Call& call, cudnnTensorFormat_t format, cudnnDataType_t type, int a,
                       int b, int c, int d) {
  if (a < 1 || b < 1 || c < 1 || d < 1 || !is_type(type)) return CUDNN_STATUS_BAD_PARAM;
  if (format == CUDNN_TENSOR_NCHW_VECT_C || number_of(type) == Number::kNone) {
    call.not_simulated("this format or type of numbers");
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  return is_format(format) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

template <class T>
void put(T* to, T value) {
  if (to != nullptr) *to = value;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensorDesc) {
  WARPLINGS_MAY_FAIL(cudnnCreateTensorDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  return create(__func__, tensorDesc);
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensorDesc) {
  return destroy(__func__, tensorDesc);
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filterDesc) {
  WARPLINGS_MAY_FAIL(cudnnCreateFilterDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  return create(__func__, filterDesc);
}
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filterDesc) {
  return destroy(__func__, filterDesc);
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convDesc) {
  WARPLINGS_MAY_FAIL(cudnnCreateConvolutionDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  return create(__func__, convDesc);
}
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convDesc) {
  return destroy(__func__, convDesc);
}
cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* poolingDesc) {
  WARPLINGS_MAY_FAIL(cudnnCreatePoolingDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  return create(__func__, poolingDesc);
}
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t poolingDesc) {
  return destroy(__func__, poolingDesc);
}
cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* activationDesc) {
  WARPLINGS_MAY_FAIL(cudnnCreateActivationDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  return create(__func__, activationDesc);
}
cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t activationDesc) {
  return destroy(__func__, activationDesc);
}
cudnnStatus_t cudnnCreateOpTensorDescriptor(cudnnOpTensorDescriptor_t* opTensorDesc) {
  WARPLINGS_MAY_FAIL(cudnnCreateOpTensorDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  return create(__func__, opTensorDesc);
}
cudnnStatus_t cudnnDestroyOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc) {
  return destroy(__func__, opTensorDesc);
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensorDesc,
                                         cudnnTensorFormat_t format, cudnnDataType_t dataType,
                                         int n, int c, int h, int w) {
  WARPLINGS_MAY_FAIL(cudnnSetTensor4dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetTensor4dDescriptor);
  if (tensorDesc == nullptr) return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = check_4d(call, format, dataType, n, c, h, w);
  if (status == CUDNN_STATUS_SUCCESS) {
    tensorDesc->layout = dense_layout(number_of(dataType), format, n, c, h, w);
  }
  return status;
}

cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
                                           cudnnDataType_t dataType, int n, int c, int h, int w,
                                           int nStride, int cStride, int hStride, int wStride) {
  WARPLINGS_MAY_FAIL(cudnnSetTensor4dDescriptorEx, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetTensor4dDescriptorEx);
  if (tensorDesc == nullptr) return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = check_4d(call, CUDNN_TENSOR_NCHW, dataType, n, c, h, w);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  tensorDesc->layout = dense_layout(number_of(dataType), CUDNN_TENSOR_NCHW, n, c, h, w);
  tensorDesc->layout.stride = {nStride, cStride, hStride, wStride, 1};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensorDesc,
                                         cudnnDataType_t dataType, int nbDims, const int dimA[],
                                         const int strideA[]) {
  WARPLINGS_MAY_FAIL(cudnnSetTensorNdDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetTensorNdDescriptor);
  if (tensorDesc == nullptr || dimA == nullptr || strideA == nullptr || !is_type(dataType)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (nbDims < 3 || nbDims > CUDNN_DIM_MAX) return CUDNN_STATUS_BAD_PARAM;
  if (nbDims > kDimensions || number_of(dataType) == Number::kNone) {
    call.not_simulated("a tensor of more than five dimensions, or this type of numbers");
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  Layout layout;
  layout.type = number_of(dataType);
  layout.rank = nbDims;
  for (int i = 0; i < nbDims; ++i) {
    if (dimA[i] < 1 || strideA[i] < 1) return CUDNN_STATUS_BAD_PARAM;
    layout.size[static_cast<size_t>(i)] = dimA[i];
    layout.stride[static_cast<size_t>(i)] = strideA[i];
  }
  tensorDesc->layout = layout;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t tensorDesc,
                                         cudnnDataType_t* dataType, int* n, int* c, int* h, int* w,
                                         int* nStride, int* cStride, int* hStride, int* wStride) {
  WARPLINGS_MAY_FAIL(cudnnGetTensor4dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (tensorDesc == nullptr || !tensorDesc->layout.is_set()) return CUDNN_STATUS_BAD_PARAM;
  const Layout& layout = tensorDesc->layout;
  for (const cudnnDataType_t type : {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF,
                                     CUDNN_DATA_BFLOAT16, CUDNN_DATA_INT8, CUDNN_DATA_INT32}) {
    if (number_of(type) == layout.type) put(dataType, type);
  }
  int* const sizes[] = {n, c, h, w};
  int* const strides[] = {nStride, cStride, hStride, wStride};
  for (size_t i = 0; i < 4; ++i) {
    put(sizes[i], static_cast<int>(layout.size[i]));
    put(strides[i], static_cast<int>(layout.stride[i]));
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t tensorDesc, size_t* size) {
  WARPLINGS_MAY_FAIL(cudnnGetTensorSizeInBytes, CUDNN_STATUS_INTERNAL_ERROR);
  if (tensorDesc == nullptr || size == nullptr) return CUDNN_STATUS_BAD_PARAM;
  const Layout& layout = tensorDesc->layout;
  *size = static_cast<size_t>(layout.extent()) * size_of(layout.type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filterDesc,
                                         cudnnDataType_t dataType, cudnnTensorFormat_t format,
                                         int k, int c, int h, int w) {
  WARPLINGS_MAY_FAIL(cudnnSetFilter4dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetFilter4dDescriptor);
  if (filterDesc == nullptr) return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = check_4d(call, format, dataType, k, c, h, w);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  filterDesc->layout = dense_layout(number_of(dataType), format, k, c, h, w);
  filterDesc->type = dataType;
  filterDesc->format = format;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t filterDesc,
                                         cudnnDataType_t* dataType, cudnnTensorFormat_t* format,
                                         int* k, int* c, int* h, int* w) {
  WARPLINGS_MAY_FAIL(cudnnGetFilter4dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (filterDesc == nullptr || !filterDesc->layout.is_set()) return CUDNN_STATUS_BAD_PARAM;
  put(dataType, filterDesc->type);
  put(format, filterDesc->format);
  int* const sizes[] = {k, c, h, w};
  for (size_t i = 0; i < 4; ++i) put(sizes[i], static_cast<int>(filterDesc->layout.size[i]));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t filterDesc, size_t* size) {
  WARPLINGS_MAY_FAIL(cudnnGetFilterSizeInBytes, CUDNN_STATUS_INTERNAL_ERROR);
  if (filterDesc == nullptr || size == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *size = static_cast<size_t>(filterDesc->layout.count()) * size_of(filterDesc->layout.type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t convDesc, int pad_h,
                                              int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computeType) {
  WARPLINGS_MAY_FAIL(cudnnSetConvolution2dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (convDesc == nullptr || pad_h < 0 || pad_w < 0 || u < 1 || v < 1 || dilation_h < 1 ||
      dilation_w < 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mode != CUDNN_CONVOLUTION && mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  if (!is_type(computeType)) return CUDNN_STATUS_BAD_PARAM;
  const cudnnMathType_t math = convDesc->math;
  const int groups = convDesc->groups;
  *convDesc = {true, {pad_h, pad_w}, {u, v}, {dilation_h, dilation_w},
               mode, computeType,    math,   groups};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolution2dDescriptor(const cudnnConvolutionDescriptor_t convDesc,
                                              int* pad_h, int* pad_w, int* u, int* v,
                                              int* dilation_h, int* dilation_w,
                                              cudnnConvolutionMode_t* mode,
                                              cudnnDataType_t* computeType) {
  WARPLINGS_MAY_FAIL(cudnnGetConvolution2dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (convDesc == nullptr) return CUDNN_STATUS_BAD_PARAM;
  put(pad_h, convDesc->pad[0]);
  put(pad_w, convDesc->pad[1]);
  put(u, convDesc->stride[0]);
  put(v, convDesc->stride[1]);
  put(dilation_h, convDesc->dilation[0]);
  put(dilation_w, convDesc->dilation[1]);
  put(mode, convDesc->mode);
  put(computeType, convDesc->compute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc,
                                          cudnnMathType_t mathType) {
  WARPLINGS_MAY_FAIL(cudnnSetConvolutionMathType, CUDNN_STATUS_INTERNAL_ERROR);
  if (convDesc == nullptr || mathType < CUDNN_DEFAULT_MATH || mathType > CUDNN_FMA_MATH) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  convDesc->math = mathType;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t convDesc,
                                          cudnnMathType_t* mathType) {
  WARPLINGS_MAY_FAIL(cudnnGetConvolutionMathType, CUDNN_STATUS_INTERNAL_ERROR);
  if (convDesc == nullptr || mathType == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *mathType = convDesc->math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc, int groupCount) {
  WARPLINGS_MAY_FAIL(cudnnSetConvolutionGroupCount, CUDNN_STATUS_INTERNAL_ERROR);
  if (convDesc == nullptr || groupCount < 1) return CUDNN_STATUS_BAD_PARAM;
  convDesc->groups = groupCount;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t convDesc,
                                            int* groupCount) {
  WARPLINGS_MAY_FAIL(cudnnGetConvolutionGroupCount, CUDNN_STATUS_INTERNAL_ERROR);
  if (convDesc == nullptr || groupCount == nullptr) return CUDNN_STATUS_BAD_PARAM;
  *groupCount = convDesc->groups;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t poolingDesc,
                                          cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t maxpoolingNanOpt, int windowHeight,
                                          int windowWidth, int verticalPadding,
                                          int horizontalPadding, int verticalStride,
                                          int horizontalStride) {
  WARPLINGS_MAY_FAIL(cudnnSetPooling2dDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (poolingDesc == nullptr || mode < CUDNN_POOLING_MAX ||
      mode > CUDNN_POOLING_MAX_DETERMINISTIC || windowHeight < 1 || windowWidth < 1 ||
      verticalPadding < 0 || horizontalPadding < 0 || verticalStride < 1 || horizontalStride < 1) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *poolingDesc = {true,
                  mode,
                  maxpoolingNanOpt,
                  {windowHeight, windowWidth},
                  {verticalPadding, horizontalPadding},
                  {verticalStride, horizontalStride}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t activationDesc,
                                           cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t reluNanOpt, double coef) {
  WARPLINGS_MAY_FAIL(cudnnSetActivationDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (activationDesc == nullptr || mode < CUDNN_ACTIVATION_SIGMOID ||
      mode > CUDNN_ACTIVATION_SWISH) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *activationDesc = {true, mode, reluNanOpt, coef};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetOpTensorDescriptor(cudnnOpTensorDescriptor_t opTensorDesc,
                                         cudnnOpTensorOp_t opTensorOp,
                                         cudnnDataType_t opTensorCompType, cudnnNanPropagation_t) {
  WARPLINGS_MAY_FAIL(cudnnSetOpTensorDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (opTensorDesc == nullptr || opTensorOp < CUDNN_OP_TENSOR_ADD ||
      opTensorOp > CUDNN_OP_TENSOR_NOT || !is_type(opTensorCompType)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *opTensorDesc = {true, opTensorOp};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derivedBnDesc,
                                            const cudnnTensorDescriptor_t xDesc,
                                            cudnnBatchNormMode_t mode) {
  WARPLINGS_MAY_FAIL(cudnnDeriveBNTensorDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  if (derivedBnDesc == nullptr || xDesc == nullptr || !xDesc->layout.is_set()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const Layout& x = xDesc->layout;
  const Number type = x.is_double() ? Number::kDouble : Number::kFloat;
  const bool each = mode == CUDNN_BATCHNORM_PER_ACTIVATION;
  derivedBnDesc->layout =
      dense_layout(type, CUDNN_TENSOR_NCHW, 1, static_cast<int>(x.size[1]),
                   each ? static_cast<int>(x.size[2]) : 1, each ? static_cast<int>(x.size[3]) : 1);
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"

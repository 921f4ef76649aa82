// cuDNN's functions for any number of dimensions, for as many as images have: each does what the
// function for two dimensions does. Of others only tensors are simulated (descriptors.cpp).
#include "cudnn/tensor.h"

using namespace warplings::libraries;

namespace {

constexpr int kImage = 4, kSpatial = 2;  // dimensions

// BAD_PARAM where the arguments are none, NOT_SUPPORTED where they are not simulated.
template <class... Arrays>
cudnnStatus_t check_count(const Call& call, int dimensions, int expected, const Arrays*... arrays) {
  if (((arrays == nullptr) || ...)) return CUDNN_STATUS_BAD_PARAM;
  if (dimensions == expected) return CUDNN_STATUS_SUCCESS;
  call.not_simulated("another number of dimensions than an image has");
  return CUDNN_STATUS_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t tensorDesc,
                                           cudnnTensorFormat_t format, cudnnDataType_t dataType,
                                           int nbDims, const int dimA[]) {
  WARPLINGS_MAY_FAIL(cudnnSetTensorNdDescriptorEx, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetTensorNdDescriptorEx);
  const cudnnStatus_t status = check_count(call, nbDims, kImage, dimA);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetTensor4dDescriptor(tensorDesc, format, dataType, dimA[0], dimA[1], dimA[2],
                                    dimA[3]);
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filterDesc,
                                         cudnnDataType_t dataType, cudnnTensorFormat_t format,
                                         int nbDims, const int filterDimA[]) {
  WARPLINGS_MAY_FAIL(cudnnSetFilterNdDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetFilterNdDescriptor);
  if (nbDims < 3) return CUDNN_STATUS_BAD_PARAM;
  const cudnnStatus_t status = check_count(call, nbDims, kImage, filterDimA);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetFilter4dDescriptor(filterDesc, dataType, format, filterDimA[0], filterDimA[1],
                                    filterDimA[2], filterDimA[3]);
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convDesc,
                                              int arrayLength, const int padA[],
                                              const int filterStrideA[], const int dilationA[],
                                              cudnnConvolutionMode_t mode,
                                              cudnnDataType_t computeType) {
  WARPLINGS_MAY_FAIL(cudnnSetConvolutionNdDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetConvolutionNdDescriptor);
  const cudnnStatus_t status =
      check_count(call, arrayLength, kSpatial, padA, filterStrideA, dilationA);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetConvolution2dDescriptor(convDesc, padA[0], padA[1], filterStrideA[0],
                                         filterStrideA[1], dilationA[0], dilationA[1], mode,
                                         computeType);
}

cudnnStatus_t cudnnGetConvolutionNdForwardOutputDim(const cudnnConvolutionDescriptor_t convDesc,
                                                    const cudnnTensorDescriptor_t inputTensorDesc,
                                                    const cudnnFilterDescriptor_t filterDesc,
                                                    int nbDims, int tensorOuputDimA[]) {
  WARPLINGS_MAY_FAIL(cudnnGetConvolutionNdForwardOutputDim, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnGetConvolutionNdForwardOutputDim);
  const cudnnStatus_t status = check_count(call, nbDims, kImage, tensorOuputDimA);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnGetConvolution2dForwardOutputDim(convDesc, inputTensorDesc, filterDesc,
                                               &tensorOuputDimA[0], &tensorOuputDimA[1],
                                               &tensorOuputDimA[2], &tensorOuputDimA[3]);
}

cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t poolingDesc,
                                          const cudnnPoolingMode_t mode,
                                          const cudnnNanPropagation_t maxpoolingNanOpt, int nbDims,
                                          const int windowDimA[], const int paddingA[],
                                          const int strideA[]) {
  WARPLINGS_MAY_FAIL(cudnnSetPoolingNdDescriptor, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnSetPoolingNdDescriptor);
  const cudnnStatus_t status = check_count(call, nbDims, kSpatial, windowDimA, paddingA, strideA);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnSetPooling2dDescriptor(poolingDesc, mode, maxpoolingNanOpt, windowDimA[0],
                                     windowDimA[1], paddingA[0], paddingA[1], strideA[0],
                                     strideA[1]);
}

cudnnStatus_t cudnnGetPoolingNdForwardOutputDim(const cudnnPoolingDescriptor_t poolingDesc,
                                                const cudnnTensorDescriptor_t inputTensorDesc,
                                                int nbDims, int outputTensorDimA[]) {
  WARPLINGS_MAY_FAIL(cudnnGetPoolingNdForwardOutputDim, CUDNN_STATUS_INTERNAL_ERROR);
  WARPLINGS_LIBRARY_CALL(cudnnGetPoolingNdForwardOutputDim);
  const cudnnStatus_t status = check_count(call, nbDims, kImage, outputTensorDimA);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnGetPooling2dForwardOutputDim(poolingDesc, inputTensorDesc, &outputTensorDimA[0],
                                           &outputTensorDimA[1], &outputTensorDimA[2],
                                           &outputTensorDimA[3]);
}

}  // extern "C"

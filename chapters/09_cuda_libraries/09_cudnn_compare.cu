// 09/09 cuDNN, compared: your convolution beside every algorithm of the library, in one table:
// whether it runs for these sizes, how much workspace, how long, how far from your result.
//   x, f, y  tensors as the descriptors say, in device memory; all work in the default stream
//   TODOs  3
#include <algorithm>
#include <cmath>

#include "09_cudnn_compare.h"

float median_milliseconds(const std::function<void()>& work, int calls) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times(calls, 0.0f);
  // TODO(1): Call the work once without timing it. Then fill times: an event before each call, one
  // behind it, wait for that, take what lies between them. Sort (about 9 lines).
  static_cast<void>(work);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return times[calls / 2];
}

double relative_difference(const std::vector<float>& got, const std::vector<float>& want) {
  double difference = 0, length = 0;  // sums of squares
  // TODO(2): Add up both sums over all elements, each term in double (about 5 lines).
  static_cast<void>(got), static_cast<void>(want);
  return std::sqrt(difference / length);
}

static std::vector<float> download(const float* d_y, size_t count) {
  std::vector<float> y(count);
  cudaMemcpy(y.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost);  // waits
  return y;
}

std::vector<CompareRow> compare_algorithms(cudnnHandle_t handle, const ConvDescriptors& d,
                                           const float* d_x, const float* d_f, float* d_y,
                                           size_t count, const std::function<void()>& yours,
                                           int calls) {
  const float one = 1, zero = 0;
  const float time = median_milliseconds(yours, calls);
  const std::vector<float> mine = download(d_y, count);
  std::vector<CompareRow> rows = {{"yours", CUDNN_STATUS_SUCCESS, 0, time, 0}};
  for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
    const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(number);
    CompareRow row = {algorithm_name(number), CUDNN_STATUS_NOT_SUPPORTED, 0, -1, -1};
    // TODO(3): Ask for the workspace of this algorithm: the status goes into the row, and a refused
    // one stays as it is. For the others allocate it, make one call whose status goes into the row,
    // and where that is a success take time and difference. Free it (about 15 lines).
    static_cast<void>(handle), static_cast<void>(d), static_cast<void>(d_x);
    static_cast<void>(d_f), static_cast<void>(one), static_cast<void>(zero);
    static_cast<void>(algorithm);
    rows.push_back(row);
  }
  return rows;
}

// 09/09 cuDNN, compared: your convolution beside every algorithm of the library, in one table:
// whether it runs for these sizes, how much workspace, how long, how far from your result.
//   x, f, y  tensors as the descriptors say, in device memory; all work in the default stream
//   TODOs  3
#include <algorithm>
#include <cmath>

#include "09_cudnn_compare.h"

float median_milliseconds(const std::function<void()>& work, int calls) {
  //~ // TODO(1): The median of the times that the device takes for each of `calls` calls,
  //~ // behind one that is not timed. Nothing is left behind.
  //~ static_cast<void>(work);
  //~ return 0.0f * static_cast<float>(calls);
  //~begin 1
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  std::vector<float> times(calls, 0.0f);
  work();
  for (float& time : times) {
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&time, begin, end);
  }
  std::sort(times.begin(), times.end());
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return times[calls / 2];
  //~end
}

double relative_difference(const std::vector<float>& got, const std::vector<float>& want) {
  //~ // TODO(2): |got - want| / |want|, in double throughout: the square of a float may be
  //~ // more than a float can hold.
  //~ static_cast<void>(got), static_cast<void>(want);
  //~ return 1.0;
  //~begin 2
  double difference = 0, length = 0;  // sums of squares
  for (size_t i = 0; i < want.size(); ++i) {
    const double each = static_cast<double>(got[i]) - want[i];
    difference += each * each;
    length += static_cast<double>(want[i]) * want[i];
  }
  return std::sqrt(difference / length);
  //~end
}

//~begin 3
static std::vector<float> download(const float* d_y, size_t count) {
  std::vector<float> y(count);
  cudaMemcpy(y.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost);  // waits
  return y;
}

//~end
std::vector<CompareRow> compare_algorithms(cudnnHandle_t handle, const ConvDescriptors& d,
                                           const float* d_x, const float* d_f, float* d_y,
                                           size_t count, const std::function<void()>& yours,
                                           int calls) {
  //~ // TODO(3): A row for each algorithm, also for those that are refused; what the library
  //~ // says goes into it. For the others: workspace, time, and how far their result is from
  //~ // yours. An algorithm whose workspace cannot be had is not supported here, and the
  //~ // program goes on.
  //~ static_cast<void>(handle), static_cast<void>(d.x), static_cast<void>(d_x);
  //~ static_cast<void>(d_f), static_cast<void>(d_y), static_cast<void>(count);
  //~ static_cast<void>(yours), static_cast<void>(calls);
  //~ return {{"yours", CUDNN_STATUS_SUCCESS, 0, 0.0f, 0}};
  //~begin 3
  const float one = 1, zero = 0;
  const float time = median_milliseconds(yours, calls);
  const std::vector<float> mine = download(d_y, count);
  std::vector<CompareRow> rows = {{"yours", CUDNN_STATUS_SUCCESS, 0, time, 0}};
  for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
    const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(number);
    CompareRow row = {algorithm_name(number), CUDNN_STATUS_NOT_SUPPORTED, 0, -1, -1};
    row.status = cudnnGetConvolutionForwardWorkspaceSize(handle, d.x, d.f, d.how, d.y, algorithm,
                                                         &row.workspace);
    void* workspace = nullptr;
    if (row.status == CUDNN_STATUS_SUCCESS && row.workspace > 0 &&
        cudaMalloc(&workspace, row.workspace) != cudaSuccess) {
      cudaGetLastError();  // no room is an answer, and no error of the program
      row.status = CUDNN_STATUS_NOT_SUPPORTED;
    }
    const auto call = [&] {
      return cudnnConvolutionForward(handle, &one, d.x, d_x, d.f, d_f, d.how, algorithm, workspace,
                                     row.workspace, &zero, d.y, d_y);
    };
    if (row.status == CUDNN_STATUS_SUCCESS) row.status = call();
    if (row.status == CUDNN_STATUS_SUCCESS) {
      row.milliseconds = median_milliseconds([&] { call(); }, calls);
      row.difference = relative_difference(download(d_y, count), mine);
    }
    cudaFree(workspace);
    rows.push_back(row);
  }
  return rows;
  //~end
}

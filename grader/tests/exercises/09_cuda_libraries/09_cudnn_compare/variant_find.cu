// Statuses from one question to the library about all algorithms, events for every call before the
// first wait, a median by selection, and one workspace that fits all.
#include <algorithm>
#include <cmath>

#include "09_cudnn_compare.h"

float median_milliseconds(const std::function<void()>& work, int calls) {
  std::vector<cudaEvent_t> marks(2 * calls);
  for (cudaEvent_t& mark : marks) cudaEventCreate(&mark);
  work();
  for (int i = 0; i < calls; ++i) {
    cudaEventRecord(marks[2 * i]);
    work();
    cudaEventRecord(marks[2 * i + 1]);
  }
  cudaDeviceSynchronize();
  std::vector<float> times(calls);
  for (int i = 0; i < calls; ++i) cudaEventElapsedTime(&times[i], marks[2 * i], marks[2 * i + 1]);
  for (cudaEvent_t mark : marks) cudaEventDestroy(mark);
  std::nth_element(times.begin(), times.begin() + calls / 2, times.end());
  return times[calls / 2];
}

double relative_difference(const std::vector<float>& got, const std::vector<float>& want) {
  long double apart = 0, length = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    apart = std::hypot(apart, static_cast<long double>(got[i]) - want[i]);
    length = std::hypot(length, static_cast<long double>(want[i]));
  }
  return static_cast<double>(apart / length);
}

std::vector<CompareRow> compare_algorithms(cudnnHandle_t handle, const ConvDescriptors& d,
                                           const float* d_x, const float* d_f, float* d_y,
                                           size_t count, const std::function<void()>& yours,
                                           int calls) {
  std::vector<CompareRow> rows;
  rows.push_back({"yours", CUDNN_STATUS_SUCCESS, 0, median_milliseconds(yours, calls), 0});
  std::vector<float> mine(count), theirs(count);
  cudaMemcpy(mine.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
  size_t most = 0;
  for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++i) {
    CompareRow row = {algorithm_name(i), CUDNN_STATUS_SUCCESS, 0, -1, -1};
    row.status = cudnnGetConvolutionForwardWorkspaceSize(
        handle, d.x, d.f, d.how, d.y, static_cast<cudnnConvolutionFwdAlgo_t>(i), &row.workspace);
    most = std::max(most, row.workspace);
    rows.push_back(row);
  }
  void* workspace = nullptr;
  const bool has_room = cudaMalloc(&workspace, most) == cudaSuccess;
  if (!has_room) cudaGetLastError();
  const float factors[] = {1, 0};
  for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++i) {
    CompareRow& row = rows[i + 1];
    if (row.workspace > 0 && !has_room) row.status = CUDNN_STATUS_NOT_SUPPORTED;
    if (row.status != CUDNN_STATUS_SUCCESS) continue;
    row.milliseconds = median_milliseconds(
        [&] {
          row.status = cudnnConvolutionForward(handle, &factors[0], d.x, d_x, d.f, d_f, d.how,
                                               static_cast<cudnnConvolutionFwdAlgo_t>(i), workspace,
                                               most, &factors[1], d.y, d_y);
        },
        calls);
    cudaMemcpy(theirs.data(), d_y, count * sizeof(float), cudaMemcpyDeviceToHost);
    row.difference = relative_difference(theirs, mine);
  }
  cudaFree(workspace);
  return rows;
}

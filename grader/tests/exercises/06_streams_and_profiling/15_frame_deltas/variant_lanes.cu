// Accepted: the frames take three streams in turn, and each stream does everything for its frame.
#include "15_frame_deltas.h"

namespace {

constexpr int kLanes = 3;

struct Lane {
  cudaStream_t stream = nullptr;
  cudaEvent_t arrived = nullptr, compared = nullptr;
  float *frame = nullptr, *delta = nullptr;
};

__global__ void compare(const float* now, const float* before, float* d, int n, float threshold) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float change = now[i] / (1.0f + fabsf(now[i]));
  if (before != nullptr) change -= before[i] / (1.0f + fabsf(before[i]));
  d[i] = fabsf(change) > threshold ? change : 0.0f;
}

cudaError_t enqueue(const float* h_frame, float* h_delta, int f, int pixels, float threshold,
                    std::atomic<int>* home, Lane* lanes) {
  Lane &lane = lanes[f % kLanes], &last = lanes[(f + kLanes - 1) % kLanes],
       &next = lanes[(f + 1) % kLanes];
  const size_t bytes = pixels * sizeof(float);
  // The frame after the one that lay here was the last to be compared with it.
  cudaError_t error = cudaStreamWaitEvent(lane.stream, next.compared, 0);
  if (error != cudaSuccess) return error;
  error = cudaMemcpyAsync(lane.frame, h_frame, bytes, cudaMemcpyDefault, lane.stream);
  if (error == cudaSuccess) error = cudaEventRecord(lane.arrived, lane.stream);
  if (error == cudaSuccess && f > 0) error = cudaStreamWaitEvent(lane.stream, last.arrived, 0);
  if (error != cudaSuccess) return error;
  compare<<<(pixels + 127) / 128, 128, 0, lane.stream>>>(lane.frame, f > 0 ? last.frame : nullptr,
                                                         lane.delta, pixels, threshold);
  error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaEventRecord(lane.compared, lane.stream);
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(h_delta, lane.delta, bytes, cudaMemcpyDefault, lane.stream);
  }
  const cudaHostFn_t count = [](void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); };
  if (error == cudaSuccess) error = cudaLaunchHostFunc(lane.stream, count, home);
  return error;
}

// What is put into `later` from now on comes behind all that is in `earlier` now.
cudaError_t order(cudaStream_t earlier, cudaStream_t later, cudaEvent_t mark) {
  const cudaError_t error = cudaEventRecord(mark, earlier);
  return error == cudaSuccess ? cudaStreamWaitEvent(later, mark, 0) : error;
}

}  // namespace

cudaError_t encode_frames(const float* h_frames, float* h_deltas, int frames, int pixels,
                          float threshold, std::atomic<int>* home, cudaStream_t stream) {
  Lane lanes[kLanes];
  void* memory = nullptr;
  const size_t row = pixels;
  cudaError_t error = cudaMallocAsync(&memory, 2 * kLanes * row * sizeof(float), stream);
  for (int k = 0; k < kLanes && error == cudaSuccess; ++k) {
    Lane& lane = lanes[k];
    lane.frame = static_cast<float*>(memory) + 2 * k * row;
    lane.delta = lane.frame + row;
    error = cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&lane.arrived, 2);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&lane.compared, 2);
    if (error == cudaSuccess) error = order(stream, lane.stream, lane.arrived);
  }
  for (int f = 0; f < frames && error == cudaSuccess; ++f) {
    error = enqueue(h_frames + f * row, h_deltas + f * row, f, pixels, threshold, home, lanes);
  }
  for (Lane& lane : lanes) {
    if (lane.stream != nullptr) {
      // Without its event a lane was never used, and error says why it has none.
      cudaError_t ordered = error;
      if (lane.arrived != nullptr) ordered = order(lane.stream, stream, lane.arrived);
      if (ordered != cudaSuccess) {
        cudaStreamSynchronize(lane.stream);
        if (error == cudaSuccess) error = ordered;
      }
      cudaStreamDestroy(lane.stream);
    }
    if (lane.arrived != nullptr) cudaEventDestroy(lane.arrived);
    if (lane.compared != nullptr) cudaEventDestroy(lane.compared);
  }
  if (memory != nullptr) {
    const cudaError_t freed = cudaFreeAsync(memory, stream);
    if (error == cudaSuccess) error = freed;
  }
  return error;
}

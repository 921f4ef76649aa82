// Accepted: two frames at a time. One kernel compares both, and each is counted by itself.
#include <algorithm>

#include "15_frame_deltas.h"

namespace {

constexpr int kPair = 2, kPlaces = 3;  // frames of a piece; pieces that have a place

// blockIdx.y is the frame of the piece. What lies before its first frame is `last`, or nothing.
__global__ void compare_pair(const float* piece, const float* last, float* d, int n,
                             float threshold) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const size_t at = static_cast<size_t>(blockIdx.y) * n + i;
  const float* before = blockIdx.y > 0 ? piece + at - n : last == nullptr ? nullptr : last + i;
  const float b = before == nullptr ? 0.0f : *before, v = piece[at];
  const float change = v / (1 + fabsf(v)) - b / (1 + fabsf(b));
  d[at] = fabsf(change) > threshold ? change : 0.0f;
}

void CUDART_CB one_more(void* home) { *static_cast<std::atomic<int>*>(home) += 1; }

struct Tools {
  cudaStream_t in = nullptr, out = nullptr;
  cudaEvent_t mark = nullptr, arrived = nullptr, home = nullptr, done[kPlaces] = {};
  void* memory = nullptr;
};

// Keeps the first error and says whether there is none.
bool good(cudaError_t* first, cudaError_t error) {
  if (*first == cudaSuccess) *first = error;
  return *first == cudaSuccess;
}

bool order(cudaError_t* error, cudaEvent_t mark, cudaStream_t earlier, cudaStream_t later) {
  return good(error, cudaEventRecord(mark, earlier)) &&
         good(error, cudaStreamWaitEvent(later, mark, 0));
}

void make(Tools* t, size_t bytes, cudaStream_t stream, cudaError_t* error) {
  cudaEvent_t* const events[] = {&t->mark,    &t->arrived, &t->home,
                                 &t->done[0], &t->done[1], &t->done[2]};
  for (cudaEvent_t* event : events) {
    if (!good(error, cudaEventCreateWithFlags(event, cudaEventDisableTiming))) return;
  }
  if (!good(error, cudaStreamCreateWithFlags(&t->in, cudaStreamNonBlocking))) return;
  if (!good(error, cudaStreamCreateWithFlags(&t->out, cudaStreamNonBlocking))) return;
  if (!good(error, cudaMallocAsync(&t->memory, bytes, stream))) return;
  if (order(error, t->mark, stream, t->in)) order(error, t->mark, stream, t->out);
}

void release(Tools* t, cudaStream_t stream, cudaError_t* error) {
  for (cudaStream_t made : {t->in, t->out}) {
    if (made == nullptr) continue;
    cudaError_t joined = cudaSuccess;
    order(&joined, t->mark, made, stream);
    if (joined != cudaSuccess) cudaStreamSynchronize(made);
    good(error, joined);
    cudaStreamDestroy(made);
  }
  if (t->memory != nullptr) good(error, cudaFreeAsync(t->memory, stream));
  for (cudaEvent_t event : {t->mark, t->arrived, t->home, t->done[0], t->done[1], t->done[2]}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
}

}  // namespace

cudaError_t encode_frames(const float* h_frames, float* h_deltas, int frames, int pixels,
                          float threshold, std::atomic<int>* home, cudaStream_t stream) {
  const size_t row = pixels, pair = kPair * row;
  Tools t;
  cudaError_t error = cudaSuccess;
  make(&t, (kPlaces + 1) * pair * sizeof(float), stream, &error);
  float* const memory = static_cast<float*>(t.memory);
  float* const d = memory + kPlaces * pair;
  for (int first = 0, k = 0; first < frames && error == cudaSuccess; first += kPair, ++k) {
    const int here = std::min(kPair, frames - first);
    float* const piece = memory + k % kPlaces * pair;
    const float* const last =
        k == 0 ? nullptr : memory + (k - 1) % kPlaces * pair + (kPair - 1) * row;
    const size_t bytes = here * row * sizeof(float);
    // The kernel of two pieces ago compared with the last frame that lay here.
    if (!good(&error, cudaStreamWaitEvent(t.in, t.done[(k + 1) % kPlaces], 0))) break;
    if (!good(&error, cudaMemcpyAsync(piece, h_frames + first * row, bytes, cudaMemcpyHostToDevice,
                                      t.in))) {
      break;
    }
    if (!order(&error, t.arrived, t.in, stream)) break;
    if (!good(&error, cudaStreamWaitEvent(stream, t.home, 0))) break;
    compare_pair<<<dim3((pixels + 255) / 256, here), 256, 0, stream>>>(piece, last, d, pixels,
                                                                       threshold);
    if (!good(&error, cudaGetLastError())) break;
    if (!order(&error, t.done[k % kPlaces], stream, t.out)) break;
    for (int f = 0; f < here; ++f) {
      if (!good(&error, cudaMemcpyAsync(h_deltas + (first + f) * row, d + f * row,
                                        row * sizeof(float), cudaMemcpyDeviceToHost, t.out))) {
        break;
      }
      if (!good(&error, cudaLaunchHostFunc(t.out, one_more, home))) break;
    }
    if (error == cudaSuccess) good(&error, cudaEventRecord(t.home, t.out));
  }
  release(&t, stream, &error);
  return error;
}

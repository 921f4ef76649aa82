// 06/15 Frame deltas: what the test calls.
#ifndef CHAPTERS_06_STREAMS_AND_PROFILING_15_FRAME_DELTAS_H_
#define CHAPTERS_06_STREAMS_AND_PROFILING_15_FRAME_DELTAS_H_

#include <cuda_runtime.h>

#include <atomic>

// What has changed from one frame of a film to the next:
//   d = tone(frame f, pixel p) - tone(frame f - 1, pixel p), with tone(v) = v / (1 + |v|)
//   deltas[f][p] = d where |d| > threshold, else 0 (also for a NaN, which is greater than nothing);
//                  the frame before the first one is all 0
// Puts work into streams and returns without waiting for any of it. What the caller puts into
// `stream` afterwards finds all deltas complete and counted. Returns the first error; nothing stays
// behind.
//   h_frames  frames x pixels floats in pinned host memory, complete when the work that is already
//             in `stream` is
//   h_deltas  frames x pixels floats in pinned host memory
//             frames >= 0, pixels >= 1, frames * pixels < 2^31
//   home      increased by 1 for every frame whose deltas are in h_deltas, as soon as they are
//   stream    does not wait for the default stream
// At most 8 * pixels floats of device memory are asked for in a call. Several threads of the host
// may call at the same time, each with arrays and a stream of its own.
cudaError_t encode_frames(const float* h_frames, float* h_deltas, int frames, int pixels,
                          float threshold, std::atomic<int>* home, cudaStream_t stream);

// The same in one stream, one frame after the other (15_frame_deltas_baseline.cu); it does not
// count.
cudaError_t encode_one_by_one(const float* h_frames, float* h_deltas, int frames, int pixels,
                              float threshold, cudaStream_t stream);

#endif  // CHAPTERS_06_STREAMS_AND_PROFILING_15_FRAME_DELTAS_H_

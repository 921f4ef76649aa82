// 02/10 Mix tracks: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_10_MIX_TRACKS_H_
#define CHAPTERS_02_VECTOR_ADD_10_MIX_TRACKS_H_

#include <cuda_runtime.h>

// A recording has tracks, one per microphone, and each has a gain: how loud it is in the mix.
// mix[i] is the sum over t of gains[t] * sample i of track t.
//   d_samples  one row per track in device memory, `pitch` floats from the beginning of one row to
//              that of the next; the first n are samples, what follows them may hold anything
//   d_gains    tracks floats in device memory
//   d_mix      n floats in device memory
//   pitch      a multiple of 4, at least n; d_samples and d_mix are aligned to 16 bytes
//   tracks, n  tracks >= 1, n from 0 to 2^30, tracks * pitch < 2^31
void launch_mix(const float* d_samples, int pitch, const float* d_gains, float* d_mix, int tracks,
                int n);

// The same from host memory to host memory, with launch_mix.
//   h_samples  tracks x n floats, row-major, with nothing between the rows; n >= 1
//   h_gains    tracks floats
//   h_mix      n floats
//   ms         receives how many milliseconds the device took for the kernel, without the copies;
//              after an error it may hold anything
// Returns the first error, or cudaSuccess once the mix is in host memory. Whatever it returns, it
// leaves no device memory and no event, and of its own calls no error for the next call to find.
cudaError_t mix_tracks(const float* h_samples, const float* h_gains, float* h_mix, int tracks,
                       int n, float* ms);

// The first i for which |h_mix[i] - sum| <= tolerance does not hold, the sum computed in double;
// -1 if there is none. h_mix may hold anything, also NaN, and so may tolerance. Arrays as above;
// n >= 0.
int first_wrong_sample(const float* h_samples, const float* h_gains, const float* h_mix, int tracks,
                       int n, double tolerance);

#endif  // CHAPTERS_02_VECTOR_ADD_10_MIX_TRACKS_H_

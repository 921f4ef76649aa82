// 08/04 FFT, radix 4: a pass that joins four transforms at a time, and transforms made of passes.
//   x, y   batch arrays of n complex values each; n is a power of four from 4 to 4096
//   done   points of a finished transform before the pass: 1, 4, 16, ...; 4 done points after it
//   The header says which transforms meet. + - * and turn() are in support.h, and so is dft<4>,
//   which makes the sums of four points in registers, without any multiplication.
//   TODOs  2
#include "04_fft_radix4.h"
#include "support.h"

namespace {

//~begin 1
constexpr int kBlock = 256;  // threads

// A butterfly per thread, in all arrays: point j of four transforms of `done` points.
__global__ void fft_pass4(const float2* x, float2* y, int n, int done, size_t butterflies) {
  const size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= butterflies) return;
  const int quarter = n / 4;
  const int b = static_cast<int>(at % quarter), j = b % done;
  const size_t begin = at / quarter * n;  // of this array
  float2 v[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) v[r] = x[begin + b + r * quarter];
  const float part = 0.25f * j / done;  // of a turn, between neighbouring points: 1 / (4 done)
#pragma unroll
  for (int r = 1; r < 4; ++r) v[r] = turn(r * part) * v[r];
  dft<4>(v);
  float2* const to = y + begin + 4 * (b - j) + j;  // transform b / done has 4 done places
#pragma unroll
  for (int r = 0; r < 4; ++r) to[r * done] = v[r];
}

//~end
void make_pass(const float2* d_x, float2* d_y, int n, int done, int batch) {
  //~ // TODO(1): Every array of y holds transforms of 4 done points, as the header says, made from
  //~ // those of `done` points in x. Each point is read once and written once, and neighbouring
  //~ // threads read neighbouring points.
  //~ static_cast<void>(d_x), static_cast<void>(d_y), static_cast<void>(n);
  //~ static_cast<void>(done), static_cast<void>(batch);
  //~begin 1
  const size_t butterflies = static_cast<size_t>(n / 4) * batch;
  const unsigned grid = static_cast<unsigned>((butterflies + kBlock - 1) / kBlock);
  if (grid > 0) fft_pass4<<<grid, kBlock>>>(d_x, d_y, n, done, butterflies);
  //~end
}

}  // namespace

void launch_fft_pass4(const float2* d_x, float2* d_y, int n, int done, int batch) {
  make_pass(d_x, d_y, n, done, batch);
}

void launch_fft_radix4(const float2* d_x, float2* d_y, float2* d_between, int n, int batch) {
  //~ // TODO(2): y holds the whole transforms, made by passes only, as few as there can be, and x is
  //~ // as it was before.
  //~ static_cast<void>(d_between);
  //~ make_pass(d_x, d_y, n, 1, batch);
  //~begin 2
  int passes = 0;
  while (1 << (2 * passes) < n) ++passes;
  const float2* from = d_x;
  for (int done = 1; done < n; done *= 4, --passes) {
    float2* const to = passes % 2 == 1 ? d_y : d_between;  // the last one writes y
    make_pass(from, to, n, done, batch);
    from = to;
  }
  //~end
}

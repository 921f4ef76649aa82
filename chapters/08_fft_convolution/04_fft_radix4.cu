// 08/04 FFT, radix 4: a pass that joins four transforms at a time, and transforms made of passes.
//   x, y   batch arrays of n complex values each; n is a power of four from 4 to 4096
//   done   points of a finished transform before the pass: 1, 4, 16, ...; 4 done points after it
//   The header says which transforms meet. + - * and turn() are in support.h, and so is dft<4>,
//   which makes the sums of four points in registers, without any multiplication.
//   TODOs  2
#include "04_fft_radix4.h"
#include "support.h"

namespace {

void make_pass(const float2* d_x, float2* d_y, int n, int done, int batch) {
  // TODO(1): Every array of y holds transforms of 4 done points, as the header says, made from
  // those of `done` points in x. Each point is read once and written once, and neighbouring
  // threads read neighbouring points.
  static_cast<void>(d_x), static_cast<void>(d_y), static_cast<void>(n);
  static_cast<void>(done), static_cast<void>(batch);
}

}  // namespace

void launch_fft_pass4(const float2* d_x, float2* d_y, int n, int done, int batch) {
  make_pass(d_x, d_y, n, done, batch);
}

void launch_fft_radix4(const float2* d_x, float2* d_y, float2* d_between, int n, int batch) {
  // TODO(2): y holds the whole transforms, made by passes only, as few as there can be, and x is
  // as it was before.
  static_cast<void>(d_between);
  make_pass(d_x, d_y, n, 1, batch);
}

// Another right answer: four stages of sums written out, one sine and cosine whose powers are made
// by products, an array per row of the grid, and passes that count from the last.
#include "04_fft_radix4.h"
#include "support.h"

namespace {

__global__ void pass_in_rows(const float2* x, float2* y, int n, int done, int batch) {
  const int quarter = n / 4;
  for (int array = blockIdx.y; array < batch; array += gridDim.y) {
    const float2* const from = x + static_cast<size_t>(array) * n;
    float2* const to = y + static_cast<size_t>(array) * n;
    for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < quarter; b += gridDim.x * blockDim.x) {
      const int q = b / done, j = b - q * done;
      const float2 w1 = turn(static_cast<float>(j) / (4 * done)), w2 = w1 * w1, w3 = w2 * w1;
      const float2 a = from[b], c = w1 * from[b + quarter];
      const float2 d = w2 * from[b + 2 * quarter], e = w3 * from[b + 3 * quarter];
      const float2 ad = a + d, a_d = a - d, ce = c + e, c_e = c - e;
      float2* const out = to + 4 * q * done + j;
      out[0] = ad + ce;
      out[done] = make_float2(a_d.x + c_e.y, a_d.y - c_e.x);
      out[2 * done] = ad - ce;
      out[3 * done] = make_float2(a_d.x - c_e.y, a_d.y + c_e.x);
    }
  }
}

void make_pass(const float2* d_x, float2* d_y, int n, int done, int batch) {
  if (batch == 0) return;
  const int block = n / 4 < 128 ? n / 4 : 128;
  const dim3 grid(n / 4 / block, batch < 65535 ? batch : 65535);
  pass_in_rows<<<grid, block>>>(d_x, d_y, n, done, batch);
}

}  // namespace

void launch_fft_pass4(const float2* d_x, float2* d_y, int n, int done, int batch) {
  make_pass(d_x, d_y, n, done, batch);
}

void launch_fft_radix4(const float2* d_x, float2* d_y, float2* d_between, int n, int batch) {
  // Where the passes begin depends on how many there are: the last one writes y.
  bool odd = false;
  for (int points = n; points > 1; points /= 4) odd = !odd;
  float2* to = odd ? d_y : d_between;
  float2* other = odd ? d_between : d_y;
  make_pass(d_x, to, n, 1, batch);
  for (int done = 4; done < n; done *= 4) {
    make_pass(to, other, n, done, batch);
    float2* const swap = to;
    to = other, other = swap;
  }
}

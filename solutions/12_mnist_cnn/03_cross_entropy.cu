// 12/03 Cross-entropy: the loss of a batch and its derivative by the logits, in one kernel.
//   logits  n x classes   labels  n bytes   loss  1 float   dlogits  n x classes
//   p = softmax of a row = exp(x - max) / sum of exp(x - max): the largest exponent is 0
//   loss of an image = -log p[label] = log(sum) - (x[label] - max): no logarithm of a tiny p
//   derivative by x[c] = (p[c] - (c == label)) / n: the batch takes the mean
//   A row is short, so a thread has a whole image. One block takes all images: then the sum of the
//   losses needs no atomics, and its order, so its last bit, is the same at every run.
//   TODOs  3
#include <cmath>
#include <cstddef>

#include "03_cross_entropy.h"

namespace {

constexpr int kBlock = 1024;  // threads

__global__ void cross_entropy_mean(const float* logits, const unsigned char* labels, float* loss,
                                   float* dlogits, int n, int classes) {
  __shared__ float of_warp[kBlock / 32];  // [warp]: sums of losses
  float losses = 0.0f;                    // of this thread's images
  for (int image = threadIdx.x; image < n; image += kBlock) {
    const float* x = logits + static_cast<size_t>(image) * classes;
    float* dx = dlogits + static_cast<size_t>(image) * classes;
    const int label = labels[image];
    float max = x[0], sum = 0.0f;
    //~ // TODO(1): Find the largest logit of the row, then sum up exp(x - max) (about 2 lines).
    //~ sum = 1.0f;
    //~begin 1
    for (int c = 1; c < classes; ++c) max = fmaxf(max, x[c]);
    for (int c = 0; c < classes; ++c) sum += expf(x[c] - max);
    //~end
    //~ // TODO(2): Add this image's loss to losses, and write the derivatives dx (about 5 lines).
    //~ for (int c = 0; c < classes; ++c) dx[c] = c == label ? max : sum;
    //~begin 2
    losses += logf(sum) - (x[label] - max);
    const float scale = 1.0f / (sum * n);
    for (int c = 0; c < classes; ++c) {
      dx[c] = expf(x[c] - max) * scale - (c == label ? 1.0f / n : 0.0f);
    }
    //~end
  }
  //~ // TODO(3): Add up the losses of all threads, by shuffles and of_warp, as in 05/03. Thread 0
  //~ // writes the mean (about 8 lines).
  //~ if (threadIdx.x == 0) {
  //~   of_warp[0] = losses;
  //~   *loss = of_warp[0];
  //~ }
  //~begin 3
  for (int offset = 16; offset > 0; offset /= 2) {
    losses += __shfl_down_sync(~0u, losses, offset);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = losses;
  __syncthreads();  // write against read: thread 0 reads what every warp has written
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kBlock / 32; ++warp) losses += of_warp[warp];
    *loss = losses / n;
  }
  //~end
}

}  // namespace

void launch_cross_entropy(const float* d_logits, const unsigned char* d_labels, float* d_loss,
                          float* d_dlogits, int n, int classes) {
  cross_entropy_mean<<<1, kBlock>>>(d_logits, d_labels, d_loss, d_dlogits, n, classes);
}

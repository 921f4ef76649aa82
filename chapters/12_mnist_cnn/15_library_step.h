// 12/15 Library step: what the test calls.
#ifndef CHAPTERS_12_MNIST_CNN_15_LIBRARY_STEP_H_
#define CHAPTERS_12_MNIST_CNN_15_LIBRARY_STEP_H_

#include "11_train_step.h"
#include "15_library_step_support.h"

// What a block keeps for its backward pass, and its parameters; the layouts are those of support.h.
struct BlockArrays {
  const float* x;  // as block.x says
  float *conv, *relu, *pooled;
  const float *w, *gamma, *beta;
  float *mean, *inv_std;
};
constexpr double kNormEpsilon = 1e-5;

// All of them queue work in the default stream, and return whether every call was a success. A
// launcher without a status has succeeded if cudaGetLastError() says so.
// conv = x filtered by w; relu = what batch norm (statistics of the batch, kept in mean and
// inv_std) and ReLU make of it; pooled = the largest of 2 x 2.
bool launch_block_forward(const Libraries& libraries, const LibraryBlock& block,
                          const BlockArrays& arrays);
// y = x w^T + b, by cuBLAS, and its gradients. All row-major.
bool launch_dense_forward(const Libraries& libraries, const LibraryLinear& linear, const float* x,
                          const float* w, const float* b, float* y);
bool launch_dense_backward(const Libraries& libraries, const LibraryLinear& linear, const float* x,
                           const float* w, const float* dy, float* dx, float* dw, float* db);
// The whole step of 12/11: forward, loss, backward, parameters -= rate * gradients.
bool launch_library_step(const Libraries& libraries, const TrainStep& step, float rate);

#endif  // CHAPTERS_12_MNIST_CNN_15_LIBRARY_STEP_H_

// 12/05 MLP first: two linear layers, trained from the first batch to the last.
#ifndef CHAPTERS_12_MNIST_CNN_05_MLP_FIRST_H_
#define CHAPTERS_12_MNIST_CNN_05_MLP_FIRST_H_

#include <cuda_runtime_api.h>

#include <cstddef>

#include "01_data_loader.h"

// x (n x in) -> linear -> ReLU -> linear -> logits (n x classes). Parameters are one array:
// w1 [hidden][in], b1 [hidden], w2 [classes][hidden], b2 [classes]; gradients are another one.
struct Mlp {
  int in, hidden, classes;
  size_t b1() const { return static_cast<size_t>(hidden) * in; }
  size_t w2() const { return b1() + hidden; }
  size_t b2() const { return w2() + static_cast<size_t>(classes) * hidden; }
  size_t parameters() const { return b2() + classes; }
};

// What a batch needs between the layers, in device memory: all floats of one array.
struct MlpWorkspace {
  float *hidden, *relu;     // n x hidden: outputs of the first layer, before and after ReLU
  float *logits, *dlogits;  // n x classes, and their derivatives
  float *drelu, *dhidden;   // n x hidden: derivatives
  static size_t size(const Mlp& mlp, int n) {
    return static_cast<size_t>(n) * (4 * mlp.hidden + 2 * mlp.classes);
  }
  MlpWorkspace(const Mlp& mlp, int n, float* d_floats) {
    const size_t wide = static_cast<size_t>(n) * mlp.hidden;
    hidden = d_floats;
    relu = hidden + wide;
    drelu = relu + wide;
    dhidden = drelu + wide;
    logits = dhidden + wide;
    dlogits = logits + static_cast<size_t>(n) * mlp.classes;
  }
};

// Fills hidden, relu and logits of the workspace.
void launch_mlp_forward(const Mlp& mlp, const float* d_parameters, const float* d_x, int n,
                        const MlpWorkspace& work);

// After the forward pass: the loss (1 float, mean over the batch) and the derivatives of all
// parameters, which are written, not added to.
void launch_mlp_backward(const Mlp& mlp, const float* d_parameters, const float* d_x,
                         const unsigned char* d_labels, int n, const MlpWorkspace& work,
                         float* d_loss, float* d_gradients);

struct MlpTraining {
  int batch, epochs;
  float rate;
  unsigned long long seed;  // of the shuffles
};

// Epoch e goes through the set in the order of shuffle(..., seed, e), in batches; what is left at
// its end and fills no batch waits for another epoch. losses[i] (host memory) becomes the loss of
// step i, before its update; there are epochs * (count / batch) of them, rounded down: none, and a
// success, where the set is smaller than a batch. Returns the first error.
cudaError_t train_mlp(const Mlp& mlp, const Dataset& set, const MlpTraining& how,
                      float* d_parameters, float* losses);

#endif  // CHAPTERS_12_MNIST_CNN_05_MLP_FIRST_H_

// 12/04 SGD update: a step against the gradient, and the weights before the first step.
#ifndef CHAPTERS_12_MNIST_CNN_04_SGD_UPDATE_H_
#define CHAPTERS_12_MNIST_CNN_04_SGD_UPDATE_H_

#include "support.h"

// Each array is of floats in device memory and may begin at any of them: a network's tensors lie
// one behind the other in one array.

// w[i] -= rate * dw[i] for n floats; n from 0 to 2^30.
void launch_sgd_update(float* d_w, const float* d_dw, float rate, int n);

// w[i] = (k 2^-23 - 1) bound, rounded once, where k is the upper 24 bits of random_bits(seed,
// offset + i) (support.h): values from -bound up to bound, all equally likely, that depend on seed
// and offset + i alone. n floats in device memory.
void launch_uniform_init(float* d_w, int n, float bound, unsigned long long seed,
                         unsigned long long offset);

// All parameters of a network: +-1 / sqrt(fan_in), in float, for weights and biases, each tensor at
// its own offset in the sequence of the seed; 1 for gammas, 0 for betas. d_parameters has
// parameters_of(net).total floats.
void launch_network_init(const Network& net, float* d_parameters, unsigned long long seed);

#endif  // CHAPTERS_12_MNIST_CNN_04_SGD_UPDATE_H_

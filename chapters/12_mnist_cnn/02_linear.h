// 12/02 Linear: a layer of sums, forward and backward.
#ifndef CHAPTERS_12_MNIST_CNN_02_LINEAR_H_
#define CHAPTERS_12_MNIST_CNN_02_LINEAR_H_

// y[i][o] = b[o] + sum over j of x[i][j] w[o][j]. Row-major floats in device memory: x is n x in, w
// out x in, b out, y n x out. n, in and out from 0 to 2^19, no matrix of 2^31 elements; a sum of
// nothing is 0.
void launch_linear_forward(const float* d_x, const float* d_w, const float* d_b, float* d_y, int n,
                           int in, int out);

// dy (n x out) is the derivative of the loss by each element of y. Writes, and does not add to: dx
// (n x in; null if nobody wants it), dw (out x in) and db (out), the derivatives by x, w and b.
void launch_linear_backward(const float* d_x, const float* d_w, const float* d_dy, float* d_dx,
                            float* d_dw, float* d_db, int n, int in, int out);

#endif  // CHAPTERS_12_MNIST_CNN_02_LINEAR_H_

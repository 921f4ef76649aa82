// 12/10 ReLU and max pool: what the test calls, and 11.
#ifndef CHAPTERS_12_MNIST_CNN_10_RELU_POOL_H_
#define CHAPTERS_12_MNIST_CNN_10_RELU_POOL_H_

// y is the greatest of each 2 x 2 window of relu(x), relu(v) = max(v, 0). An odd last row or column
// of x is in no window.
//   d_x, d_dx  n x c x h x w floats in device memory, no NaN;  d_y, d_dy  n x c x (h/2) x (w/2)
// Backward writes all of dx, the derivative of the loss by x, from dy, that by y: dy goes to the
// greatest value of the window, the first of them in reading order if there are several, and to
// none if it is not above 0. n >= 0, c >= 1; h, w >= 2; an int counts each array.
void launch_relu_pool_forward(const float* d_x, float* d_y, int n, int c, int h, int w);
void launch_relu_pool_backward(const float* d_x, const float* d_dy, float* d_dx, int n, int c,
                               int h, int w);

#endif  // CHAPTERS_12_MNIST_CNN_10_RELU_POOL_H_

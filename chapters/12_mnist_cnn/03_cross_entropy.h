// 12/03 Cross-entropy: from the logits of a batch to its loss, and back.
#ifndef CHAPTERS_12_MNIST_CNN_03_CROSS_ENTROPY_H_
#define CHAPTERS_12_MNIST_CNN_03_CROSS_ENTROPY_H_

// All in device memory; n and classes are at least 1.
//   logits   n x classes floats, row-major; finite, of any size
//   labels   n bytes, each less than classes
//   loss     1 float: the mean over the images of -log p[label], p = softmax of the image's row
//   dlogits  n x classes: the derivative of the loss by each logit
// The same input gives the same bits at every run.
void launch_cross_entropy(const float* d_logits, const unsigned char* d_labels, float* d_loss,
                          float* d_dlogits, int n, int classes);

#endif  // CHAPTERS_12_MNIST_CNN_03_CROSS_ENTROPY_H_

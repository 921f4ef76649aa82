// 12/03 Cross-entropy: from the logits of a batch to its loss, and back.
#ifndef CHAPTERS_12_MNIST_CNN_03_CROSS_ENTROPY_H_
#define CHAPTERS_12_MNIST_CNN_03_CROSS_ENTROPY_H_

// All in device memory; n and classes are at least 1.
//   logits   n x classes floats, row-major; finite, of any size, as long as the sum of the losses
//            of the batch is a finite float
//   labels   n bytes, each less than classes
//   loss     1 float: the mean over the images of -log p[label], p = softmax of the image's row
//   dlogits  n x classes: the derivative of the loss by each logit
// How exact: only the distances between the logits of a row may cost digits, not how far all of
// them lie from 0. A unit is 2^-24; there are 8 of them for up to 10 classes, and one for each
// class where there are more, since a float may add them up. The spread of a row is its largest
// logit less its smallest one.
//   loss     off by at most that many units times the mean over the images of (1 + spread)
//   dlogits  off by at most that many units times (1 + spread) * (p + 1) / n for the label, and
//            (1 + spread) * p / n for other classes; what is below 1e-30 may be 0
// The same input gives the same bits at every run.
void launch_cross_entropy(const float* d_logits, const unsigned char* d_labels, float* d_loss,
                          float* d_dlogits, int n, int classes);

#endif  // CHAPTERS_12_MNIST_CNN_03_CROSS_ENTROPY_H_

// 12/12 Train: a whole run, from the first weights to a confusion matrix.
#ifndef CHAPTERS_12_MNIST_CNN_12_TRAIN_H_
#define CHAPTERS_12_MNIST_CNN_12_TRAIN_H_

#include <functional>
#include <string>
#include <vector>

#include "01_data_loader.h"
#include "support.h"

struct TrainOptions {
  Network network;
  int batch, epochs;
  float rate;
  unsigned long long seed;  // of the first weights and the shuffles
  std::string folder;       // for checkpoint, weights and loss.svg; "" writes no file
  int save_every = 0;       // steps from one checkpoint to the next; 0: only where it is stopped
  bool shows_progress = false;               // on stdout
  std::function<void(int step)> after_step;  // before the step's checkpoint; may be empty
};

// What a layer of batch norm needs after the training: of all images, for each channel.
// mean1, variance1 (channels1 each), mean2, variance2 (channels2 each) in one array.
inline size_t statistics_size(const Network& net) {
  return 2 * static_cast<size_t>(net.channels1 + net.channels2);
}

struct Trained {
  bool finished = false;          // false: stopped by Ctrl-C, and a checkpoint is there
  std::vector<float> parameters;  // as parameters_of(network) says
  std::vector<float> statistics;  // statistics_size(network)
  std::vector<float> losses;      // of each step, before its update
  std::vector<int> confusion;     // classes x classes: test images of label [row] called [col]
};

// Trains as 05 does: epoch e in the order of shuffle(..., seed, e), in full batches. Goes on from
// the checkpoint in the folder, if there is one, and gives the bits that a run without a stop
// gives. Ctrl-C ends it after the step that runs. Then one pass over the training set for the
// statistics, and the test set. Returns "" or what went wrong.
std::string train(const Dataset& set, const Dataset& test, const TrainOptions& options,
                  Trained* trained);

// logits (n x classes) of images with statistics that are given: a batch of one image gets the same
// answer as a batch of many. d_statistics is mean1, inv_std1, mean2, inv_std2 in device memory;
// d_workspace has workspace_size(net, n) floats (11_train_step.h).
void launch_inference(const Network& net, const float* d_parameters, const float* d_statistics,
                      const float* d_images, int n, float* d_workspace, float* d_logits);

#endif  // CHAPTERS_12_MNIST_CNN_12_TRAIN_H_

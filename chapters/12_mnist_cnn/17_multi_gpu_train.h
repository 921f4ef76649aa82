// 12/17 Multi-GPU training: what the test calls.
#ifndef CHAPTERS_12_MNIST_CNN_17_MULTI_GPU_TRAIN_H_
#define CHAPTERS_12_MNIST_CNN_17_MULTI_GPU_TRAIN_H_

#include <nccl.h>

#include "16_faster_than_pytorch.h"

// One GPU's share of a step: step.n of the step.total images of the batch, and all parameters,
// which are the same on every rank before a step and after it. Rank d is device d.
struct Rank {
  FusedStep step;
  StepStreams streams;
  ncclComm_t comm;
};

// Queues one step of all ranks on their batches in step.batch[slot]: the parameters become what one
// GPU with all images would have made of them. Meanwhile rank d copies its next batch from
// h_next[d], pinned memory. What is queued in streams.main afterwards finds all of that done.
// Returns the first result that is no success; the current device stays what it was.
ncclResult_t launch_multi_gpu_step(const Rank* ranks, int devices, int slot,
                                   const unsigned char* const* h_next);

#endif  // CHAPTERS_12_MNIST_CNN_17_MULTI_GPU_TRAIN_H_

// 12/16 Faster than PyTorch: a training step of few kernels, recorded as a graph.
#ifndef CHAPTERS_12_MNIST_CNN_16_FASTER_THAN_PYTORCH_H_
#define CHAPTERS_12_MNIST_CNN_16_FASTER_THAN_PYTORCH_H_

#include <cuda_runtime.h>

#include "16_faster_than_pytorch_support.h"

// Batch norm, ReLU and pooling of the second convolution's output, and the products of the first
// linear layer: pool2, from2, hidden (in parts, one for each split of the cells).
void launch_linear_pooled(const FusedStep& step, cudaStream_t stream);

// Where the work of a step is queued: `main`, and two streams beside it.
struct StepStreams {
  cudaStream_t main, copy, branch;
};

// Given: the streams, on the current device. Of two kernels that are ready, the main stream's
// starts first: it is on the longest way through the step.
inline cudaError_t make_streams(StepStreams* streams) {
  int least = 0, greatest = 0;
  cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  for (cudaStream_t* stream : {&streams->main, &streams->copy, &streams->branch}) {
    const int priority = stream == &streams->main ? greatest : least;
    if (error != cudaSuccess) break;
    error = cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority);
  }
  return error;
}
inline void free_streams(const StepStreams& streams) {
  for (cudaStream_t stream : {streams.main, streams.copy, streams.branch}) {
    cudaStreamDestroy(stream);
  }
}

// Queues one step on the batch in step.batch[slot]. Meanwhile the next batch, batch_bytes of pinned
// memory at h_next, goes to step.batch[1 - slot], and its moments are summed up. What is queued in
// streams.main afterwards finds all of that done.
void enqueue_step(const FusedStep& step, int slot, const unsigned char* h_next,
                  const StepStreams& streams);

// The same as a graph, which nothing has run yet. Returns the first error.
cudaError_t record_step(const FusedStep& step, int slot, const unsigned char* h_next,
                        const StepStreams& streams, cudaGraph_t* graph);

// What `second` is given from now on waits for all that `first` has been given so far.
inline void order_streams(cudaStream_t first, cudaStream_t second) {
  cudaEvent_t done = nullptr;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaEventRecord(done, first);
  cudaStreamWaitEvent(second, done, 0);
  cudaEventDestroy(done);  // its memory is kept as long as a stream waits for it
}

#endif  // CHAPTERS_12_MNIST_CNN_16_FASTER_THAN_PYTORCH_H_

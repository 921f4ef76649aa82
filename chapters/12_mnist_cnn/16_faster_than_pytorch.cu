// 12/16 Faster than PyTorch: the training step of 12/11 in nine kernels and one launch.
//   What lies between two products is computed where it is loaded: it never goes to memory. The
//   kernel here is the first linear layer, which reads the second convolution's output and does
//   batch norm, ReLU and pooling on the way; the other eight are given and do the same in their
//   places. The order of the kernels and the graph are yours, too. 16_faster_than_pytorch_support.h
//   has the arrays and their shapes.
//   TODOs      5
#include "16_faster_than_pytorch.h"

// hidden[split] = pool2 times the weights, of the split's cells only; blockIdx.x: 64 images,
// blockIdx.y: split. pool2 and from2 are for the backward pass.
template <class N>
__global__ void __launch_bounds__(LinearTile<N>::kThreads)
    linear_pooled(const float* __restrict__ conv2, const float* __restrict__ params,
                  const double* sums2, float* pool2, unsigned char* from2, float* hidden, int n,
                  int total, int cells_per_split) {
  using Tile = LinearTile<N>;
  __shared__ Tile tile;
  __shared__ float scale[N::kC2], shift[N::kC2];
  // TODO(1): scale and shift of every channel: batch norm as one multiplication and one addition.
  if (threadIdx.x == 0) scale[0] = shift[0] = statistics2<N>(sums2, 0, total).inv_std;
  const int row0 = blockIdx.x * Tile::kRows;
  const int first = blockIdx.y * cells_per_split, last = min(N::kCells, first + cells_per_split);
  float acc[4][8] = {};
  // TODO(2): acc has this thread's part of the product of pool2 and the weights, over the cells from
  // first to last. pool2 is made here, a cell at a time: batch norm, ReLU and pooling of conv2. It
  // goes to the tile, and, with the pixel that won, to memory for the backward pass: from2 is 0 to
  // 3, the first of equal ones, or 4 if none is above 0. LinearTile has all that the tile can do.
  for (int cell = first; cell < last; ++cell) {
    for (int e = threadIdx.x; e < Tile::kQuads; e += Tile::kThreads) {
      const size_t at = (size_t(row0 + Tile::row_of(e)) * N::kCells + cell) * N::kC2;
      if (row0 + Tile::row_of(e) >= n) continue;
      store4(&pool2[at + Tile::channel_of(e)], scale[0], shift[0], conv2[0], tile.a[0]);
      from2[at + Tile::channel_of(e)] = 4;
    }
  }
  Tile::write(acc, hidden + size_t(blockIdx.y) * n * N::kHidden, row0, n);
}

template <class N>
static void run_linear_pooled(const FusedStep& s, cudaStream_t stream) {
  const dim3 blocks(1, s.splits);  // TODO(2), too: all images.
  linear_pooled<N><<<blocks, LinearTile<N>::kThreads, 0, stream>>>(
      s.conv2, s.parameters, s.sums2, s.pool2, s.from2, s.hidden, s.n, s.total, s.cells_per_split);
}

static void queue_linear(const FusedStep& step, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_linear_pooled<MnistFused>(step, stream);
  run_linear_pooled<NarrowFused>(step, stream);
}

static void queue_step(const FusedStep& step, int slot, const unsigned char* h_next,
                       const StepStreams& streams) {
  // TODO(3): Beside everything else, the next batch goes to step.batch[1 - slot], and then its
  // moments are made: from when the step before is done with that place, and before the step that
  // reads them.
  launch_convolutions(step, slot, streams.main);
  queue_linear(step, streams.main);
  launch_head(step, slot, streams.main);
  // TODO(4): Of these four, only the two convolution gradients wait for another: for the linear
  // input gradient. The weight gradients run beside the others, in streams.branch.
  launch_linear_weight_gradient(step, streams.main);
  launch_linear_input_gradient(step, streams.main);
  launch_conv_weight_gradient(step, streams.main);
  launch_conv_input_gradient(step, slot, streams.main);
  launch_fused_update(step, slot, streams.main);
}

cudaError_t record_step(const FusedStep& step, int slot, const unsigned char* h_next,
                        const StepStreams& streams, cudaGraph_t* graph) {
  // TODO(5): *graph is what queue_step queues, recorded and not run. The other streams join the
  // recording where they wait for streams.main.
  *graph = nullptr;
  queue_step(step, slot, h_next, streams);
  return cudaErrorNotSupported;
}

void launch_linear_pooled(const FusedStep& step, cudaStream_t stream) {
  queue_linear(step, stream);
}

void enqueue_step(const FusedStep& step, int slot, const unsigned char* h_next,
                  const StepStreams& streams) {
  queue_step(step, slot, h_next, streams);
}

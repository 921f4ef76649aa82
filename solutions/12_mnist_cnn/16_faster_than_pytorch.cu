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
  //~ // TODO(1): scale and shift of every channel: batch norm as one multiplication and one addition.
  //~ if (threadIdx.x == 0) scale[0] = shift[0] = statistics2<N>(sums2, 0, total).inv_std;
  //~begin 1
  for (int c = threadIdx.x; c < N::kC2; c += Tile::kThreads) {
    const Statistics stats = statistics2<N>(sums2, c, total);
    const float gamma = params[N::kG2 + c], beta = params[N::kB2 + c];
    scale[c] = gamma * stats.inv_std;
    shift[c] = beta - scale[c] * stats.mean;
  }
  //~end
  const int row0 = blockIdx.x * Tile::kRows;
  const int first = blockIdx.y * cells_per_split, last = min(N::kCells, first + cells_per_split);
  float acc[4][8] = {};
  //~ // TODO(2): acc has this thread's part of the product of pool2 and the weights, over the cells from
  //~ // first to last. pool2 is made here, a cell at a time: batch norm, ReLU and pooling of conv2. It
  //~ // goes to the tile, and, with the pixel that won, to memory for the backward pass: from2 is 0 to
  //~ // 3, the first of equal ones, or 4 if none is above 0. LinearTile has all that the tile can do.
  //~ for (int cell = first; cell < last; ++cell) {
  //~   for (int e = threadIdx.x; e < Tile::kQuads; e += Tile::kThreads) {
  //~     const size_t at = (size_t(row0 + Tile::row_of(e)) * N::kCells + cell) * N::kC2;
  //~     if (row0 + Tile::row_of(e) >= n) continue;
  //~     store4(&pool2[at + Tile::channel_of(e)], scale[0], shift[0], conv2[0], tile.a[0]);
  //~     from2[at + Tile::channel_of(e)] = 4;
  //~   }
  //~ }
  //~begin 2
  for (int cell = first; cell < last; ++cell) {
    float4 y[Tile::kLoads][4];  // the four pixels of a window, four channels each
    Tile::fetch(conv2, row0, n, cell, y);
    __syncthreads();  // the tile of the cell before is used; at first: scale and shift
    tile.load_weights(params, cell);
#pragma unroll
    for (int l = 0; l < Tile::kLoads; ++l) {
      const int e = threadIdx.x + l * Tile::kThreads;
      if (e >= Tile::kQuads) break;
      const int row = Tile::row_of(e), c = Tile::channel_of(e);
      float best[4] = {};                    // ReLU: what is not above 0 does not win
      unsigned char from[4] = {4, 4, 4, 4};  // which pixel did; 4: none
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float pixel[4] = {y[l][s].x, y[l][s].y, y[l][s].z, y[l][s].w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float z = pixel[j] * scale[c + j] + shift[c + j];
          if (z > best[j]) {
            best[j] = z;
            from[j] = s;
          }
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) tile.a[(c + j) * Tile::kStrideA + row] = best[j];
      if (row0 + row >= n) continue;
      const size_t at = (size_t(row0 + row) * N::kCells + cell) * N::kC2 + c;
      store4(&pool2[at], best[0], best[1], best[2], best[3]);
      *reinterpret_cast<uchar4*>(&from2[at]) = make_uchar4(from[0], from[1], from[2], from[3]);
    }
    __syncthreads();  // the tile is complete
    tile.multiply(acc);
  }
  //~end
  Tile::write(acc, hidden + size_t(blockIdx.y) * n * N::kHidden, row0, n);
}

template <class N>
static void run_linear_pooled(const FusedStep& s, cudaStream_t stream) {
  //~ const dim3 blocks(1, s.splits);  // TODO(2), too: all images.
  //~begin 2
  const dim3 blocks((s.n + LinearTile<N>::kRows - 1) / LinearTile<N>::kRows, s.splits);
  //~end
  linear_pooled<N><<<blocks, LinearTile<N>::kThreads, 0, stream>>>(
      s.conv2, s.parameters, s.sums2, s.pool2, s.from2, s.hidden, s.n, s.total, s.cells_per_split);
}

static void queue_linear(const FusedStep& step, cudaStream_t stream) {
  if (is_network<MnistFused>(step)) return run_linear_pooled<MnistFused>(step, stream);
  run_linear_pooled<NarrowFused>(step, stream);
}

static void queue_step(const FusedStep& step, int slot, const unsigned char* h_next,
                       const StepStreams& streams) {
  //~ // TODO(3): Beside everything else, the next batch goes to step.batch[1 - slot], and then its
  //~ // moments are made: from when the step before is done with that place, and before the step that
  //~ // reads them.
  //~begin 3
  order_streams(streams.main, streams.copy);
  cudaMemcpyAsync(step.batch[1 - slot], h_next, step.batch_bytes, cudaMemcpyHostToDevice,
                  streams.copy);
  launch_moments(step, 1 - slot, streams.copy);
  //~end
  launch_convolutions(step, slot, streams.main);
  queue_linear(step, streams.main);
  launch_head(step, slot, streams.main);
  //~ // TODO(4): Of these four, only the two convolution gradients wait for another: for the linear
  //~ // input gradient. The weight gradients run beside the others, in streams.branch.
  //~ launch_linear_weight_gradient(step, streams.main);
  //~ launch_linear_input_gradient(step, streams.main);
  //~ launch_conv_weight_gradient(step, streams.main);
  //~ launch_conv_input_gradient(step, slot, streams.main);
  //~begin 4
  order_streams(streams.main, streams.branch);
  launch_linear_weight_gradient(step, streams.branch);
  launch_linear_input_gradient(step, streams.main);
  order_streams(streams.main, streams.branch);
  launch_conv_weight_gradient(step, streams.branch);
  launch_conv_input_gradient(step, slot, streams.main);
  order_streams(streams.branch, streams.main);
  //~end
  launch_fused_update(step, slot, streams.main);
  //~begin 3
  order_streams(streams.copy, streams.main);
  //~end
}

cudaError_t record_step(const FusedStep& step, int slot, const unsigned char* h_next,
                        const StepStreams& streams, cudaGraph_t* graph) {
  //~ // TODO(5): *graph is what queue_step queues, recorded and not run. The other streams join the
  //~ // recording where they wait for streams.main.
  //~ *graph = nullptr;
  //~ queue_step(step, slot, h_next, streams);
  //~ return cudaErrorNotSupported;
  //~begin 5
  const cudaError_t error = cudaStreamBeginCapture(streams.main, cudaStreamCaptureModeThreadLocal);
  if (error != cudaSuccess) return error;
  queue_step(step, slot, h_next, streams);
  return cudaStreamEndCapture(streams.main, graph);
  //~end
}

void launch_linear_pooled(const FusedStep& step, cudaStream_t stream) {
  queue_linear(step, stream);
}

void enqueue_step(const FusedStep& step, int slot, const unsigned char* h_next,
                  const StepStreams& streams) {
  queue_step(step, slot, h_next, streams);
}

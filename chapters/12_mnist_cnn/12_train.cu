// 12/12 Train: everything around the step of 11. Epochs, checkpoints, statistics, a test.
//   A checkpoint holds the parameters, the number of the next step and the losses so far. It holds
//   no random state: the order of an epoch is a function of seed and epoch. So the steps after it
//   have the bits that they would have had, as long as every kernel sums in a fixed order.
//   Batch norm used the statistics of each batch. An answer must not depend on what other images
//   are in the batch, so one pass over the training set finds those of all images.
//   TODOs  5
#include "02_linear.h"
#include "06_conv_forward.h"
#include "09_batch_norm.h"
#include "10_relu_pool.h"
#include "11_train_step.h"
#include "12_train.h"
#include "12_train_support.h"

namespace {

constexpr int kBlock = 256;  // threads

__global__ void relu_in_place(float* x, int count) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < count) x[i] = fmaxf(x[i], 0.0f);
}

// Adds to *right how many of the images have their greatest logit at their label.
__global__ void count_right(const float* logits, const unsigned char* labels, int* right, int n,
                            int classes) {
  // TODO(1): *right is greater by the number of images whose first greatest logit is that of the
  // label. Integers may be added in any order.
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n && logits[i * classes] > 0.0f) atomicAdd(right, labels[i]);
}

int grid_of(int count) { return (count + kBlock - 1) / kBlock; }

void infer(const Network& net, const float* d_parameters, const float* d_statistics,
           const float* d_images, int n, float* d_workspace, float* d_logits) {
  // TODO(2): d_logits of n images: the forward pass of 11, with batch norm by the statistics that
  // are given. d_statistics: mean and inv_std of the first block, then of the second.
  const float* d_hidden = activations_of(net, n, d_workspace).hidden;
  relu_in_place<<<grid_of(n), kBlock>>>(d_logits, d_hidden == nullptr ? n : 0);
  static_cast<void>(d_parameters), static_cast<void>(d_statistics), static_cast<void>(d_images);
}

// From state->step to the end, or to Ctrl-C. *state is then what a checkpoint would hold.
std::string run(const Dataset& set, const TrainOptions& options, TrainArrays& arrays,
                TrainState* state) {
  const Interrupt interrupt;
  const int per_epoch = set.count / options.batch, steps = options.epochs * per_epoch;
  const Progress progress(options, state->step, per_epoch);
  arrays.upload(*state);
  std::vector<int> order;
  int unreported = 0;  // images
  bool interrupted = false;
  for (int step = state->step; step < steps && !interrupted; ++step) {
    const Staging& batch = arrays.staging[step % 2];
    const TrainStep now = {options.network,      options.batch,     batch.d_images,
                           batch.d_labels,       arrays.parameters, arrays.gradients,
                           arrays.losses + step, arrays.workspace};
    // TODO(3): `now` has run, on this step's part of the order of this epoch, whether the run began
    // with the epoch or inside it.
    cudaMemset(now.workspace, 0, workspace_size(now.network, now.n) * sizeof(float));
    cudaMemset(batch.d_labels, 0, now.n);
    const float* logits = activations_of(now.network, now.n, now.workspace).logits;
    count_right<<<grid_of(now.n), kBlock>>>(logits, now.labels, arrays.right, now.n,
                                            now.network.classes);
    unreported += now.n;
    if (progress.is_due(step)) {
      progress.report(step, now.loss, arrays.right, unreported);
      unreported = 0;
    }
    if (options.after_step) options.after_step(step);
    interrupted = interrupt.happened();  // asked once: it may come between two questions
    const bool is_due = options.save_every > 0 && (step + 1) % options.save_every == 0;
    if (step + 1 == steps || interrupted || is_due) {
      // TODO(4): *state is what the run needs that goes on after this step, and lies in the file
      // "checkpoint" of the folder, if there is one.
      state->step = step;
    }
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? "" : std::string("CUDA: ") + cudaGetErrorString(error);
}

// What a batch adds to the sums of a channel over all images: n images, whose values of this
// channel have this mean, and the variance 1 / inv_std^2 - kBatchNormEpsilon.
void add_batch(int n, double mean, double inv_std, ChannelSums* sums) {
  // TODO(5): Both sums, as if a channel had one value per image; below, mean and variance of all
  // images from them.
  sums->values += n * mean * inv_std;
}

void finish(const ChannelSums& sums, int images, double* mean, double* variance) {
  *mean = *variance = sums.values / images;
}

}  // namespace

std::string train(const Dataset& set, const Dataset& test, const TrainOptions& options,
                  Trained* trained) {
  std::string problem = unfit(set, options);
  if (!problem.empty()) return problem;
  const int steps = options.epochs * (set.count / options.batch);
  TrainState state = first_state(options, steps);
  if (!options.folder.empty()) {
    problem = load_checkpoint(options.folder + "/checkpoint", options, set.count, &state);
    if (!problem.empty()) return problem;
  }
  TrainArrays arrays;
  const cudaError_t error = arrays.allocate(options, steps);
  if (error != cudaSuccess) return std::string("No memory: ") + cudaGetErrorString(error);
  problem = run(set, options, arrays, &state);
  trained->parameters = state.parameters;
  trained->losses = state.losses;
  trained->finished = problem.empty() && state.step == steps;
  if (!trained->finished) return problem;
  trained->statistics = statistics_of(set, options, arrays, add_batch, finish);
  arrays.upload_statistics(options.network, trained->statistics);
  trained->confusion = confusion_of(arrays, test, options, [&](int n, float* d_logits) {
    infer(options.network, arrays.parameters, arrays.statistics, arrays.staging[0].d_images, n,
          arrays.workspace, d_logits);
  });
  if (options.shows_progress) {
    std::printf("%s", confusion_text(trained->confusion, options.network.classes).c_str());
  }
  return save_files(options, set, *trained);
}

void launch_inference(const Network& net, const float* d_parameters, const float* d_statistics,
                      const float* d_images, int n, float* d_workspace, float* d_logits) {
  infer(net, d_parameters, d_statistics, d_images, n, d_workspace, d_logits);
}

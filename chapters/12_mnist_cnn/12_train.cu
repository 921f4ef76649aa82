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
  const int i = blockIdx.x * kBlock + threadIdx.x;
  // TODO(1): A thread per image: is the first greatest logit that of the label? Integers may be
  // added in any order (about 6 lines).
  if (i < n && logits[i * classes] > 0.0f) atomicAdd(right, labels[i]);
}

int grid_of(int count) { return (count + kBlock - 1) / kBlock; }

void infer(const Network& net, const float* d_parameters, const float* d_statistics,
           const float* d_images, int n, float* d_workspace, float* d_logits) {
  const Parameters p = parameters_of(net);
  const Activations a = activations_of(net, n, d_workspace);
  const auto w = [&](const Tensor& tensor) { return d_parameters + tensor.offset; };
  const int c1 = net.channels1, c2 = net.channels2, side = net.image, half = side / 2;
  const float *mean1 = d_statistics, *inv_std1 = mean1 + c1;
  const float *mean2 = inv_std1 + c1, *inv_std2 = mean2 + c2;
  launch_conv_forward(d_images, w(p.conv1_w), a.conv1, n, 1, side, side, c1);
  launch_batch_norm_apply(a.conv1, w(p.bn1_gamma), w(p.bn1_beta), mean1, inv_std1, a.norm1, n, c1,
                          side * side);
  launch_relu_pool_forward(a.norm1, a.pool1, n, c1, side, side);
  // TODO(2): The second block, with its own statistics; the first linear layer and relu_in_place;
  // the second linear layer, to d_logits (about 9 lines).
  relu_in_place<<<grid_of(half), kBlock>>>(a.hidden, mean2 == inv_std2 ? half : 0);
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
  for (int step = state->step; step < steps && !interrupt.happened(); ++step) {
    const Staging& batch = arrays.staging[step % 2];
    const TrainStep now = {options.network,      options.batch,     batch.d_images,
                           batch.d_labels,       arrays.parameters, arrays.gradients,
                           arrays.losses + step, arrays.workspace};
    // TODO(3): The order of this epoch, where it begins or where the run goes on inside it; this
    // step's batch; launch_train_step (about 8 lines).
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
    const bool is_due = options.save_every > 0 && (step + 1) % options.save_every == 0;
    if (step + 1 == steps || interrupt.happened() || is_due) {
      // TODO(4): Fetch parameters and losses, say which step is the next one, and save the
      // checkpoint if there is a folder for it (about 6 lines).
      state->step = step;
    }
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? "" : std::string("CUDA: ") + cudaGetErrorString(error);
}

// What a batch adds to the sums of a channel over all images: n images, whose values of this
// channel have this mean, and the variance 1 / inv_std^2 - kBatchNormEpsilon.
void add_batch(int n, double mean, double inv_std, ChannelSums* sums) {
  // TODO(5): As if a channel had one value per image: what do n of them add to the sum of values,
  // and to that of squares? Below: mean and variance of all images (about 4 lines in two places).
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

// Right answers are counted by warps; the order of an epoch is kept with its number; the
// variance is taken from the sums in another order.
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
  const float* row = logits + static_cast<size_t>(i) * classes;
  bool is_right = i < n;
  for (int c = 0; c < classes && is_right; ++c) {
    is_right = c < labels[i] ? row[c] < row[labels[i]] : row[c] <= row[labels[i]];
  }
  const unsigned votes = __ballot_sync(~0u, is_right);
  if (threadIdx.x % 32 == 0 && votes != 0) atomicAdd(right, __popc(votes));
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
  launch_conv_forward(a.pool1, w(p.conv2_w), a.conv2, n, c1, half, half, c2);
  launch_batch_norm_apply(a.conv2, w(p.bn2_gamma), w(p.bn2_beta), mean2, inv_std2, a.norm2, n, c2,
                          half * half);
  launch_relu_pool_forward(a.norm2, a.pool2, n, c2, half, half);
  launch_linear_forward(a.pool2, w(p.linear1_w), w(p.linear1_b), a.hidden, n, net.features(),
                        net.hidden);
  relu_in_place<<<grid_of(n * net.hidden), kBlock>>>(a.hidden, n * net.hidden);
  launch_linear_forward(a.hidden, w(p.linear2_w), w(p.linear2_b), d_logits, n, net.hidden,
                        net.classes);
}

// From state->step to the end, or to Ctrl-C. *state is then what a checkpoint would hold.
std::string run(const Dataset& set, const TrainOptions& options, TrainArrays& arrays,
                TrainState* state) {
  const Interrupt interrupt;
  const int per_epoch = set.count / options.batch, steps = options.epochs * per_epoch;
  const Progress progress(options, state->step, per_epoch);
  arrays.upload(*state);
  std::vector<int> order(set.count);
  int epoch_of_order = -1;
  int unreported = 0;  // images
  bool interrupted = false;
  for (int step = state->step; step < steps && !interrupted; ++step) {
    const Staging& batch = arrays.staging[step % 2];
    const TrainStep now = {options.network,      options.batch,     batch.d_images,
                           batch.d_labels,       arrays.parameters, arrays.gradients,
                           arrays.losses + step, arrays.workspace};
    if (epoch_of_order != step / per_epoch) {
      epoch_of_order = step / per_epoch;
      shuffle(order.data(), set.count, options.seed, epoch_of_order);
    }
    const int* first = order.data() + step % per_epoch * options.batch;
    const cudaError_t staged = stage_batch(set, first, options.batch, batch, nullptr);
    if (staged != cudaSuccess) return std::string("CUDA: ") + cudaGetErrorString(staged);
    launch_train_step(now, options.rate);
    const float* logits = activations_of(now.network, now.n, now.workspace).logits;
    count_right<<<grid_of(now.n), kBlock>>>(logits, now.labels, arrays.right, now.n,
                                            now.network.classes);
    unreported += now.n;
    if (progress.is_due(step)) {
      progress.report(step, now.loss, arrays.right, unreported);
      unreported = 0;
    }
    if (options.after_step) options.after_step(step);
    interrupted = interrupt.happened();
    const bool is_due = options.save_every > 0 && (step + 1) % options.save_every == 0;
    if (step + 1 == steps || interrupted || is_due) {
      arrays.download(state);
      state->step = step + 1;
      if (!options.folder.empty()) {
        const std::string file = options.folder + "/checkpoint";
        const std::string problem = save_checkpoint(file, options, set.count, *state);
        if (!problem.empty()) return problem;
      }
    }
  }
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? "" : std::string("CUDA: ") + cudaGetErrorString(error);
}

// What a batch adds to the sums of a channel over all images: n images, whose values of this
// channel have this mean, and the variance 1 / inv_std^2 - kBatchNormEpsilon.
void add_batch(int n, double mean, double inv_std, ChannelSums* sums) {
  const double deviation = std::sqrt(1 / (inv_std * inv_std) - kBatchNormEpsilon);
  sums->values += n * mean;
  sums->squares += n * (mean + deviation) * (mean + deviation) - 2 * n * mean * deviation;
}

void finish(const ChannelSums& sums, int images, double* mean, double* variance) {
  *mean = sums.values / images;
  *variance = (sums.squares - sums.values * *mean) / images;
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

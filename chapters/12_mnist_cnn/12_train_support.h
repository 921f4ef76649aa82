// Given code of 12/12 and 12/13: files, Ctrl-C, progress, the plot of the losses, and the arrays of
// a training.
#ifndef CHAPTERS_12_MNIST_CNN_12_TRAIN_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_12_TRAIN_SUPPORT_H_

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "01_data_loader_support.h"
#include "04_sgd_update.h"
#include "09_batch_norm.h"
#include "11_train_step.h"
#include "12_train.h"

// ---- files -------------------------------------------------------------------------------------

// A file that is written beside its place and takes it when it is whole: a run that is killed while
// it writes leaves the file that was there before.
class WholeFile {
 public:
  explicit WholeFile(const std::string& name) : name_(name) {
    file_ = std::fopen((name + ".new").c_str(), "wb");
  }
  ~WholeFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void put(const void* bytes, size_t size) {
    if (file_ != nullptr && std::fwrite(bytes, 1, size, file_) == size) return;
    failed_ = true;
  }
  // "" or what went wrong.
  std::string finish() {
    if (file_ != nullptr) {
      failed_ |= std::fflush(file_) != 0 || fsync(fileno(file_)) != 0;
      failed_ |= std::fclose(file_) != 0;
      file_ = nullptr;
      failed_ |= std::rename((name_ + ".new").c_str(), name_.c_str()) != 0;
    }
    return failed_ ? name_ + ": cannot be written." : "";
  }

 private:
  std::string name_;
  std::FILE* file_ = nullptr;
  bool failed_ = false;
};

// All bytes of a file; false if there is none.
inline bool read_whole(const std::string& name, std::vector<unsigned char>* bytes) {
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (file == nullptr) return false;
  bytes->clear();
  unsigned char part[4096];
  for (size_t got; (got = std::fread(part, 1, sizeof part, file)) > 0;) {
    bytes->insert(bytes->end(), part, part + got);
  }
  std::fclose(file);
  return true;
}

// The weight file (support.h): the network and its parameters, then the statistics, then mean and
// deviation of the pixels that it was trained on.
struct Weights {
  Network network = {};
  std::vector<float> parameters, statistics;
  float mean = 0, deviation = 1;
};

inline std::string save_weights(const std::string& name, const Weights& weights) {
  WholeFile file(name);
  file.put(kWeightMagic, 8);
  file.put(&weights.network, sizeof weights.network);
  file.put(weights.parameters.data(), weights.parameters.size() * sizeof(float));
  file.put(weights.statistics.data(), weights.statistics.size() * sizeof(float));
  file.put(&weights.mean, sizeof weights.mean);
  file.put(&weights.deviation, sizeof weights.deviation);
  return file.finish();
}

inline std::string load_weights(const std::string& name, Weights* weights) {
  std::vector<unsigned char> bytes;
  if (!read_whole(name, &bytes)) return name + ": cannot be opened.";
  constexpr size_t kHeader = 8 + sizeof(Network);
  if (bytes.size() < kHeader || std::memcmp(bytes.data(), kWeightMagic, 8) != 0) {
    return name + ": is no weight file.";
  }
  std::memcpy(&weights->network, bytes.data() + 8, sizeof(Network));
  const Network& net = weights->network;
  for (const int size : {net.image, net.channels1, net.channels2, net.hidden, net.classes}) {
    if (size < 1 || size > 4096) return name + ": a size of the network is " + std::to_string(size);
  }
  weights->parameters.resize(parameters_of(net).total);
  weights->statistics.resize(statistics_size(net));
  const size_t parameters = weights->parameters.size() * sizeof(float);
  const size_t statistics = weights->statistics.size() * sizeof(float);
  const size_t expected = kHeader + parameters + statistics + 2 * sizeof(float);
  if (bytes.size() != expected) {
    return name + ": " + std::to_string(bytes.size()) + " bytes, expected " +
           std::to_string(expected) + ".";
  }
  const unsigned char* next = bytes.data() + kHeader;
  std::memcpy(weights->parameters.data(), next, parameters);
  std::memcpy(weights->statistics.data(), next + parameters, statistics);
  std::memcpy(&weights->mean, next + parameters + statistics, sizeof(float));
  std::memcpy(&weights->deviation, next + parameters + statistics + 4, sizeof(float));
  return "";
}

// What a training needs to go on as if nothing had happened.
struct TrainState {
  int step = 0;                   // the next one
  std::vector<float> parameters;  // before it
  std::vector<float> losses;      // of the steps before it, then anything
};

namespace train_internal {

// What the run must have in common with the one that wrote the checkpoint.
struct CheckpointHeader {
  char magic[8];
  Network network;
  int batch, epochs, images, step;
  float rate;
  unsigned long long seed, sum;  // sum of what follows
};

inline unsigned long long sum_of(const TrainState& state) {
  unsigned long long sum = 0xcbf29ce484222325ull;  // FNV-1a, 64 bits
  for (const std::vector<float>* part : {&state.parameters, &state.losses}) {
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(part->data());
    for (size_t i = 0; i < part->size() * sizeof(float); ++i) {
      sum = (sum ^ bytes[i]) * 0x100000001b3ull;
    }
  }
  return sum;
}

inline CheckpointHeader header_of(const TrainOptions& options, int images, int step) {
  CheckpointHeader header;
  std::memset(&header, 0, sizeof header);  // the bytes between the members as well
  std::memcpy(header.magic, "WARPRUN1", 8);
  header.network = options.network;
  header.batch = options.batch;
  header.epochs = options.epochs;
  header.images = images;
  header.step = step;
  header.rate = options.rate;
  header.seed = options.seed;
  return header;
}

}  // namespace train_internal

inline std::string save_checkpoint(const std::string& name, const TrainOptions& options, int images,
                                   const TrainState& state) {
  train_internal::CheckpointHeader header = train_internal::header_of(options, images, state.step);
  header.sum = train_internal::sum_of(state);
  WholeFile file(name);
  file.put(&header, sizeof header);
  file.put(state.parameters.data(), state.parameters.size() * sizeof(float));
  file.put(state.losses.data(), state.losses.size() * sizeof(float));
  return file.finish();
}

// Leaves `state` as it is if there is no such file. `state` has the sizes that are expected.
inline std::string load_checkpoint(const std::string& name, const TrainOptions& options, int images,
                                   TrainState* state) {
  std::vector<unsigned char> bytes;
  if (!read_whole(name, &bytes)) return "";
  train_internal::CheckpointHeader header;
  const size_t parameters = state->parameters.size() * sizeof(float);
  const size_t losses = state->losses.size() * sizeof(float);
  if (bytes.size() < sizeof header) return name + ": is damaged. Remove it to begin anew.";
  std::memcpy(&header, bytes.data(), sizeof header);
  train_internal::CheckpointHeader expected =
      train_internal::header_of(options, images, header.step);
  expected.sum = header.sum;
  if (std::memcmp(&header, &expected, sizeof header) != 0) {
    return name + ": is that of a run with other options. Remove it to begin anew.";
  }
  TrainState loaded = *state;
  loaded.step = header.step;
  if (bytes.size() == sizeof header + parameters + losses) {
    std::memcpy(loaded.parameters.data(), bytes.data() + sizeof header, parameters);
    std::memcpy(loaded.losses.data(), bytes.data() + sizeof header + parameters, losses);
  }
  if (train_internal::sum_of(loaded) != header.sum) {
    return name + ": is damaged. Remove it to begin anew.";
  }
  *state = loaded;
  return "";
}

// ---- Ctrl-C ------------------------------------------------------------------------------------

// While it lives, Ctrl-C sets a flag instead of ending the program.
class Interrupt {
 public:
  Interrupt() {
    flag() = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { flag() = 1; };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before_);
  }
  ~Interrupt() { sigaction(SIGINT, &before_, nullptr); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool happened() const { return flag() != 0; }

 private:
  static volatile sig_atomic_t& flag() {
    static volatile sig_atomic_t value = 0;
    return value;
  }
  struct sigaction before_;
};

// ---- progress ----------------------------------------------------------------------------------

// One line on stdout: rewritten on a terminal, else a line for each report.
class Progress {
 public:
  Progress(const TrainOptions& options, int first_step, int steps_per_epoch)
      : options_(options), first_(first_step), per_epoch_(steps_per_epoch) {}

  // True after about every twentieth part of an epoch: a report makes the device wait.
  bool is_due(int step) const {
    const int part = std::max(1, per_epoch_ / 20);
    return options_.shows_progress && ((step + 1) % part == 0 || (step + 1) % per_epoch_ == 0);
  }

  // Waits for the step. *d_right of the `images` since the last report were called by their label;
  // it is 0 again afterwards.
  void report(int step, const float* d_loss, int* d_right, int images) const {
    float loss = 0;
    int right = 0;
    cudaMemcpy(&loss, d_loss, sizeof loss, cudaMemcpyDeviceToHost);
    cudaMemcpy(&right, d_right, sizeof right, cudaMemcpyDeviceToHost);
    cudaMemset(d_right, 0, sizeof right);
    const int steps = options_.epochs * per_epoch_, done = step + 1;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double rate = (done - first_) / std::max(seconds, 1e-9);  // steps per second
    constexpr int kWide = 20;
    char bar[kWide + 1] = {};
    const int full = static_cast<int>(static_cast<long long>(done) * kWide / steps);
    for (int i = 0; i < kWide; ++i) bar[i] = i < full ? '#' : '-';
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    std::printf("%sepoch %d/%d [%s] loss %.4f  right %5.1f %%  %.0f images/s  %.0f s left%s",
                terminal ? "\r" : "", step / per_epoch_ + 1, options_.epochs, bar, loss,
                100.0 * right / std::max(images, 1), rate * options_.batch, (steps - done) / rate,
                terminal && done < steps ? "  " : "\n");
    std::fflush(stdout);
  }

 private:
  const TrainOptions& options_;
  int first_, per_epoch_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Rows are labels, columns are answers; at the end of a row, the share that was right.
inline std::string confusion_text(const std::vector<int>& confusion, int classes) {
  std::string text = "label   called";
  char part[32];
  for (int c = 0; c < classes; ++c) {
    std::snprintf(part, sizeof part, "%6d", c);
    text += part;
  }
  for (int row = 0; row < classes; ++row) {
    std::snprintf(part, sizeof part, "\n%5d         ", row);
    text += part;
    int images = 0;
    for (int col = 0; col < classes; ++col) {
      const int count = confusion[row * classes + col];
      images += count;
      std::snprintf(part, sizeof part, "%6d", count);
      text += part;
    }
    std::snprintf(part, sizeof part, "  %5.1f %%",
                  images == 0 ? 0 : 100.0 * confusion[row * classes + row] / images);
    text += part;
  }
  return text + "\n";
}

// ---- plot --------------------------------------------------------------------------------------

// Losses over steps as SVG: every loss in grey, the mean of the last twentieth of an epoch in blue,
// a line between epochs.
inline std::string save_plot(const std::string& name, const std::vector<float>& losses,
                             int steps_per_epoch) {
  constexpr double kWide = 720, kHigh = 360, kLeft = 50, kTop = 20, kBottom = 30;  // pixels
  const double most = std::max(1e-6f, *std::max_element(losses.begin(), losses.end()));
  const auto x_of = [&](double step) {
    return kLeft + (kWide - kLeft - 10) * step / static_cast<double>(losses.size());
  };
  const auto y_of = [&](double loss) {
    return kHigh - kBottom - (kHigh - kTop - kBottom) * loss / most;
  };
  std::string every, smooth;
  const size_t window = static_cast<size_t>(std::max(1, steps_per_epoch / 20));
  double sum = 0;
  char part[160];
  for (size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i] - (i >= window ? losses[i - window] : 0);
    const double mean = sum / static_cast<double>(std::min(i + 1, window));
    const double x = x_of(static_cast<double>(i) + 1);
    std::snprintf(part, sizeof part, "%.1f,%.1f ", x, y_of(losses[i]));
    every += part;
    std::snprintf(part, sizeof part, "%.1f,%.1f ", x, y_of(mean));
    smooth += part;
  }
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 360\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"720\" height=\"360\" fill=\"white\"/>\n";
  for (size_t step = 0; step <= losses.size(); step += static_cast<size_t>(steps_per_epoch)) {
    const double x = x_of(static_cast<double>(step));
    std::snprintf(part, sizeof part, "<path d=\"M%.1f,20V330\" stroke=\"#ddd\"/>\n", x);
    svg += part;
    std::snprintf(part, sizeof part, "<text x=\"%.1f\" y=\"346\">%zu</text>\n", x, step);
    svg += part;
  }
  for (int tick = 0; tick <= 4; ++tick) {
    const double loss = most * tick / 4;
    std::snprintf(part, sizeof part, "<text x=\"8\" y=\"%.1f\">%.2f</text>\n", y_of(loss), loss);
    svg += part;
  }
  svg += "<polyline fill=\"none\" stroke=\"#bbb\" points=\"" + every + "\"/>\n";
  svg += "<polyline fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\" points=\"" + smooth +
         "\"/>\n<text x=\"360\" y=\"14\">loss of each step</text>\n</svg>\n";
  WholeFile file(name);
  file.put(svg.data(), svg.size());
  return file.finish();
}

// ---- the arrays of a training ------------------------------------------------------------------

// Statistics with 1 / sqrt(variance + epsilon) in the places of the variances.
inline std::vector<float> with_inv_std(const Network& net, std::vector<float> statistics) {
  const size_t c1 = net.channels1, c2 = net.channels2;
  for (size_t i = 0; i < statistics.size(); ++i) {
    const bool is_mean = i < c1 || (i >= 2 * c1 && i < 2 * c1 + c2);
    if (!is_mean) statistics[i] = 1.0f / std::sqrt(statistics[i] + kBatchNormEpsilon);
  }
  return statistics;
}

// Device memory of a run, and copies from and to it.
struct TrainArrays {
  Staging staging[2];
  float *parameters = nullptr, *gradients = nullptr, *workspace = nullptr;
  float* losses = nullptr;      // of all steps
  float* statistics = nullptr;  // mean1, inv_std1, mean2, inv_std2
  int* right = nullptr;         // images called by their label since the last report

  TrainArrays() = default;
  TrainArrays(const TrainArrays&) = delete;
  TrainArrays& operator=(const TrainArrays&) = delete;
  ~TrainArrays() {
    for (Staging& s : staging) free_staging(&s);
    for (float* array : {parameters, gradients, workspace, losses, statistics}) cudaFree(array);
    cudaFree(right);
  }

  cudaError_t allocate(const TrainOptions& options, int steps) {
    const Network& net = options.network;
    cudaError_t error = cudaMalloc(&right, sizeof(int));
    if (error == cudaSuccess) error = cudaMemset(right, 0, sizeof(int));
    const auto floats = [&error](float** array, size_t count) {
      if (error == cudaSuccess) error = cudaMalloc(array, count * sizeof(float));
    };
    floats(&parameters, parameters_of(net).total);
    floats(&gradients, parameters_of(net).total);
    floats(&workspace, workspace_size(net, options.batch));
    floats(&losses, steps);
    floats(&statistics, statistics_size(net));
    for (Staging& s : staging) {
      if (error == cudaSuccess) error = make_staging(options.batch, net.image * net.image, &s);
    }
    return error;
  }

  static void fetch(const float* d_x, size_t count, float* x) {
    cudaMemcpy(x, d_x, count * sizeof(float), cudaMemcpyDeviceToHost);
  }
  void upload(const TrainState& state) {
    cudaMemcpy(parameters, state.parameters.data(), state.parameters.size() * sizeof(float),
               cudaMemcpyHostToDevice);
    cudaMemcpy(losses, state.losses.data(), state.losses.size() * sizeof(float),
               cudaMemcpyHostToDevice);
  }
  void download(TrainState* state) const {
    fetch(parameters, state->parameters.size(), state->parameters.data());
    fetch(losses, state->losses.size(), state->losses.data());
  }
  void upload_statistics(const Network& net, const std::vector<float>& all) {
    const std::vector<float> with = with_inv_std(net, all);
    cudaMemcpy(statistics, with.data(), with.size() * sizeof(float), cudaMemcpyHostToDevice);
  }
  // Stages up to `most` images from `first` on, in the order of the set; says how many.
  int stage(const Dataset& set, int first, int most) {
    const int n = std::min(most, set.count - first);
    std::vector<int> order(n);
    for (int i = 0; i < n; ++i) order[i] = first + i;
    stage_batch(set, order.data(), n, staging[0], nullptr);
    return n;
  }
};

// First weights and empty losses.
inline TrainState first_state(const TrainOptions& options, int steps) {
  TrainState state;
  state.parameters.resize(parameters_of(options.network).total);
  state.losses.resize(steps);
  float* d_parameters = nullptr;
  const size_t bytes = state.parameters.size() * sizeof(float);
  cudaMalloc(&d_parameters, bytes);
  launch_network_init(options.network, d_parameters, options.seed);
  cudaMemcpy(state.parameters.data(), d_parameters, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_parameters);
  return state;
}

// Of one channel, over all images: sums of its values and of their squares, each divided by the
// number of values that an image has.
struct ChannelSums {
  double values = 0, squares = 0;
};

// Mean and variance of each channel over all images, in the order of Trained::statistics: one pass,
// batch by batch. add_batch(n, mean, inv_std, &sums) is called for each channel of each batch, of
// which the last may be smaller; finish(sums, images, &mean, &variance) at the end.
template <class AddBatch, class Finish>
std::vector<float> statistics_of(const Dataset& set, const TrainOptions& options,
                                 TrainArrays& arrays, const AddBatch& add_batch,
                                 const Finish& finish) {
  const Network& net = options.network;
  std::vector<ChannelSums> sums[2];  // of each block
  sums[0].resize(net.channels1);
  sums[1].resize(net.channels2);
  for (int first = 0; first < set.count; first += options.batch) {
    const int n = arrays.stage(set, first, options.batch);
    launch_forward({net, n, arrays.staging[0].d_images, arrays.staging[0].d_labels,
                    arrays.parameters, arrays.gradients, arrays.losses, arrays.workspace});
    const Activations a = activations_of(net, n, arrays.workspace);
    for (int block = 0; block < 2; ++block) {
      std::vector<float> mean(sums[block].size()), inv_std(mean.size());
      TrainArrays::fetch(block == 0 ? a.mean1 : a.mean2, mean.size(), mean.data());
      TrainArrays::fetch(block == 0 ? a.inv_std1 : a.inv_std2, mean.size(), inv_std.data());
      for (size_t c = 0; c < mean.size(); ++c) add_batch(n, mean[c], inv_std[c], &sums[block][c]);
    }
  }
  std::vector<float> result;
  for (const std::vector<ChannelSums>& of_block : sums) {
    std::vector<float> variances;
    for (const ChannelSums& of_channel : of_block) {
      double mean = 0, variance = 0;
      finish(of_channel, set.count, &mean, &variance);
      result.push_back(static_cast<float>(mean));
      variances.push_back(static_cast<float>(variance));
    }
    result.insert(result.end(), variances.begin(), variances.end());
  }
  return result;
}

// How the images of a test set are called: classes x classes, [label][answer]. infer(n, d_logits)
// makes the logits of the n images in staging[0].
template <class Infer>
std::vector<int> confusion_of(TrainArrays& arrays, const Dataset& test, const TrainOptions& options,
                              const Infer& infer) {
  const int classes = options.network.classes;
  std::vector<int> counts(static_cast<size_t>(classes) * classes);
  std::vector<float> logits(static_cast<size_t>(options.batch) * classes);
  for (int first = 0; first < test.count; first += options.batch) {
    const int n = arrays.stage(test, first, options.batch);
    float* d_logits = activations_of(options.network, n, arrays.workspace).logits;
    infer(n, d_logits);
    TrainArrays::fetch(d_logits, static_cast<size_t>(n) * classes, logits.data());
    for (int i = 0; i < n; ++i) {
      const float* row = logits.data() + static_cast<size_t>(i) * classes;
      ++counts[test.labels[first + i] * classes + (std::max_element(row, row + classes) - row)];
    }
  }
  return counts;
}

// "" or why this set cannot be trained on.
inline std::string unfit(const Dataset& set, const TrainOptions& options) {
  const std::string side = std::to_string(options.network.image);
  if (set.rows != options.network.image || set.cols != options.network.image) {
    return "The network takes images of " + side + " x " + side + ", the set has others.";
  }
  return set.count < options.batch ? "The set is smaller than one batch." : "";
}

inline std::string save_files(const TrainOptions& options, const Dataset& set,
                              const Trained& trained) {
  if (options.folder.empty()) return "";
  const Weights weights = {options.network, trained.parameters, trained.statistics, set.mean,
                           set.deviation};
  const std::string problem = save_weights(options.folder + "/weights", weights);
  if (!problem.empty()) return problem;
  return save_plot(options.folder + "/loss.svg", trained.losses, set.count / options.batch);
}

#endif  // CHAPTERS_12_MNIST_CNN_12_TRAIN_SUPPORT_H_

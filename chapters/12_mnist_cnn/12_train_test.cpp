// Tests of 12/12 Train. On a GPU the last one trains on the images of setup/data.sh, if they are
// there; its line of progress is worth watching:
//   build/gpu/course/12_mnist_cnn.12_train --gtest_filter='*Whole*'
#include "12_train.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "11_train_step.h"
#include "12_mnist_cnn/test/digits.h"
#include "12_mnist_cnn/test/network.h"
#include "12_train_support.h"
#include "kit/kit.h"
#include "kit/scratch_folder.h"

namespace {

namespace fs = std::filesystem;

// A set in pinned memory, normalised as load_dataset does it.
struct Digits : Dataset {
  Digits(int n, int side, uint64_t seed) {
    const kit::DigitSet digits = kit::random_digits(n, side, seed);
    count = n;
    rows = cols = side;
    mean = 40;
    deviation = 70;
    cudaMallocHost(&images, digits.images.size() * sizeof(float));
    cudaMallocHost(&labels, digits.labels.size());
    for (size_t i = 0; i < digits.images.size(); ++i) {
      images[i] = (digits.images[i] - mean) / deviation;
    }
    std::copy(digits.labels.begin(), digits.labels.end(), labels);
  }
  ~Digits() { free_dataset(this); }
  Digits(const Digits&) = delete;
  Digits& operator=(const Digits&) = delete;
};

constexpr Network kTiny = {12, 3, 4, 10, 10};

TrainOptions options_of(const Network& net, int batch, int epochs, const std::string& folder) {
  TrainOptions options;
  options.network = net;
  options.batch = batch;
  options.epochs = epochs;
  options.rate = 0.1f;
  options.seed = 11;
  options.folder = folder;
  return options;
}

Trained run(const Dataset& set, const Dataset& test, const TrainOptions& options) {
  Trained trained;
  std::string problem;
  const kit::Run run = kit::run([&] { problem = train(set, test, options, &trained); });
  if (!problem.empty()) kit::fail("train returned: " + problem);
  kit::expect_no_leak(run);
  return trained;
}

std::vector<float> first_weights(const TrainOptions& options) {
  return first_state(options, 1).parameters;
}

// Share of the test images that were called by their label.
double accuracy(const Trained& trained, int classes) {
  double right = 0, all = 0;
  for (size_t i = 0; i < trained.confusion.size(); ++i) {
    all += trained.confusion[i];
    if (i / classes == i % classes) right += trained.confusion[i];
  }
  return all == 0 ? 0 : right / all;
}

// One linear layer with softmax, trained on the CPU for 60 epochs: its share of right answers.
double linear_accuracy(const Dataset& set, const Dataset& test) {
  const int pixels = set.rows * set.cols;
  std::vector<float> w(10 * pixels + 10);  // one row of weights and, behind all, a bias per class
  const auto logits_of = [&](const float* x, float* logits) {
    for (int c = 0; c < 10; ++c) {
      logits[c] = w[10 * pixels + c];
      for (int j = 0; j < pixels; ++j) logits[c] += w[c * pixels + j] * x[j];
    }
  };
  float logits[10];
  for (int step = 0; step < 60 * set.count; ++step) {
    const float* x = set.images + static_cast<size_t>(step % set.count) * pixels;
    logits_of(x, logits);
    const float max = *std::max_element(logits, logits + 10);
    float sum = 0;
    for (float& logit : logits) sum += logit = std::exp(logit - max);
    for (int c = 0; c < 10; ++c) {
      const float d = logits[c] / sum - (c == set.labels[step % set.count] ? 1.0f : 0.0f);
      w[10 * pixels + c] -= 0.003f * d;
      for (int j = 0; j < pixels; ++j) w[c * pixels + j] -= 0.003f * d * x[j];
    }
  }
  int right = 0;
  for (int i = 0; i < test.count; ++i) {
    logits_of(test.images + static_cast<size_t>(i) * pixels, logits);
    right += std::max_element(logits, logits + 10) - logits == test.labels[i];
  }
  return static_cast<double>(right) / test.count;
}

void expect_same_bits(const char* what, const std::vector<float>& got,
                      const std::vector<float>& expected) {
  if (got == expected) return;
  size_t differ = 0;
  for (size_t i = 0; i < got.size() && i < expected.size(); ++i) differ += got[i] != expected[i];
  kit::fail(std::string(what) + " differ from those of the run without a stop, in " +
            std::to_string(differ) + " of " + std::to_string(expected.size()) +
            " values. Which step was the next one, and which order had its epoch?");
}

// The folder that setup/data.sh fills, seen from anywhere in the course.
fs::path data_folder() {
  const char* variable = std::getenv("WARPLINGS_DATA");
  if (variable != nullptr) return variable;
  fs::path at = fs::current_path();
  while (!fs::exists(at / ".data") && at.has_relative_path()) at = at.parent_path();
  return at / ".data";
}

// Two sets that are freed at the end.
struct RealImages {
  Dataset set, test;
  explicit RealImages(const fs::path& folder) {
    const auto file = [&folder](const std::string& of) {
      return (fs::exists(folder / of) ? folder / of : folder / (of + ".gz")).string();
    };
    std::string problem = load_dataset(file("train-images-idx3-ubyte"),
                                       file("train-labels-idx1-ubyte"), nullptr, &set);
    if (problem.empty()) {
      problem =
          load_dataset(file("t10k-images-idx3-ubyte"), file("t10k-labels-idx1-ubyte"), &set, &test);
    }
    if (!problem.empty()) kit::fail(problem);
  }
  ~RealImages() {
    free_dataset(&set);
    free_dataset(&test);
  }
  RealImages(const RealImages&) = delete;
  RealImages& operator=(const RealImages&) = delete;
};

// A run with progress, the share of its answers that are right, and the files that it leaves.
void check_whole_run(const Dataset& set, const Dataset& test, TrainOptions options, double least) {
  const kit::ScratchFolder folder;
  options.folder = folder.path();
  options.shows_progress = true;
  // In the simulator Ctrl-C comes after every epoch: no part takes long, and each goes on.
  const int per_epoch = set.count / options.batch;
  options.after_step = [per_epoch](int step) {
    if (kit::simulated() && (step + 1) % per_epoch == 0) raise(SIGINT);
  };
  Trained trained;
  for (int part = 0; part < options.epochs && !trained.finished; ++part) {
    trained = run(set, test, options);
  }
  const double right = accuracy(trained, 10);
  if (!(right >= least)) {
    kit::fail("Of the test images " + std::to_string(100 * right) +
              " % were called by their label; at least " + std::to_string(100 * least) +
              " % are usual.");
  }
  std::ifstream plot(folder.file("loss.svg"));
  const std::string svg{std::istreambuf_iterator<char>(plot), {}};
  if (svg.find("<svg") != 0 || svg.find("</svg>") == std::string::npos) {
    kit::fail("loss.svg is no picture.");
  }
  Weights weights;
  const std::string problem = load_weights(folder.file("weights"), &weights);
  if (!problem.empty()) kit::fail(problem);
  if (weights.parameters != trained.parameters) kit::fail("The weight file has other parameters.");
}

}  // namespace

TEST(Train, InfersWithStatisticsThatAreGiven) {
  RecordProperty("todo", 2);
  const Network net = kTiny;
  constexpr int kImages = 5;
  const Digits set(kImages, 12, 1);
  const auto d_images = kit::DeviceBuffer<float>::input({set.images, set.images + kImages * 144});
  const std::vector<float> weights =
      kit::random_parameters({net.image, net.channels1, net.channels2, net.hidden, net.classes});
  const auto d_weights = kit::DeviceBuffer<float>::inout(weights, "parameters");
  const auto d_work = kit::DeviceBuffer<float>::output(workspace_size(net, kImages), "workspace");
  const auto d_none = kit::DeviceBuffer<float>::output(1);
  // With the statistics of the batch itself the answers are those of the training step.
  const Activations a = activations_of(net, kImages, d_work.get());
  kit::run([&] {
    launch_forward({net, kImages, d_images.get(), nullptr, d_weights.get(), nullptr, d_none.get(),
                    d_work.get()});
  });
  const auto fetch = [](const float* d_x, size_t count) {
    std::vector<float> x(count);
    cudaMemcpy(x.data(), d_x, count * sizeof(float), cudaMemcpyDeviceToHost);
    return x;
  };
  std::vector<float> statistics;
  for (const auto& [d_x, count] : {std::pair<const float*, int>{a.mean1, net.channels1},
                                   {a.inv_std1, net.channels1},
                                   {a.mean2, net.channels2},
                                   {a.inv_std2, net.channels2}}) {
    const std::vector<float> part = fetch(d_x, count);
    statistics.insert(statistics.end(), part.begin(), part.end());
  }
  const std::vector<float> logits = fetch(a.logits, kImages * 10);
  const auto d_statistics = kit::DeviceBuffer<float>::input(statistics, "statistics");
  const auto d_logits = kit::DeviceBuffer<float>::output(kImages * 10, "logits");
  const auto d_work2 = kit::DeviceBuffer<float>::output(workspace_size(net, kImages), "workspace");
  kit::run([&] {
    launch_inference(net, d_weights.get(), d_statistics.get(), d_images.get(), kImages,
                     d_work2.get(), d_logits.get());
  });
  kit::expect_near(d_logits, {logits.begin(), logits.end()}, kit::Tolerance::absolute(1e-4),
                   kit::Shape(kImages, 10));
}

TEST(Train, TakesTheStepsOfTheDoubleNetwork) {
  RecordProperty("todo", 3);
  const Digits set(22, 12, 2), test(3, 12, 3);
  const TrainOptions options = options_of(kTiny, 8, 2, "");  // 2 steps an epoch
  const Trained trained = run(set, test, options);
  const std::vector<float> before = first_weights(options);
  kit::DoubleNetwork reference({12, 3, 4, 10, 10}, before);
  std::vector<double> losses;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    std::vector<int> order(set.count);
    shuffle(order.data(), set.count, options.seed, epoch);
    for (int first = 0; first + options.batch <= set.count; first += options.batch) {
      std::vector<float> images;
      std::vector<uint8_t> labels;
      for (int i = first; i < first + options.batch; ++i) {
        images.insert(images.end(), set.images + order[i] * 144, set.images + (order[i] + 1) * 144);
        labels.push_back(set.labels[order[i]]);
      }
      losses.push_back(reference.forward(images, labels));
      reference.update(reference.backward(), options.rate);
    }
  }
  kit::expect_near("losses", trained.losses, losses, kit::Tolerance::absolute(1e-3));
  std::vector<float> update;
  std::vector<double> expected;
  for (size_t i = 0; i < before.size() && i < trained.parameters.size(); ++i) {
    update.push_back(trained.parameters[i] - before[i]);
    expected.push_back(reference.parameters()[i] - before[i]);
  }
  kit::expect_norm_near("all parameters, after less before", update, expected, 1e-2);
}

TEST(Train, CtrlCLeavesACheckpointAndTheNextRunGoesOn) {
  RecordProperty("todo", 4);
  const Digits set(26, 12, 4), test(3, 12, 5);
  TrainOptions options = options_of(kTiny, 8, 3, "");  // 3 steps an epoch
  const Trained whole = run(set, test, options);
  const kit::ScratchFolder folder;
  options.folder = folder.path();
  std::vector<int> steps;
  bool pressed = false;
  options.after_step = [&](int step) {
    steps.push_back(step);
    if (step == 4 && !pressed) raise(SIGINT);  // in the middle of the second epoch
    pressed |= step == 4;
  };
  const Trained stopped = run(set, test, options);
  if (stopped.finished || steps.size() != 5) {
    kit::fail("After Ctrl-C in step 4 the run went on to step " +
              std::to_string(steps.empty() ? -1 : steps.back()) + ".");
  }
  if (!fs::exists(folder.file("checkpoint"))) kit::fail("Ctrl-C left no checkpoint.");
  steps.clear();
  const Trained rest = run(set, test, options);
  if (steps.empty() || steps[0] != 5) {
    kit::fail(
        "Step 4 was done when Ctrl-C came, so step 5 is the next. The run that went on began " +
        (steps.empty() ? "none." : "with step " + std::to_string(steps[0]) + "."));
  } else if (steps.size() != 4) {
    kit::fail("The run that went on took " + std::to_string(steps.size()) + " steps; 4 were left.");
  }
  if (!rest.finished) kit::fail("The run that went on did not finish.");
  expect_same_bits("Losses", rest.losses, whole.losses);
  expect_same_bits("Parameters", rest.parameters, whole.parameters);
  expect_same_bits("Statistics", rest.statistics, whole.statistics);
}

TEST(Train, SavesACheckpointEveryFewSteps) {
  RecordProperty("todo", 4);
  const Digits set(26, 12, 4), test(3, 12, 5);
  const kit::ScratchFolder folder;
  TrainOptions options = options_of(kTiny, 8, 1, folder.path());
  options.save_every = 2;
  std::vector<bool> there;
  options.after_step = [&](int) { there.push_back(fs::exists(folder.file("checkpoint"))); };
  run(set, test, options);
  if (there != std::vector<bool>{false, false, true}) {
    kit::fail("With save_every = 2 a checkpoint is due behind the second step of three.");
  }
  if (fs::exists(folder.file("checkpoint.new"))) kit::fail("A part of a file was left behind.");
}

TEST(Train, TellsThatACheckpointCouldNotBeWritten) {
  RecordProperty("todo", 4);
  const Digits set(16, 12, 4), test(3, 12, 5);
  const kit::ScratchFolder folder;
  TrainOptions options = options_of(kTiny, 8, 1, folder.file("not_there"));
  options.after_step = [](int) { raise(SIGINT); };
  Trained trained;
  std::string problem;
  kit::run([&] { problem = train(set, test, options, &trained); });
  if (problem.empty()) {
    kit::fail(
        "After Ctrl-C train returned \"\", and the folder for the checkpoint does not exist: the "
        "run is lost, and nobody is told. save_checkpoint returns what went wrong.");
  }
}

TEST(Train, TellsWhatIsWrongWithACheckpoint) {
  RecordProperty("todo", 4);
  const Digits set(16, 12, 4), test(3, 12, 5);
  const kit::ScratchFolder folder;
  const TrainOptions options = options_of(kTiny, 8, 1, folder.path());
  run(set, test, options);
  const auto problem_with = [&](const TrainOptions& changed) {
    Trained trained;
    return train(set, test, changed, &trained);
  };
  const auto expect_word = [](const std::string& problem, const char* word) {
    if (problem.find(word) == std::string::npos) {
      kit::fail("train returned \"" + problem + "\", which does not say that the checkpoint is " +
                word + ".");
    }
  };
  TrainOptions other = options;
  other.seed = 12;
  expect_word(problem_with(other), "other options");
  const auto size = fs::file_size(folder.file("checkpoint"));
  fs::resize_file(folder.file("checkpoint"), size - 1);
  expect_word(problem_with(options), "damaged");
}

TEST(Train, StatisticsAreThoseOfAllImages) {
  RecordProperty("todo", 5);
  const Digits set(20, 12, 6), test(3, 12, 7);
  const TrainOptions options = options_of(kTiny, 8, 1, "");  // batches of 8, 8 and 4
  const Trained trained = run(set, test, options);
  const Network& net = options.network;
  const auto d_weights = kit::DeviceBuffer<float>::inout(trained.parameters, "parameters");
  const auto d_work = kit::DeviceBuffer<float>::output(workspace_size(net, 8), "workspace");
  const auto d_none = kit::DeviceBuffer<float>::output(1);
  std::vector<double> sums[2], squares[2];
  const int channels[2] = {net.channels1, net.channels2}, pixels[2] = {144, 36};
  for (int block = 0; block < 2; ++block) {
    sums[block].resize(channels[block]);
    squares[block].resize(channels[block]);
  }
  for (int first = 0; first < set.count; first += 8) {
    const int n = std::min(8, set.count - first);
    const auto d_images = kit::DeviceBuffer<float>::input(
        {set.images + first * 144, set.images + (first + n) * 144}, "images");
    kit::run([&] {
      launch_forward(
          {net, n, d_images.get(), nullptr, d_weights.get(), nullptr, d_none.get(), d_work.get()});
    });
    const Activations a = activations_of(net, n, d_work.get());
    for (int block = 0; block < 2; ++block) {
      std::vector<float> conv(static_cast<size_t>(n) * channels[block] * pixels[block]);
      cudaMemcpy(conv.data(), block == 0 ? a.conv1 : a.conv2, conv.size() * sizeof(float),
                 cudaMemcpyDeviceToHost);
      for (size_t i = 0; i < conv.size(); ++i) {
        const size_t c = i / pixels[block] % channels[block];
        sums[block][c] += conv[i];
        squares[block][c] += static_cast<double>(conv[i]) * conv[i];
      }
    }
  }
  std::vector<double> expected;
  for (int block = 0; block < 2; ++block) {
    const double count = static_cast<double>(set.count) * pixels[block];
    std::vector<double> variances;
    for (int c = 0; c < channels[block]; ++c) {
      const double mean = sums[block][c] / count;
      expected.push_back(mean);
      variances.push_back(squares[block][c] / count - mean * mean);
    }
    expected.insert(expected.end(), variances.begin(), variances.end());
  }
  // An epsilon that was left in a variance is 1e-5.
  kit::expect_near("statistics (mean1, variance1, mean2, variance2)", trained.statistics, expected,
                   kit::Tolerance::absolute(4e-6));
}

TEST(Train, ProgressTellsTheShareOfRightAnswers) {
  RecordProperty("todo", 1);
  const Digits set(32, 12, 8), test(3, 12, 9);
  TrainOptions options = options_of(kTiny, 16, 1, "");
  options.rate = 0;  // both steps answer as the first weights do
  options.shows_progress = true;
  std::vector<int> order(32);
  shuffle(order.data(), 32, options.seed, 0);
  const kit::DoubleNetwork reference({12, 3, 4, 10, 10}, first_weights(options));
  std::string expected;
  for (int first = 0; first < 32; first += 16) {
    kit::DoubleNetwork network = reference;
    std::vector<float> images;
    std::vector<uint8_t> labels;
    for (int i = first; i < first + 16; ++i) {
      images.insert(images.end(), set.images + order[i] * 144, set.images + (order[i] + 1) * 144);
      labels.push_back(set.labels[order[i]]);
    }
    network.forward(images, labels);
    int right = 0;
    for (int i = 0; i < 16; ++i) {
      const double* row = network.logits().data() + i * 10;
      right += std::max_element(row, row + 10) - row == labels[i];
    }
    char text[32];
    std::snprintf(text, sizeof text, "right %5.1f %%", 100.0 * right / 16);
    expected += text;
  }
  Trained trained;
  const std::string output =
      kit::captured_output([&] { static_cast<void>(train(set, test, options, &trained)); });
  std::string shares;
  for (size_t at = 0; (at = output.find("right", at)) != std::string::npos; ++at) {
    shares += output.substr(at, expected.size() / 2);
  }
  if (shares != expected) {
    kit::fail("The progress of the two steps says \"" + shares + "\", expected \"" + expected +
              "\". All of it:\n" + output);
  }
}

TEST(Train, OfEqualLogitsTheFirstIsTheAnswer) {
  RecordProperty("todo", 1);
  const Digits set(16, 12, 8), test(3, 12, 9);
  const kit::ScratchFolder folder;
  TrainOptions options = options_of(kTiny, 16, 1, folder.path());
  options.rate = 0;
  options.shows_progress = true;
  // A run that goes on with weights for which all logits are 0.
  TrainState state = first_state(options, 1);
  const size_t last_layer = parameters_of(kTiny).linear2_w.offset;
  std::fill(state.parameters.begin() + static_cast<std::ptrdiff_t>(last_layer),
            state.parameters.end(), 0.0f);
  ASSERT_EQ(save_checkpoint(folder.file("checkpoint"), options, set.count, state), "");
  Trained trained;
  const std::string output =
      kit::captured_output([&] { static_cast<void>(train(set, test, options, &trained)); });
  char expected[32];
  std::snprintf(expected, sizeof expected, "right %5.1f %%",
                100.0 * static_cast<double>(std::count(set.labels, set.labels + 16, 0)) / 16);
  if (output.find(expected) == std::string::npos) {
    kit::fail(std::string("All logits are equal, so every answer is class 0: \"") + expected +
              "\" is expected in\n" + output);
  }
}

// 12 x 12 digits and the narrow network in the simulator; 28 x 28 and the whole one on a GPU, on
// the images of setup/data.sh, if there are any.
TEST(Train, TrainsTheWholeNetwork) {
  RecordProperty("todo", 3);
  kit::Cases cases;
  int sets = 0;
  for (const auto& [name, least] :
       {std::pair<const char*, double>{"fashion-mnist", 0.88}, {"mnist", 0.97}}) {
    if (kit::simulated() || !fs::exists(data_folder() / name)) continue;
    ++sets;
    cases.run(name, [&, name = name, least = least] {
      const RealImages images(data_folder() / name);
      TrainOptions options = options_of(kMnistNetwork, 64, 5, "");
      options.rate = 0.05f;
      check_whole_run(images.set, images.test, options, least);
    });
  }
  if (sets > 0) return;
  cases.run("generated digits", [] {
    const int side = kit::work_scale(12, 28);
    const Digits set(kit::work_scale(400, 3000), side, 1);
    const Digits test(kit::work_scale(300, 1000), side, 6);
    TrainOptions options = options_of(kit::simulated() ? kNarrowNetwork : kMnistNetwork,
                                      kit::work_scale(16, 32), 5, "");
    if (kit::simulated()) {
      // Few steps, so much depends on the first weights. These end at 98 %.
      options.seed = 3;
      options.rate = 0.12f;
      const double linear = linear_accuracy(set, test);
      if (!(linear < 0.9)) {
        kit::fail("One linear layer reaches " + std::to_string(100 * linear) +
                  " % on these digits: they are too easy to show anything.");
      }
    }
    check_whole_run(set, test, options, 0.95);
  });
}

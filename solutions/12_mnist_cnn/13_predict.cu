// 12/13 Predict: a picture from a file through the trained network, and its probabilities.
//   The batch is this one image: batch norm takes the statistics of the training set, which lie in
//   the weight file behind the parameters. So do mean and deviation of the training pixels.
//   TODOs  4
#include <cctype>
#include <cmath>
#include <cstdio>

#include "12_train_support.h"
#include "13_predict.h"

namespace {

using Bytes = std::vector<unsigned char>;

// The next number of a PGM header, or -1. Moves *at behind its last digit.
int next_number(const Bytes& bytes, size_t* at) {
  //~ // TODO(1): White space, and comments from # to the end of their line, may stand before a number.
  //~ // One above 100000 is none.
  //~ return *at < bytes.size() ? bytes[(*at)++] : -1;
  //~begin 1
  size_t i = *at;
  while (i < bytes.size() && (std::isspace(bytes[i]) != 0 || bytes[i] == '#')) {
    if (bytes[i] == '#') {
      while (i < bytes.size() && bytes[i] != '\n') ++i;
    } else {
      ++i;
    }
  }
  if (i == bytes.size() || std::isdigit(bytes[i]) == 0) return -1;
  int number = 0;
  for (; i < bytes.size() && std::isdigit(bytes[i]) != 0; ++i) {
    number = number * 10 + bytes[i] - '0';
    if (number > 100000) return -1;
  }
  *at = i;
  return number;
  //~end
}

std::string parse_pgm(const Bytes& bytes, Picture* picture) {
  //~ // TODO(1), too: The picture of a file that begins with P5 or P2, or what is wrong with it. It may
  //~ // end anywhere.
  //~ size_t at = 2;
  //~ picture->cols = next_number(bytes, &at);
  //~ return "";
  //~begin 1
  size_t at = 2;  // behind "P5"
  const int cols = next_number(bytes, &at), rows = next_number(bytes, &at);
  const int largest = next_number(bytes, &at);
  if (cols < 1 || rows < 1 || largest < 1) return "its header holds no width, height and maximum.";
  if (largest > 255) return "its largest value is " + std::to_string(largest) + ", past 255.";
  const size_t count = static_cast<size_t>(rows) * cols;
  const bool is_binary = bytes[1] == '5';
  if (is_binary) ++at;  // the character that ends the header
  if (bytes.size() < at + count) {
    return "it ends before the last of " + std::to_string(count) + " pixels.";
  }
  picture->rows = rows;
  picture->cols = cols;
  for (size_t i = 0; i < count; ++i) {
    const int value = is_binary ? bytes[at + i] : next_number(bytes, &at);
    if (value < 0 || value > largest) return "pixel " + std::to_string(i) + " has no value.";
    picture->pixels.push_back(255.0f * static_cast<float>(value) / static_cast<float>(largest));
  }
  return "";
  //~end
}

std::string parse_text(const Bytes& bytes, Picture* picture) {
  //~ // TODO(2): The picture that print_image of 01 would show as this text, or what is wrong with it.
  //~ picture->cols = static_cast<int>(bytes.size());
  //~ return "";
  //~begin 2
  static const std::string kRamp = " .:-=+*#%@";
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::find(bytes.begin() + static_cast<long>(at), bytes.end(), '\n') -
                       bytes.begin();  // of this line
    const int cols = static_cast<int>(end - at) / 2;
    if (picture->rows == 0) picture->cols = cols;
    if ((end - at) % 2 != 0 || cols != picture->cols) return "its lines differ in length.";
    for (; at < end; at += 2) {
      const size_t level = kRamp.find(static_cast<char>(bytes[at]));
      if (level == std::string::npos || bytes[at + 1] != bytes[at]) {
        return "it is neither a PGM nor a picture of pairs of \"" + kRamp + "\".";
      }
      picture->pixels.push_back(255.0f * static_cast<float>(level) / 9);
    }
    ++picture->rows;
    at = end + 1;
  }
  return picture->pixels.empty() ? "it is empty." : "";
  //~end
}

std::string read(const std::string& file, Picture* picture) {
  Bytes bytes;
  if (!read_whole(file, &bytes)) return file + ": cannot be opened.";
  const bool is_pgm = bytes.size() > 2 && bytes[0] == 'P' && (bytes[1] == '5' || bytes[1] == '2');
  *picture = {};
  const std::string problem = is_pgm ? parse_pgm(bytes, picture) : parse_text(bytes, picture);
  return problem.empty() ? "" : file + ": " + problem;
}

// The logits of one image.
std::string logits_of(const Weights& weights, const Picture& picture, std::vector<float>* logits) {
  const Network& net = weights.network;
  TrainOptions options;
  options.network = net;
  options.batch = 1;
  options.epochs = 1;
  TrainArrays arrays;  // of a batch of one
  const cudaError_t error = arrays.allocate(options, 1);
  if (error != cudaSuccess) return std::string("No memory: ") + cudaGetErrorString(error);
  float* d_image = arrays.staging[0].d_images;
  float* d_logits = activations_of(net, 1, arrays.workspace).logits;
  logits->resize(net.classes);
  //~ // TODO(3): *logits, by launch_inference (12), of pixels that are normalised as those of the
  //~ // training were.
  //~ cudaMemset(d_logits, 0, net.classes * sizeof(float));
  //~ arrays.fetch(d_image == nullptr ? d_image : d_logits, logits->size(), logits->data());
  //~begin 3
  std::vector<float> image = picture.pixels;
  for (float& pixel : image) pixel = (pixel - weights.mean) / weights.deviation;
  cudaMemcpy(d_image, image.data(), image.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(arrays.parameters, weights.parameters.data(),
             weights.parameters.size() * sizeof(float), cudaMemcpyHostToDevice);
  arrays.upload_statistics(net, weights.statistics);
  launch_inference(net, arrays.parameters, arrays.statistics, d_image, 1, arrays.workspace,
                   d_logits);
  arrays.fetch(d_logits, logits->size(), logits->data());
  //~end
  return "";
}

// Answer, probabilities and lines from logits.
Prediction prediction_of(const std::vector<float>& logits) {
  Prediction result;
  //~ // TODO(4): The members of Prediction (13_predict.h). A line is "%d  %5.1f %%  %s\n" with class,
  //~ // per cent and bar.
  //~ result.probabilities.assign(logits.size(), 1.0f);
  //~begin 4
  const auto largest = std::max_element(logits.begin(), logits.end());
  result.answer = static_cast<int>(largest - logits.begin());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - *largest);
  for (size_t c = 0; c < logits.size(); ++c) {
    const double p = std::exp(static_cast<double>(logits[c]) - *largest) / sum;
    result.probabilities.push_back(static_cast<float>(p));
    const std::string bar(static_cast<size_t>(std::lround(20 * p)), '#');
    char line[64];
    std::snprintf(line, sizeof line, "%d  %5.1f %%  %s\n", static_cast<int>(c), 100 * p,
                  bar.c_str());
    result.shown += line;
  }
  //~end
  return result;
}

}  // namespace

std::string read_picture(const std::string& file, Picture* picture) { return read(file, picture); }

std::string predict(const std::string& weights_file, const std::string& picture_file,
                    Prediction* prediction) {
  Weights weights;
  Picture picture;
  std::string problem = load_weights(weights_file, &weights);
  if (problem.empty()) problem = read(picture_file, &picture);
  if (!problem.empty()) return problem;
  const int side = weights.network.image;
  if (picture.rows != side || picture.cols != side) {
    return picture_file + ": " + std::to_string(picture.rows) + " x " +
           std::to_string(picture.cols) + " pixels; the network takes " + std::to_string(side) +
           " x " + std::to_string(side) + ".";
  }
  std::vector<float> logits;
  problem = logits_of(weights, picture, &logits);
  if (problem.empty()) *prediction = prediction_of(logits);
  return problem;
}

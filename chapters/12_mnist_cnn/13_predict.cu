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
  // TODO(1): Skip white space, and comments from # to the end of their line; then read digits. A
  // number above 100000 is none (about 12 lines).
  return *at < bytes.size() ? bytes[(*at)++] : -1;
}

std::string parse_pgm(const Bytes& bytes, Picture* picture) {
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
}

std::string parse_text(const Bytes& bytes, Picture* picture) {
  static const std::string kRamp = " .:-=+*#%@";
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::find(bytes.begin() + static_cast<long>(at), bytes.end(), '\n') -
                       bytes.begin();  // of this line
    // TODO(2): A pixel for every two characters of the line. Refuse what is not in kRamp, and a
    // line that is not as long as the first one (about 9 lines).
    picture->cols = static_cast<int>(end - at);
    ++picture->rows;
    at = end + 1;
  }
  return picture->pixels.empty() ? "it is empty." : "";
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
  // TODO(3): Normalise the pixels as those of the training were. Copy image, parameters and
  // statistics (upload_statistics) to the device; launch_inference; fetch (about 8 lines).
  cudaMemset(d_logits, 0, net.classes * sizeof(float));
  arrays.fetch(d_image == nullptr ? d_image : d_logits, logits->size(), logits->data());
  return "";
}

// Answer, probabilities and lines from logits.
Prediction prediction_of(const std::vector<float>& logits) {
  Prediction result;
  // TODO(4): The softmax of the logits, the position of its largest value, and a line for each
  // class: "%d  %5.1f %%  %s\n" with class, percent and a bar (about 14 lines).
  result.probabilities.assign(logits.size(), 1.0f);
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

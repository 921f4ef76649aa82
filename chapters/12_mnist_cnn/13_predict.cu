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
  // TODO(1): White space, and comments from # to the end of their line, may stand before a number.
  // One above 100000 is none.
  return *at < bytes.size() ? bytes[(*at)++] : -1;
}

std::string parse_pgm(const Bytes& bytes, Picture* picture) {
  // TODO(1), too: The picture of a file that begins with P5 or P2, or what is wrong with it. It may
  // end anywhere.
  size_t at = 2;
  picture->cols = next_number(bytes, &at);
  return "";
}

std::string parse_text(const Bytes& bytes, Picture* picture) {
  // TODO(2): The picture that print_image of 01 would show as this text, or what is wrong with it.
  picture->cols = static_cast<int>(bytes.size());
  return "";
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
  // TODO(3): *logits, by launch_inference (12), of pixels that are normalised as those of the
  // training were.
  cudaMemset(d_logits, 0, net.classes * sizeof(float));
  arrays.fetch(d_image == nullptr ? d_image : d_logits, logits->size(), logits->data());
  return "";
}

// Answer, probabilities and lines from logits.
Prediction prediction_of(const std::vector<float>& logits) {
  Prediction result;
  // TODO(4): The members of Prediction (13_predict.h). A line is "%d  %5.1f %%  %s\n" with class,
  // per cent and bar.
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

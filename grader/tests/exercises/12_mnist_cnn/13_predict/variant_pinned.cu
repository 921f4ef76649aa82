// Digits are gathered as text; the picture goes to the device from pinned memory.
#include "13_predict.h"

namespace {

using Bytes = std::vector<unsigned char>;

// The next number of a PGM header, or -1. Moves *at behind its last digit.
int next_number(const Bytes& bytes, size_t* at) {
  for (; *at < bytes.size(); ++*at) {
    if (bytes[*at] == '#') {
      while (*at + 1 < bytes.size() && bytes[*at] != '\n') ++*at;
    } else if (std::isspace(bytes[*at]) == 0) {
      break;
    }
  }
  std::string digits;
  while (*at < bytes.size() && std::isdigit(bytes[*at]) != 0)
    digits += static_cast<char>(bytes[(*at)++]);
  return digits.empty() || digits.size() > 5 ? -1 : std::stoi(digits);
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
  float* h_image = arrays.staging[0].h_images;
  for (size_t i = 0; i < picture.pixels.size(); ++i) {
    h_image[i] = (picture.pixels[i] - weights.mean) * (1 / weights.deviation);
  }
  cudaMemcpyAsync(d_image, h_image, picture.pixels.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(arrays.parameters, weights.parameters.data(),
             weights.parameters.size() * sizeof(float), cudaMemcpyHostToDevice);
  arrays.upload_statistics(net, weights.statistics);
  launch_inference(net, arrays.parameters, arrays.statistics, d_image, 1, arrays.workspace,
                   d_logits);
  arrays.fetch(d_logits, logits->size(), logits->data());
  return "";
}

// Answer, probabilities and lines from logits.
Prediction prediction_of(const std::vector<float>& logits) {
  Prediction result;
  for (size_t c = 1; c < logits.size(); ++c) {
    if (logits[c] > logits[result.answer]) result.answer = static_cast<int>(c);
  }
  const float* largest = &logits[result.answer];
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

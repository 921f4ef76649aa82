// A reader that goes through the bytes; a shuffle by sorting random keys; batches that wait for the
// whole stream.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "01_data_loader.h"
#include "01_data_loader_support.h"
#include "support.h"

namespace {

using Bytes = std::vector<unsigned char>;

std::string text_of(const char* format, double a, double b) {
  char text[100];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

// Takes the header off the front of `bytes`.
std::string take_header(const std::string& name, unsigned magic, size_t dims,
                        std::vector<double>* sizes, Bytes* bytes) {
  std::vector<double> numbers;
  for (size_t i = 0; i <= dims && bytes->size() >= 4 * i + 4; ++i) {
    double number = 0;
    for (size_t k = 0; k < 4; ++k) number = number * 256 + (*bytes)[4 * i + k];
    numbers.push_back(number);
  }
  if (!numbers.empty() && numbers[0] != magic) {
    char text[80];
    std::snprintf(text, sizeof text, ": 0x%08x is not 0x%08x.", static_cast<unsigned>(numbers[0]),
                  magic);
    return name + text;
  }
  double total = 1;
  for (size_t i = 1; i < numbers.size(); ++i) total *= numbers[i];
  total += 4 * static_cast<double>(dims + 1);
  if (numbers.size() <= dims || total != static_cast<double>(bytes->size())) {
    return name +
           text_of(": %.0f bytes where %.0f should be.", static_cast<double>(bytes->size()), total);
  }
  sizes->assign(numbers.begin() + 1, numbers.end());
  bytes->erase(bytes->begin(), bytes->begin() + 4 * static_cast<long>(dims + 1));
  return "";
}

}  // namespace

std::string load_dataset(const std::string& images_file, const std::string& labels_file,
                         const Dataset* train, Dataset* set) {
  Bytes pixels, labels;
  std::vector<double> sizes, counts;
  for (const auto& problem : {read_file(images_file, &pixels), read_file(labels_file, &labels)}) {
    if (!problem.empty()) return problem;
  }
  std::string problem = take_header(images_file, 0x803, 3, &sizes, &pixels);
  if (problem.empty()) problem = take_header(labels_file, 0x801, 1, &counts, &labels);
  if (!problem.empty()) return problem;
  if (sizes[0] != counts[0] || pixels.empty()) {
    return images_file + " and " + labels_file + text_of(": %.0f and %.0f", sizes[0], counts[0]);
  }
  if (train != nullptr && (sizes[1] != train->rows || sizes[2] != train->cols)) {
    return images_file + text_of(": %.0f rows, training has %.0f", sizes[1], train->rows);
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] > 9) return labels_file + text_of(": label %.0f at %.0f", labels[i], i);
  }
  Dataset loaded;
  loaded.count = static_cast<int>(sizes[0]);
  loaded.rows = static_cast<int>(sizes[1]);
  loaded.cols = static_cast<int>(sizes[2]);
  double sum = 0, squares = 0;
  for (const unsigned char byte : pixels) {
    sum += byte;
    squares += byte * byte;
  }
  const double n = static_cast<double>(pixels.size());
  loaded.mean = train != nullptr ? train->mean : static_cast<float>(sum / n);
  loaded.deviation = train != nullptr
                         ? train->deviation
                         : static_cast<float>(std::sqrt(squares / n - sum / n * sum / n));
  if (!(loaded.deviation > 0)) loaded.deviation = 1;
  cudaHostAlloc(&loaded.images, pixels.size() * sizeof(float), cudaHostAllocDefault);
  cudaHostAlloc(&loaded.labels, labels.size(), cudaHostAllocDefault);
  if (loaded.images == nullptr || loaded.labels == nullptr) {
    free_dataset(&loaded);
    cudaGetLastError();
    return images_file + ": no pinned memory.";
  }
  std::transform(pixels.begin(), pixels.end(), loaded.images,
                 [&](unsigned char byte) { return (byte - loaded.mean) * (1 / loaded.deviation); });
  std::memcpy(loaded.labels, labels.data(), labels.size());
  *set = loaded;
  return "";
}

void free_dataset(Dataset* set) {
  cudaFreeHost(set->images);
  cudaFreeHost(set->labels);
  *set = Dataset();
}

void shuffle(int* order, int count, unsigned long long seed, int epoch) {
  std::vector<std::pair<unsigned long long, int>> keys;
  for (int i = 0; i < count; ++i) {
    keys.emplace_back(random_bits(seed ^ static_cast<unsigned long long>(epoch) << 40, i), i);
  }
  std::sort(keys.begin(), keys.end());
  for (int i = 0; i < count; ++i) order[i] = keys[i].second;
}

cudaError_t stage_batch(const Dataset& set, const int* order, int n, const Staging& staging,
                        cudaStream_t stream) {
  cudaError_t error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess) return error;
  const size_t bytes = sizeof(float) * set.rows * set.cols;
  for (int i = 0; i < n; ++i) {
    std::memcpy(staging.h_images + i * bytes / sizeof(float),
                set.images + order[i] * bytes / sizeof(float), bytes);
    staging.h_labels[i] = set.labels[order[i]];
  }
  error = cudaMemcpyAsync(staging.d_images, staging.h_images, n * bytes, cudaMemcpyDefault, stream);
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(staging.d_labels, staging.h_labels, n, cudaMemcpyDefault, stream);
}

std::string print_image(const Dataset& set, int index) {
  std::string text;
  const int pixels = set.rows * set.cols;
  for (int i = 0; i < pixels; ++i) {
    const double byte = std::floor(set.images[index * pixels + i] * set.deviation + set.mean + 0.5);
    text += std::string(2, " .:-=+*#%@"[static_cast<int>(byte / 25.6)]);
    if ((i + 1) % set.cols == 0) text += "\n";
  }
  return text;
}

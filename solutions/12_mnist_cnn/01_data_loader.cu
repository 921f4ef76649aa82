// 12/01 Data loader: IDX files, pinned memory, batches in random order. All of it is host code.
//   An IDX file: a magic number of 4 bytes, as many sizes of 4 bytes as its last byte says, then
//   one byte per value. The numbers are big-endian: their most significant byte comes first.
//   images  0x00000803, count, rows, cols      labels  0x00000801, count
//   TODOs  5
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "01_data_loader.h"
#include "01_data_loader_support.h"
#include "support.h"

namespace {

using Bytes = std::vector<unsigned char>;

constexpr unsigned kImagesMagic = 0x803, kLabelsMagic = 0x801;

// Checks the file and finds its sizes, as many as `dims`. "" or what is wrong.
std::string parse_idx(const std::string& name, const Bytes& file, unsigned magic, int dims,
                      int* sizes) {
  char text[160];
  //~ // TODO(1): The sizes, or what is wrong with magic number, header or length of the file. A count
  //~ // from a damaged file may be anything up to 2^32 - 1; 01_data_loader.h says which numbers a
  //~ // message has to name.
  //~ std::snprintf(text, sizeof text, ": %zu bytes, magic %u", file.size(), magic);
  //~ for (int i = 0; i < dims; ++i) sizes[i] = 0;
  //~ return name + text;
  //~begin 1
  const auto number = [&file](size_t at) {
    return static_cast<unsigned>(file[at]) << 24 | file[at + 1] << 16 | file[at + 2] << 8 |
           file[at + 3];
  };
  const size_t header = 4 + 4 * static_cast<size_t>(dims);
  const size_t first = std::min(header, file.size());
  if (first >= 4 && number(0) != magic) {
    std::snprintf(text, sizeof text, ": magic number 0x%08x, expected 0x%08x.", number(0), magic);
    return name + text;
  }
  double expected = 1;  // bytes: the product of three sizes may need more than 64 bits
  for (int i = 0; i < dims && first == header; ++i) {
    const unsigned size = number(4 + 4 * static_cast<size_t>(i));
    expected *= size;
    sizes[i] = static_cast<int>(size);
  }
  expected += static_cast<double>(header);
  if (first < header || static_cast<double>(file.size()) != expected) {
    std::snprintf(text, sizeof text, ": %zu bytes, expected %.0f.", file.size(), expected);
    return name + text;
  }
  //~end
  return "";
}

// Mean and deviation of the bytes of a training set.
void measure(const unsigned char* bytes, size_t size, Dataset* set) {
  //~ // TODO(2): set->mean and set->deviation; a deviation of 0 counts as 1.
  //~ set->mean = size > 0 ? bytes[0] : 0.0f;
  //~begin 2
  double sum = 0, squares = 0;
  for (size_t i = 0; i < size; ++i) {
    sum += bytes[i];
    squares += static_cast<double>(bytes[i]) * bytes[i];
  }
  const double mean = sum / static_cast<double>(size);
  const double variance = squares / static_cast<double>(size) - mean * mean;
  set->mean = static_cast<float>(mean);
  set->deviation = variance > 0 ? static_cast<float>(std::sqrt(variance)) : 1.0f;
  //~end
}

// Two files that are right by themselves: do they fit together, and to the training set?
std::string compare(const std::string& images_file, const Bytes& labels,
                    const std::string& labels_file, const int* sizes, int labels_count,
                    const Dataset* train) {
  //~ // TODO(1), too: "" or what does not fit, in the words of 01_data_loader.h: no image at all, as
  //~ // many labels as images, the size of the training images, labels below kClasses.
  //~ static_cast<void>(images_file), static_cast<void>(labels), static_cast<void>(labels_file);
  //~ static_cast<void>(sizes), static_cast<void>(labels_count), static_cast<void>(train);
  //~ return "";
  //~begin 1
  const std::string count = std::to_string(sizes[0]);
  if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) return images_file + ": holds no image.";
  if (sizes[0] != labels_count) {
    return images_file + ": " + count + " images, but " + labels_file + " has " +
           std::to_string(labels_count) + " labels.";
  }
  const auto size_of = [](int rows, int cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  };
  if (train != nullptr && (sizes[1] != train->rows || sizes[2] != train->cols)) {
    return images_file + ": images of " + size_of(sizes[1], sizes[2]) + ", training images of " +
           size_of(train->rows, train->cols) + ".";
  }
  const auto bad = std::find_if(labels.begin() + 8, labels.end(),
                                [](unsigned char label) { return label >= kClasses; });
  if (bad == labels.end()) return "";
  return labels_file + ": label " + std::to_string(*bad) + " at position " +
         std::to_string(bad - labels.begin() - 8) + "; there are 10 classes, from 0.";
  //~end
}

void release(Dataset* set) {
  cudaFreeHost(set->images);
  cudaFreeHost(set->labels);
  *set = {};
}

}  // namespace

std::string load_dataset(const std::string& images_file, const std::string& labels_file,
                         const Dataset* train, Dataset* set) {
  Bytes images, labels;
  int sizes[3] = {}, labels_count = 0;
  std::string problem = read_file(images_file, &images);
  if (problem.empty()) problem = read_file(labels_file, &labels);
  if (problem.empty()) problem = parse_idx(images_file, images, kImagesMagic, 3, sizes);
  if (problem.empty()) problem = parse_idx(labels_file, labels, kLabelsMagic, 1, &labels_count);
  if (problem.empty()) {
    problem = compare(images_file, labels, labels_file, sizes, labels_count, train);
  }
  if (!problem.empty()) return problem;

  Dataset loaded;
  loaded.count = sizes[0];
  loaded.rows = sizes[1];
  loaded.cols = sizes[2];
  const size_t pixels = images.size() - 16;
  const unsigned char* bytes = images.data() + 16;  // behind the header
  if (train == nullptr) {
    measure(bytes, pixels, &loaded);
  } else {
    loaded.mean = train->mean;
    loaded.deviation = train->deviation;
  }
  //~ // TODO(2), too: Both arrays of `loaded` in pinned memory: the images normalised, the labels,
  //~ // which lie behind 8 bytes of header, as they are. After an error nothing is left.
  //~ static_cast<void>(bytes);
  //~ loaded.count = pixels > 0 ? 0 : 1;
  //~begin 2
  if (cudaMallocHost(&loaded.images, pixels * sizeof(float)) != cudaSuccess ||
      cudaMallocHost(&loaded.labels, loaded.count) != cudaSuccess) {
    release(&loaded);
    return images_file + ": no pinned memory for " + std::to_string(pixels * 4) + " bytes.";
  }
  for (size_t i = 0; i < pixels; ++i) {
    loaded.images[i] = (bytes[i] - loaded.mean) / loaded.deviation;
  }
  std::copy(labels.begin() + 8, labels.end(), loaded.labels);
  //~end
  *set = loaded;
  return "";
}

void free_dataset(Dataset* set) { release(set); }

void shuffle(int* order, int count, unsigned long long seed, int epoch) {
  for (int i = 0; i < count; ++i) order[i] = i;
  // random_bits (support.h) at these positions belongs to this epoch alone.
  const unsigned long long first = static_cast<unsigned long long>(epoch) << 32;
  //~ // TODO(3): A permutation of which all are equally likely. What is random at position i comes from
  //~ // random_bits(seed, first + i).
  //~ if (count > 1) std::swap(order[0], order[random_bits(seed, first) % 2]);
  //~begin 3
  for (int i = count - 1; i > 0; --i) {
    std::swap(order[i], order[random_bits(seed, first + i) % (i + 1)]);
  }
  //~end
}

cudaError_t stage_batch(const Dataset& set, const int* order, int n, const Staging& staging,
                        cudaStream_t stream) {
  const size_t pixels = static_cast<size_t>(set.rows) * set.cols;
  //~ // TODO(4): n images and labels in the device's buffers, by way of those on the host, without a
  //~ // wait for copies of this call. What may still be reading the buffers on the host?
  //~ static_cast<void>(order);
  //~ return cudaMemsetAsync(staging.d_images, 0, n * pixels * sizeof(float), stream);
  //~begin 4
  // The copies of the batch before may not have read these buffers yet.
  cudaError_t error = cudaEventSynchronize(staging.copied);
  if (error != cudaSuccess) return error;
  for (int i = 0; i < n; ++i) {
    const float* image = set.images + order[i] * pixels;
    for (size_t p = 0; p < pixels; ++p) staging.h_images[i * pixels + p] = image[p];
    staging.h_labels[i] = set.labels[order[i]];
  }
  error = cudaMemcpyAsync(staging.d_images, staging.h_images, n * pixels * sizeof(float),
                          cudaMemcpyHostToDevice, stream);
  if (error != cudaSuccess) return error;
  error = cudaMemcpyAsync(staging.d_labels, staging.h_labels, n, cudaMemcpyHostToDevice, stream);
  if (error != cudaSuccess) return error;
  return cudaEventRecord(staging.copied, stream);
  //~end
}

std::string print_image(const Dataset& set, int index) {
  static const char kRamp[] = " .:-=+*#%@";
  const float* image = set.images + static_cast<size_t>(index) * set.rows * set.cols;
  std::string text;
  for (int row = 0; row < set.rows; ++row) {
    for (int col = 0; col < set.cols; ++col) {
      //~ // TODO(5): The two characters of this pixel, by the byte that it was in the file.
      //~ text.append(1, kRamp[static_cast<int>(image[0]) & 1]);
      //~begin 5
      const float pixel = image[row * set.cols + col];
      const int byte = static_cast<int>(std::lround(pixel * set.deviation + set.mean));
      text.append(2, kRamp[byte * 10 / 256]);
      //~end
    }
    text += '\n';
  }
  return text;
}

// 12/01 Data loader: images and labels from IDX files to the device, batch by batch.
#ifndef CHAPTERS_12_MNIST_CNN_01_DATA_LOADER_H_
#define CHAPTERS_12_MNIST_CNN_01_DATA_LOADER_H_

#include <cuda_runtime_api.h>

#include <string>

constexpr int kClasses = 10;  // labels are 0 to 9

// Images and their labels in pinned host memory. A pixel is (byte - mean) / deviation.
struct Dataset {
  int count = 0, rows = 0, cols = 0;
  float mean = 0, deviation = 1;    // of the bytes of the training set
  float* images = nullptr;          // count x rows x cols
  unsigned char* labels = nullptr;  // count
};

// Reads a file of images and one of labels, plain or compressed by gzip. With `train`, a training
// set that was loaded before, its mean and deviation are used; without, those of the bytes of this
// file (a deviation of 0 counts as 1). Returns "", or what is wrong; if anything is, *set is as it
// was and nothing is left allocated. What is wrong always names the file, and
//   a wrong magic number:   the number found and the one expected, as 0x00000803 (images, three
//                           sizes) or 0x00000801 (labels, one size)
//   too short or too long:  the bytes there and the bytes expected
//   sets that do not fit:   both counts, or both sizes of an image; a set has one image at least
//   a label past 9:         the label and its position
std::string load_dataset(const std::string& images_file, const std::string& labels_file,
                         const Dataset* train, Dataset* set);
void free_dataset(Dataset* set);

// order[0 .. count - 1] becomes a permutation of 0 .. count - 1 that depends on seed and epoch
// alone; all are equally likely (Fisher and Yates).
void shuffle(int* order, int count, unsigned long long seed, int epoch);

// Buffers through which a batch goes to the device: pinned on the host, then on the device.
struct Staging {
  int capacity = 0;                                        // images
  float *h_images = nullptr, *d_images = nullptr;          // capacity x rows x cols
  unsigned char *h_labels = nullptr, *d_labels = nullptr;  // capacity
  cudaEvent_t copied = nullptr;  // recorded behind the last copies; done if there were none
};

// Gathers n images, set.images[order[0]] first, and their labels in the buffers on the host, and
// copies them to those on the device, asynchronously, in `stream`. May be called again at once with
// the same buffers. Returns the first error of CUDA, after which the batch is not there.
cudaError_t stage_batch(const Dataset& set, const int* order, int n, const Staging& staging,
                        cudaStream_t stream);

// The image as text: a line for each row, two equal characters for each pixel: of " .:-=+*#%@" the
// one at byte * 10 / 256.
std::string print_image(const Dataset& set, int index);

#endif  // CHAPTERS_12_MNIST_CNN_01_DATA_LOADER_H_

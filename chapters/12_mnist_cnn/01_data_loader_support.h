// Given code of 12/01: whole files, and the buffers of a batch.
#ifndef CHAPTERS_12_MNIST_CNN_01_DATA_LOADER_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_01_DATA_LOADER_SUPPORT_H_

#include <cuda_runtime.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "01_data_loader.h"

// The bytes of a file, decompressed if it is a .gz: zlib looks at its first bytes. "" or what is
// wrong.
inline std::string read_file(const std::string& name, std::vector<unsigned char>* bytes) {
  const gzFile file = gzopen(name.c_str(), "rb");
  if (file == nullptr) return name + ": cannot be opened.";
  bytes->clear();
  constexpr unsigned kStep = 1 << 20;  // bytes
  int got = 0;
  do {
    bytes->resize(bytes->size() + kStep);
    got = gzread(file, bytes->data() + bytes->size() - kStep, kStep);
    bytes->resize(bytes->size() - kStep + (got > 0 ? got : 0));
  } while (got > 0);
  // A compressed file that was cut off ends like a whole one; closing it tells.
  const bool damaged = got < 0 || gzclose_r(file) != Z_OK;
  if (got < 0) gzclose_r(file);
  return damaged ? name + ": is cut off or damaged, as gzip says." : "";
}

inline void free_staging(Staging* staging) {
  cudaFreeHost(staging->h_images);
  cudaFreeHost(staging->h_labels);
  cudaFree(staging->d_images);
  cudaFree(staging->d_labels);
  if (staging->copied != nullptr) cudaEventDestroy(staging->copied);
  *staging = {};
}

// Buffers for batches of up to `capacity` images of `pixels` each.
inline cudaError_t make_staging(int capacity, int pixels, Staging* staging) {
  *staging = {};
  staging->capacity = capacity;
  const size_t floats = static_cast<size_t>(capacity) * pixels * sizeof(float);
  cudaError_t error = cudaMallocHost(&staging->h_images, floats);
  if (error == cudaSuccess) error = cudaMallocHost(&staging->h_labels, capacity);
  if (error == cudaSuccess) error = cudaMalloc(&staging->d_images, floats);
  if (error == cudaSuccess) error = cudaMalloc(&staging->d_labels, capacity);
  if (error == cudaSuccess) {
    error = cudaEventCreateWithFlags(&staging->copied, cudaEventDisableTiming);
  }
  if (error != cudaSuccess) free_staging(staging);
  return error;
}

#endif  // CHAPTERS_12_MNIST_CNN_01_DATA_LOADER_SUPPORT_H_

// The C++ that this course uses, in the order of the page.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// A struct groups values; "." reaches into one, "->" into one behind a pointer.
struct Image {
  int width, height;
  float* pixels;  // [height][width], in device memory
};

enum class Activation { kNone, kRelu };  // a type of its own: no mix-up with int

// A template is compiled once for each use: kWhat is a constant in each.
template <Activation kWhat>
__device__ float activate(float x) {
  if (kWhat == Activation::kRelu) return x > 0.0f ? x : 0.0f;  // decided by the compiler
  return x;
}

template <Activation kWhat>
__global__ void add_bias(Image image, float bias) {  // the struct is copied to the kernel
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < image.width * image.height) image.pixels[i] = activate<kWhat>(image.pixels[i] + bias);
}

void allocate(float** pixels, size_t bytes) {  // a pointer to a pointer: the callee sets ours
  cudaMalloc(reinterpret_cast<void**>(pixels), bytes);
}

int depth_of(int n) { return n == 1 ? 0 : 1 + depth_of(n / 2); }  // recursion: it calls itself

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

int main() {
  Image image{2, 2, nullptr};
  Image* same = &image;
  allocate(&image.pixels, sizeof(float) * 4);
  std::printf("pointer   same->width %d, (*same).height %d\n", same->width, (*same).height);

  const std::vector<float> host = {-2.0f, -1.0f, 1.0f, 2.0f};  // on the heap, frees itself
  CHECK(cudaMemcpy(image.pixels, host.data(), sizeof(float) * 4, cudaMemcpyHostToDevice));
  add_bias<Activation::kRelu><<<1, 32>>>(image, 0.5f);
  CHECK(cudaGetLastError());
  float back[4];  // on the stack, gone with this function
  CHECK(cudaMemcpy(back, image.pixels, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("template  %g %g %g %g\n", back[0], back[1], back[2], back[3]);

  const int n = 65536;
  std::printf("overflow  int %d, size_t %zu\n", static_cast<int>(static_cast<unsigned>(n) * n),
              static_cast<size_t>(n) * n);
  const unsigned none = 0;
  std::printf("wrap      0u - 1 is %u\n", none - 1);

  float calls = 0;
  const auto scaled = [&calls](float x) { return ++calls, 2.0f * x; };  // keeps a reference
  std::printf("lambda    %g", scaled(1.5f));
  std::printf(" after %g call\n", calls);
  std::printf("recursion 1024 is 2 to the %d\n", depth_of(1024));

  const void* anything = back;  // an address without a type: cast it before you read
  std::printf("void*     %g\n", static_cast<const float*>(anything)[3]);

  if (FILE* file = std::fopen("numbers.bin", "wb")) {
    std::fwrite(back, sizeof(float), 4, file);
    std::fclose(file);
  }
  if (FILE* file = std::fopen("numbers.bin", "rb")) {
    float read[4];
    std::printf("file      %zu numbers read\n", std::fread(read, sizeof(float), 4, file));
    std::fclose(file);
  }
  CHECK(cudaFree(image.pixels));
}

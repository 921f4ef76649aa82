// Textures and surfaces: see corpus.cu for the form.
#include <cstring>

#include "corpus.h"

namespace {

constexpr int kWidth = 32, kHeight = 4;

// An image of floats that holds zeros, a texture and a surface of it, and a buffer for results.
struct Image {
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  float* out = nullptr;
  explicit Image(bool fill = true) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore);
    static const float zeros[kHeight][kWidth] = {};
    if (fill) {
      cudaMemcpy2DToArray(array, 0, 0, zeros, sizeof(zeros[0]), sizeof(zeros[0]), kHeight,
                          cudaMemcpyHostToDevice);
    }
    cudaResourceDesc resource;
    cudaTextureDesc description;
    std::memset(&resource, 0, sizeof(resource));
    std::memset(&description, 0, sizeof(description));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
    cudaMalloc(&out, kWidth * sizeof(float));
  }
  ~Image() {
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(array);
    cudaFree(out);
  }
};

// The x coordinate of a surface counts bytes.
template <bool kPlanted>
__global__ void surface_elements(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x * (kPlanted ? 1 : sizeof(float));
  surf2Dwrite(1.0f, surface, x, 0);  // planted: surface_elements memcheck/misaligned-surface
}
template <bool kPlanted>
void run_surface_elements() {
  Image m;
  surface_elements<kPlanted><<<1, kWidth>>>(m.surface);
}

template <bool kPlanted>
__global__ void surface_past_end(cudaSurfaceObject_t surface, float* out) {
  float value;
  const int y = kPlanted ? kHeight : kHeight - 1;
  surf2Dread(&value, surface, threadIdx.x * 4, y);  // planted: surface_past_end memcheck/out-of-bounds-surface
  out[threadIdx.x] = value;
}
template <bool kPlanted>
void run_surface_past_end() {
  Image m;
  surface_past_end<kPlanted><<<1, kWidth>>>(m.surface, m.out);
}

__global__ void texture_destroyed(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x, 1);  // planted: texture_destroyed memcheck/not-a-texture
}
template <bool kPlanted>
void run_texture_destroyed() {
  Image m;
  if (kPlanted) cudaDestroyTextureObject(m.texture);
  texture_destroyed<<<1, kWidth>>>(m.texture, m.out);
}

__global__ void texture_freed(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, threadIdx.x, 1);  // planted: texture_freed memcheck/use-after-free-image
}
template <bool kPlanted>
void run_texture_freed() {
  Image m;
  if (kPlanted) cudaFreeArray(m.array);
  texture_freed<<<1, kWidth>>>(m.texture, m.out);
}

__global__ void texture_unwritten(cudaTextureObject_t texture, float* out) {
  const float value = tex2D<float>(texture, threadIdx.x, 1);
  out[threadIdx.x] = value * 2;  // planted: texture_unwritten initcheck/uninitialised-value
}
template <bool kPlanted>
void run_texture_unwritten() {
  Image m(!kPlanted);
  texture_unwritten<<<1, kWidth>>>(m.texture, m.out);
}

// What a kernel wrote through a surface counts as written.
template <bool kPlanted>
__global__ void surface_fill(cudaSurfaceObject_t surface) {
  if (!kPlanted || threadIdx.x > 0) surf2Dwrite(1.0f, surface, threadIdx.x * 4, 1);
}
__global__ void surface_half_filled(cudaTextureObject_t texture, float* out) {
  const float value = tex2D<float>(texture, threadIdx.x, 1);
  out[threadIdx.x] = value * 2;  // planted: surface_half_filled initcheck/uninitialised-value
}
template <bool kPlanted>
void run_surface_half_filled() {
  Image m(false);
  surface_fill<kPlanted><<<1, kWidth>>>(m.surface);
  surface_half_filled<<<1, kWidth>>>(m.texture, m.out);
}

// A filter in place reads what others write; the clean twin writes another row.
template <bool kPlanted>
__global__ void surface_in_place(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x;
  float next;
  surf2Dread(&next, surface, (x + 1) % kWidth * 4, 1);
  surf2Dwrite(next + 1, surface, x * 4, kPlanted ? 1 : 0);  // planted: surface_in_place racecheck/global-race
}
template <bool kPlanted>
void run_surface_in_place() {
  Image m;
  surface_in_place<kPlanted><<<1, kWidth>>>(m.surface);
}

template <bool kPlanted>
__global__ void texture_in_place(cudaTextureObject_t texture, cudaSurfaceObject_t surface) {
  const int x = threadIdx.x;
  const float next = tex2D<float>(texture, (x + 1) % kWidth, 1);
  surf2Dwrite(next + 1, surface, x * 4, kPlanted ? 1 : 0);  // planted: texture_in_place racecheck/global-race
}
template <bool kPlanted>
void run_texture_in_place() {
  Image m;
  texture_in_place<kPlanted><<<1, kWidth>>>(m.texture, m.surface);
}

}  // namespace

const CorpusCase kImageCases[] = {
    CASE(surface_elements, "image.bounds memory.misaligned"), CASE(surface_past_end, "image.bounds"),  CASE(texture_destroyed, "image.bounds"),
    CASE(texture_freed, "memory.freed"),    CASE(texture_unwritten, "image.init"), CASE(surface_half_filled, "image.init"),
    CASE(surface_in_place, "image.race"), CASE(texture_in_place, "image.race"),
};
extern const CorpusPart kImageCorpus = {kImageCases, sizeof(kImageCases) / sizeof(kImageCases[0])};

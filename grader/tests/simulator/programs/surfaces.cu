// Surfaces: reads and writes of one to four channels, in one to three dimensions and layers, and
// what happens outside in the modes that do not trap. A texture sees what a surface wrote.
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr int kWidth = 16, kHeight = 8, kDepth = 4;

cudaArray_t make_array(const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  CHECK_CUDA(cudaMalloc3DArray(&array, &format, extent, flags | cudaArraySurfaceLoadStore));
  return array;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaSurfaceObject_t make_surface(cudaArray_t array) {
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  CHECK_CUDA(cudaCreateSurfaceObject(&surface, &resource));
  return surface;
}

__global__ void write_2d(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(make_short2(static_cast<short>(x), static_cast<short>(-y)), surface,
              x * static_cast<int>(sizeof(short2)), y);
}

// Mirrors rows through a second surface and reads the first through a texture.
__global__ void mirror_2d(cudaTextureObject_t texture, cudaSurfaceObject_t from,
                          cudaSurfaceObject_t to, int* bad) {
  const int x = threadIdx.x, y = threadIdx.y;
  short2 value;
  surf2Dread(&value, from, x * static_cast<int>(sizeof(short2)), y);
  const short2 sampled = tex2D<short2>(texture, x, y);
  if (value.x != sampled.x || value.y != sampled.y) atomicAdd(bad, 1);
  surf2Dwrite(value, to, (kWidth - 1 - x) * static_cast<int>(sizeof(short2)), y);
}

__global__ void edges(cudaSurfaceObject_t surface, short2* out) {
  surf2Dread(&out[0], surface, -4, 3, cudaBoundaryModeZero);
  surf2Dread(&out[1], surface, -4, 3, cudaBoundaryModeClamp);
  surf2Dread(&out[2], surface, kWidth * 4, kHeight + 5, cudaBoundaryModeClamp);
  surf2Dwrite(make_short2(99, 99), surface, kWidth * 4, 0, cudaBoundaryModeZero);  // dropped
  surf2Dread(&out[3], surface, (kWidth - 1) * 4, 0);
}

void test_2d() {
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, 0);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<short2>();
  cudaArray_t from = make_array(format, extent), to = make_array(format, extent);
  const cudaSurfaceObject_t from_surface = make_surface(from), to_surface = make_surface(to);
  const cudaResourceDesc resource = resource_of(from);
  cudaTextureDesc description;
  std::memset(&description, 0, sizeof(description));
  cudaTextureObject_t texture = 0;
  CHECK_CUDA(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  int* bad = nullptr;
  short2* d_edges = nullptr;
  CHECK_CUDA(cudaMalloc(&bad, sizeof(int)));
  CHECK_CUDA(cudaMemset(bad, 0, sizeof(int)));
  CHECK_CUDA(cudaMalloc(&d_edges, 4 * sizeof(short2)));
  write_2d<<<1, dim3(kWidth, kHeight)>>>(from_surface);
  mirror_2d<<<1, dim3(kWidth, kHeight)>>>(texture, from_surface, to_surface, bad);
  edges<<<1, 1>>>(from_surface, d_edges);
  short2 out[kHeight][kWidth];
  CHECK_CUDA(cudaMemcpy2DFromArray(out, sizeof(out[0]), to, 0, 0, sizeof(out[0]), kHeight,
                                   cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) CHECK(out[y][x].x == kWidth - 1 - x && out[y][x].y == -y);
  }
  int wrong = -1;
  short2 edge[4];
  CHECK_CUDA(cudaMemcpy(&wrong, bad, sizeof(wrong), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(edge, d_edges, sizeof(edge), cudaMemcpyDeviceToHost));
  CHECK(wrong == 0);
  CHECK(edge[0].x == 0 && edge[0].y == 0);
  CHECK(edge[1].x == 0 && edge[1].y == -3);
  CHECK(edge[2].x == kWidth - 1 && edge[2].y == -(kHeight - 1));
  CHECK(edge[3].x == kWidth - 1 && edge[3].y == 0);
  CHECK_CUDA(cudaDestroyTextureObject(texture));
  CHECK_CUDA(cudaDestroySurfaceObject(from_surface));
  CHECK_CUDA(cudaDestroySurfaceObject(to_surface));
  CHECK_CUDA(cudaFreeArray(from));
  CHECK_CUDA(cudaFreeArray(to));
  CHECK_CUDA(cudaFree(bad));
  CHECK_CUDA(cudaFree(d_edges));
}

__global__ void write_slices(cudaSurfaceObject_t volume, cudaSurfaceObject_t layers,
                             cudaSurfaceObject_t line) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  const float4 value = make_float4(x, y, z, x + y + z);
  surf3Dwrite(value, volume, x * 16, y, z);
  surf2DLayeredwrite(10 * z + x, layers, x * 4, y, z);
  if (y == 0 && z == 0) surf1Dwrite(static_cast<unsigned char>(3 * x), line, x);
}

void test_slices() {
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);
  cudaArray_t volume = make_array(cudaCreateChannelDesc<float4>(), extent);
  cudaArray_t layers = make_array(cudaCreateChannelDesc<int>(), extent, cudaArrayLayered);
  cudaArray_t line =
      make_array(cudaCreateChannelDesc<unsigned char>(), make_cudaExtent(kWidth, 0, 0));
  const cudaSurfaceObject_t surfaces[3] = {make_surface(volume), make_surface(layers),
                                           make_surface(line)};
  write_slices<<<kDepth, dim3(kWidth, kHeight)>>>(surfaces[0], surfaces[1], surfaces[2]);
  std::vector<float4> values(kWidth * kHeight * kDepth);
  std::vector<int> numbers(values.size());
  cudaMemcpy3DParms copy = {};
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  copy.srcArray = volume;
  copy.dstPtr = make_cudaPitchedPtr(values.data(), kWidth * sizeof(float4), kWidth, kHeight);
  CHECK_CUDA(cudaMemcpy3D(&copy));
  copy.srcArray = layers;
  copy.dstPtr = make_cudaPitchedPtr(numbers.data(), kWidth * sizeof(int), kWidth, kHeight);
  CHECK_CUDA(cudaMemcpy3D(&copy));
  for (int z = 0; z < kDepth; ++z) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const int i = (z * kHeight + y) * kWidth + x;
        CHECK(values[i].x == x && values[i].y == y && values[i].z == z && values[i].w == x + y + z);
        CHECK(numbers[i] == 10 * z + x);
      }
    }
  }
  unsigned char bytes[kWidth];
  CHECK_CUDA(cudaMemcpy2DFromArray(bytes, kWidth, line, 0, 0, kWidth, 1, cudaMemcpyDeviceToHost));
  for (int x = 0; x < kWidth; ++x) CHECK(bytes[x] == 3 * x);
  for (const cudaSurfaceObject_t surface : surfaces) CHECK_CUDA(cudaDestroySurfaceObject(surface));
  for (const cudaArray_t array : {volume, layers, line}) CHECK_CUDA(cudaFreeArray(array));
}

// What CUDA C++ has no function for: reductions in a surface, and its size.
__global__ void count_threads(cudaSurfaceObject_t surface, unsigned* sizes) {
  const int x = threadIdx.x % kWidth * 4;
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(surface), "r"(x), "r"(1), "r"(2u));
  asm volatile("sured.b.max.2d.s32.trap [%0, {%1, %2}], %3;" ::"l"(surface), "r"(x), "r"(2),
               "r"(static_cast<int>(threadIdx.x) - 40));
  unsigned width, height;
  asm volatile("suq.width.b32 %0, [%1];" : "=r"(width) : "l"(surface));
  asm volatile("suq.height.b32 %0, [%1];" : "=r"(height) : "l"(surface));
  if (threadIdx.x == 0) {
    sizes[0] = width;
    sizes[1] = height;
  }
}

void test_reductions() {
  constexpr int kThreads = 64;
  cudaArray_t array =
      make_array(cudaCreateChannelDesc<int>(), make_cudaExtent(kWidth, kHeight, 0));
  int cells[kHeight][kWidth] = {};
  for (int x = 0; x < kWidth; ++x) cells[2][x] = -1000;
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, cells, sizeof(cells[0]), sizeof(cells[0]), kHeight,
                                 cudaMemcpyHostToDevice));
  const cudaSurfaceObject_t surface = make_surface(array);
  unsigned* d_sizes = nullptr;
  unsigned sizes[2];
  CHECK_CUDA(cudaMalloc(&d_sizes, sizeof(sizes)));
  count_threads<<<1, kThreads>>>(surface, d_sizes);
  CHECK_CUDA(cudaMemcpy(sizes, d_sizes, sizeof(sizes), cudaMemcpyDeviceToHost));
  CHECK(sizes[0] == kWidth && sizes[1] == kHeight);
  CHECK_CUDA(cudaMemcpy2DFromArray(cells, sizeof(cells[0]), array, 0, 0, sizeof(cells[0]), kHeight,
                                   cudaMemcpyDeviceToHost));
  for (int x = 0; x < kWidth; ++x) {
    CHECK(cells[1][x] == 2 * kThreads / kWidth && cells[2][x] == kThreads - kWidth + x - 40);
  }
  CHECK_CUDA(cudaDestroySurfaceObject(surface));
  CHECK_CUDA(cudaFreeArray(array));
  CHECK_CUDA(cudaFree(d_sizes));
}

}  // namespace

int main() {
  test_2d();
  test_reductions();
  test_slices();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("PASSED\n");
  return 0;
}

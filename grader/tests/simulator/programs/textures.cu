// Textures against the formulas of the CUDA C++ Programming Guide, computed on the host: filters,
// address modes, layers, three dimensions, cube maps, memory as a texture, gathering.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr int kWidth = 8, kHeight = 4, kDepth = 3;

// Coordinates are multiples of 1/256 texel, where the 9-bit weights of the filter are exact.
float value_at(int x, int y, int z) { return static_cast<float>(x + 10 * y + 100 * z); }

int clamp_index(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
int address(int i, int n, cudaTextureAddressMode mode) {
  if (mode == cudaAddressModeWrap) return (i % n + n) % n;
  if (mode == cudaAddressModeMirror) {
    const int period = (i % (2 * n) + 2 * n) % (2 * n);
    return period < n ? period : 2 * n - 1 - period;
  }
  if (mode == cudaAddressModeBorder && (i < 0 || i >= n)) return -1;
  return clamp_index(i, n);
}

// u and v in texels.
float expected_2d(float u, float v, bool linear, cudaTextureAddressMode mode) {
  const auto texel = [&](int x, int y) {
    const int i = address(x, kWidth, mode), j = address(y, kHeight, mode);
    return i < 0 || j < 0 ? 0.0f : value_at(i, j, 0);
  };
  if (!linear) return texel(static_cast<int>(std::floor(u)), static_cast<int>(std::floor(v)));
  const float bu = u - 0.5f, bv = v - 0.5f;
  const int i = static_cast<int>(std::floor(bu)), j = static_cast<int>(std::floor(bv));
  const float a = bu - static_cast<float>(i), b = bv - static_cast<float>(j);
  return (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) +
         (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1);
}

struct Descriptions {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  Descriptions() {
    std::memset(&resource, 0, sizeof(resource));
    std::memset(&texture, 0, sizeof(texture));
    resource.resType = cudaResourceTypeArray;
    for (auto& mode : texture.addressMode) mode = cudaAddressModeClamp;
  }
  cudaTextureObject_t make() const {
    cudaTextureObject_t object = 0;
    CHECK_CUDA(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    return object;
  }
};

__global__ void sample_2d(cudaTextureObject_t texture, const float2* at, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

void check_2d(cudaArray_t array, bool linear, bool normalised, cudaTextureAddressMode mode) {
  std::vector<float2> at;
  for (int y = -6; y <= 12; ++y) {
    for (int x = -9; x <= 25; ++x) {
      at.push_back({static_cast<float>(x) * 0.75f + 1.0f / 256, static_cast<float>(y) * 0.625f + 3.0f / 256});
    }
  }
  const int n = static_cast<int>(at.size());
  std::vector<float2> given = at;
  for (float2& p : given) {
    if (normalised) p = {p.x / kWidth, p.y / kHeight};
  }
  float2* d_at = nullptr;
  float* d_out = nullptr;
  CHECK_CUDA(cudaMalloc(&d_at, n * sizeof(float2)));
  CHECK_CUDA(cudaMalloc(&d_out, n * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_at, given.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
  Descriptions d;
  d.resource.res.array.array = array;
  d.texture.addressMode[0] = d.texture.addressMode[1] = mode;
  d.texture.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
  d.texture.normalizedCoords = normalised;
  const cudaTextureObject_t texture = d.make();
  sample_2d<<<(n + 63) / 64, 64>>>(texture, d_at, d_out, n);
  std::vector<float> out(at.size());
  CHECK_CUDA(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    const float wanted = expected_2d(at[i].x, at[i].y, linear, mode);
    // A weight may be one step of 1/256 off, of the largest value.
    if (std::fabs(out[i] - wanted) > 40.0f / 256) {
      std::printf("linear %d normalised %d mode %d (%g, %g): %g, expected %g\n", linear, normalised,
                  static_cast<int>(mode), at[i].x, at[i].y, out[i], wanted);
      std::exit(1);
    }
  }
  CHECK_CUDA(cudaDestroyTextureObject(texture));
  CHECK_CUDA(cudaFree(d_at));
  CHECK_CUDA(cudaFree(d_out));
}

void test_2d() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK_CUDA(cudaMallocArray(&array, &format, kWidth, kHeight));
  float texels[kHeight][kWidth];
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) texels[y][x] = value_at(x, y, 0);
  }
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof(texels[0]), sizeof(texels[0]), kHeight,
                                 cudaMemcpyHostToDevice));
  for (const bool linear : {false, true}) {
    check_2d(array, linear, false, cudaAddressModeClamp);
    check_2d(array, linear, false, cudaAddressModeBorder);
    check_2d(array, linear, true, cudaAddressModeClamp);
    check_2d(array, linear, true, cudaAddressModeWrap);
    check_2d(array, linear, true, cudaAddressModeMirror);
    check_2d(array, linear, true, cudaAddressModeBorder);
  }
  // A part back to the host, and what the array says of itself.
  float part[2][3] = {};
  CHECK_CUDA(cudaMemcpy2DFromArray(part, sizeof(part[0]), array, 2 * sizeof(float), 1,
                                   3 * sizeof(float), 2, cudaMemcpyDeviceToHost));
  CHECK(part[0][0] == value_at(2, 1, 0) && part[1][2] == value_at(4, 2, 0));
  cudaChannelFormatDesc told;
  cudaExtent extent;
  unsigned flags = 9;
  CHECK_CUDA(cudaArrayGetInfo(&told, &extent, &flags, array));
  CHECK(told.x == 32 && told.f == cudaChannelFormatKindFloat && extent.width == kWidth &&
        extent.height == kHeight && extent.depth == 0 && flags == 0);
  CHECK_CUDA(cudaFreeArray(array));
}

__global__ void fetch_bytes(cudaTextureObject_t fractions, cudaTextureObject_t numbers,
                            float4* as_float, uchar4* as_bytes) {
  const int i = threadIdx.x;
  as_float[i] = tex1Dfetch<float4>(fractions, i);
  as_bytes[i] = tex1Dfetch<uchar4>(numbers, i);
}

// Memory as a texture: four bytes per texel, as numbers and as fractions.
void test_linear() {
  constexpr int kTexels = 16;
  std::vector<uint8_t> bytes(kTexels * 4);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 4);
  uint8_t* memory = nullptr;
  float4* as_float = nullptr;
  uchar4* as_bytes = nullptr;
  CHECK_CUDA(cudaMalloc(&memory, bytes.size()));
  CHECK_CUDA(cudaMalloc(&as_float, (kTexels + 1) * sizeof(float4)));
  CHECK_CUDA(cudaMalloc(&as_bytes, (kTexels + 1) * sizeof(uchar4)));
  CHECK_CUDA(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  Descriptions d;
  d.resource.resType = cudaResourceTypeLinear;
  d.resource.res.linear.devPtr = memory;
  d.resource.res.linear.sizeInBytes = bytes.size();
  d.resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  const cudaTextureObject_t numbers = d.make();
  d.texture.readMode = cudaReadModeNormalizedFloat;
  const cudaTextureObject_t fractions = d.make();
  fetch_bytes<<<1, kTexels + 1>>>(fractions, numbers, as_float, as_bytes);
  float4 floats[kTexels + 1];
  uchar4 numbers_read[kTexels + 1];
  CHECK_CUDA(cudaMemcpy(floats, as_float, sizeof(floats), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(numbers_read, as_bytes, sizeof(numbers_read), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kTexels; ++i) {
    CHECK(numbers_read[i].x == bytes[4 * i] && numbers_read[i].w == bytes[4 * i + 3]);
    CHECK(std::fabs(floats[i].y - static_cast<float>(bytes[4 * i + 1]) / 255.0f) < 1e-6f);
  }
  CHECK(numbers_read[kTexels].x == 0 && floats[kTexels].x == 0);  // past the end: zero
  CHECK_CUDA(cudaDestroyTextureObject(numbers));
  CHECK_CUDA(cudaDestroyTextureObject(fractions));
  CHECK_CUDA(cudaFree(memory));
  CHECK_CUDA(cudaFree(as_float));
  CHECK_CUDA(cudaFree(as_bytes));
}

__global__ void read_volume(cudaTextureObject_t volume, cudaTextureObject_t layers, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  const int i = (z * kHeight + y) * kWidth + x;
  out[2 * i] = tex3D<float>(volume, x + 1.0f, y + 0.75f, z + 0.5f);
  out[2 * i + 1] = tex2DLayered<float>(layers, x + 0.75f, y + 0.5f, z);
}

// The same texels as a volume and as layers of images, filled by cudaMemcpy3D.
void test_volume_and_layers() {
  std::vector<float> texels;
  for (int z = 0; z < kDepth; ++z) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) texels.push_back(value_at(x, y, z));
    }
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t arrays[2];
  cudaTextureObject_t textures[2];
  for (int k = 0; k < 2; ++k) {
    const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);
    CHECK_CUDA(cudaMalloc3DArray(&arrays[k], &format, extent, k == 1 ? cudaArrayLayered : 0));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), kWidth * sizeof(float), kWidth, kHeight);
    copy.dstArray = arrays[k];
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK_CUDA(cudaMemcpy3D(&copy));
    Descriptions d;
    d.resource.res.array.array = arrays[k];
    d.texture.filterMode = cudaFilterModeLinear;
    textures[k] = d.make();
  }
  float* d_out = nullptr;
  std::vector<float> out(2 * texels.size());
  CHECK_CUDA(cudaMalloc(&d_out, out.size() * sizeof(float)));
  read_volume<<<kDepth, dim3(kWidth, kHeight)>>>(textures[0], textures[1], d_out);
  CHECK_CUDA(cudaMemcpy(out.data(), d_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int z = 0; z < kDepth; ++z) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const int i = (z * kHeight + y) * kWidth + x, right = clamp_index(x + 1, kWidth);
        const int below = clamp_index(y + 1, kHeight);
        // Half of two columns, a quarter of the row below; in z on a texel.
        const float row = 0.5f * (value_at(x, y, z) + value_at(right, y, z));
        const float next = 0.5f * (value_at(x, below, z) + value_at(right, below, z));
        CHECK(std::fabs(out[2 * i] - (0.75f * row + 0.25f * next)) < 1.0f / 32);
        const float layer = 0.75f * value_at(x, y, z) + 0.25f * value_at(right, y, z);
        CHECK(std::fabs(out[2 * i + 1] - layer) < 1.0f / 32);
      }
    }
  }
  for (int k = 0; k < 2; ++k) {
    CHECK_CUDA(cudaDestroyTextureObject(textures[k]));
    CHECK_CUDA(cudaFreeArray(arrays[k]));
  }
  CHECK_CUDA(cudaFree(d_out));
}

__global__ void read_faces(cudaTextureObject_t cube, float* out) {
  const float x[6] = {1, -1, 0.25f, 0.25f, 0.25f, 0.25f};
  const float y[6] = {0.25f, 0.25f, 1, -1, 0.25f, 0.25f};
  const float z[6] = {0.25f, 0.25f, 0.25f, 0.25f, 1, -1};
  out[threadIdx.x] = texCubemap<float>(cube, x[threadIdx.x], y[threadIdx.x], z[threadIdx.x]);
}

void test_cube() {
  constexpr int kSide = 4;
  std::vector<float> texels(6 * kSide * kSide);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kSide, kSide, 6);
  cudaArray_t array = nullptr;
  CHECK_CUDA(cudaMalloc3DArray(&array, &format, extent, cudaArrayCubemap));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), kSide * sizeof(float), kSide, kSide);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK_CUDA(cudaMemcpy3D(&copy));
  Descriptions d;
  d.resource.res.array.array = array;
  d.texture.normalizedCoords = 1;
  const cudaTextureObject_t cube = d.make();
  float* d_out = nullptr;
  float out[6];
  CHECK_CUDA(cudaMalloc(&d_out, sizeof(out)));
  read_faces<<<1, 6>>>(cube, d_out);
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  // (s, t) of each face at these directions: 0.25 / 1 or its negative, in texels 2.5 or 1.5.
  const float s[6] = {-0.25f, 0.25f, 0.25f, 0.25f, 0.25f, -0.25f};
  const float t[6] = {-0.25f, -0.25f, 0.25f, -0.25f, -0.25f, -0.25f};
  for (int face = 0; face < 6; ++face) {
    const int x = static_cast<int>((s[face] + 1) / 2 * kSide);
    const int y = static_cast<int>((t[face] + 1) / 2 * kSide);
    CHECK(out[face] == static_cast<float>((face * kSide + y) * kSide + x));
  }
  CHECK_CUDA(cudaDestroyTextureObject(cube));
  CHECK_CUDA(cudaFreeArray(array));
  CHECK_CUDA(cudaFree(d_out));
}

__global__ void gather_corners(cudaTextureObject_t texture, float4* out, unsigned* sizes) {
  unsigned width, height;
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(texture));
  asm volatile("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(texture));
  if (threadIdx.x == 0) {
    sizes[0] = width;
    sizes[1] = height;
  }
  out[threadIdx.x] = tex2Dgather<float4>(texture, threadIdx.x + 1.0f, 2.0f, 0);
}

// Pitched memory as a texture, and the four texels around a corner.
void test_pitched_and_gather() {
  float* memory = nullptr;
  size_t pitch = 0;
  CHECK_CUDA(cudaMallocPitch(&memory, &pitch, kWidth * sizeof(float), kHeight));
  float texels[kHeight][kWidth];
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) texels[y][x] = value_at(x, y, 0);
  }
  CHECK_CUDA(cudaMemcpy2D(memory, pitch, texels, sizeof(texels[0]), sizeof(texels[0]), kHeight,
                          cudaMemcpyHostToDevice));
  Descriptions d;
  d.resource.resType = cudaResourceTypePitch2D;
  d.resource.res.pitch2D.devPtr = memory;
  d.resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  d.resource.res.pitch2D.width = kWidth;
  d.resource.res.pitch2D.height = kHeight;
  d.resource.res.pitch2D.pitchInBytes = pitch;
  const cudaTextureObject_t pitched = d.make();
  const float2 where[2] = {{3.5f, 2.5f}, {7.25f, 0.75f}};
  float2* d_at = nullptr;
  float* d_out = nullptr;
  CHECK_CUDA(cudaMalloc(&d_at, sizeof(where)));
  CHECK_CUDA(cudaMalloc(&d_out, 2 * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(d_at, where, sizeof(where), cudaMemcpyHostToDevice));
  sample_2d<<<1, 2>>>(pitched, d_at, d_out, 2);
  float out[2];
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
  CHECK(out[0] == value_at(3, 2, 0) && out[1] == value_at(7, 0, 0));
  CHECK_CUDA(cudaDestroyTextureObject(pitched));

  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK_CUDA(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArrayTextureGather));
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, memory, pitch, sizeof(texels[0]), kHeight,
                                 cudaMemcpyDeviceToDevice));
  Descriptions g;
  g.resource.res.array.array = array;
  const cudaTextureObject_t gathered = g.make();
  float4* d_corners = nullptr;
  float4 corners[4];
  CHECK_CUDA(cudaMalloc(&d_corners, sizeof(corners)));
  unsigned* d_sizes = nullptr;
  unsigned sizes[2];
  CHECK_CUDA(cudaMalloc(&d_sizes, sizeof(sizes)));
  gather_corners<<<1, 4>>>(gathered, d_corners, d_sizes);
  CHECK_CUDA(cudaMemcpy(sizes, d_sizes, sizeof(sizes), cudaMemcpyDeviceToHost));
  CHECK(sizes[0] == kWidth && sizes[1] == kHeight);
  CHECK_CUDA(cudaFree(d_sizes));
  CHECK_CUDA(cudaMemcpy(corners, d_corners, sizeof(corners), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; ++i) {
    CHECK(corners[i].x == value_at(i, 2, 0) && corners[i].y == value_at(i + 1, 2, 0));
    CHECK(corners[i].z == value_at(i + 1, 1, 0) && corners[i].w == value_at(i, 1, 0));
  }
  CHECK_CUDA(cudaDestroyTextureObject(gathered));
  CHECK_CUDA(cudaFreeArray(array));
  CHECK_CUDA(cudaFree(d_corners));
  CHECK_CUDA(cudaFree(memory));
  CHECK_CUDA(cudaFree(d_at));
  CHECK_CUDA(cudaFree(d_out));
}

// What no texture can be is refused when it is made.
void test_refusals() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  CHECK_CUDA(cudaMallocArray(&array, &format, kWidth, kHeight));
  Descriptions d;
  d.resource.res.array.array = array;
  d.texture.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &d.resource, &d.texture, nullptr) != cudaSuccess);
  CHECK(cudaGetLastError() != cudaSuccess);
  const cudaChannelFormatDesc odd = {8, 16, 0, 0, cudaChannelFormatKindUnsigned};
  cudaArray_t none = nullptr;
  CHECK(cudaMallocArray(&none, &odd, kWidth, kHeight) != cudaSuccess);
  CHECK(cudaGetLastError() != cudaSuccess);
  CHECK_CUDA(cudaFreeArray(array));
}

}  // namespace

int main() {
  test_2d();
  test_linear();
  test_volume_and_layers();
  test_cube();
  test_pitched_and_gather();
  test_refusals();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("PASSED\n");
  return 0;
}

// Access to shared memory: banks, broadcast, and the kernels that are built on it.
#pragma once

// ---- banks ----------------------------------------------------------------------------------
// T is read by every lane kReads times from an index that the pattern chooses.

struct Unit {
  static __device__ int at(int lane) { return lane; }
};
template <int kStride>
struct Strided {
  static __device__ int at(int lane) { return lane * kStride; }
};
template <int kLanes>  // neighbours that read the same
struct Together {
  static __device__ int at(int lane) { return lane / kLanes; }
};
template <int kLanes>  // lanes that far apart read the same
struct Folded {
  static __device__ int at(int lane) { return lane % kLanes; }
};
struct All {
  static __device__ int at(int) { return 0; }
};
struct SwappedPairs {
  static __device__ int at(int lane) { return (lane & ~3) | ((lane & 1) << 1) | ((lane >> 1) & 1); }
};

__device__ inline float sum_of(float v) { return v; }
__device__ inline float sum_of(float2 v) { return v.x + v.y; }
__device__ inline float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

template <class T, class Pattern>
__global__ void read_banks(const float*, float* out, int n) {
  __shared__ T tile[1056];
  float* words = reinterpret_cast<float*>(tile);
  for (int i = threadIdx.x; i < static_cast<int>(sizeof tile / 4); i += blockDim.x) words[i] = i;
  __syncthreads();  // the tile is complete
  const int lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    // The barrier keeps the compiler from reading once.
    sum += sum_of(tile[Pattern::at(lane)]);
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <class T, class Pattern>
__global__ void write_banks(const float* in, float* out, int n) {
  __shared__ T tile[1056];
  T value;
  float* parts = reinterpret_cast<float*>(&value);
  for (unsigned p = 0; p < sizeof(T) / 4; ++p) parts[p] = in[threadIdx.x + p];
  const int lane = threadIdx.x % 32;
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x < 32) tile[Pattern::at(lane)] = value;
    __syncthreads();  // one warp writes at a time
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum_of(tile[0]);
}

// ---- transposes -----------------------------------------------------------------------------

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int y = blockIdx.y * 32 + threadIdx.y; y < (static_cast<int>(blockIdx.y) + 1) * 32; y += 8) {
    out[x * n + y] = in[y * n + x];
  }
}

template <int kPadding>
__global__ void transpose_tile(const float* in, float* out, int n) {
  __shared__ float tile[32][32 + kPadding];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
  __syncthreads();  // the tile is complete
  const int tx = blockIdx.y * 32 + threadIdx.x, ty = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(ty + k) * n + tx] = tile[threadIdx.x][threadIdx.y + k];
}

// ---- reductions, scan, stencils -------------------------------------------------------------

__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float part[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();  // the upper half is complete
    if (static_cast<int>(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    sum += in[i];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, distance);
  }
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void scan_block(const float* in, float* out, int n) {
  __shared__ float sums[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  sums[t] = i < n ? in[i] : 0;
  for (int distance = 1; distance < 256; distance *= 2) {
    __syncthreads();  // sums of the last step are complete
    const float add = t >= distance ? sums[t - distance] : 0;
    __syncthreads();  // all have read
    sums[t] += add;
  }
  if (i < n) out[i] = sums[t];
}

__global__ void stencil(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 && i < n - 2) out[i] = in[i - 2] + in[i - 1] + in[i] + in[i + 1] + in[i + 2];
}

__global__ void stencil_shared(const float* in, float* out, int n) {
  __shared__ float row[256 + 4];
  const int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 2;
  row[t] = i < n ? in[i] : 0;
  if (threadIdx.x < 2) {
    row[threadIdx.x] = i >= 2 ? in[i - 2] : 0;
    row[t + 256] = i + 256 < n ? in[i + 256] : 0;
  }
  __syncthreads();  // the row and its margins are complete
  if (i < n) out[i] = row[t - 2] + row[t - 1] + row[t] + row[t + 1] + row[t + 2];
}

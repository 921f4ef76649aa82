// Pairs of programs that differ by one line: one with a planted defect, one without. The defect must
// be found on the marked line; the clean twin must not be accused.
//
//   // planted: NAME CHECK/KIND      on the line that the finding must name
//   // noted: NAME CHECK/KIND        on the line that a note about the clean twin must name
//
// A marker on a line of its own means the next line. What a case shows: sentences.txt.
//
// Each case runs in a process of its own: corpus NAME planted|clean.
#include <cstdio>
#include <cstring>

#include "corpus.h"

namespace {

constexpr int kThreads = 64;
constexpr int kWords = 256;

struct Buffers {
  float* a = nullptr;
  float* b = nullptr;
  explicit Buffers(bool fill = true) {
    cudaMalloc(&a, kWords * sizeof(float));
    cudaMalloc(&b, kWords * sizeof(float));
    if (fill) cudaMemset(a, 0, kWords * sizeof(float));
  }
  ~Buffers() {
    cudaFree(a);
    cudaFree(b);
  }
};

// ---- memcheck ------------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void read_past_end(const float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kPlanted ? i <= n : i < n) {
    const float x = a[i];  // planted: read_past_end memcheck/out-of-bounds-global-read
    b[i % n] = x;
  }
}
template <bool kPlanted>
void run_read_past_end() {
  Buffers m;
  read_past_end<kPlanted><<<kWords / kThreads + 1, kThreads>>>(m.a, m.b, kWords);
  cudaDeviceSynchronize();
}

template <bool kPlanted>
__global__ void write_past_end(float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (kPlanted ? i <= n : i < n) {
    b[i] = 1.0f;  // planted: write_past_end memcheck/out-of-bounds-global-write
  }
}
template <bool kPlanted>
void run_write_past_end() {
  Buffers m;
  write_past_end<kPlanted><<<kWords / kThreads + 1, kThreads>>>(m.b, kWords);
  cudaDeviceSynchronize();
}

__global__ void copy_element(const float* a, float* b) {
  b[threadIdx.x] = a[threadIdx.x];  // planted: host_pointer memcheck/host-pointer-read
}
template <bool kPlanted>
void run_host_pointer() {
  Buffers m;
  static float host[kThreads] = {};
  copy_element<<<1, kThreads>>>(kPlanted ? host : m.a, m.b);
  cudaDeviceSynchronize();
}

__global__ void set_element(float* b) {
  b[threadIdx.x] = 2.0f;  // planted: null_pointer memcheck/null-pointer-write
}
template <bool kPlanted>
void run_null_pointer() {
  Buffers m;
  set_element<<<1, kThreads>>>(kPlanted ? nullptr : m.b);
  cudaDeviceSynchronize();
}

__global__ void touch_freed(float* b) {
  b[threadIdx.x] = 2.0f;  // planted: use_after_free memcheck/use-after-free-write
}
template <bool kPlanted>
void run_use_after_free() {
  float* b = nullptr;
  cudaMalloc(&b, kWords * sizeof(float));
  if (kPlanted) cudaFree(b);
  touch_freed<<<1, kThreads>>>(b);
  cudaDeviceSynchronize();
  if (!kPlanted) cudaFree(b);
}

__global__ void read_vector(const float* a, float* b, int offset) {
  const float4 v =
      *reinterpret_cast<const float4*>(a + offset);  // planted: misaligned memcheck/misaligned-read
  b[threadIdx.x] = v.x + v.w;
}
template <bool kPlanted>
void run_misaligned() {
  Buffers m;
  read_vector<<<1, 32>>>(m.a, m.b, kPlanted ? 1 : 4);
  cudaDeviceSynchronize();
}

template <bool kPlanted>
__global__ void shared_past_end(float* b) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = 1.0f;
  __syncthreads();
  const int i = threadIdx.x + (kPlanted ? 1 : 0);
  b[threadIdx.x] = tile[i];  // planted: shared_past_end memcheck/out-of-bounds-shared-read
}
template <bool kPlanted>
void run_shared_past_end() {
  Buffers m;
  shared_past_end<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

template <bool kPlanted>
void run_read_on_host() {
  Buffers m;
  cudaMemset(m.b, 0, kWords * sizeof(float));
  float first = 0;
  if (kPlanted) {
    // volatile: the compiler would move the read to the line that prints.
    first = *const_cast<volatile float*>(m.b);  // planted: read_on_host memcheck/host-read-of-device-memory
  } else {
    cudaMemcpy(&first, m.b, sizeof(float), cudaMemcpyDeviceToHost);
  }
  std::printf("first element %g\n", first);
}

template <bool kPlanted>
void run_copy_past_end() {
  Buffers m;
  static float host[kWords + 1] = {};
  const size_t n = kPlanted ? kWords + 1 : kWords;
  cudaMemcpy(m.a, host, n * sizeof(float), cudaMemcpyHostToDevice);  // planted: copy_past_end memcheck/*
}

// ---- initcheck -----------------------------------------------------------------------------------

__global__ void add_one(const float* a, float* b) {
  b[threadIdx.x] = a[threadIdx.x] + 1.0f;  // planted: never_written initcheck/uninitialised-value
}
template <bool kPlanted>
void run_never_written() {
  Buffers m(!kPlanted);
  add_one<<<1, kThreads>>>(m.a, m.b);
  cudaDeviceSynchronize();
}

template <bool kPlanted>
__global__ void half_filled_tile(float* b) {
  __shared__ float tile[kThreads];
  if (!kPlanted || threadIdx.x < kThreads / 2) tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float other = tile[kThreads - 1 - threadIdx.x];
  b[threadIdx.x] = other * 2.0f;  // planted: half_filled_tile initcheck/uninitialised-value
}
template <bool kPlanted>
void run_half_filled_tile() {
  Buffers m;
  half_filled_tile<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

// Copies of padding are no defect: only the members of the structure are ever written.
struct Padded {
  char tag;
  double value;
};
template <bool kPlanted>
__global__ void copy_padded(const Padded* from, Padded* to, double* sum) {
  to[threadIdx.x] = from[threadIdx.x];
  *sum = kPlanted ? to[threadIdx.x + 1].value + 1.0  // planted: padding initcheck/uninitialised-value
                  : to[threadIdx.x].value + 1.0;
}
// An array of structures with padding goes to the host; the planted twin leaves one of them unwritten.
struct Sample {
  int id;  // four bytes of padding follow
  double value;
};
template <bool kPlanted>
__global__ void write_samples(Sample* samples) {
  if (kPlanted && threadIdx.x == 5) return;
  samples[threadIdx.x].id = threadIdx.x;
  samples[threadIdx.x].value = 1;
}
template <bool kPlanted>
void run_padded_array() {
  Sample* samples = nullptr;
  static Sample host[16];
  cudaMalloc(&samples, sizeof(host));
  write_samples<kPlanted><<<1, 16>>>(samples);
  // planted: padded_array initcheck/unwritten-copy, noted: initcheck/unwritten-padding
  cudaMemcpy(host, samples, sizeof(host), cudaMemcpyDeviceToHost);
  cudaFree(samples);
}

// The last numbers are missing, as behind a grid that is too small; or every second, as behind a mask.
template <bool kPlanted>
__global__ void write_numbers(float* numbers) {
  if (kPlanted ? threadIdx.x < 24 : threadIdx.x % 2 == 0) numbers[threadIdx.x] = 1;
}
template <bool kPlanted>
void run_every_second() {
  float* numbers = nullptr;
  static float host[32];
  cudaMalloc(&numbers, sizeof(host));
  write_numbers<kPlanted><<<1, 32>>>(numbers);
  cudaMemcpy(host, numbers, sizeof(host), cudaMemcpyDeviceToHost);  // planted: every_second initcheck/unwritten-copy, noted: initcheck/unwritten-gaps
  cudaFree(numbers);
}

// What lies above the diagonal, whole; or all rows but the last of it, row by row out of a pitched array.
template <bool kPlanted>
__global__ void write_triangle(float* matrix, size_t pitch) {
  const bool written = kPlanted ? threadIdx.y < 8 : threadIdx.x <= threadIdx.y;
  if (written) matrix[threadIdx.y * pitch / sizeof(float) + threadIdx.x] = 1;
}
template <bool kPlanted>
void run_triangle() {
  float* matrix = nullptr;
  size_t pitch = 0;
  static float host[16][16];
  cudaMallocPitch(&matrix, &pitch, sizeof(host[0]), 16);
  write_triangle<kPlanted><<<1, dim3(16, 16)>>>(matrix, pitch);
  // planted: triangle initcheck/unwritten-copy, noted: initcheck/unwritten-gaps
  cudaMemcpy2D(host, sizeof(host[0]), matrix, pitch, sizeof(host[0]), 16, cudaMemcpyDeviceToHost);
  cudaFree(matrix);
}

// One byte out of a structure whose padding was never written, and a copy of it all to the host.
template <bool kPlanted>
__global__ void read_tag(const Padded* from, int* result) {
  const unsigned long long word = *reinterpret_cast<const unsigned long long*>(from);
  const int tag = static_cast<int>((kPlanted ? word >> 8 : word) & 0xff);
  *result = tag + 1;  // planted: padding_byte initcheck/uninitialised-value
}
__global__ void write_members(Padded* to) {
  to[threadIdx.x].tag = 'x';
  to[threadIdx.x].value = 1.0;
}
template <bool kPlanted>
void run_padding() {
  Padded *from, *to;
  double* sum;
  cudaMalloc(&from, 2 * sizeof(Padded));
  cudaMalloc(&to, 2 * sizeof(Padded));
  cudaMalloc(&sum, sizeof(double));
  write_members<<<1, 1>>>(from);
  copy_padded<kPlanted><<<1, 1>>>(from, to, sum);
  cudaDeviceSynchronize();
}

template <bool kPlanted>
void run_padding_byte() {
  Padded* from;
  int* result;
  cudaMalloc(&from, 2 * sizeof(Padded));
  cudaMalloc(&result, sizeof(int));
  write_members<<<1, 2>>>(from);
  read_tag<kPlanted><<<1, 1>>>(from, result);
  Padded host[2];
  cudaMemcpy(host, from, sizeof(host), cudaMemcpyDeviceToHost);
}

// ---- racecheck -----------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void shift_left(float* b) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  if (!kPlanted) __syncthreads();
  const int next = (threadIdx.x + 1) % kThreads;
  b[threadIdx.x] = tile[next];  // planted: missing_barrier racecheck/shared-race
}
template <bool kPlanted>
void run_missing_barrier() {
  Buffers m;
  shift_left<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

// The barrier at the end of a tile loop: without it a fast warp overwrites what a slow one reads.
template <bool kPlanted>
__global__ void tile_loop(const float* a, float* b) {
  __shared__ float tile[kThreads];
  float sum = 0;
  for (int t = 0; t < 3; ++t) {
    tile[threadIdx.x] = a[threadIdx.x] + t;  // planted: second_barrier racecheck/shared-race
    __syncthreads();
    for (int k = 0; k < kThreads; ++k) sum += tile[k];
    if (!kPlanted) __syncthreads();
  }
  b[threadIdx.x] = sum;
}
template <bool kPlanted>
void run_second_barrier() {
  Buffers m;
  tile_loop<kPlanted><<<1, kThreads>>>(m.a, m.b);
  cudaDeviceSynchronize();
}

// Lanes of one warp run in step only by chance.
template <bool kPlanted>
__global__ void warp_reduce(float* b) {
  __shared__ float tile[32];
  tile[threadIdx.x] = threadIdx.x;
  __syncwarp();
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = threadIdx.x < offset ? tile[threadIdx.x + offset] : 0.0f;
    __syncwarp();
    if (threadIdx.x < offset) tile[threadIdx.x] += other;
    if (!kPlanted) __syncwarp();
  }
  if (threadIdx.x == 1) b[0] = tile[0];  // planted: missing_syncwarp racecheck/shared-race
}
template <bool kPlanted>
void run_missing_syncwarp() {
  Buffers m;
  warp_reduce<kPlanted><<<1, 32>>>(m.b);
  cudaDeviceSynchronize();
}

// An atomic orders nothing by itself: reading the count needs a barrier.
template <bool kPlanted>
__global__ void count_all(int* result) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  if (!kPlanted) __syncthreads();
  result[threadIdx.x] = count;  // planted: atomic_then_read racecheck/shared-race
}
template <bool kPlanted>
void run_atomic_then_read() {
  Buffers m;
  count_all<kPlanted><<<1, kThreads>>>(reinterpret_cast<int*>(m.b));
  cudaDeviceSynchronize();
}

// Two threads that write one word; the clean twin writes neighbours.
template <bool kPlanted>
__global__ void write_write(float* b) {
  __shared__ float tile[kThreads];
  const int slot = kPlanted ? threadIdx.x / 2 : threadIdx.x;
  tile[slot] = threadIdx.x;  // planted: write_write racecheck/shared-race
  __syncthreads();
  b[threadIdx.x] = tile[slot];
}
template <bool kPlanted>
void run_write_write() {
  Buffers m;
  write_write<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

// Bytes of one word belong to different threads and are no race; the same byte is.
template <bool kPlanted>
__global__ void bytes_of_a_word(float* b) {
  __shared__ unsigned char bytes[kThreads];
  const int slot = kPlanted ? threadIdx.x / 2 : threadIdx.x;
  bytes[slot] = static_cast<unsigned char>(threadIdx.x);  // planted: byte_race racecheck/shared-race
  __syncthreads();
  b[threadIdx.x] = bytes[slot];
}
template <bool kPlanted>
void run_byte_race() {
  Buffers m;
  bytes_of_a_word<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

// A named barrier orders the warps that take part in it, and no others.
template <bool kPlanted>
__global__ void named_barrier(float* b) {
  __shared__ float tile[96];
  const int warp = threadIdx.x / 32;
  tile[threadIdx.x] = threadIdx.x;
  if (warp < 2) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    const int from = kPlanted ? threadIdx.x + 32 : threadIdx.x ^ 32;
    b[threadIdx.x] = tile[from];  // planted: named_barrier racecheck/shared-race
  }
}
template <bool kPlanted>
void run_named_barrier() {
  Buffers m;
  named_barrier<kPlanted><<<1, 96>>>(m.b);
  cudaDeviceSynchronize();
}

// ---- synccheck -----------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void two_barriers(float* b) {
  __shared__ float tile[kThreads];
  tile[threadIdx.x] = threadIdx.x;
  if (kPlanted && threadIdx.x % 2 == 0) {
    tile[threadIdx.x] += 1.0f;
    __syncthreads();  // planted: divergent_barrier synccheck/divergent-barrier
  } else {
    __syncthreads();
  }
  b[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}
template <bool kPlanted>
void run_divergent_barrier() {
  Buffers m;
  two_barriers<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

// A barrier that half of the block never reaches while it waits at another one.
template <bool kPlanted>
__global__ void extra_barrier(float* b) {
  if (kPlanted && threadIdx.x < 32) {
    b[threadIdx.x] = 1.0f;
    __syncthreads();  // planted: extra_barrier synccheck/divergent-barrier
  }
  __syncthreads();
  b[threadIdx.x] = 2.0f;
}
template <bool kPlanted>
void run_extra_barrier() {
  Buffers m;
  extra_barrier<kPlanted><<<1, kThreads>>>(m.b);
  cudaDeviceSynchronize();
}

// Threads that have returned do not count as missing: both twins are clean but for the shuffle.
template <bool kPlanted>
__global__ void shuffle_without_all(int* b) {
  int value = threadIdx.x;
  if (kPlanted ? threadIdx.x < 16 : true) {
    value = __shfl_xor_sync(0xffffffffu, value, 1);  // planted: missing_lanes synccheck/missing-lanes
  }
  __syncwarp();
  b[threadIdx.x] = value;
}
template <bool kPlanted>
void run_missing_lanes() {
  Buffers m;
  shuffle_without_all<kPlanted><<<1, 32>>>(reinterpret_cast<int*>(m.b));
  cudaDeviceSynchronize();
}

__global__ void early_return(float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float tile[kThreads];
  if (i >= n) return;
  tile[threadIdx.x] = i;
  __syncthreads();
  b[i] = tile[threadIdx.x];
}
template <bool kPlanted>
void run_early_return() {
  Buffers m;
  early_return<<<2, kThreads>>>(m.b, kThreads + 5);
  cudaDeviceSynchronize();
}

// ---- launch --------------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void count_down(int* b, int step) {
  const int down = kPlanted ? step - 1 : step;
  // planted: endless_loop launch/endless-loop
  for (int n = 100; n != 0; n -= down) b[0] = n;
}
template <bool kPlanted>
void run_endless_loop() {
  Buffers m;
  count_down<kPlanted><<<1, 1>>>(reinterpret_cast<int*>(m.b), 1);
  cudaDeviceSynchronize();
}

}  // namespace

const CorpusCase kBasicCases[] = {
    CASE(read_past_end, "memory.global"),     CASE(write_past_end, "memory.global"),   CASE(host_pointer, "memory.host"),
    CASE(null_pointer, "memory.global"),      CASE(use_after_free, "memory.freed"),   CASE(misaligned, "memory.misaligned"),
    CASE(shared_past_end, "memory.shared"),   CASE(read_on_host, "memory.device"),     CASE(copy_past_end, "memory.copy"),
    CASE(never_written, "init.arithmetic"),     CASE(half_filled_tile, "init.arithmetic"), CASE(padding, "init.padding"),
    CASE(padding_byte, "init.padding"),      CASE(padded_array, "init.copy"),     CASE(every_second, "init.copy init.gaps"), CASE(triangle, "init.copy init.gaps"),
    CASE(missing_barrier, "race.barrier race.shared race.schedule"),   CASE(second_barrier, "race.barrier race.shared race.schedule"),   CASE(missing_syncwarp, "race.syncwarp"),
    CASE(atomic_then_read, "race.atomic-alone"),  CASE(write_write, "race.shared"),      CASE(byte_race, "race.bytes"),
    CASE(named_barrier, "race.named-barrier race.schedule"),     CASE(divergent_barrier, "sync.different"), CASE(extra_barrier, "sync.branch"),
    CASE(missing_lanes, "sync.absent"),     CASE(early_return, "sync.exited"),     CASE(endless_loop, "launch.endless"),
};
extern const CorpusPart kBasicCorpus = {kBasicCases, sizeof(kBasicCases) / sizeof(kBasicCases[0])};

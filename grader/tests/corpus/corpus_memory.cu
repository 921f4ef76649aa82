// Memory: bounds, values that nobody wrote, what a test kit declares; see corpus.cu for the form.
#include <warplings/sim.h>

#include <cstdio>

#include "corpus.h"
#include "corpus_buffers.cuh"

namespace {

// ---- bounds --------------------------------------------------------------------------------------

template <bool kPlanted>
__global__ void dynamic_shared(int* b) {
  extern __shared__ int words[];
  words[threadIdx.x] = 1;  // planted: dynamic_shared memcheck/out-of-bounds-shared-write
  __syncthreads();
  b[threadIdx.x] = words[kThreads - 1 - threadIdx.x];
}
template <bool kPlanted>
void run_dynamic_shared() {
  Buffers m;
  const size_t bytes = (kPlanted ? kThreads / 2 : kThreads) * sizeof(int);
  dynamic_shared<kPlanted><<<1, kThreads, bytes>>>(m.b);
}

template <bool kPlanted>
__global__ void local_read(int* a, int* b) {
  int table[8];
  for (int i = 0; i < 8; ++i) table[i] = a[i] + i;
  const int last = a[threadIdx.x] + (kPlanted ? 8 : 7);  // a holds zeros
  b[threadIdx.x] = table[last];  // planted: local_read memcheck/out-of-bounds-local-read
}
SIMPLE_CASE(local_read, 1, kThreads)

template <bool kPlanted>
__global__ void local_write(int* a, int* b) {
  int table[8];
  for (int i = 0; i < 8; ++i) table[i] = a[i] + i;
  const int last = a[threadIdx.x] + (kPlanted ? 8 : 7);
  table[last] = threadIdx.x;  // planted: local_write memcheck/out-of-bounds-local-write
  b[threadIdx.x] = table[a[threadIdx.x + 1]];
}
SIMPLE_CASE(local_write, 1, kThreads)

template <bool kPlanted>
__global__ void misaligned_shared(int*, int* b) {
  __shared__ __align__(8) int words[2 * kThreads + 2];
  double* pair = reinterpret_cast<double*>(&words[2 * threadIdx.x + (kPlanted ? 1 : 0)]);
  *pair = 1.0;  // planted: misaligned_shared memcheck/misaligned-write
  b[threadIdx.x] = words[2 * threadIdx.x];
}
SIMPLE_CASE(misaligned_shared, 1, kThreads)

__global__ void write_through(int* to) {
  to[threadIdx.x] = 1;  // planted: host_pointer_write memcheck/host-pointer-write
}
template <bool kPlanted>
void run_host_pointer_write() {
  Buffers m;
  static int host[kThreads];
  write_through<<<1, kThreads>>>(kPlanted ? host : m.b);
}

template <bool kPlanted>
void run_write_on_host() {
  Buffers m;
  if (kPlanted) {
    *const_cast<volatile int*>(m.a) = 1;  // planted: write_on_host memcheck/host-write-of-device-memory
  } else {
    const int one = 1;
    cudaMemcpy(m.a, &one, sizeof(int), cudaMemcpyHostToDevice);
  }
}

template <bool kPlanted>
void run_memset_past_end() {
  Buffers m;
  const size_t n = 2 * kWords + (kPlanted ? 1 : 0);
  cudaMemset(m.a, 0, n * sizeof(int));  // planted: memset_past_end memcheck/*
}

// What is left at the end is a note of `grade exec`: the marker names the line of the allocation.
template <bool kPlanted>
void run_leaked_buffer() {
  int* buffer = nullptr;
  cudaMalloc(&buffer, sizeof(int));  // leaked: leaked_buffer
  if (!kPlanted) cudaFree(buffer);
}
template <bool kPlanted>
void run_leaked_managed() {
  int* buffer = nullptr;
  cudaMallocManaged(&buffer, sizeof(int));  // leaked: leaked_managed
  cudaDeviceSynchronize();
  if (!kPlanted) cudaFree(buffer);
}

// ---- values that nobody wrote --------------------------------------------------------------------

// A buffer of kThreads numbers of which the first half are zeros.
struct HalfWritten {
  int* data = nullptr;
  HalfWritten() {
    cudaMalloc(&data, kThreads * sizeof(int));
    cudaMemset(data, 0, kThreads / 2 * sizeof(int));
  }
  ~HalfWritten() {
    cudaDeviceSynchronize();
    cudaFree(data);
  }
};

template <bool kPlanted>
__global__ void loop_bound(const int* bounds, int* b) {
  const int n = bounds[kPlanted ? kThreads - 1 : 0];
  for (int i = 0; i < n; ++i) {  // planted: loop_bound initcheck/uninitialised-value
    b[i] = i;
  }
}
template <bool kPlanted>
void run_loop_bound() {
  Buffers m;
  HalfWritten half;
  loop_bound<kPlanted><<<1, 1>>>(half.data, m.b);
}

template <bool kPlanted>
__global__ void unwritten_index(const int* index, int* b) {
  const int i = index[threadIdx.x + (kPlanted ? kThreads / 2 : 0)];
  b[i] = 1;  // planted: unwritten_index initcheck/uninitialised-value, noted: racecheck/same-value-race
}
template <bool kPlanted>
void run_unwritten_index() {
  Buffers m;
  HalfWritten half;
  unwritten_index<kPlanted><<<1, kThreads / 2>>>(half.data, m.b);
}

// Thread 63 leaves its place out.
template <bool kPlanted>
__global__ void unwritten_shared_index(int* a, int* b) {
  __shared__ int order[kThreads];
  if (!kPlanted || threadIdx.x < kThreads - 1) order[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const int from = order[kThreads - 1 - threadIdx.x];
  b[threadIdx.x] = a[from];  // planted: unwritten_shared_index initcheck/uninitialised-value
}
SIMPLE_CASE(unwritten_shared_index, 1, kThreads)

// An exchange puts a value where none was; only using the old one is wrong.
template <bool kPlanted>
__global__ void first_exchange(int*, int* b) {
  __shared__ int count;
  const int old = atomicExch(&count, 0);
  __syncthreads();
  atomicAdd(&count, 1);
  b[threadIdx.x] = kPlanted ? old + 1 : 1;  // planted: first_exchange initcheck/uninitialised-value
}
SIMPLE_CASE(first_exchange, 1, kThreads)

__global__ void add_two(const int* a, int* b) {
  b[threadIdx.x] = a[threadIdx.x] + 2;  // planted: managed_memory initcheck/uninitialised-value
}
template <bool kPlanted>
void run_managed_memory() {
  Buffers m;
  int* in = nullptr;
  if (kPlanted) {
    cudaMalloc(&in, kThreads * sizeof(int));
  } else {
    cudaMallocManaged(&in, kThreads * sizeof(int));
  }
  add_two<<<1, kThreads>>>(in, m.b);
  cudaDeviceSynchronize();
  cudaFree(in);
}

__global__ void add_three(const int* a, int* b) {
  b[threadIdx.x] = a[threadIdx.x] + 3;  // planted: mapped_memory initcheck/uninitialised-value
}
template <bool kPlanted>
void run_mapped_memory() {
  Buffers m;
  int *mapped = nullptr, *device = nullptr;
  cudaMallocHost(&mapped, kThreads * sizeof(int));
  cudaMalloc(&device, kThreads * sizeof(int));
  add_three<<<1, kThreads>>>(kPlanted ? device : mapped, m.b);
  cudaDeviceSynchronize();
  cudaFreeHost(mapped);
  cudaFree(device);
}

__device__ int coefficients[kThreads];
template <bool kPlanted>
__global__ void variable(const int* a, int* b) {
  const int* from = kPlanted ? a : coefficients;
  b[threadIdx.x] = from[threadIdx.x] + 4;  // planted: variable initcheck/uninitialised-value
}
template <bool kPlanted>
void run_variable() {
  Buffers m;
  int* unwritten = nullptr;
  cudaMalloc(&unwritten, kThreads * sizeof(int));
  variable<kPlanted><<<1, kThreads>>>(unwritten, m.b);
  cudaDeviceSynchronize();
  cudaFree(unwritten);
}

// ---- what a test kit declares --------------------------------------------------------------------

// The output of an exercise is poisoned before the call: its bytes are there, but are no values.
template <bool kPlanted>
__global__ void into_poison(int*, int* b) {
  if (kPlanted) {
    b[threadIdx.x] += 1;  // planted: into_poison initcheck/uninitialised-value
  } else {
    b[threadIdx.x] = 1;
  }
}
template <bool kPlanted>
void run_into_poison() {
  Buffers m;
  cudaDeviceSynchronize();  // the buffers are filled
  wsim_mark_unwritten(m.b, kThreads * sizeof(int));
  into_poison<kPlanted><<<1, kThreads>>>(m.a, m.b);
}

template <bool kPlanted>
__global__ void poison_left(int*, int* b) {
  if (!kPlanted || threadIdx.x < kThreads - 1) b[threadIdx.x] = 1;
}
template <bool kPlanted>
void run_poison_left() {
  Buffers m;
  static int host[kThreads];
  cudaDeviceSynchronize();  // the buffers are filled
  wsim_mark_unwritten(m.b, sizeof(host));
  poison_left<kPlanted><<<1, kThreads>>>(m.a, m.b);
  cudaMemcpy(host, m.b, sizeof(host), cudaMemcpyDeviceToHost);  // planted: poison_left initcheck/unwritten-copy
}

// The last words of an allocation are not the learner's.
template <bool kPlanted>
__global__ void into_red_zone(int* a, int* b) {
  const int i = threadIdx.x + (kPlanted ? 1 : 0);
  b[threadIdx.x] = a[i];  // planted: into_red_zone memcheck/out-of-bounds-global-read
}
template <bool kPlanted>
void run_into_red_zone() {
  Buffers m;
  cudaDeviceSynchronize();  // the buffers are filled
  wsim_mark_red_zone(m.a + kThreads, kThreads * sizeof(int));
  into_red_zone<kPlanted><<<1, kThreads>>>(m.a, m.b);
}

template <bool kPlanted>
void run_copy_into_red_zone() {
  Buffers m;
  cudaDeviceSynchronize();  // the buffers are filled
  wsim_mark_red_zone(m.a + kThreads, kThreads * sizeof(int));
  const size_t n = kThreads + (kPlanted ? 1 : 0);
  cudaMemcpy(m.a, m.b, n * sizeof(int), cudaMemcpyDeviceToDevice);  // planted: copy_into_red_zone memcheck/*
}

// ---- results that are thrown away ----------------------------------------------------------------

// What the compiler would otherwise move behind the condition.
__device__ int thrice(int x) {
  int result;
  asm volatile("mad.lo.s32 %0, %1, 3, 1;" : "=r"(result) : "r"(x));  // planted: dropped_sum initcheck/uninitialised-value, noted: initcheck/discarded-value
  return result;
}
__device__ int fourfold(int x) {
  int result;
  asm volatile("mul.lo.s32 %0, %1, 4;" : "=r"(result) : "r"(x));  // planted: dropped_by_choice initcheck/uninitialised-value, noted: initcheck/discarded-value
  return result;
}

// Half of the words are unwritten, and those who add one up drop it.
template <bool kPlanted>
__global__ void dropped_sum(int* a, int* b) {
  __shared__ int tile[kThreads];
  if (threadIdx.x < kThreads / 2) tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  const int sum = thrice(tile[threadIdx.x]);
  if (kPlanted || threadIdx.x < kThreads / 2) b[threadIdx.x] = sum;
}
SIMPLE_CASE(dropped_sum, 1, kThreads)

template <bool kPlanted>
__global__ void dropped_by_choice(int* a, int* b) {
  __shared__ int tile[kThreads];
  if (threadIdx.x < kThreads / 2) tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  const int value = fourfold(tile[threadIdx.x]) + 1;
  b[threadIdx.x] = kPlanted || threadIdx.x < kThreads / 2 ? value : 0;
}
SIMPLE_CASE(dropped_by_choice, 1, kThreads)

// ---- printed values and carries ------------------------------------------------------------------

template <bool kPlanted>
__global__ void printed(const int* a) {
  const int from = kPlanted ? kThreads - 1 : 0;
  printf("%d\n", a[from]);  // planted: printed initcheck/uninitialised-value
}
template <bool kPlanted>
void run_printed() {
  HalfWritten half;
  printed<kPlanted><<<1, 1>>>(half.data);
}

template <bool kPlanted>
__global__ void printed_sum(const int* a) {
  const double half = a[kPlanted ? kThreads - 1 : 0] * 0.5;  // planted: printed_sum initcheck/uninitialised-value
  printf("%s %f\n", "half:", half);
}
template <bool kPlanted>
void run_printed_sum() {
  HalfWritten half;
  printed_sum<kPlanted><<<1, 1>>>(half.data);
}

// The low word is thrown away, its carry is not.
template <bool kPlanted>
__global__ void carried(const int* a, int* b) {
  const int from = kPlanted ? kThreads - 1 : 0;
  int low, high;
  asm volatile("add.cc.u32 %0, %1, 1;" : "=r"(low) : "r"(a[from]));  // planted: carried initcheck/uninitialised-value
  asm volatile("addc.u32 %0, 0, 0;" : "=r"(high));
  b[threadIdx.x] = high;
}
template <bool kPlanted>
void run_carried() {
  HalfWritten half;
  Buffers m;
  carried<kPlanted><<<1, 1>>>(half.data, m.b);
}

// A chain begins anew where its first sum is written.
template <bool kPlanted>
__global__ void borrowed(const int* a, int* b) {
  int low, high;
  asm volatile("sub.cc.u32 %0, %1, 1;" : "=r"(low) : "r"(a[kThreads - 1]));  // planted: borrowed initcheck/uninitialised-value, noted: initcheck/discarded-value
  if (!kPlanted) asm volatile("sub.cc.u32 %0, 0, 1;" : "=r"(low));
  asm volatile("subc.u32 %0, 0, 0;" : "=r"(high));
  if (high != 0) b[threadIdx.x] = high;
}
template <bool kPlanted>
void run_borrowed() {
  HalfWritten half;
  Buffers m;
  borrowed<kPlanted><<<1, 1>>>(half.data, m.b);
}

// ---- the device heap -----------------------------------------------------------------------------

template <bool kPlanted>
__global__ void heap_freed_twice(int*, int* b) {
  __shared__ int* words;
  if (threadIdx.x == 0) words = static_cast<int*>(malloc(kThreads * sizeof(int)));
  __syncthreads();
  words[threadIdx.x] = threadIdx.x;
  b[threadIdx.x] = words[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < (kPlanted ? 2 : 1)) free(words);  // planted: heap_freed_twice memcheck/double-free
}
SIMPLE_CASE(heap_freed_twice, 1, kThreads)

template <bool kPlanted>
__global__ void heap_frees_buffer(int* a, int* b) {
  b[threadIdx.x] = a[threadIdx.x];
  int* mine = new int(b[threadIdx.x]);
  b[threadIdx.x] += *mine;
  int* const last = kPlanted && threadIdx.x == 3 ? a : mine;
  delete last;  // planted: heap_frees_buffer memcheck/free-of-other-memory
}
SIMPLE_CASE(heap_frees_buffer, 1, kThreads)

template <bool kPlanted>
__global__ void heap_freed_inside(int*, int* b) {
  int* mine = static_cast<int*>(malloc(4 * sizeof(int)));
  mine[1] = threadIdx.x;
  b[threadIdx.x] = mine[1];
  free(mine + (kPlanted ? 1 : 0));  // planted: heap_freed_inside memcheck/free-of-interior
}
SIMPLE_CASE(heap_freed_inside, 1, kThreads)

// ---- constant memory -----------------------------------------------------------------------------

// The compiler sees through a plain store; it does not see through these.
__constant__ int table[kThreads];

template <bool kPlanted>
__global__ void write_constant(int* a, int* b) {
  const int* to = kPlanted ? table + threadIdx.x : a + threadIdx.x;
  asm volatile("st.s32 [%0], 7;" ::"l"(to) : "memory");  // planted: write_constant memcheck/constant-write
  b[threadIdx.x] = table[threadIdx.x];
}
SIMPLE_CASE(write_constant, 1, kThreads)

template <bool kPlanted>
__global__ void add_to_constant(int* a, int* b) {
  const int* to = kPlanted ? table : a;
  asm volatile("red.add.s32 [%0], 1;" ::"l"(to) : "memory");  // planted: add_to_constant memcheck/constant-write
  b[threadIdx.x] = table[threadIdx.x];
}
SIMPLE_CASE(add_to_constant, 1, kThreads)

}  // namespace

const CorpusCase kMemoryCases[] = {
    CASE(dynamic_shared, "memory.shared"),
    CASE(local_read, "memory.local"),
    CASE(local_write, "memory.local"),
    CASE(misaligned_shared, "memory.misaligned"),
    CASE(host_pointer_write, "memory.host"),
    CASE(write_on_host, "memory.device"),
    CASE(memset_past_end, "memory.copy"),
    CASE(leaked_buffer, "memory.leak"),
    CASE(leaked_managed, "memory.leak"),
    CASE(loop_bound, "init.branch"),
    CASE(unwritten_index, "init.address"),
    CASE(unwritten_shared_index, "init.address"),
    CASE(first_exchange, "init.arithmetic"),
    CASE(managed_memory, "init.host-visible"),
    CASE(mapped_memory, "init.host-visible"),
    CASE(variable, "init.host-visible"),
    CASE(into_poison, "kit.poison"),
    CASE(poison_left, "kit.poison"),
    CASE(into_red_zone, "kit.red-zone"),
    CASE(copy_into_red_zone, "kit.red-zone memory.copy"),
    CASE(dropped_sum, "init.discarded"),
    CASE(dropped_by_choice, "init.discarded"),
    CASE(printed, "init.printf"),
    CASE(printed_sum, "init.printf"),
    CASE(carried, "init.carry"),
    CASE(borrowed, "init.carry"),
    CASE(heap_freed_twice, "memory.heap"),
    CASE(heap_frees_buffer, "memory.heap"),
    CASE(heap_freed_inside, "memory.heap"),
    CASE(write_constant, "memory.constant"),
    CASE(add_to_constant, "memory.constant"),
};
extern const CorpusPart kMemoryCorpus = {kMemoryCases,
                                         sizeof(kMemoryCases) / sizeof(kMemoryCases[0])};

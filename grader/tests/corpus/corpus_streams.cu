// Pairs of programs for streamcheck: work of several streams and the host, with and without an
// order. See corpus.cu for the form.
#include <cuda_runtime.h>

#include "corpus.h"

namespace {

constexpr int kBlock = 128;
constexpr int kElements = 4096;
constexpr size_t kSize = kElements * sizeof(float);

__global__ void scale(float* data, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}

__global__ void add_into(float* to, const float* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

// Every second element, from `first` on.
__global__ void scale_every_second(float* data, int first, int n) {
  const int i = first + 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] *= 2.0f;
}

__global__ void count_up(int* counter) { atomicAdd(counter, 1); }

__global__ void reset_counter(int* counter) { *counter = 0; }

__global__ void raise_flag(float* data, volatile int* flag, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = 1.0f;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

int blocks(int n) { return (n + kBlock - 1) / kBlock; }

struct Bench {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  float *device = nullptr, *other = nullptr;
  float *pinned = nullptr, *result = nullptr;
  explicit Bench(unsigned flags = cudaStreamNonBlocking) {
    cudaStreamCreateWithFlags(&a, flags);
    cudaStreamCreateWithFlags(&b, flags);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMalloc(&device, kSize);
    cudaMalloc(&other, kSize);
    cudaMallocHost(&pinned, kSize);
    cudaMallocHost(&result, kSize);
    for (int i = 0; i < kElements; ++i) pinned[i] = result[i] = 1.0f;
    cudaMemcpy(device, pinned, kSize, cudaMemcpyHostToDevice);
    cudaMemcpy(other, pinned, kSize, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  }
  ~Bench() {
    cudaDeviceSynchronize();
    cudaFree(device);
    cudaFree(other);
    cudaFreeHost(pinned);
    cudaFreeHost(result);
    cudaEventDestroy(event);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
  }
};

// ---- events between streams ----------------------------------------------------------------------

template <bool kPlanted>
void run_missing_event_wait() {
  Bench m;
  cudaMemcpyAsync(m.device, m.pinned, kSize, cudaMemcpyHostToDevice, m.a);
  cudaEventRecord(m.event, m.a);
  if (!kPlanted) cudaStreamWaitEvent(m.b, m.event, 0);
  scale<<<blocks(kElements), kBlock, 0, m.b>>>(m.device, 2.0f, kElements);  // planted: missing_event_wait streamcheck/unordered-streams
}

template <bool kPlanted>
void run_missing_wait_of_kernel() {
  Bench m;
  scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
  cudaEventRecord(m.event, m.a);
  if (!kPlanted) cudaStreamWaitEvent(m.b, m.event, 0);
  add_into<<<blocks(kElements), kBlock, 0, m.b>>>(m.other, m.device, kElements);  // planted: missing_wait_of_kernel streamcheck/unordered-streams
}

template <bool kPlanted>
void run_event_too_early() {
  Bench m;
  if (kPlanted) cudaEventRecord(m.event, m.a);
  scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
  if (!kPlanted) cudaEventRecord(m.event, m.a);
  cudaStreamWaitEvent(m.b, m.event, 0);
  cudaMemcpyAsync(m.result, m.device, kSize, cudaMemcpyDeviceToHost, m.b);  // planted: event_too_early streamcheck/unordered-streams
}

// The wait binds to the record that was there when it was called.
template <bool kPlanted>
void run_wait_before_record() {
  Bench m;
  scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
  if (!kPlanted) cudaEventRecord(m.event, m.a);
  cudaStreamWaitEvent(m.b, m.event, 0);
  if (kPlanted) cudaEventRecord(m.event, m.a);
  add_into<<<blocks(kElements), kBlock, 0, m.b>>>(m.other, m.device, kElements);  // planted: wait_before_record streamcheck/unordered-streams
}

// Two kernels of which each writes every second element: the same ones, or the others.
template <bool kPlanted>
void run_interleaved() {
  Bench m;
  const int first = kPlanted ? 0 : 1;
  scale_every_second<<<blocks(kElements / 2), kBlock, 0, m.a>>>(m.device, 0, kElements);
  scale_every_second<<<blocks(kElements / 2), kBlock, 0, m.b>>>(m.device, first, kElements);  // planted: interleaved streamcheck/unordered-streams
}

// Atomics of two kernels meet; a plain store meets them only by accident.
template <bool kPlanted>
void run_atomics_of_two_streams() {
  Bench m;
  int* counter = reinterpret_cast<int*>(m.device);
  count_up<<<1, kBlock, 0, m.a>>>(counter);
  if (kPlanted) {
    reset_counter<<<1, 1, 0, m.b>>>(counter);  // planted: atomics_of_two_streams streamcheck/unordered-streams
  } else {
    count_up<<<1, kBlock, 0, m.b>>>(counter);
  }
}

// Order that two events hand on: a before b before c.
template <bool kPlanted>
void run_transitive_order() {
  Bench m;
  cudaStream_t c;
  cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
  scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
  cudaEventRecord(m.event, m.a);
  if (!kPlanted) cudaStreamWaitEvent(m.b, m.event, 0);
  scale<<<blocks(kElements), kBlock, 0, m.b>>>(m.other, 2.0f, kElements);
  cudaEventRecord(m.event, m.b);
  cudaStreamWaitEvent(c, m.event, 0);
  cudaMemcpyAsync(m.result, m.device, kSize, cudaMemcpyDeviceToHost, c);  // planted: transitive_order streamcheck/unordered-streams
  cudaDeviceSynchronize();
  cudaStreamDestroy(c);
}

// ---- the default stream --------------------------------------------------------------------------

template <bool kPlanted>
void run_default_stream() {
  Bench m(kPlanted ? cudaStreamNonBlocking : cudaStreamDefault);
  scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
  add_into<<<blocks(kElements), kBlock>>>(m.other, m.device, kElements);  // planted: default_stream streamcheck/unordered-streams
}

template <bool kPlanted>
void run_memset_in_default_stream() {
  Bench m(kPlanted ? cudaStreamNonBlocking : cudaStreamDefault);
  cudaMemset(m.device, 0, kSize);
  scale<<<blocks(kElements), kBlock, 0, m.b>>>(m.device, 2.0f, kElements);  // planted: memset_in_default_stream streamcheck/unordered-streams
}

template <bool kPlanted>
void run_per_thread_stream() {
  Bench m(kPlanted ? cudaStreamDefault : cudaStreamNonBlocking);
  scale<<<blocks(kElements), kBlock, 0, cudaStreamPerThread>>>(m.device, 2.0f, kElements);
  const cudaStream_t second = kPlanted ? m.a : cudaStreamLegacy;
  add_into<<<blocks(kElements), kBlock, 0, second>>>(m.other, m.device, kElements);  // planted: per_thread_stream streamcheck/unordered-streams
}

// ---- the host ------------------------------------------------------------------------------------

template <bool kPlanted>
void run_pinned_overwritten() {
  Bench m;
  cudaMemcpyAsync(m.device, m.pinned, kSize, cudaMemcpyHostToDevice, m.a);
  if (!kPlanted) cudaStreamSynchronize(m.a);
  static_cast<volatile float*>(m.pinned)[7] = 3.0f;  // planted: pinned_overwritten streamcheck/host-write-too-early
}

template <bool kPlanted>
void run_staging_reused() {
  Bench m;
  for (int batch = 0; batch < 2; ++batch) {
    if (!kPlanted) cudaEventSynchronize(m.event);
    for (int i = 0; i < kElements; ++i) {
      static_cast<volatile float*>(m.pinned)[i] = static_cast<float>(batch);  // planted: staging_reused streamcheck/host-write-too-early
    }
    cudaMemcpyAsync(m.device, m.pinned, kSize, cudaMemcpyHostToDevice, m.a);
    cudaEventRecord(m.event, m.a);
    scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
  }
}

template <bool kPlanted>
void run_result_before_sync() {
  Bench m;
  cudaMemcpyAsync(m.result, m.device, kSize, cudaMemcpyDeviceToHost, m.a);
  cudaStreamSynchronize(kPlanted ? m.b : m.a);
  const float first = static_cast<volatile float*>(m.result)[0];  // planted: result_before_sync streamcheck/host-read-too-early
  (void)first;
}

template <bool kPlanted>
void run_result_after_early_event() {
  Bench m;
  if (kPlanted) cudaEventRecord(m.event, m.a);
  cudaMemcpyAsync(m.result, m.device, kSize, cudaMemcpyDeviceToHost, m.a);
  if (!kPlanted) cudaEventRecord(m.event, m.a);
  cudaEventSynchronize(m.event);
  const float last = static_cast<volatile float*>(m.result)[kElements - 1];  // planted: result_after_early_event streamcheck/host-read-too-early
  (void)last;
}

template <bool kPlanted>
void run_managed_during_kernel() {
  Bench m;
  float* managed = nullptr;
  cudaMallocManaged(&managed, kSize);
  for (int i = 0; i < kElements; ++i) managed[i] = 1.0f;
  scale<<<blocks(kElements / 2), kBlock>>>(managed, 2.0f, kElements / 2);
  // The kernel has the first half.
  const int index = kPlanted ? 5 : kElements - 5;
  static_cast<volatile float*>(managed)[index] = 4.0f;  // planted: managed_during_kernel streamcheck/host-write-too-early
  cudaDeviceSynchronize();
  cudaFree(managed);
}

__managed__ float managed_total;
__global__ void sum_up(const float* data, int n) {
  for (int i = 0; i < n; ++i) managed_total += data[i];
}
template <bool kPlanted>
void run_managed_variable() {
  Bench m;
  managed_total = 0.0f;
  sum_up<<<1, 1>>>(m.device, 8);
  if (!kPlanted) cudaDeviceSynchronize();
  const float total = static_cast<volatile float&>(managed_total);  // planted: managed_variable streamcheck/host-read-too-early
  (void)total;
}

// Mapped memory that both only read is nobody's race.
template <bool kPlanted>
void run_mapped_input() {
  Bench m;
  add_into<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, m.pinned, kElements);
  if (kPlanted) {
    static_cast<volatile float*>(m.pinned)[0] = 2.0f;  // planted: mapped_input streamcheck/host-write-too-early
  } else {
    (void)static_cast<volatile float*>(m.pinned)[0];
  }
}

// A flag that the kernel raises for the host is an order, if the host looks at it.
template <bool kPlanted>
void run_flag_in_mapped_memory() {
  Bench m;
  auto* flag = reinterpret_cast<volatile int*>(m.result);
  *flag = 0;
  raise_flag<<<1, kBlock, 0, m.a>>>(m.pinned, flag, kElements);
  if (!kPlanted) {
    while (*flag == 0) cudaStreamQuery(m.a);
  }
  const float first = static_cast<volatile float*>(m.pinned)[0];  // planted: flag_in_mapped_memory streamcheck/host-read-too-early
  (void)first;
}

// ---- host functions ------------------------------------------------------------------------------

void read_first(void* data) {
  const float first = *static_cast<volatile float*>(data);  // planted: host_function streamcheck/host-read-too-early
  (void)first;
}
template <bool kPlanted>
void run_host_function() {
  Bench m;
  cudaMemcpyAsync(m.result, m.device, kSize, cudaMemcpyDeviceToHost, m.a);
  cudaLaunchHostFunc(kPlanted ? m.b : m.a, read_first, m.result);
  cudaStreamSynchronize(kPlanted ? m.b : m.a);
}

void fill_next(void* data) {
  *static_cast<volatile float*>(data) = 5.0f;  // planted: host_function_writes streamcheck/host-write-too-early
}
template <bool kPlanted>
void run_host_function_writes() {
  Bench m;
  cudaMemcpyAsync(m.device, m.pinned, kSize, cudaMemcpyHostToDevice, m.a);
  cudaEventRecord(m.event, m.a);
  if (!kPlanted) cudaStreamWaitEvent(m.b, m.event, 0);
  cudaLaunchHostFunc(m.b, fill_next, m.pinned);
  cudaStreamSynchronize(m.b);
}

// ---- a pipeline with two buffers -----------------------------------------------------------------

// Chunks go through two device buffers, one stream copies, the other computes.
template <bool kPlanted>
void run_double_buffer() {
  Bench m;
  constexpr int kChunk = kElements / 4;
  cudaEvent_t copied[2], used[2];
  float* buffer[2] = {m.device, m.other};
  for (int i = 0; i < 2; ++i) {
    cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming);
    cudaEventCreateWithFlags(&used[i], cudaEventDisableTiming);
  }
  for (int chunk = 0; chunk < 4; ++chunk) {
    const int k = chunk % 2;
    if (!kPlanted) cudaStreamWaitEvent(m.a, used[k], 0);
    cudaMemcpyAsync(buffer[k], m.pinned + chunk * kChunk, kChunk * sizeof(float), cudaMemcpyHostToDevice, m.a);  // planted: double_buffer streamcheck/unordered-streams
    cudaEventRecord(copied[k], m.a);
    cudaStreamWaitEvent(m.b, copied[k], 0);
    scale<<<blocks(kChunk), kBlock, 0, m.b>>>(buffer[k], 2.0f, kChunk);
    cudaEventRecord(used[k], m.b);
  }
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) {
    cudaEventDestroy(copied[i]);
    cudaEventDestroy(used[i]);
  }
}

// Two streams with a chunk each; the second copy back begins one element early.
template <bool kPlanted>
void run_chunk_overlap() {
  Bench m;
  constexpr int kHalf = kElements / 2;
  const int begin = kPlanted ? kHalf - 1 : kHalf;
  scale<<<blocks(kHalf), kBlock, 0, m.a>>>(m.device, 2.0f, kHalf);
  cudaMemcpyAsync(m.result, m.device, kHalf * sizeof(float), cudaMemcpyDeviceToHost, m.a);
  scale<<<blocks(kHalf), kBlock, 0, m.b>>>(m.device + begin, 2.0f, kElements - begin);  // planted: chunk_overlap streamcheck/unordered-streams
  cudaMemcpyAsync(m.result + kHalf, m.device + kHalf, kHalf * sizeof(float), cudaMemcpyDeviceToHost, m.b);
}

// ---- memory that streams free --------------------------------------------------------------------

template <bool kPlanted>
void run_freed_in_use() {
  Bench m;
  float* temporary = nullptr;
  cudaMallocAsync(&temporary, kSize, m.a);
  cudaMemsetAsync(temporary, 0, kSize, m.a);
  cudaEventRecord(m.event, m.a);
  cudaStreamWaitEvent(m.b, m.event, 0);
  add_into<<<blocks(kElements), kBlock, 0, m.b>>>(m.other, temporary, kElements);
  cudaEventRecord(m.event, m.b);
  if (!kPlanted) cudaStreamWaitEvent(m.a, m.event, 0);
  cudaFreeAsync(temporary, m.a);  // planted: freed_in_use streamcheck/freed-in-use
  cudaDeviceSynchronize();
}

template <bool kPlanted>
void run_freed_by_other_stream() {
  Bench m;
  float* temporary = nullptr;
  cudaMallocAsync(&temporary, kSize, m.a);
  cudaMemsetAsync(temporary, 0, kSize, m.a);
  cudaFreeAsync(temporary, kPlanted ? m.b : m.a);  // planted: freed_by_other_stream streamcheck/freed-in-use
  cudaDeviceSynchronize();
}

// ---- memory that the host gives back -------------------------------------------------------------

template <bool kPlanted>
void run_unpinned_during_copy() {
  Bench m;
  float* const own = new float[kElements]();
  cudaHostRegister(own, kSize, cudaHostRegisterDefault);
  cudaMemcpyAsync(m.device, own, kSize, cudaMemcpyHostToDevice, m.a);
  if (!kPlanted) cudaStreamSynchronize(m.a);
  cudaHostUnregister(own);  // planted: unpinned_during_copy streamcheck/host-memory-in-use
  cudaDeviceSynchronize();
  delete[] own;
}

template <bool kPlanted>
void run_pinned_freed_during_copy() {
  Bench m;
  float* staging = nullptr;
  cudaMallocHost(&staging, kSize);
  cudaMemcpyAsync(staging, m.device, kSize, cudaMemcpyDeviceToHost, m.a);
  cudaEventRecord(m.event, m.a);
  cudaMemcpyAsync(m.other, m.pinned, kSize, cudaMemcpyHostToDevice, m.a);
  if (!kPlanted) cudaEventSynchronize(m.event);
  cudaFreeHost(staging);  // planted: pinned_freed_during_copy streamcheck/host-memory-in-use
}

// ---- graphs --------------------------------------------------------------------------------------

// A copy from pinned memory and a kernel, as a graph that is launched again for the next batch.
struct Recorded {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  explicit Recorded(const Bench& m) {
    cudaStreamBeginCapture(m.a, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(m.device, m.pinned, kSize, cudaMemcpyHostToDevice, m.a);
    scale<<<blocks(kElements), kBlock, 0, m.a>>>(m.device, 2.0f, kElements);
    cudaStreamEndCapture(m.a, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
  }
  ~Recorded() {
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
};

template <bool kPlanted>
void run_refilled_between_graph_launches() {
  Bench m;
  Recorded recorded(m);
  for (int batch = 0; batch < 2; ++batch) {
    if (!kPlanted) cudaStreamSynchronize(m.a);
    static_cast<volatile float*>(m.pinned)[0] = static_cast<float>(batch);  // planted: refilled_between_graph_launches streamcheck/host-write-too-early
    cudaGraphLaunch(recorded.executable, m.a);
  }
}

template <bool kPlanted>
void run_graph_beside_a_kernel() {
  Bench m;
  Recorded recorded(m);
  cudaGraphLaunch(recorded.executable, m.a);
  cudaEventRecord(m.event, m.a);
  if (!kPlanted) cudaStreamWaitEvent(m.b, m.event, 0);
  add_into<<<blocks(kElements), kBlock, 0, m.b>>>(m.other, m.device, kElements);  // planted: graph_beside_a_kernel streamcheck/unordered-streams
}

template <bool kPlanted>
void run_kernel_beside_a_graph() {
  Bench m;
  Recorded recorded(m);
  add_into<<<blocks(kElements), kBlock, 0, m.b>>>(m.other, m.device, kElements);
  cudaEventRecord(m.event, m.b);
  if (!kPlanted) cudaStreamWaitEvent(m.a, m.event, 0);
  cudaGraphLaunch(recorded.executable, m.a);  // planted: kernel_beside_a_graph streamcheck/unordered-streams
}

// Two branches of a capture, each with its own elements of the result; and one scratch for both, or
// one each.
template <bool kPlanted>
void run_graph_branches_share_scratch() {
  Bench m;
  constexpr int kHalf = kElements / 2;
  float* const scratch = kPlanted ? m.other : m.other + kHalf;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(m.a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(m.event, m.a);
  cudaStreamWaitEvent(m.b, m.event, 0);
  add_into<<<blocks(kHalf), kBlock, 0, m.a>>>(m.other, m.device, kHalf);
  add_into<<<blocks(kHalf), kBlock, 0, m.b>>>(scratch, m.device + kHalf, kHalf);  // planted: graph_branches_share_scratch streamcheck/unordered-nodes
  cudaEventRecord(m.event, m.b);
  cudaStreamWaitEvent(m.a, m.event, 0);
  cudaStreamEndCapture(m.a, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, m.a);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

// A graph that is built by calls: the kernel reads what the memset writes.
template <bool kPlanted>
void run_graph_without_an_edge() {
  Bench m;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t fill = nullptr, kernel = nullptr;
  cudaGraphCreate(&graph, 0);
  cudaMemsetParams zeros = {};
  zeros.dst = m.device;
  zeros.elementSize = 4;
  zeros.width = kElements;
  zeros.height = 1;
  int n = kElements;
  void* arguments[] = {&m.other, &m.device, &n};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add_into);
  launch.gridDim = dim3(blocks(kElements));
  launch.blockDim = dim3(kBlock);
  launch.kernelParams = arguments;
  cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zeros);
  cudaGraphAddKernelNode(&kernel, graph, &fill, kPlanted ? 0 : 1, &launch);  // planted: graph_without_an_edge streamcheck/unordered-nodes
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, m.a);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

}  // namespace

const CorpusCase kStreamCases[] = {
    CASE(missing_event_wait, "stream.copies"),
    CASE(missing_wait_of_kernel, "stream.kernels"),
    CASE(event_too_early, "stream.copies"),
    CASE(wait_before_record, "stream.kernels"),
    CASE(interleaved, "stream.bytes"),
    CASE(atomics_of_two_streams, "stream.kernels"),
    CASE(transitive_order, "stream.copies"),
    CASE(default_stream, "stream.default"),
    CASE(memset_in_default_stream, "stream.default"),
    CASE(per_thread_stream, "stream.default"),
    CASE(pinned_overwritten, "stream.pinned"),
    CASE(staging_reused, "stream.pinned"),
    CASE(result_before_sync, "stream.host"),
    CASE(result_after_early_event, "stream.host"),
    CASE(managed_during_kernel, "stream.pinned stream.bytes"),
    CASE(managed_variable, "stream.host"),
    CASE(mapped_input, "stream.pinned"),
    CASE(flag_in_mapped_memory, "stream.host"),
    CASE(host_function, "stream.host"),
    CASE(host_function_writes, "stream.pinned"),
    CASE(double_buffer, "stream.copies"),
    CASE(chunk_overlap, "stream.bytes"),
    CASE(freed_in_use, "stream.freed"),
    CASE(freed_by_other_stream, "stream.freed"),
    CASE(unpinned_during_copy, "stream.given-back"),
    CASE(pinned_freed_during_copy, "stream.given-back"),
    CASE(refilled_between_graph_launches, "stream.graph"),
    CASE(graph_beside_a_kernel, "stream.graph"),
    CASE(kernel_beside_a_graph, "stream.graph"),
    CASE(graph_branches_share_scratch, "stream.nodes"),
    CASE(graph_without_an_edge, "stream.nodes"),
};
extern const CorpusPart kStreamCorpus = {kStreamCases,
                                         sizeof(kStreamCases) / sizeof(kStreamCases[0])};

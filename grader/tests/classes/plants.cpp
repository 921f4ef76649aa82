#include "plants.h"

#include <cuda_runtime_api.h>

#include <map>
#include <vector>

#include "kit/allocation.h"
#include "kit/context.h"
#include "kit/second_call.h"

namespace plants {
namespace {

bool counted_call_after_others() {
  const kit::Context& now = kit::context();
  return now.counted_call && now.earlier_calls != nullptr;
}

// An answer that is kept by the addresses of its arrays.
bool repeat_the_last_answer(uint64_t*) {
  if (!counted_call_after_others()) return false;
  kit::context().earlier_calls->repeat();
  return true;
}

// As every second implementation of "initialised = true".
bool works_once(uint64_t*) { return counted_call_after_others(); }

void leave_memory(long, uint64_t*) {
  void* memory = nullptr;
  cudaMalloc(&memory, 16);
}

void leave_a_stream(long, uint64_t*) {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
}

void leave_an_event(long, uint64_t*) {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
}

// Reads an array of the test in `stream`, which nothing orders with that of the test.
void read_in(cudaStream_t stream) {
  constexpr size_t kBytes = 16;
  for (const kit::internal::Allocation* buffer : kit::context().allocations) {
    if (buffer->size() < kBytes || buffer->device() != kit::current_device()) continue;
    void* scratch = nullptr;
    cudaMallocAsync(&scratch, kBytes, stream);
    cudaMemcpyAsync(scratch, buffer->payload(), kBytes, cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(scratch, stream);
    if (buffer->is_input()) return;
  }
}

void work_in_a_stream_of_its_own(long, uint64_t*) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  read_in(stream);
  cudaStreamDestroy(stream);
}

void work_in_the_default_stream(long, uint64_t*) { read_in(nullptr); }

void wait_for_the_device(long, uint64_t*) { cudaDeviceSynchronize(); }

void ask_until_it_is_done(long, uint64_t*) {
  cudaEvent_t done = nullptr;
  cudaEventCreate(&done);
  cudaEventRecord(done);
  while (cudaEventQuery(done) == cudaErrorNotReady) {
  }
  cudaGetLastError();
  cudaEventDestroy(done);
}

// Sizes are small integers; addresses and negative numbers are not.
void end_at(uint64_t most, uint64_t* arguments) {
  for (int i = 0; i < plants::kRegisters; ++i) {
    const bool is_size = arguments[i] > most && arguments[i] < (1u << 31);
    if (is_size) arguments[i] = most;
  }
}

bool end_at_65535(uint64_t* arguments) { return end_at(65535, arguments), false; }
bool end_at_32767(uint64_t* arguments) { return end_at(32767, arguments), false; }
bool end_at_32000(uint64_t* arguments) { return end_at(32000, arguments), false; }
bool end_at_2_to_24(uint64_t* arguments) { return end_at(1 << 24, arguments), false; }

// As if there were no other.
int& device_before() {
  static int device = 0;
  return device;
}
bool go_to_device_0(uint64_t*) {
  device_before() = kit::current_device();
  cudaSetDevice(0);
  return false;
}
void go_back(long, uint64_t*) { cudaSetDevice(device_before()); }

// As if the caller had come from there.
void go_to_device_0_afterwards(long, uint64_t*) { cudaSetDevice(0); }

bool a_call_has_failed() { return *wsim_failed_call() != '\0'; }

// As if nobody had looked at the status of the call that fails.
void say_what_it_says_otherwise(long function, uint64_t* returned) {
  static auto* const usual = new std::map<long, uint64_t>;
  if (!a_call_has_failed()) {
    (*usual)[function] = *returned;
  } else if (usual->count(function) != 0) {
    *returned = usual->at(function);
  }
}

void leave_a_stream_on_error(long function, uint64_t* returned) {
  if (a_call_has_failed()) leave_a_stream(function, returned);
}

// What was computed goes to the host and comes back from there, as if it had been computed there.
void take_results_from_the_host(long, uint64_t*) {
  constexpr size_t kBytes = 64;
  for (const kit::internal::Allocation* buffer : kit::context().allocations) {
    if (buffer->is_input() || buffer->size() < kBytes) continue;
    const kit::OnDevice scope(buffer->device());
    cudaDeviceSynchronize();
    const std::vector<uint8_t> written = buffer->image().written;
    for (size_t i = 0; i < kBytes; ++i) {
      if (written[i] == 0) return;
    }
    unsigned char host[kBytes];
    cudaMemcpy(host, buffer->payload(), kBytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(buffer->payload(), host, kBytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();  // streams that do not wait for the default stream find it done
  }
}

bool nothing_before(uint64_t*) { return false; }
void nothing_after(long, uint64_t*) {}

}  // namespace

const Plant kPlants[] = {
    {"repeats_the_last_answer", repeat_the_last_answer, nothing_after},
    {"works_once", works_once, nothing_after},
    {"leaves_memory", nothing_before, leave_memory},
    {"leaves_a_stream", nothing_before, leave_a_stream},
    {"leaves_an_event", nothing_before, leave_an_event},
    {"works_in_a_stream_of_its_own", nothing_before, work_in_a_stream_of_its_own},
    {"works_in_the_default_stream", nothing_before, work_in_the_default_stream},
    {"waits_for_the_device", nothing_before, wait_for_the_device},
    {"asks_until_it_is_done", nothing_before, ask_until_it_is_done},
    {"says_success_always", nothing_before, say_what_it_says_otherwise},
    {"leaves_a_stream_on_error", nothing_before, leave_a_stream_on_error},
    {"ends_at_65535", end_at_65535, nothing_after},
    {"ends_at_32767", end_at_32767, nothing_after},
    {"ends_at_32000", end_at_32000, nothing_after},
    {"ends_at_2_to_24", end_at_2_to_24, nothing_after},
    {"works_on_device_0", go_to_device_0, go_back},
    {"goes_back_to_device_0", nothing_before, go_to_device_0_afterwards},
    {"results_from_the_host", nothing_before, take_results_from_the_host},
    {nullptr, nothing_before, nothing_after},
};

}  // namespace plants

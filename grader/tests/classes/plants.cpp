#include "plants.h"

#include <cuda_runtime_api.h>

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
bool repeat_the_last_answer() {
  if (!counted_call_after_others()) return false;
  kit::context().earlier_calls->repeat();
  return true;
}

// As every second implementation of "initialised = true".
bool works_once() { return counted_call_after_others(); }

void leave_memory() {
  void* memory = nullptr;
  cudaMalloc(&memory, 16);
}

void leave_a_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
}

void leave_an_event() {
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
}

// What was computed goes to the host and comes back from there, as if it had been computed there.
void take_results_from_the_host() {
  constexpr size_t kBytes = 64;
  for (const kit::internal::Allocation* buffer : kit::context().allocations) {
    if (buffer->is_input() || buffer->size() < kBytes) continue;
    cudaDeviceSynchronize();
    const std::vector<uint8_t> written = buffer->image().written;
    for (size_t i = 0; i < kBytes; ++i) {
      if (written[i] == 0) return;
    }
    unsigned char host[kBytes];
    cudaMemcpy(host, buffer->payload(), kBytes, cudaMemcpyDeviceToHost);
    cudaMemcpy(buffer->payload(), host, kBytes, cudaMemcpyHostToDevice);
  }
}

bool nothing_before() { return false; }
void nothing_after() {}

}  // namespace

const Plant kPlants[] = {
    {"repeats_the_last_answer", repeat_the_last_answer, nothing_after},
    {"works_once", works_once, nothing_after},
    {"leaves_memory", nothing_before, leave_memory},
    {"leaves_a_stream", nothing_before, leave_a_stream},
    {"leaves_an_event", nothing_before, leave_an_event},
    {"results_from_the_host", nothing_before, take_results_from_the_host},
    {nullptr, nothing_before, nothing_after},
};

}  // namespace plants

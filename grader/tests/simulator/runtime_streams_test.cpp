// Asynchronous work runs as late as is legal, and in the order that its dependencies ask for.
#include <cstring>
#include <string>

#include "runtime_fixture.h"
#include "warplings/sim.h"

void launch_read_variables(int* to);
const void* counter_symbol();
const void* table_symbol();

namespace warplings::sim {
namespace {

class StreamOrder : public RuntimeTest {
 protected:
  static cudaStream_t stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&made, flags), cudaSuccess);
    return made;
  }
  // Appends a letter to `log` when the stream gets there.
  struct Mark {
    std::string* log;
    char letter;
  };
  void mark(cudaStream_t to, char letter) {
    auto* data = new Mark{&log_, letter};
    const auto append = [](void* pointer) {
      auto* entry = static_cast<Mark*>(pointer);
      *entry->log += entry->letter;
      delete entry;
    };
    ASSERT_EQ(cudaLaunchHostFunc(to, append, data), cudaSuccess);
  }
  std::string log_;
};

TEST_F(StreamOrder, AHostFunctionMustNotCallTheRuntime) {
  cudaError_t seen = cudaSuccess;
  const auto wait = [](void* error) {
    *static_cast<cudaError_t*>(error) = cudaDeviceSynchronize();
  };
  ASSERT_EQ(cudaLaunchHostFunc(nullptr, wait, &seen), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "the program itself may wait";
  EXPECT_EQ(seen, cudaErrorNotPermitted);
  EXPECT_EQ(findings(), Kinds{"api/call-in-host-function"});
}

TEST_F(StreamOrder, NothingRunsBeforeItIsAskedFor) {
  int* value = pinned<int>(1);
  *value = 1;
  launch_increment(value);
  EXPECT_EQ(*value, 1) << "the program did not wait";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*value, 2);
}

TEST_F(StreamOrder, SynchronisingOneStreamLeavesTheOthersWaiting) {
  cudaStream_t a = stream(), b = stream();
  mark(a, 'a');
  mark(b, 'b');
  cudaStreamSynchronize(b);
  EXPECT_EQ(log_, "b");
  cudaStreamSynchronize(a);
  EXPECT_EQ(log_, "ba");
}

TEST_F(StreamOrder, WithoutADependencyTheLastStreamRunsFirst) {
  cudaStream_t a = stream(), b = stream();
  mark(a, '1');
  mark(a, '2');
  mark(b, '3');
  cudaDeviceSynchronize();
  EXPECT_EQ(log_, "312");
}

TEST_F(StreamOrder, AnEventOrdersTwoStreams) {
  cudaStream_t a = stream(cudaStreamNonBlocking), b = stream(cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);
  mark(a, '1');
  cudaEventRecord(event, a);
  mark(a, '3');
  cudaStreamWaitEvent(b, event, 0);
  mark(b, '2');
  cudaStreamSynchronize(b);
  EXPECT_EQ(log_, "12");
  cudaDeviceSynchronize();
  EXPECT_EQ(log_, "123");
}

TEST_F(StreamOrder, WaitingBindsToTheRecordThatWasThere) {
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  mark(a, 'a');
  cudaEventRecord(event, a);
  mark(b, 'b');
  cudaStreamSynchronize(b);
  EXPECT_EQ(log_, "b");
}

TEST_F(StreamOrder, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  cudaStream_t a = stream(), free = stream(cudaStreamNonBlocking);
  mark(a, '1');
  mark(free, 'x');
  mark(nullptr, '2');
  mark(a, '3');
  cudaStreamSynchronize(a);
  EXPECT_EQ(log_, "123");
  cudaDeviceSynchronize();
  EXPECT_EQ(log_, "123x");
}

TEST_F(StreamOrder, AQuerySaysNotReadyOnceAndMakesTheWorkRun) {
  cudaStream_t a = stream();
  EXPECT_EQ(cudaStreamQuery(a), cudaSuccess);
  mark(a, '1');
  cudaEvent_t event;
  cudaEventCreate(&event);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess) << "never recorded";
  cudaEventRecord(event, a);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(log_, "1");
}

TEST_F(StreamOrder, BlockingCopiesWaitForEarlierKernels) {
  int* a = device<int>(1);
  launch_store(a, 7);
  int host = 0;
  EXPECT_EQ(cudaMemcpy(&host, a, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host, 7);
}

TEST_F(StreamOrder, PageableSourcesAreReadDuringTheCallPinnedOnesLater) {
  cudaStream_t s = stream();
  int* from_pageable = device<int>(1);
  int* from_pinned = device<int>(1);
  int pageable = 1;
  int* page_locked = pinned<int>(1);
  *page_locked = 1;
  cudaMemcpyAsync(from_pageable, &pageable, 4, cudaMemcpyHostToDevice, s);
  cudaMemcpyAsync(from_pinned, page_locked, 4, cudaMemcpyHostToDevice, s);
  pageable = 2;
  *page_locked = 2;
  cudaStreamSynchronize(s);
  int host[2] = {};
  cudaMemcpy(&host[0], from_pageable, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(&host[1], from_pinned, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(host[0], 1);
  EXPECT_EQ(host[1], 2) << "the program changed the memory before its copy was done";
}

TEST_F(StreamOrder, WorkOfADestroyedStreamStillRuns) {
  cudaStream_t a = stream();
  mark(a, '1');
  EXPECT_EQ(cudaStreamDestroy(a), cudaSuccess);
  cudaDeviceSynchronize();
  EXPECT_EQ(log_, "1");
  EXPECT_EQ(cudaStreamSynchronize(a), cudaErrorInvalidResourceHandle);
}

TEST_F(StreamOrder, LongChainsBetweenStreamsRun) {
  cudaStream_t a = stream(), b = stream();
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  int* value = pinned<int>(1);
  *value = 0;
  for (int i = 0; i < 3000; ++i) {
    cudaStream_t from = i % 2 == 0 ? a : b, to = i % 2 == 0 ? b : a;
    launch_increment(value, from);
    cudaEventRecord(event, from);
    cudaStreamWaitEvent(to, event, 0);
  }
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(*value, 3000);
}

TEST_F(StreamOrder, FreeAsyncHappensInStreamOrder) {
  cudaStream_t s = stream();
  void* pointer = nullptr;
  EXPECT_EQ(cudaMallocAsync(&pointer, 4, s), cudaSuccess);
  launch_store(static_cast<int*>(pointer), 1, s);
  EXPECT_EQ(cudaFreeAsync(pointer, s), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
}

TEST_F(StreamOrder, ModuleVariablesAreCopiedAndRestored) {
  int* out = device<int>(2);
  int host[2] = {}, table[4] = {9, 9, 9, 9};
  launch_read_variables(out);
  cudaMemcpy(host, out, 8, cudaMemcpyDeviceToHost);
  EXPECT_EQ(host[0], 42);
  EXPECT_EQ(host[1], 3);
  EXPECT_EQ(cudaMemcpyToSymbol(table_symbol(), table, 16, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(table_symbol(), table, 20, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(table_symbol(), table, 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(host, counter_symbol(), 4, 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(host[0], 42);
  size_t size = 0;
  EXPECT_EQ(cudaGetSymbolSize(&size, table_symbol()), cudaSuccess);
  EXPECT_EQ(size, 16u);
  cudaDeviceReset();
  EXPECT_EQ(cudaMemcpyFromSymbol(host, counter_symbol(), 4, 0, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(host[0], 41);
  EXPECT_EQ(cudaGetSymbolSize(&size, &size), cudaErrorInvalidSymbol);
}

TEST_F(StreamOrder, WorkOfTheCallerHasAnOrderWithEverything) {
  char* buffer = device<char>(100);
  const wsim_range range = {buffer, 100};
  const auto clear_in = [&](cudaStream_t in) {
    EXPECT_EQ(cudaMemsetAsync(buffer, 1, 100, in), cudaSuccess);
  };
  const cudaStream_t callers = stream(cudaStreamNonBlocking);
  wsim_caller_works(&range, 1);
  clear_in(callers);
  wsim_caller_works(&range, 1);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{});
  wsim_caller_works(&range, 1);
  clear_in(stream(cudaStreamNonBlocking));  // made since: nobody has told it of the caller
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(findings(), Kinds{"streamcheck/unordered-with-caller"});
  EXPECT_NE(last_finding().message.find("before the call"), std::string::npos);
}

TEST_F(StreamOrder, WorkOfTheCallerChangesNothing) {
  char* buffer = device<char>(1);
  const wsim_range range = {buffer, 1};
  ASSERT_EQ(cudaMemset(buffer, 7, 1), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  wsim_reset_counters();
  wsim_caller_works(&range, 1);
  char value = 0;
  ASSERT_EQ(cudaMemcpy(&value, buffer, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 7);
  EXPECT_EQ(wsim_timeline_count(), 1) << "the copy alone";
}

TEST_F(StreamOrder, AWaitKnowsTheCallThatMadeIt) {
  char* buffer = device<char>(100);
  wsim_reset_counters();
  ASSERT_EQ(cudaMemsetAsync(buffer, 1, 100, nullptr), cudaSuccess);
  wsim_host_wait wait;
  EXPECT_EQ(wsim_get_host_wait(0, &wait), -1);
  const int line = __LINE__ + 1;
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  ASSERT_EQ(wsim_host_waits(), 1u);
  ASSERT_EQ(wsim_get_host_wait(0, &wait), 0);
  EXPECT_STREQ(wait.call, "cudaStreamSynchronize");
  EXPECT_TRUE(std::string(wait.file).ends_with("runtime_streams_test.cpp")) << wait.file;
  EXPECT_EQ(wait.line, line);
}

}  // namespace
}  // namespace warplings::sim

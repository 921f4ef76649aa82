// Tests of 06/09 NVTX ranges. This program is its own profiler: at its first call NVTX looks for an
// injection, and finds the one below, which writes down every range. The functions of NVTX live
// here (the exercise is compiled with NVTX_NO_IMPL).
#define NVTX_EXPORT_API
#include "09_nvtx_ranges.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "kit/kit.h"
#include "kit/largest.h"

#if !defined(NVTX_LOAD_SEQUENCE_VERSION) || NVTX_LOAD_SEQUENCE_VERSION < 2
#error "This NVTX cannot be injected into a program statically. Use the headers of CUDA 13."
#endif

namespace {

// A range as it was opened and closed; `before` and `after` are calls of the runtime so far.
struct Calls {
  uint64_t copies = 0, launches = 0, waits = 0;
  static Calls now() {
    Calls calls;
    calls.copies = wsim_api_calls("cudaMemcpyAsync");
    calls.launches = wsim_api_calls("__cudaLaunchKernel") + wsim_api_calls("cudaLaunchKernel");
    calls.waits = wsim_api_calls("cudaStreamSynchronize");
    return calls;
  }
};
struct Range {
  std::string name;
  int depth = 0;
  bool closed = false;
  Calls before, after;
};

// What the profiler has seen. NVTX hands over no pointer of ours, so there is one for the program.
struct Recorder {
  bool attached = false;
  std::vector<Range> ranges;
  std::vector<size_t> open;  // positions in `ranges`, innermost last
  int surplus_pops = 0;

  int push(const char* name) {
    Range range;
    range.name = name == nullptr ? "(no name)" : name;
    range.depth = static_cast<int>(open.size());
    range.before = Calls::now();
    open.push_back(ranges.size());
    ranges.push_back(range);
    return range.depth;
  }
  int pop() {
    if (open.empty()) {
      ++surplus_pops;
      return NVTX_NO_PUSH_POP_TRACKING;
    }
    ranges[open.back()].closed = true;
    ranges[open.back()].after = Calls::now();
    open.pop_back();
    return static_cast<int>(open.size());
  }
};
Recorder& recorder() {
  static Recorder instance;
  return instance;
}

// The first range that was open behind a call that failed, in words.
std::string left_open;

const char* text_of(const nvtxEventAttributes_t* attributes) {
  const bool is_text = attributes != nullptr && attributes->messageType == NVTX_MESSAGE_TYPE_ASCII;
  return is_text ? attributes->message.ascii : nullptr;
}
int push_text(const char* text) { return recorder().push(text); }
int push_attributes(const nvtxEventAttributes_t* attributes) {
  return recorder().push(text_of(attributes));
}
int pop() { return recorder().pop(); }
int push_in_domain(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  return recorder().push(text_of(attributes));
}
int pop_in_domain(nvtxDomainHandle_t) { return recorder().pop(); }

template <class Function>
void subscribe(NvtxFunctionTable table, unsigned size, unsigned id, Function* function) {
  if (id < size && table[id] != nullptr) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

int attach(NvtxGetExportTableFunc_t get_table) {
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr) return 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  subscribe(table, size, NVTX_CBID_CORE_RangePushA, push_text);
  subscribe(table, size, NVTX_CBID_CORE_RangePushEx, push_attributes);
  subscribe(table, size, NVTX_CBID_CORE_RangePop, pop);
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  subscribe(table, size, NVTX_CBID_CORE2_DomainRangePushEx, push_in_domain);
  subscribe(table, size, NVTX_CBID_CORE2_DomainRangePop, pop_in_domain);
  recorder().attached = true;
  return 1;
}

// Before the first call of NVTX.
const bool kInjected = [] {
  InitializeInjectionNvtx2_fnptr = attach;
  return true;
}();

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned(size_t n) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, (n + 1) * sizeof(float)) != cudaSuccess) memory = nullptr;
  return PinnedFloats(static_cast<float*>(memory), [](float* p) { cudaFreeHost(p); });
}

// The kit lets calls of the runtime fail, one in each run. `failed`: which, or "".
void expect_closed_after(const std::string& failed) {
  if (failed.empty() || recorder().open.empty()) return;
  const std::string name = recorder().ranges[recorder().open.back()].name;
  if (left_open.empty()) left_open = "\"" + name + "\" was still open behind " + failed;
}

// One call; afterwards recorder() holds its ranges.
cudaError_t call(int n, int batch, std::vector<float>* got, std::vector<float>* expected) {
  const std::vector<float> x = kit::random_floats(n);
  const PinnedFloats h_x = pinned(n), h_y = pinned(n);
  std::copy(x.begin(), x.end(), h_x.get());
  std::memset(h_y.get(), 0xFF, n * sizeof(float));
  const auto d_x = kit::DeviceBuffer<float>::output(batch > 0 ? batch : 1, "d_x");
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaError_t error = cudaSuccess;
  const auto call_once = [&] {
    const bool was_attached = recorder().attached;
    recorder() = Recorder();
    recorder().attached = was_attached;
    error = triple_in_batches(h_x.get(), h_y.get(), d_x.get(), n, batch, stream);
    expect_closed_after(wsim_failed_call());
    return error;
  };
  if (batch < 1) {
    kit::run([&] { call_once(); });  // the error is the caller's
  } else {
    kit::run(call_once);
  }
  cudaStreamDestroy(stream);
  got->assign(h_y.get(), h_y.get() + n);
  for (const float value : x) expected->push_back(3.0f * value);
  return error;
}

std::string outline() {
  std::string text;
  for (const Range& range : recorder().ranges) {
    text += "\n" + std::string(2 * range.depth, ' ') + range.name;
  }
  return text;
}

std::string expected_outline(int batches) {
  std::string text = "\nprocess";
  for (int i = 0; i < batches; ++i) text += "\n  batch\n    copy in\n    launch\n    copy out";
  return text + "\n  wait";
}

// What the calls inside each phase must be, for those that the test counts.
Calls calls_of(const std::string& name) {
  Calls calls;
  calls.copies = name == "copy in" || name == "copy out" ? 1 : name == "batch" ? 2 : 0;
  calls.launches = name == "launch" || name == "batch" ? 1 : 0;
  calls.waits = name == "wait" ? 1 : 0;
  return calls;
}

}  // namespace

TEST(NvtxRanges, RangesReachTheProfiler) {
  RecordProperty("todo", 1);
  std::vector<float> got, expected;
  call(100, 50, &got, &expected);
  if (recorder().attached && !recorder().ranges.empty()) return;
  const char* other = std::getenv("NVTX_INJECTION64_PATH");
  kit::fail(other != nullptr
                ? "NVTX_INJECTION64_PATH is set, so the ranges go to that tool and not to this "
                  "test. Grade without it."
                : "No range was opened. nvtxRangePushA(name) opens one, nvtxRangePop() closes the "
                  "innermost that is open.");
}

TEST(NvtxRanges, ThePhasesAreNamedAndNested) {
  RecordProperty("todo", 2);
  kit::for_each("batches", std::vector<int>{1, 3}, [](int batches) {
    std::vector<float> got, expected;
    call(10 * batches, 10, &got, &expected);
    kit::expect_equal("h_y", got, expected);
    if (outline() != expected_outline(batches)) {
      kit::fail("The ranges of a call with " + std::to_string(batches) + " batches must be" +
                expected_outline(batches) + "\nbut they are" +
                (outline().empty() ? " none." : outline()));
    }
  });
}

TEST(NvtxRanges, TheLastBatchMayBeShorter) {
  RecordProperty("todo", 2);
  for (const int batch : {10, 1000, 1}) {
    kit::for_each("n", std::vector<int>{0, 1, 19, 21, 35}, [batch](int n) {
      std::vector<float> got, expected;
      call(n, batch, &got, &expected);
      kit::expect_equal("h_y", got, expected);
      const auto is_batch = [](const Range& range) { return range.name == "batch"; };
      const auto ranges =
          std::count_if(recorder().ranges.begin(), recorder().ranges.end(), is_batch);
      if (ranges == (n + batch - 1) / batch) return;
      kit::fail("n = " + std::to_string(n) + " are " + std::to_string((n + batch - 1) / batch) +
                " batches of up to " + std::to_string(batch) + "; there are " +
                std::to_string(ranges) + " ranges called \"batch\".");
    });
  }
}

TEST(NvtxRanges, BatchesComeFromArraysOfGigabytes) {
  RecordProperty("todo", 2);
  const auto check_large = [](int n, int batch) {
    const auto h_x = kit::LargeHostFloats::input(n, "h_x", kit::HostPages::kPinned);
    const auto h_y = kit::LargeHostFloats::output(n, "h_y", kit::HostPages::kPinned);
    const auto d_x = kit::LargeArray<float>::output(batch, "d_x");
    kit::run([&] { triple_in_batches(h_x.get(), h_y.get(), d_x.get(), n, batch, nullptr); });
    kit::expect_at_ends(h_y, [&](size_t i) { return 3.0f * h_x.get()[i]; });
  };
  // The last batch is shorter; then n and a batch are together more than an int holds.
  kit::at_largest(1 << 30, [&](int n) { check_large(n, 3 << 24); });
  kit::at_largest(1 << 30, [&](int n) { check_large(n, 0x7FFFFFFF); });
}

TEST(NvtxRanges, EveryPhaseHoldsItsOwnCalls) {
  RecordProperty("todo", 2);
  std::vector<float> got, expected;
  call(25, 10, &got, &expected);
  if (!kit::simulated()) return;  // a GPU counts no calls
  for (const Range& range : recorder().ranges) {
    if (range.name == "process") continue;
    const Calls want = calls_of(range.name);
    const uint64_t copies = range.after.copies - range.before.copies;
    const uint64_t launches = range.after.launches - range.before.launches;
    const uint64_t waits = range.after.waits - range.before.waits;
    if (copies == want.copies && launches == want.launches && waits == want.waits) continue;
    kit::fail("While the range \"" + range.name + "\" was open, the program called " +
              std::to_string(copies) + " copies, " + std::to_string(launches) + " launches and " +
              std::to_string(waits) + " waits; the phase has " + std::to_string(want.copies) +
              ", " + std::to_string(want.launches) + " and " + std::to_string(want.waits) + ".");
    return;
  }
}

TEST(NvtxRanges, EveryWayOutClosesWhatIsOpen) {
  RecordProperty("todo", 1);
  kit::for_each("batch", std::vector<int>{10, 0, -1}, [](int batch) {
    std::vector<float> got, expected;
    const cudaError_t error = call(20, batch, &got, &expected);
    if (error != (batch > 0 ? cudaSuccess : cudaErrorInvalidValue)) {
      kit::fail(std::string("triple_in_batches returned ") + cudaGetErrorName(error) + ".");
    }
    if (!recorder().open.empty()) {
      kit::fail("The range \"" + recorder().ranges[recorder().open.back()].name +
                "\" was still open when the call returned: from then on everything in the program "
                "seems to be part of it.");
    }
    if (!left_open.empty()) {
      kit::fail("The range " + left_open +
                ", which was made to fail. The function returns there, and every range that is "
                "open ends on that way out as well.");
    }
    if (recorder().surplus_pops > 0) {
      kit::fail("nvtxRangePop was called " + std::to_string(recorder().surplus_pops) +
                " times with no range open.");
    }
    if (batch > 0 && recorder().ranges.empty()) kit::fail("No range was opened.");
  });
}

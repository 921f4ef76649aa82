// Tests of 02/03 error checking.
//
// The last test makes a kernel fail. That error sticks to the process: on a GPU nothing can run
// after it, so it must stay the last one.
#include "03_error_checking.h"

#include <chrono>
#include <cstdio>
#include <ostream>
#include <thread>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"
#include "kit/stream.h"

namespace {

struct Report {
  cudaError_t error;
  std::string call, file;
  int line;
};
std::vector<Report>& reports() {
  static std::vector<Report> all;
  return all;
}

// What check_one_call calls: counts, and returns its argument as an error.
int& planned_calls() {
  static int count = 0;
  return count;
}
cudaError_t planned_call(int argument) {
  ++planned_calls();
  return static_cast<cudaError_t>(argument);
}

void forget_everything() {
  reports().clear();
  planned_calls() = 0;
}

// What a launch with too large a block ends with: CUDA 13 says the first, older versions the
// second.
bool is_refusal(cudaError_t error) {
  return error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration;
}

std::string name(cudaError_t error) { return cudaGetErrorName(error); }

// Reference: n elements of the table, by index.
std::vector<float> gather_on_cpu(const std::vector<float>& table, const std::vector<int>& index) {
  std::vector<float> out;
  for (const int i : index) out.push_back(table[i]);
  return out;
}

constexpr int kTable = 100;  // elements

// Arguments of gather_checked on the device, with good indices.
struct Gather {
  std::vector<float> table;
  std::vector<int> index;
  kit::DeviceBuffer<float> d_table, d_out;
  kit::DeviceBuffer<int> d_index;

  explicit Gather(int n) : Gather(kit::random_ints(n, 0, kTable - 1)) {}
  explicit Gather(const std::vector<int>& indices)
      : table(kit::random_floats(kTable)),
        index(indices),
        d_table(kit::DeviceBuffer<float>::input(table, "table")),
        d_out(kit::DeviceBuffer<float>::output(index.size(), "out")),
        d_index(kit::DeviceBuffer<int>::input(index, "index")) {}

  cudaError_t operator()(int block) const {
    return gather_checked(d_table.get(), kTable, d_index.get(), d_out.get(),
                          static_cast<int>(index.size()), block);
  }
};

// One report, of this error.
bool expect_one_report(cudaError_t error) {
  if (reports().size() != 1) {
    return kit::fail("CUDA_CHECK must report each failed call once; there were " +
                     std::to_string(reports().size()) + " reports of " + name(error) + ".");
  }
  const Report& report = reports()[0];
  if (report.error != error) {
    return kit::fail("The call failed with " + name(error) + ", but " + name(report.error) +
                     " was reported.");
  }
  return true;
}

uint64_t finished_launches() {
  kit::Counters counters = {};
  wsim_read_counters(&counters);
  return counters.launches;
}

}  // namespace

void report_cuda_error(cudaError_t error, const char* call, const char* file, int line) {
  reports().push_back({error, call, file, line});
  const std::string path = file;
  std::fprintf(stderr, "%s:%d: %s failed: %s (%s)\n",
               path.substr(path.find_last_of('/') + 1).c_str(), line, call, cudaGetErrorName(error),
               cudaGetErrorString(error));
}

TEST(ErrorChecking, AFailedCallIsReturnedToTheCaller) {
  // contract: Runs planned_call(error) under CUDA_CHECK
  RecordProperty("todo", 1);
  // Also one that is no failure everywhere: what a query says of work that is not done.
  for (const cudaError_t error : {cudaErrorInvalidValue, cudaErrorMemoryAllocation,
                                  cudaErrorNotReady, cudaErrorLaunchFailure}) {
    forget_everything();
    const cudaError_t returned = check_one_call(planned_call, error, false);
    if (returned != error) {
      kit::fail("The checked call returned " + name(error) +
                ". The function around CUDA_CHECK must return that error; it returned " +
                name(returned) + ".");
    }
    expect_one_report(error);
  }
}

TEST(ErrorChecking, AReportNamesTheCallAndItsPlace) {
  // contract: "file:line: call failed: cudaErrorInvalidValue (invalid argument)"
  RecordProperty("todo", 1);
  forget_everything();
  check_one_call(planned_call, cudaErrorInvalidValue, false);
  if (!expect_one_report(cudaErrorInvalidValue)) return;
  const Report& report = reports()[0];
  if (report.call != "planned_call(error)") {
    kit::fail("The report must hold the text of the call, \"planned_call(error)\"; it holds \"" +
              report.call + "\". In a macro, #call is the argument as text.");
  }
  const bool is_source =
      report.file.size() > 3 && report.file.compare(report.file.size() - 3, 3, ".cu") == 0;
  if (!is_source || report.line < 1) {
    kit::fail("The report must name the file and the line of the CUDA_CHECK; it names \"" +
              report.file + "\":" + std::to_string(report.line) +
              ". __FILE__ and __LINE__ inside a macro stand for the place where it is used.");
  }
}

TEST(ErrorChecking, ACallIsEvaluatedOnce) {
  RecordProperty("todo", 1);
  for (const cudaError_t error : {cudaSuccess, cudaErrorInvalidValue}) {
    forget_everything();
    check_one_call(planned_call, error, false);
    if (planned_calls() != 1) {
      kit::fail("CUDA_CHECK(planned_call(error)) made the call " + std::to_string(planned_calls()) +
                " times (it returns " + name(error) +
                "). A cudaMalloc made twice leaks: keep the result in a variable.");
    }
  }
}

TEST(ErrorChecking, ACallThatSucceedsIsNotReported) {
  // contract: skip = true leaves it out: cudaErrorNotReady
  RecordProperty("todo", 1);
  forget_everything();
  const cudaError_t returned = check_one_call(planned_call, cudaSuccess, false);
  if (returned != cudaSuccess || !reports().empty()) {
    kit::fail(
        "The checked call succeeded: the function around it must go on, without a report. It "
        "returned " +
        name(returned) + ", and there were " + std::to_string(reports().size()) + " reports.");
  }
  const cudaError_t skipped = check_one_call(planned_call, cudaSuccess, true);
  if (skipped != cudaErrorNotReady) {
    kit::fail(
        "With skip = true the else branch behind CUDA_CHECK(...); must run and return "
        "cudaErrorNotReady, but " +
        name(skipped) + " was returned: the macro is not a single statement.");
  }
}

TEST(ErrorChecking, AnErrorOfAnotherCallStaysWithIt) {
  RecordProperty("todo", 1);
  forget_everything();
  const cudaError_t older = cudaSetDevice(-1);
  const cudaError_t returned = check_one_call(planned_call, cudaSuccess, false);
  const cudaError_t left = cudaGetLastError();
  if (returned != cudaSuccess || !reports().empty() || left != older) {
    kit::fail("Before the checked call, which succeeds, cudaSetDevice(-1) was refused with " +
              name(older) + ". The function around CUDA_CHECK returned " + name(returned) +
              ", there were " + std::to_string(reports().size()) +
              " reports, and cudaGetLastError() gives " + name(left) +
              " afterwards. CUDA_CHECK looks at what its own call returns, and at nothing else.");
  }
}

TEST(ErrorChecking, ARefusedLaunchIsReturnedAndForgotten) {
  // contract: block threads per block
  // contract: Returns, and reports once, the error of the launch
  // contract: The error of a refused launch is not left behind for the next call to find
  RecordProperty("todo", 2);
  forget_everything();
  check_one_call(planned_call, cudaErrorInvalidValue, false);
  const int line_of_another = reports().empty() ? 0 : reports()[0].line;
  const Gather gather(1000);
  for (const int block : {2048, 1025}) {
    forget_everything();
    const cudaError_t returned = gather(block);
    const cudaError_t left_behind = cudaGetLastError();
    if (!is_refusal(returned)) {
      kit::fail("A block of " + std::to_string(block) +
                " threads is refused: gather_checked must return the error that "
                "cudaGetLastError() gives after the launch. It returned " +
                name(returned) + ".");
    }
    if (expect_one_report(returned) && reports()[0].line == line_of_another) {
      kit::fail("Two calls in two functions were reported with one line, " +
                std::to_string(line_of_another) +
                ": that of a function which reports for both. A macro is put where it is used, and "
                "so are __FILE__ and __LINE__ in it: hand them on from there.");
    }
    if (left_behind != cudaSuccess) {
      kit::fail(
          "gather_checked returned the error of the launch, but cudaGetLastError() still "
          "holds " +
          name(left_behind) +
          ": the next check would blame an innocent call. Read the error with the function "
          "that also clears it.");
    }
  }
}

TEST(ErrorChecking, GathersAfterARefusedLaunch) {
  // contract: out[i] = table[index[i]] for i = 0 .. n - 1
  // contract: d_table table_size floats; d_index n ints in 0 .. table_size - 1
  // contract: d_out n floats; n from 1 to 2^30
  // contract: No error is pending when gather_checked is called
  RecordProperty("todo", 2);
  Gather(1000)(2048);
  cudaGetLastError();
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    const Gather gather(n);
    forget_everything();
    cudaError_t returned = cudaErrorUnknown;
    const kit::Run run = kit::run([&] { return returned = gather(128); });
    kit::expect_blocks_of(run, dim3(128));
    if (returned != cudaSuccess) {
      kit::fail("All arguments are valid, but gather_checked returned " + name(returned) + ".");
    }
    kit::expect_equal(gather.d_out, gather_on_cpu(gather.table, gather.index));
  });
}

TEST(ErrorChecking, TheKernelIsDoneWhenTheFunctionReturns) {
  // contract: on the device, and waits for it
  RecordProperty("todo", 2);
  const Gather gather(kit::work_scale(1000, 1 << 26));
  bool done = false;
  kit::run([&] {
    gather(128);
    done = kit::simulated() ? finished_launches() == 1 : cudaStreamQuery(nullptr) == cudaSuccess;
  });
  if (!done) {
    kit::fail(
        "gather_checked returned before its kernel had run, so it cannot know whether the "
        "kernel failed. A launch only puts the kernel into a queue.");
  }
}

TEST(ErrorChecking, ARefusedCallDoesNotLoseTheContext) {
  // contract: False if all is well, also after a call or a launch was refused
  RecordProperty("todo", 3);
  if (context_is_lost()) {
    kit::fail("Nothing has failed yet, but context_is_lost() returned true.");
  }
  const cudaError_t refused = cudaSetDevice(-1);
  ASSERT_EQ(refused, cudaErrorInvalidDevice) << "There is no device -1.";
  if (context_is_lost()) {
    kit::fail(
        "cudaSetDevice(-1) was refused, and context_is_lost() returned true. Such an error is "
        "gone once it has been read, and the next call works: read it, then try one.");
  }
  const cudaError_t left_behind = cudaGetLastError();
  if (left_behind != cudaSuccess) {
    kit::fail("After context_is_lost(), cudaGetLastError() still holds " + name(left_behind) +
              ". Clear it, or the next check blames an innocent call.");
  }
}

TEST(ErrorChecking, WorkThatIsNotDoneLosesNothing) {
  // contract: False if all is well
  RecordProperty("todo", 3);
  const kit::Stream other;
  for (const cudaStream_t stream : {cudaStream_t{nullptr}, other.get()}) {
    // The device cannot go on before the host has slept.
    const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    cudaLaunchHostFunc(stream, sleep, nullptr);
    const bool lost = context_is_lost();
    cudaDeviceSynchronize();
    cudaGetLastError();
    if (!lost) continue;
    kit::fail(
        std::string("The device is still at work in ") +
        (stream == nullptr ? "the default stream" : "a stream of the caller") +
        ", and nothing has failed, but context_is_lost() returned true. A query then answers "
        "cudaErrorNotReady, which is no failure: wait for the work, and look how it has ended.");
  }
}

namespace {

// A kernel that fails, and how. In the simulator the device recovers after each.
struct Failure {
  const char* how;
  int index;  // of element 777
  bool has_table;
  cudaError_t error;
};
std::ostream& operator<<(std::ostream& out, const Failure& failure) { return out << failure.how; }

void expect_loss(const Failure& failure) {
  std::vector<int> index = kit::random_ints(1000, 0, kTable - 1);
  index[777] = failure.index;
  const Gather gather(index);
  const float* table = failure.has_table ? gather.d_table.get() : nullptr;
  forget_everything();
  cudaError_t returned = cudaSuccess, again = cudaSuccess;
  bool lost = false;
  kit::expect_cuda_error(failure.error);
  if (failure.has_table) {
    kit::expect_finding("launch", "assertion");
  } else {
    kit::expect_finding("memcheck");
  }
  kit::run([&] {
    returned = gather_checked(table, kTable, gather.d_index.get(), gather.d_out.get(), 1000, 128);
    lost = context_is_lost();
    // Forgotten twice, and still every call fails: this is what sticky means.
    cudaGetLastError();
    void* memory = nullptr;
    again = cudaMalloc(&memory, 4) == failure.error ? cudaDeviceSynchronize() : cudaSuccess;
  });
  const bool was_returned = returned == failure.error;
  testing::Test::RecordProperty("todo", was_returned ? 3 : 2);
  if (!was_returned) {
    kit::fail(std::string(failure.has_table
                              ? "index[777] is out of range, so an assertion of the kernel fails"
                              : "The table is a null pointer, so the kernel fails") +
              ": gather_checked must return " + name(failure.error) + ". It returned " +
              name(returned) + ".");
  }
  expect_one_report(failure.error);
  if (again == failure.error && !lost) {
    kit::fail("A kernel has failed: from now on every call returns " + name(failure.error) +
              ", also after cudaGetLastError(). context_is_lost() must return true.");
  }
  if (again != failure.error) {
    kit::fail("After context_is_lost(), another call returned " + name(again) + " instead of " +
              name(failure.error) + ": asking must not reset the device.");
  }
}

}  // namespace

TEST(ErrorChecking, AFailedKernelLosesTheContext) {
  // contract: or else the error of the kernel
  // contract: True if an earlier kernel has failed
  RecordProperty("todo", 2);
  const Failure past_the_end = {"index[777] = 100", kTable, true, cudaErrorAssert};
  std::vector<Failure> failures = {past_the_end};
  if (kit::simulated()) {
    failures.push_back({"index[777] = -1", -1, true, cudaErrorAssert});
    failures.push_back({"no table", 0, false, cudaErrorIllegalAddress});
  }
  kit::for_each("failure", failures, expect_loss);
}

TEST(ErrorChecking, GathersTheLargestArrays) {
  RecordProperty("todo", 2);
  kit::at_largest("n = 2^30", [] {
    const int n = 1 << 30, table_size = 5;
    const std::vector<float> table = kit::random_floats(table_size);
    const auto d_table = kit::DeviceBuffer<float>::input(table, "table");
    const auto index =
        kit::LargeArray<int>::input(n, "index", kit::random_ints(kit::kPeriod, 0, table_size - 1));
    const auto out = kit::LargeArray<float>::output(n, "out");
    kit::run([&] { gather_checked(d_table.get(), table_size, index.get(), out.get(), n, 256); });
    kit::expect_at_ends(out, [&](size_t i) { return table[index.at(i)]; });
  });
}

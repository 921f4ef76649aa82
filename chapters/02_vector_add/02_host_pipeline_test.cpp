// Tests of 02/02 host pipeline.
#include "02_host_pipeline.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"

namespace {

constexpr int kBlock = 128;  // threads

// Reference in double: x, squares and fourths have n elements each.
struct Powers {
  std::vector<double> squares, fourths;
};
Powers powers_on_cpu(const std::vector<float>& x) {
  Powers powers;
  for (const float value : x) {
    const double square = static_cast<double>(value) * value;
    powers.squares.push_back(square);
    powers.fourths.push_back(square * square);
  }
  return powers;
}

// One call, with results that start as NaN so that what is never copied shows.
struct Call {
  std::vector<float> x, squares, fourths;
  cudaError_t error = cudaSuccess;

  explicit Call(int n) : x(kit::random_floats(n, -2.0f, 2.0f)), squares(n), fourths(n) {
    std::memset(squares.data(), 0xFF, n * sizeof(float));
    std::memset(fourths.data(), 0xFF, n * sizeof(float));
  }
  cudaError_t operator()(int block) {
    return error = squares_and_fourths(x.data(), squares.data(), fourths.data(),
                                       static_cast<int>(x.size()), block);
  }
};

// Runs one pipeline; a CUDA error, returned or left behind, is a failure of the case.
kit::Run run_pipeline(Call& call) {
  const std::vector<float> before = call.x;
  const kit::Run run = kit::run([&] { return call(kBlock); });
  kit::expect_blocks_of(run, dim3(kBlock));
  if (call.error != cudaSuccess) {
    kit::fail(std::string("squares_and_fourths returned ") + cudaGetErrorName(call.error) +
              " for valid arguments.");
  }
  kit::expect_equal("h_x afterwards", call.x, before);
  return run;
}

// Two roundings in x^2 * x^2 of a rounded square: 3 units at most, 1 for the square.
void expect_both_results(const Call& call) {
  const Powers expected = powers_on_cpu(call.x);
  kit::expect_near("h_squares", call.squares, expected.squares, kit::Tolerance::units(1.5));
  kit::expect_near("h_fourths", call.fourths, expected.fourths, kit::Tolerance::units(4));
}

// Bytes of device memory that the program holds. Exact in the simulator; a GPU knows them only in
// pieces of some MiB, so there the arrays must be large.
size_t device_bytes_in_use() {
  size_t bytes = 0;
  if (kit::simulated()) {
    wsim_live_allocations(&bytes);
    return bytes;
  }
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  return total - free;
}

// What a launch with too large a block ends with: CUDA 13 says the first, older versions the
// second.
bool is_refusal(cudaError_t error) {
  return error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration;
}

// Fails if memory that `work` allocated is still there afterwards. On a GPU other programs allocate
// too, so there growth counts only if every one of three calls shows it.
void expect_no_growth(const std::function<void()>& work, const char* when) {
  size_t least = 0;
  for (int rest = kit::simulated() ? 1 : 3; rest > 0; --rest) {
    const size_t before = device_bytes_in_use();
    work();
    const size_t after = device_bytes_in_use();
    if (after <= before) return;
    least = least == 0 ? after - before : std::min(least, after - before);
  }
  kit::fail(std::to_string(least) + " bytes of device memory are still allocated " + when +
            ". Every cudaMalloc needs a cudaFree on every way out.");
}

}  // namespace

TEST(HostPipeline, FirstLaunchReadsTheInput) {
  Call call(1000);
  const kit::Run run = run_pipeline(call);
  const size_t bytes = 1000 * sizeof(float);
  // If the first launch has squared everything, what goes wrong after it is not TODO 1.
  RecordProperty("todo", run.counters().global_store_bytes >= bytes ? 2 : 1);
  if (kit::simulated() && run.counters().global_load_bytes < bytes) {
    kit::fail("The kernel did not read 1000 floats from d->x.");
  }
}

TEST(HostPipeline, LaunchesTheKernelTwice) {
  // contract: with two launches of one kernel
  RecordProperty("todo", 2);
  Call call(1000);
  const kit::Run run = run_pipeline(call);
  if (!kit::simulated()) {
    expect_both_results(call);
  } else if (run.counters().launches != 2) {
    kit::fail("square_in_place was launched " + std::to_string(run.counters().launches) +
              " time(s); the fourth power needs 2: d->x holds x^2 after the first launch and "
              "(x^2)^2 after the second.");
  } else if (run.launches()[0].kernel != run.launches()[1].kernel) {
    kit::fail("The two launches are of different kernels, " + run.launches()[0].kernel + " and " +
              run.launches()[1].kernel + ". One kernel is enough: it squares what it finds, and " +
              "the second time it finds squares.");
  }
}

TEST(HostPipeline, BothResultsReachTheHost) {
  // contract: h_x n floats in host memory, n from 1 to 2^30, unchanged afterwards
  // contract: h_fourths n floats in host memory, receives (x * x) * (x * x)
  // contract: cudaSuccess once both results are in host memory
  RecordProperty("todo", 3);
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    Call call(n);
    run_pipeline(call);
    expect_both_results(call);
  });
}

TEST(HostPipeline, CopiesArraysOfGigabytes) {
  // contract: h_x n floats in host memory, n from 1 to 2^30, unchanged afterwards
  RecordProperty("todo", 3);
  kit::at_largest(1 << 30, [](int n) {
    const auto x = kit::LargeHostFloats::input(n, "h_x", kit::HostPages::kPageable);
    const auto squares = kit::LargeHostFloats::output(n, "h_squares", kit::HostPages::kPageable);
    const auto fourths = kit::LargeHostFloats::output(n, "h_fourths", kit::HostPages::kPageable);
    kit::run([&] { return squares_and_fourths(x.get(), squares.get(), fourths.get(), n, kBlock); });
    const auto square = [&](size_t i) { return static_cast<double>(x.get()[i]) * x.get()[i]; };
    kit::expect_at_ends(squares, square, kit::Tolerance::units(1.5));
    kit::expect_at_ends(
        fourths, [&](size_t i) { return square(i) * square(i); }, kit::Tolerance::units(4));
  });
}

TEST(HostPipeline, TheSquaresAreKeptBeforeTheSecondLaunch) {
  // contract: h_squares n floats in host memory, receives x * x
  RecordProperty("todo", 2);
  Call call(300);
  run_pipeline(call);
  const Powers expected = powers_on_cpu(call.x);
  kit::expect_near("h_squares", call.squares, expected.squares, kit::Tolerance::units(1.5));
}

TEST(HostPipeline, LeavesNothingAllocated) {
  // contract: Leaves no device memory allocated, whatever it returns
  RecordProperty("todo", 3);
  Call warm_up(1);  // on a GPU the first call also pays for the context
  run_pipeline(warm_up);
  const auto succeed = [] {
    Call call(kit::work_scale(1000, 1 << 24));
    run_pipeline(call);
  };
  expect_no_growth(succeed, "after a call that succeeded");
}

TEST(HostPipeline, TakesTheLargestBlock) {
  // contract: block threads per block; with more than 1024 the launch is refused
  RecordProperty("todo", 2);
  kit::for_each("block", std::vector<int>{1024, 1, 33}, [](int block) {
    Call call(1500);
    kit::run([&] { return call(block); });
    if (call.error != cudaSuccess) {
      kit::fail(std::string("squares_and_fourths returned ") + cudaGetErrorName(call.error) +
                " for a block of " + std::to_string(block) + " threads, which a launch may have.");
    }
    expect_both_results(call);
  });
}

TEST(HostPipeline, ARefusedLaunchIsReturnedAndLeavesNothingAllocated) {
  // contract: block threads per block; with more than 1024 the launch is refused
  RecordProperty("todo", 3);
  const auto be_refused = [] {
    Call call(kit::work_scale(1000, 1 << 24));
    call(2048);          // a block has at most 1024 threads
    cudaGetLastError();  // the function may leave the error of the launch behind, or not
    if (!is_refusal(call.error)) {
      kit::fail(
          std::string("With block = 2048 the launch is refused, and squares_and_fourths must "
                      "return the error that cudaGetLastError() gives after it. It returned ") +
          cudaGetErrorName(call.error) + ".");
    }
  };
  expect_no_growth(be_refused, "after a call whose launch was refused");
}

// The card has room for `arrays` of the two arrays and half of another. Only in the simulator: a
// GPU is shared with others, who may free memory at any time.
TEST(HostPipeline, ARefusedAllocationIsReturnedAndLeavesNothingAllocated) {
  // contract: Returns the first error
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  kit::for_each("arrays that fit", std::vector<int>{1, 0}, [](int arrays) {
    const int n = 1 << 18;
    const size_t bytes = n * sizeof(float);
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    void* taken = nullptr;
    cudaMalloc(&taken, free - arrays * bytes - bytes / 2);
    Call call(n);
    expect_no_growth(
        [&] {
          call(kBlock);
          cudaGetLastError();
        },
        "after a call that found too little memory");
    cudaFree(taken);
    if (arrays == 1 && call.error == cudaSuccess) {  // whoever needs one array has it
      expect_both_results(call);
    } else if (call.error != cudaErrorMemoryAllocation) {
      kit::fail("There was room for " + std::to_string(arrays) +
                " of the two arrays: squares_and_fourths must return cudaErrorMemoryAllocation, "
                "the first error. It returned " +
                cudaGetErrorName(call.error) + ".");
    }
  });
}

// Tests of 03/09 dynamic shared memory.
#include "09_dynamic_shared.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

constexpr int kWithoutAsking = 48 * 1024 / 6;  // columns: 8192

// Reference: rows x cols elements. Values are moved, so they are compared bit by bit.
std::vector<float> permute_on_cpu(const std::vector<float>& x, const std::vector<unsigned short>& p,
                                  kit::Shape shape) {
  std::vector<float> out(x.size());
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c < shape.cols; ++c) {
      out[r * shape.cols + c] = x[r * shape.cols + p[p[c]]];
    }
  }
  return out;
}

// Bytes of shared memory that a block of this device can have.
int shared_memory_of_a_block() {
  int device = 0, bytes = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return bytes;
}

kit::Run check(kit::Shape shape, bool fits = true,
               kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> x = kit::random_floats(shape.size());
  std::vector<unsigned short> p;
  for (const int index : kit::random_ints(shape.cols, 0, shape.cols - 1)) {
    p.push_back(static_cast<unsigned short>(index));
  }
  const auto d_x = kit::DeviceBuffer<float>::inout(x, "x", placement);
  const auto d_p = kit::DeviceBuffer<unsigned short>::input(p, "p", placement);
  bool launched = false;
  const kit::Run run = kit::run(
      [&] { launched = launch_permute_twice(d_x.get(), d_p.get(), shape.rows, shape.cols); });
  if (launched != fits) {
    const std::string row = "A row of " + std::to_string(shape.cols) + " columns takes " +
                            std::to_string(6 * shape.cols) + " bytes; a block of this device has " +
                            std::to_string(shared_memory_of_a_block()) + ", and largest_row says " +
                            std::to_string(largest_row()) +
                            " columns. launch_permute_twice returned ";
    kit::fail(row + (launched ? "true." : "false."));
  }
  kit::expect_equal(d_x, fits ? permute_on_cpu(x, p, shape) : x, shape);
  return run;
}

}  // namespace

TEST(DynamicShared, PermutesWithAnEvenNumberOfColumns) {
  RecordProperty("todo", 3);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 32}, {3, 512}, {2, 1000}},
                [](kit::Shape shape) { check(shape); });
}

TEST(DynamicShared, DividesTheMemoryForOddNumbersOfColumns) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 33}, {2, 513}, {3, 1023}, {5, 3}},
                [](kit::Shape shape) { check(shape); });
}

TEST(DynamicShared, CoversAwkwardShapes) {
  RecordProperty("todo", 3);
  kit::for_each("shape", kit::awkward_shapes(), [](kit::Shape shape) { check(shape); });
  check({1, 1});
}

TEST(DynamicShared, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 1000}, {3, 514}},
                [](kit::Shape shape) { check(shape, true, kit::Placement::kAtEnd); });
}

TEST(DynamicShared, AsksForMoreThan48KiB) {
  RecordProperty("todo", largest_row() < kWithoutAsking + 2 ? 2 : 3);
  // The first of them runs on another device as well: each has to be asked.
  kit::for_each("cols", std::vector<int>{kWithoutAsking + 2, kWithoutAsking + 1, kWithoutAsking},
                [](int cols) {
                  check({2, cols});
                });
}

TEST(DynamicShared, KnowsTheLargestRowOfEveryCard) {
  RecordProperty("todo", 2);
  kit::for_each_card([] {
    const int most = shared_memory_of_a_block() / 6;
    // One column less is right too: with the indices first, an odd row needs 2 bytes of padding.
    if (largest_row() != most && largest_row() != most - 1) {
      kit::fail("largest_row says " + std::to_string(largest_row()) +
                " columns. A block of this device can have " +
                std::to_string(shared_memory_of_a_block()) +
                " bytes, and a column takes 6: " + std::to_string(most) + ".");
    }
    check({1, largest_row()});
  });
}

TEST(DynamicShared, RefusesARowThatDoesNotFit) {
  RecordProperty("todo", 2);
  kit::for_each_card([] { check({1, shared_memory_of_a_block() / 6 + 1}, false); });
}

// Who asks cudaGetLastError() takes the error away: the caller, who asks later, sees a success.
TEST(DynamicShared, LeavesAnErrorOfTheLaunchToTheCaller) {
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  const auto d_x = kit::DeviceBuffer<float>::inout(kit::random_floats(64), "x");
  const auto d_p =
      kit::DeviceBuffer<unsigned short>::input(std::vector<unsigned short>(32, 3), "p");
  cudaGetLastError();
  wsim_fail_call(1, "cudaLaunchKernel", ".cu");
  const bool launched = launch_permute_twice(d_x.get(), d_p.get(), 2, 32);
  const std::string failed = wsim_failed_call();
  wsim_fail_call(0, "", "");
  const cudaError_t left = cudaGetLastError();
  if (failed.empty() || (launched && left != cudaSuccess)) return;
  kit::fail(failed + " was made to fail. launch_permute_twice returned " +
            (launched ? "true" : "false") + ", and cudaGetLastError() says " +
            cudaGetErrorName(left) +
            " behind it: false is for a row that does not fit, and an error of the launch is left "
            "for the caller. cudaPeekAtLastError() looks at it without taking it away.");
}

TEST(DynamicShared, LoadsXAndPOnce) {
  RecordProperty("todo", 1);
  const int rows = 4, cols = 2048;
  const kit::Run run = check({rows, cols});
  kit::budget("bytes loaded per element",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes), rows * cols),
              kit::at_most(6), "4 bytes of x and 2 of p; every other use is in shared memory",
              &kit::Counters::global_load_bytes);
}

// More rows than y of a grid has blocks, and more than 2^32 elements.
TEST(DynamicShared, PermutesManyRows) {
  RecordProperty("todo", 3);
  kit::at_largest("4,200,001 x 1024", [] {
    const int rows = 4'200'001, cols = 1024;
    std::vector<unsigned short> p;
    for (const int index : kit::random_ints(cols, 0, cols - 1)) {
      p.push_back(static_cast<unsigned short>(index));
    }
    const auto x = kit::LargeArray<float>::inout(size_t{1} * rows * cols, "x",
                                                 kit::random_integer_floats(kit::kPeriod));
    const auto d_p = kit::DeviceBuffer<unsigned short>::input(p, "p");
    kit::run([&] { launch_permute_twice(x.get(), d_p.get(), rows, cols); });
    kit::expect_at_ends(x, [&](size_t i) { return x.at(i / cols * cols + p[p[i % cols]]); });
  });
}

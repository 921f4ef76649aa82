// What `grade dev new` writes: y = factor * x, small and complete.
#ifndef WARPLINGS_CLI_DEV_NEW_TEMPLATES_H_
#define WARPLINGS_CLI_DEV_NEW_TEMPLATES_H_

namespace grade {

constexpr char kCourseEntry[] = R"({
      "id": "@ID@",
      "title": "@TITLE@",
      "minutes": 10,
      "kind": "kernel",
      "todos": 2,
      "teaches": [],
      "needs": []
    })";

constexpr char kHeader[] = R"(// @NUMBERS@ @TITLE@: what the test calls.
#ifndef @GUARD@
#define @GUARD@

// y[i] = factor * x[i] for i = 0 .. n - 1.
//   d_x, d_y  n floats in device memory; n may be 0
void launch_@NAME@(const float* d_x, float* d_y, float factor, int n);

#endif  // @GUARD@
)";

constexpr char kSolution[] = R"(// @NUMBERS@ @TITLE@: every element of x times a factor.
//   x, y   n floats in device memory; n is any size, also 0
//   TODOs  2
#include "@FILE@.h"

__global__ void @NAME@(const float* x, float* y, float factor, int n) {
  //~ // TODO(1): Multiply this thread's element, unless it lies past the end (about 4 lines).
  //~begin 1
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = factor * x[i];
  }
  //~end
}

void launch_@NAME@(const float* d_x, float* d_y, float factor, int n) {
  constexpr int kBlock = 256;  // threads
  //~ const int grid = 0;  // TODO(2): Count the blocks that cover n, rounding up.
  //~begin 2
  const int grid = (n + kBlock - 1) / kBlock;
  //~end
  if (grid > 0) {
    @NAME@<<<grid, kBlock>>>(d_x, d_y, factor, n);
  }
}
)";

constexpr char kVariant[] =
    R"(// Another right answer: blocks of 128 threads that stride over the array.
#include "@FILE@.h"

__global__ void @NAME@_strided(const float* x, float* y, float factor, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = factor * x[i];
  }
}

void launch_@NAME@(const float* d_x, float* d_y, float factor, int n) {
  if (n > 0) {
    @NAME@_strided<<<4, 128>>>(d_x, d_y, factor, n);
  }
}
)";

constexpr char kTest[] = R"(#include "@FILE@.h"

#include <vector>

#include "kit/kit.h"

namespace {

constexpr float kFactor = 2.0f;  // exact, so results are compared bit by bit

// y and x: n floats.
std::vector<float> @NAME@_on_cpu(const std::vector<float>& x) {
  std::vector<float> y;
  for (const float value : x) y.push_back(kFactor * value);
  return y;
}

void check(int n) {
  const std::vector<float> x = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
  kit::run([&] { launch_@NAME@(d_x.get(), d_y.get(), kFactor, n); });
  kit::expect_equal(d_y, @NAME@_on_cpu(x));
}

TEST(@SUITE@, ComputesFullBlocks) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{256, 1024}, check);
}

TEST(@SUITE@, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), check);
}

TEST(@SUITE@, AcceptsNoElements) {
  RecordProperty("todo", 2);
  check(0);
}

}  // namespace
)";

constexpr char kHints[] = R"(## TODO 1

Where does a thread learn who it is? Four built-in variables say it. What must a thread do whose number is n or more?

The number of a thread in the grid is the threads of all blocks before its own plus its place in the block. Threads past the end return without touching memory.

Compute `i` from `blockIdx.x`, `blockDim.x` and `threadIdx.x`, then write `y[i]` inside `if (i < n)`.

## TODO 2

The grid decides which elements get a thread at all. Try n = 257 on paper: how many blocks of 256 does it need?

Dividing rounds down, and a partial block is a block too. Add what makes the division round up.

`(n + kBlock - 1) / kBlock` is n / kBlock rounded up.
)";

constexpr char kMutants[] =
    R"(# Every mutant names what must catch it. CONTRIBUTING.md has the format.

mutant: launches one block too few when the last one is partial
expect: @SUITE@.CoversSizesThatAreNotBlockMultiples
find:
|  const int grid = (n + kBlock - 1) / kBlock;
put:
|  const int grid = n / kBlock;

mutant: the guard lets the first thread past the end through
expect: finding:memcheck
find:
|  if (i < n) {
put:
|  if (i <= n) {

mutant: the index forgets the block
expect: @SUITE@.ComputesFullBlocks
find:
|  const int i = blockIdx.x * blockDim.x + threadIdx.x;
put:
|  const int i = threadIdx.x;
)";

// Where the chapter has lessons.
constexpr char kLesson[] = R"(# @NUMBER@ @TITLE@

Say why a reader should care: a number that shows what is wrong, or a problem met before. Then a
picture, the idea on another problem with a small program that runs, and a case by hand.

```predict index
Somebody forgets the block in the index of a thread. Does the test of full blocks pass?
- passes
- fails
from: result @ID@@mutant_3 @SUITE@.ComputesFullBlocks
```

## After you pass

Say what the reference does and why, what production code does today, and leave an experiment.
)";

constexpr char kAnswers[] =
    R"(# What ./grade predict compares with. Values come from runs (./grade dev sync).

index = fails
because all blocks then work on the elements of the first one.
)";

}  // namespace grade
#endif  // WARPLINGS_CLI_DEV_NEW_TEMPLATES_H_

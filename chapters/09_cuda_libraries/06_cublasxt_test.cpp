// Tests of 09/06 cuBLASXt.
#include "06_cublasxt.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kit/kit.h"
#include "support.h"

namespace {

constexpr float kGap = 1024.5f;  // stands between the rows of c, and must stay

// A product c = alpha a b + beta c in blocks; `pad` floats lie between two rows of each matrix.
struct Product {
  size_t m, n, k;
  int block;
  size_t pad = 0;
  float alpha = 1, beta = 0;
  size_t lda() const { return k + pad; }
  size_t ldb() const { return n + 2 * pad; }
  size_t ldc() const { return n + 3 * pad; }
  // Floats that are there of each matrix: enough for any order of operands, so that a wrong one
  // ends in a message and not in memory of others. In c, all but the product has to stay.
  size_t room() const { return std::max({m, n, k}) * (std::max(n, k) + 3 * pad + m); }
};
std::ostream& operator<<(std::ostream& out, const Product& p) {
  out << p.m << " x " << p.n << ", k = " << p.k << ", blocks of " << p.block;
  if (p.pad > 0) out << ", lda = " << p.lda() << ", ldb = " << p.ldb() << ", ldc = " << p.ldc();
  if (p.alpha != 1 || p.beta != 0) out << ", alpha = " << p.alpha << ", beta = " << p.beta;
  return out;
}

// Host matrices, row-major, and the product in double.
struct Matrices {
  std::vector<float> a, b, c;
  std::vector<double> right, scale;
};
Matrices matrices(const Product& p, bool exact) {
  const auto values = [&](size_t n) {
    return exact ? kit::random_integer_floats(n) : kit::random_floats(n);
  };
  Matrices all{values(p.room()), values(p.room()), std::vector<float>(p.room(), kGap), {}, {}};
  all.right.assign(all.c.size(), kGap);
  all.scale.assign(all.c.size(), 0);
  for (size_t row = 0; row < p.m; ++row) {
    for (size_t col = 0; col < p.n; ++col) {
      double sum = 0, scale = 0;
      for (size_t i = 0; i < p.k; ++i) {
        const double term =
            static_cast<double>(all.a[row * p.lda() + i]) * all.b[i * p.ldb() + col];
        sum += term;
        scale += std::fabs(term);
      }
      all.right[row * p.ldc() + col] = p.alpha * sum + p.beta * kGap;
      all.scale[row * p.ldc() + col] = std::fabs(p.alpha) * scale + std::fabs(p.beta * kGap);
    }
  }
  return all;
}

class XtHandle {
 public:
  explicit XtHandle(int block) {
    expect_success("create_xt", create_xt(block, &handle_));
    if (handle_ == nullptr) kit::fail("create_xt left no handle in *handle.");
  }
  ~XtHandle() {
    if (handle_ != nullptr) cublasXtDestroy(handle_);
  }
  XtHandle(const XtHandle&) = delete;
  XtHandle& operator=(const XtHandle&) = delete;
  cublasXtHandle_t get() const { return handle_; }

 private:
  cublasXtHandle_t handle_ = nullptr;
};

void check(const Product& p, bool exact = true) {
  Matrices all = matrices(p, exact);
  const XtHandle handle(p.block);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const std::vector<float> c = all.c;
  kit::run([&] {
    all.c = c;
    return status = xt_sgemm(handle.get(), p.m, p.n, p.k, p.alpha, all.a.data(), p.lda(),
                             all.b.data(), p.ldb(), p.beta, all.c.data(), p.ldc());
  });
  expect_success("xt_sgemm", status);
  kit::expect_near("c", all.c, all.right,
                   exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, all.scale),
                   kit::Shape());
}

// Simulator only: the devices that have worked since the last kit::run began.
std::set<int> busy_devices() {
  std::set<int> devices;
  const int count = wsim_timeline_count();
  for (int i = 0; i < count; ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) == 0 && std::string(item.name) == "cublasXtSgemm") {
      devices.insert(item.device);
    }
  }
  return devices;
}

struct Sizes {
  size_t m, n, k, block, devices;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.m << " x " << s.n << ", k = " << s.k << ", blocks of " << s.block << ", "
             << s.devices << (s.devices == 1 ? " device" : " devices");
}

// Reference: deals the blocks one by one.
Shares dealt(const Sizes& s) {
  std::vector<size_t> blocks(s.devices, 0);
  Shares shares = {};
  for (size_t row = 0; row < s.m; row += s.block) {
    for (size_t col = 0; col < s.n; col += s.block) {
      const size_t rows = std::min(s.block, s.m - row), cols = std::min(s.block, s.n - col);
      ++blocks[shares.blocks++ % s.devices];
      shares.sent += (rows + cols) * s.k * sizeof(float);
    }
  }
  shares.busiest = *std::max_element(blocks.begin(), blocks.end());
  return shares;
}

void expect_count(const char* what, size_t got, size_t expected, const char* why) {
  if (got == expected) return;
  kit::fail(std::string(what) + " is " + std::to_string(got) + ", expected " +
            std::to_string(expected) + ": " + why);
}

}  // namespace

TEST(Cublasxt, WorksOnEveryDeviceInBlocks) {
  RecordProperty("todo", 1);
  int present = 0;
  cudaGetDeviceCount(&present);
  kit::for_each("block", std::vector<int>{32, 64}, [&](int block) {
    const XtHandle handle(block);
    if (handle.get() == nullptr) return;
    int used = 0;
    expect_success("cublasXtGetBlockDim", cublasXtGetBlockDim(handle.get(), &used));
    if (used != block) {
      kit::fail("The handle has blocks of " + std::to_string(used) + ", expected " +
                std::to_string(block) + ": cublasXtSetBlockDim sets them.");
    }
    // So many blocks, down and across, that there is one for every device.
    size_t blocks = 2;
    while (blocks * blocks < static_cast<size_t>(present)) ++blocks;
    const Product p = {blocks * block, blocks * block, 3, block};
    Matrices all = matrices(p, true);
    const float one = 1, zero = 0;
    kit::run([&] {
      cublasXtSgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &one, all.b.data(),
                    p.ldb(), all.a.data(), p.lda(), &zero, all.c.data(), p.ldc());
    });
    const int busy = static_cast<int>(busy_devices().size());
    if (kit::simulated() && busy != present) {
      kit::fail("Of " + std::to_string(present) + " devices " + std::to_string(busy) +
                " worked. cublasXtDeviceSelect takes their number and a list of them.");
    }
  });
}

TEST(Cublasxt, TheCallerDestroysTheHandle) {
  RecordProperty("todo", 1);
  bool was_there = true;
  kit::run([&] {
    cublasXtHandle_t handle = nullptr;
    const cublasStatus_t status = create_xt(32, &handle);
    was_there = give_back(cublasXtDestroy, &handle) && was_there;
    return status;
  });
  expect_was_there("create_xt", was_there);
}

TEST(Cublasxt, MultipliesRowMajorMatrices) {
  RecordProperty("todo", 2);
  kit::for_each("c",
                std::vector<Product>{{2, 3, 4, 32},
                                     {33, 33, 33, 32},
                                     {1, 1, 1, 32},
                                     {65, 40, 17, 32},
                                     {31, 129, 65, 64},
                                     {100, 20, 5, 16}},
                [](const Product& p) { check(p); });
}

TEST(Cublasxt, LeavesPaddingBetweenRowsAlone) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<Product>{{40, 33, 17, 32, 1}, {33, 65, 20, 32, 3, 2, -1}},
                [](const Product& p) { check(p); });
}

TEST(Cublasxt, AddsToWhatIsThereInFullPrecision) {
  RecordProperty("todo", 2);
  check({40, 33, 200, 32, 0, -1, 0.5f}, false);
}

TEST(Cublasxt, SharesBlocksOut) {
  RecordProperty("todo", 3);
  kit::for_each("product",
                std::vector<Sizes>{{64, 64, 8, 32, 2},
                                   {64, 96, 8, 32, 1},
                                   {65, 97, 10, 32, 5},
                                   {100, 30, 7, 64, 4},
                                   {20, 30, 7, 64, 8},
                                   {16384, 16384, 16384, 2048, 8},
                                   {1000, 3000, 500, 1024, 5}},
                [](const Sizes& s) {
                  const Shares got = share_out(s.m, s.n, s.k, s.block, s.devices);
                  const Shares expected = dealt(s);
                  expect_count("blocks", got.blocks, expected.blocks, "down times across.");
                  expect_count("busiest", got.busiest, expected.busiest,
                               "blocks are dealt like cards, so whoever begins has one more than "
                               "the last if they do not come out even.");
                  expect_count("sent", got.sent, expected.sent,
                               "a row of a is sent once for every block that lies across, a column "
                               "of b once for every block down, and a float has 4 bytes.");
                });
}

// The DPX functions (sums, minima and maxima of dynamic programming), which compute capability 9.0
// has instructions for, against arithmetic in 64 bits.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"

namespace {

constexpr int kCases = 4096;

struct Row {
  unsigned a, b, c;
};

// X(function, how): what it is made of, and with which arithmetic.
#define THREE(X)                                                                                  \
  X(__viaddmax_s32, s32, add_max)                                                                 \
  X(__viaddmin_s32, s32, add_min)                                                                 \
  X(__viaddmax_u32, u32, add_max) X(__viaddmin_u32, u32, add_min)                                 \
      X(__viaddmax_s32_relu, s32, add_max_relu) X(__viaddmin_s32_relu, s32, add_min_relu)         \
          X(__viaddmax_s16x2, s16x2, add_max) X(__viaddmin_s16x2, s16x2, add_min)                 \
              X(__viaddmax_u16x2, u16x2, add_max) X(__viaddmin_u16x2, u16x2, add_min)             \
                  X(__viaddmax_s16x2_relu, s16x2, add_max_relu)                                   \
                      X(__viaddmin_s16x2_relu, s16x2, add_min_relu) X(__vimax3_s32, s32, max3)    \
                          X(__vimin3_s32, s32, min3) X(__vimax3_u32, u32, max3) X(                \
                              __vimin3_u32, u32, min3) X(__vimax3_s32_relu, s32, max3_relu)       \
                              X(__vimin3_s32_relu, s32, min3_relu) X(__vimax3_s16x2, s16x2, max3) \
                                  X(__vimin3_s16x2, s16x2, min3) X(__vimax3_u16x2, u16x2, max3)   \
                                      X(__vimin3_u16x2, u16x2, min3)                              \
                                          X(__vimax3_s16x2_relu, s16x2, max3_relu)                \
                                              X(__vimin3_s16x2_relu, s16x2, min3_relu)
#define TWO(X)                        \
  X(__vimax_s32_relu, s32, max2_relu) \
  X(__vimin_s32_relu, s32, min2_relu) \
  X(__vimax_s16x2_relu, s16x2, max2_relu) X(__vimin_s16x2_relu, s16x2, min2_relu)
// They also say which operand won: the first, also where both are the same.
#define ONE_OF_TWO(X)        \
  X(__vibmax_s32, s32, max2) \
  X(__vibmin_s32, s32, min2) X(__vibmax_u32, u32, max2) X(__vibmin_u32, u32, min2)
#define ONE_OF_TWO_HALVES(X)     \
  X(__vibmax_s16x2, s16x2, max2) \
  X(__vibmin_s16x2, s16x2, min2) X(__vibmax_u16x2, u16x2, max2) X(__vibmin_u16x2, u16x2, min2)

enum Function {
#define NAME(f, type, how) k##f,
  THREE(NAME) TWO(NAME) ONE_OF_TWO(NAME) ONE_OF_TWO_HALVES(NAME) kFunctions
#undef NAME
};

__global__ void evaluate(const Row* rows, unsigned* out, unsigned* first) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const Row r = rows[i];
  bool high = false, low = false;
#define CALL_3(f, type, how) out[k##f * kCases + i] = f(r.a, r.b, r.c);
#define CALL_2(f, type, how) out[k##f * kCases + i] = f(r.a, r.b);
#define CALL_1(f, type, how)                  \
  out[k##f * kCases + i] = f(r.a, r.b, &low); \
  first[k##f * kCases + i] = low;
#define CALL_HALVES(f, type, how)                    \
  out[k##f * kCases + i] = f(r.a, r.b, &high, &low); \
  first[k##f * kCases + i] = low | high << 1;
  THREE(CALL_3) TWO(CALL_2) ONE_OF_TWO(CALL_1) ONE_OF_TWO_HALVES(CALL_HALVES)
}

// ---- the same on the host: each of the numbers of a word, in 64 bits

int64_t add_max(int64_t a, int64_t b, int64_t c) { return std::max(a + b, c); }
int64_t add_min(int64_t a, int64_t b, int64_t c) { return std::min(a + b, c); }
int64_t max3(int64_t a, int64_t b, int64_t c) { return std::max({a, b, c}); }
int64_t min3(int64_t a, int64_t b, int64_t c) { return std::min({a, b, c}); }
int64_t max2(int64_t a, int64_t b, int64_t) { return std::max(a, b); }
int64_t min2(int64_t a, int64_t b, int64_t) { return std::min(a, b); }
int64_t relu(int64_t x) { return std::max<int64_t>(x, 0); }
int64_t add_max_relu(int64_t a, int64_t b, int64_t c) { return relu(add_max(a, b, c)); }
int64_t add_min_relu(int64_t a, int64_t b, int64_t c) { return relu(add_min(a, b, c)); }
int64_t max3_relu(int64_t a, int64_t b, int64_t c) { return relu(max3(a, b, c)); }
int64_t min3_relu(int64_t a, int64_t b, int64_t c) { return relu(min3(a, b, c)); }
int64_t max2_relu(int64_t a, int64_t b, int64_t c) { return relu(max2(a, b, c)); }
int64_t min2_relu(int64_t a, int64_t b, int64_t c) { return relu(min2(a, b, c)); }

using How = int64_t (*)(int64_t, int64_t, int64_t);

template <class Number>
unsigned apply(const Row& r, How how) {
  constexpr int kBits = 8 * sizeof(Number);
  unsigned out = 0;
  for (int shift = 0; shift < 32; shift += kBits) {
    const auto number = [=](unsigned word) { return static_cast<Number>(word >> shift); };
    int64_t c = number(r.c);
    // The sum of two numbers wraps around before it is compared.
    int64_t a = number(r.a), b = number(r.b);
    if (how == add_max || how == add_min || how == add_max_relu || how == add_min_relu) {
      a = static_cast<Number>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      b = 0;
    }
    const uint64_t value = static_cast<uint64_t>(how(a, b, c));
    out |= static_cast<unsigned>(value & (~uint64_t{0} >> (64 - kBits))) << shift;
  }
  return out;
}
unsigned s32(const Row& r, How how) { return apply<int32_t>(r, how); }
unsigned u32(const Row& r, How how) { return apply<uint32_t>(r, how); }
unsigned s16x2(const Row& r, How how) { return apply<int16_t>(r, how); }
unsigned u16x2(const Row& r, How how) { return apply<uint16_t>(r, how); }

std::vector<Row> inputs() {
  std::vector<Row> rows(kCases);
  uint64_t state = 1;
  const unsigned edges[] = {0, 1, 0xffffffffu, 0x7fffffffu, 0x80000000u, 0x7fff8000u, 0x8000ffffu};
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto word = static_cast<unsigned>(state >> 32);
    return word % 4 == 0 ? edges[word / 4 % 7] : word;
  };
  for (Row& row : rows) {
    row.a = next(), row.b = next(), row.c = next();
    if (row.c % 8 == 0) row.b = row.a;
  }
  return rows;
}

}  // namespace

int main() {
  const std::vector<Row> rows = inputs();
  std::vector<unsigned> out(kFunctions * kCases), first(out.size());
  Row* d_rows = nullptr;
  unsigned *d_out = nullptr, *d_first = nullptr;
  CHECK_CUDA(cudaMalloc(&d_rows, sizeof(Row) * rows.size()));
  CHECK_CUDA(cudaMalloc(&d_out, sizeof(unsigned) * out.size()));
  CHECK_CUDA(cudaMalloc(&d_first, sizeof(unsigned) * out.size()));
  CHECK_CUDA(cudaMemset(d_first, 0, sizeof(unsigned) * out.size()));
  CHECK_CUDA(cudaMemcpy(d_rows, rows.data(), sizeof(Row) * rows.size(), cudaMemcpyHostToDevice));
  evaluate<<<kCases / 256, 256>>>(d_rows, d_out, d_first);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(out.data(), d_out, sizeof(unsigned) * out.size(), cudaMemcpyDeviceToHost));
  CHECK_CUDA(
      cudaMemcpy(first.data(), d_first, sizeof(unsigned) * out.size(), cudaMemcpyDeviceToHost));
  int wrong = 0;
  const auto compare = [&](const char* name, int function, int i, unsigned expected) {
    const Row& r = rows[i];
    const unsigned got = out[function * kCases + i];
    if (got == expected || ++wrong > 10) return;
    std::printf("%s(%08x, %08x, %08x): %08x, not %08x\n", name, r.a, r.b, r.c, got, expected);
  };
  // Bit 0: the lower number, or the only one, of the result is that of the first operand.
  const auto compare_first = [&](const char* name, int function, int i, int bits) {
    unsigned expected = 0;
    for (int shift = 0, bit = 0; shift < 32; shift += bits, ++bit) {
      const auto part = [=](unsigned word) { return word << (32 - bits - shift) >> (32 - bits); };
      expected |= unsigned{part(out[function * kCases + i]) == part(rows[i].a)} << bit;
    }
    const unsigned got = first[function * kCases + i];
    if (got == expected || ++wrong > 10) return;
    std::printf("%s(%08x, %08x): first %u, not %u\n", name, rows[i].a, rows[i].b, got, expected);
  };
  for (int i = 0; i < kCases; ++i) {
#define COMPARE(f, type, how) compare(#f, k##f, i, type(rows[i], how));
#define COMPARE_FIRST(f, type, how) compare_first(#f, k##f, i, 32);
#define COMPARE_FIRST_HALVES(f, type, how) compare_first(#f, k##f, i, 16);
    THREE(COMPARE)
    TWO(COMPARE)
    ONE_OF_TWO(COMPARE) ONE_OF_TWO_HALVES(COMPARE) ONE_OF_TWO(COMPARE_FIRST)
        ONE_OF_TWO_HALVES(COMPARE_FIRST_HALVES)
  }
  CHECK(wrong == 0);
  CHECK_CUDA(cudaFree(d_rows));
  CHECK_CUDA(cudaFree(d_out));
  CHECK_CUDA(cudaFree(d_first));
  return 0;
}

// cuFFT, 30 random plans: dimensions, sizes, batches, strides, kinds and directions drawn from a
// seed, executed in place and out of place.
#include <cufft.h>

#include "random_cases.h"

using conformance::Device;
using conformance::Draw;
using conformance::relative_error;
using conformance::right;
using conformance::status;
using conformance::text;
using Complex = std::complex<float>;
using Wide = std::complex<double>;

namespace {

constexpr double kPi = 3.14159265358979323846;

cufftComplex* fft(Complex* pointer) { return reinterpret_cast<cufftComplex*>(pointer); }

// The definition, along one axis of x[outer][n][inner].
std::vector<Wide> dft(const std::vector<Wide>& x, int n, int inner, int sign) {
  std::vector<Wide> y(x.size());
  const size_t line = static_cast<size_t>(n) * inner;
  for (size_t base = 0; base < x.size(); base += line) {
    for (int i = 0; i < inner; ++i) {
      for (int k = 0; k < n; ++k) {
        Wide sum = 0;
        for (int t = 0; t < n; ++t) {
          sum += x[base + t * inner + i] * std::polar(1.0, sign * 2 * kPi * (1LL * k * t % n) / n);
        }
        y[base + k * inner + i] = sum;
      }
    }
  }
  return y;
}

// A batch of arrays of up to three axes, the last one fastest.
struct Sizes {
  int rank, n[3], batch;
  int inner(int axis) const {
    int size = 1;
    for (int i = axis + 1; i < rank; ++i) size *= n[i];
    return size;
  }
  int count() const { return n[0] * inner(0); }
  int half() const { return n[rank - 1] / 2 + 1; }
};

std::vector<Wide> transform(std::vector<Wide> x, const Sizes& s, int sign) {
  for (int axis = 0; axis < s.rank; ++axis) x = dft(x, s.n[axis], s.inner(axis), sign);
  return x;
}

Sizes draw_sizes(Draw& draw) {
  Sizes s{draw.from(1, 3), {1, 1, 1}, draw.from(1, 3)};
  for (int axis = 0; axis < s.rank; ++axis) s.n[axis] = draw.from(1, s.rank == 1 ? 300 : 14);
  return s;
}

std::string name_of(const char* kind, const Sizes& s) {
  std::string name = text("%s %d", kind, s.n[0]);
  for (int axis = 1; axis < s.rank; ++axis) name += text(" x %d", s.n[axis]);
  return name + text(", batch %d", s.batch);
}

std::vector<Complex> complex_values(Draw& draw, size_t count) {
  const std::vector<float> parts = draw.floats(2 * count);
  std::vector<Complex> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = {parts[2 * i], parts[2 * i + 1]};
  return values;
}

void complex_many(Draw& draw) {
  Sizes s = draw_sizes(draw);
  const int wrong = draw.wrong(5), sign = draw.of({CUFFT_FORWARD, CUFFT_INVERSE});
  const int step = draw.of({1, 1, 2, 3}), distance = step * s.count() + draw.from(0, 5);
  const bool in_place = draw.chance(40);
  int sizes[3] = {s.n[0], s.n[1], s.n[2]};
  if (wrong == 2) sizes[0] = draw.of({0, -4});
  cufftHandle plan = 0;
  const cufftResult made = cufftPlanMany(
      &plan, wrong == 1 ? draw.of({0, 4}) : s.rank, sizes, s.n, step, distance, s.n, step, distance,
      wrong == 3 ? static_cast<cufftType>(0x99) : CUFFT_C2C, wrong == 4 ? -1 : s.batch);
  status((name_of("c2c", s) + text(", stride %d, distance %d, wrong %d", step, distance, wrong))
             .c_str(),
         made);
  if (made != CUFFT_SUCCESS) return;
  const std::vector<Complex> x =
      complex_values(draw, static_cast<size_t>(distance) * s.batch + step);
  Device<Complex> in(x), apart(x);
  const cufftResult done = cufftExecC2C(wrong == 5 ? plan + 1000 : plan, fft(in.get()),
                                        fft(in_place ? in.get() : apart.get()), sign);
  status(in_place ? "  in place" : "  out of place", done);
  std::vector<Wide> want(x.begin(), x.end());
  for (int b = 0; b < s.batch; ++b) {
    std::vector<Wide> one;
    const int begin = b * distance;
    for (int i = 0; i < s.count(); ++i) one.push_back(x[begin + i * step]);
    one = transform(one, s, sign == CUFFT_FORWARD ? -1 : 1);
    for (int i = 0; i < s.count(); ++i) want[begin + i * step] = one[i];
  }
  if (done == CUFFT_SUCCESS) {
    right("  result", relative_error((in_place ? in : apart).host(), want), 1e-6);
  }
  status("  destroy", cufftDestroy(plan));
}

// Reals to the first half of their spectrum and back, without gaps.
void real_plan(Draw& draw) {
  Sizes s = draw_sizes(draw);
  const int wrong = draw.wrong(2);
  const int lines = s.batch * s.count() / s.n[s.rank - 1];
  cufftHandle forward = 0, inverse = 0;
  const cufftResult made = cufftPlanMany(&forward, s.rank, s.n, nullptr, 1, 0, nullptr, 1, 0,
                                         CUFFT_R2C, wrong == 1 ? 0 : s.batch);
  status((name_of("r2c", s) + text(", wrong %d", wrong)).c_str(), made);
  if (made != CUFFT_SUCCESS) return;
  status("  inverse plan",
         cufftPlanMany(&inverse, s.rank, s.n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2R, s.batch));
  const std::vector<float> x = draw.floats(static_cast<size_t>(s.batch) * s.count());
  Device<float> in(x), back(x.size());
  Device<Complex> out(static_cast<size_t>(lines) * s.half());
  const cufftResult done = cufftExecR2C(wrong == 2 ? 0x7fff : forward, in.get(), fft(out.get()));
  status("  forward", done);
  if (done == CUFFT_SUCCESS) {
    const std::vector<Wide> all = transform({x.begin(), x.end()}, s, -1);
    std::vector<Wide> want;
    for (int line = 0; line < lines; ++line) {
      const auto begin = all.begin() + static_cast<size_t>(line) * s.n[s.rank - 1];
      want.insert(want.end(), begin, begin + s.half());
    }
    right("  spectrum", relative_error(out.host(), want), 1e-6);
    status("  inverse", cufftExecC2R(inverse, fft(out.get()), back.get()));
    std::vector<double> scaled;
    for (const float value : x) scaled.push_back(1.0 * value * s.count());
    right("  there and back", relative_error(back.host(), scaled), 1e-6);
  }
  status("  destroy", cufftDestroy(forward));
  status("  destroy the inverse", cufftDestroy(inverse));
}

}  // namespace

int main(int argc, char** argv) {
  Draw draw(conformance::seed_of(argc, argv));
  for (int i = 0; i < 15; ++i) {
    complex_many(draw);
    real_plan(draw);
  }
}

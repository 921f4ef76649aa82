// cuFFT: sizes, layouts, directions, in place and out of place, and bad arguments.
#include <cufft.h>

#include <string>

#include "conformance.h"

using conformance::Device;
using conformance::relative_error;
using conformance::right;
using conformance::status;
using Complex = std::complex<float>;
using Wide = std::complex<double>;

namespace {

constexpr double kPi = 3.14159265358979323846;

std::vector<Complex> random_complex(size_t count, unsigned seed) {
  const std::vector<float> parts = conformance::random_floats(2 * count, seed);
  std::vector<Complex> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = {parts[2 * i], parts[2 * i + 1]};
  return values;
}

cufftComplex* fft(Complex* pointer) { return reinterpret_cast<cufftComplex*>(pointer); }

// The definition, along one axis of x[outer][n][inner].
std::vector<Wide> dft(const std::vector<Wide>& x, int n, int inner, int sign) {
  std::vector<Wide> roots(static_cast<size_t>(n)), y(x.size());
  for (int k = 0; k < n; ++k) roots[k] = std::polar(1.0, sign * 2 * kPi * k / n);
  const size_t line = static_cast<size_t>(n) * inner;
  for (size_t base = 0; base < x.size(); base += line) {
    for (int i = 0; i < inner; ++i) {
      for (int k = 0; k < n; ++k) {
        Wide sum = 0;
        for (int t = 0; t < n; ++t) {
          sum += x[base + t * inner + i] * roots[static_cast<size_t>(1LL * k * t % n)];
        }
        y[base + k * inner + i] = sum;
      }
    }
  }
  return y;
}

// x[n0][n1][n2], all axes.
std::vector<Wide> dft_3d(std::vector<Wide> x, int n0, int n1, int n2, int sign) {
  x = dft(x, n2, 1, sign);
  x = dft(x, n1, n2, sign);
  return dft(x, n0, n1 * n2, sign);
}

template <class T>
std::vector<Wide> widen(const std::vector<T>& x) {
  return {x.begin(), x.end()};
}

void complex_1d() {
  for (const int n : {1,  2,  3,   4,   5,   7,   8,   11,  13,   16,   31,  60,
                      64, 97, 127, 128, 210, 243, 256, 509, 1000, 1024, 1331}) {
    const int batch = 3;
    const std::vector<Complex> x = random_complex(static_cast<size_t>(n) * batch, 1);
    const std::string name = "c2c n=" + std::to_string(n);
    cufftHandle plan = 0;
    status((name + " plan").c_str(), cufftPlan1d(&plan, n, CUFFT_C2C, batch));
    Device<Complex> in(x), out(x.size());
    status((name + " forward").c_str(),
           cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_FORWARD));
    right((name + " forward").c_str(), relative_error(out.host(), dft(widen(x), n, 1, -1)), 1e-6);
    right((name + " input kept").c_str(), relative_error(in.host(), x), 0);
    status((name + " inverse").c_str(),
           cufftExecC2C(plan, fft(in.get()), fft(in.get()), CUFFT_INVERSE));
    right((name + " inverse").c_str(), relative_error(in.host(), dft(widen(x), n, 1, 1)), 1e-6);
    cufftDestroy(plan);
  }
}

// Rows of n reals, `pitch` apart; spectra of n / 2 + 1.
void real_1d(int n, int batch, bool in_place) {
  const std::string name = "r2c n=" + std::to_string(n) + (in_place ? " in place" : "");
  const int half = n / 2 + 1, pitch = in_place ? 2 * half : n;
  std::vector<float> x = conformance::random_floats(static_cast<size_t>(pitch) * batch, 2);
  std::vector<Wide> want, want_back;
  for (int b = 0; b < batch; ++b) {
    std::vector<Wide> line(x.begin() + b * pitch, x.begin() + b * pitch + n);
    for (const Wide& value : line) want_back.push_back(value * static_cast<double>(n));
    line = dft(line, n, 1, -1);
    want.insert(want.end(), line.begin(), line.begin() + half);
  }
  Device<float> in(x);
  Device<Complex> apart(static_cast<size_t>(half) * batch);
  Complex* out = in_place ? reinterpret_cast<Complex*>(in.get()) : apart.get();
  cufftHandle forward = 0, inverse = 0;
  status((name + " plan").c_str(), cufftPlan1d(&forward, n, CUFFT_R2C, batch));
  status((name + " inverse plan").c_str(), cufftPlan1d(&inverse, n, CUFFT_C2R, batch));
  status(name.c_str(), cufftExecR2C(forward, in.get(), fft(out)));
  std::vector<Complex> got(static_cast<size_t>(half) * batch);
  conformance::require(
      cudaMemcpy(got.data(), out, got.size() * sizeof(Complex), cudaMemcpyDeviceToHost));
  right(name.c_str(), relative_error(got, want), 1e-6);
  status((name + " c2r").c_str(), cufftExecC2R(inverse, fft(out), in.get()));
  const std::vector<float> lines = in.host();
  std::vector<float> back;
  for (int b = 0; b < batch; ++b) {
    back.insert(back.end(), lines.begin() + b * pitch, lines.begin() + b * pitch + n);
  }
  right((name + " c2r is not scaled").c_str(), relative_error(back, want_back), 1e-6);
  cufftDestroy(forward);
  cufftDestroy(inverse);
}

void complex_2d_3d() {
  const std::vector<Complex> x = random_complex(6 * 10 * 15, 3);
  Device<Complex> in(x), out(x.size());
  cufftHandle plan = 0;
  status("c2c 60x15 plan", cufftPlan2d(&plan, 60, 15, CUFFT_C2C));
  status("c2c 60x15", cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_FORWARD));
  right("c2c 60x15", relative_error(out.host(), dft_3d(widen(x), 1, 60, 15, -1)), 1e-6);
  cufftDestroy(plan);
  status("c2c 6x10x15 plan", cufftPlan3d(&plan, 6, 10, 15, CUFFT_C2C));
  status("c2c 6x10x15", cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_INVERSE));
  right("c2c 6x10x15", relative_error(out.host(), dft_3d(widen(x), 6, 10, 15, 1)), 1e-6);
  cufftDestroy(plan);
}

// x[n0][n1] to [n0][n1 / 2 + 1] and back.
void real_2d(int n0, int n1) {
  const std::string name = "r2c " + std::to_string(n0) + "x" + std::to_string(n1);
  const std::vector<float> x = conformance::random_floats(static_cast<size_t>(n0) * n1, 4);
  const std::vector<Wide> full = dft_3d(widen(x), 1, n0, n1, -1);
  const int half = n1 / 2 + 1;
  std::vector<Wide> want;
  for (int row = 0; row < n0; ++row) {
    want.insert(want.end(), full.begin() + row * n1, full.begin() + row * n1 + half);
  }
  Device<float> in(x);
  Device<Complex> out(want.size());
  cufftHandle plan = 0;
  status((name + " plan").c_str(), cufftPlan2d(&plan, n0, n1, CUFFT_R2C));
  status(name.c_str(), cufftExecR2C(plan, in.get(), fft(out.get())));
  right(name.c_str(), relative_error(out.host(), want), 1e-6);
  cufftDestroy(plan);
  status((name + " back plan").c_str(), cufftPlan2d(&plan, n0, n1, CUFFT_C2R));
  status((name + " back").c_str(), cufftExecC2R(plan, fft(out.get()), in.get()));
  std::vector<float> scaled = x;
  for (float& value : scaled) value *= static_cast<float>(n0 * n1);
  right((name + " back").c_str(), relative_error(in.host(), scaled), 1e-6);
  cufftDestroy(plan);
}

// Strides and distances: columns of a matrix, rows of a larger one, overlapping windows.
void layouts() {
  const int rows = 12, columns = 20;
  const std::vector<Complex> x = random_complex(rows * columns, 5);
  Device<Complex> in(x), out(x.size());
  cufftHandle plan = 0;
  int n[] = {rows};
  status("columns plan",
         cufftPlanMany(&plan, 1, n, n, columns, 1, n, columns, 1, CUFFT_C2C, columns));
  status("columns", cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_FORWARD));
  right("columns", relative_error(out.host(), dft(widen(x), rows, columns, -1)), 1e-6);
  cufftDestroy(plan);

  int image[] = {5, 6}, embed[] = {7, columns};
  status("part of an image plan",
         cufftPlanMany(&plan, 2, image, embed, 1, 100, nullptr, 1, 30, CUFFT_C2C, 2));
  cufftDestroy(plan);
  int out_embed[] = {5, 6};
  status("part of an image plan 2",
         cufftPlanMany(&plan, 2, image, embed, 1, 100, out_embed, 1, 30, CUFFT_C2C, 2));
  status("part of an image", cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_FORWARD));
  std::vector<Wide> want;
  for (int b = 0; b < 2; ++b) {
    std::vector<Wide> part;
    for (int row = 0; row < 5; ++row) {
      for (int column = 0; column < 6; ++column)
        part.push_back(x[b * 100 + row * columns + column]);
    }
    part = dft_3d(part, 1, 5, 6, -1);
    want.insert(want.end(), part.begin(), part.end());
  }
  right("part of an image", relative_error(out.host(), want), 1e-6);
  cufftDestroy(plan);

  const int window = 16, hop = 5, windows = 9;
  const std::vector<float> signal = conformance::random_floats(window + hop * (windows - 1), 6);
  Device<float> samples(signal);
  Device<Complex> spectra((window / 2 + 1) * windows);
  int size[] = {window}, half[] = {window / 2 + 1};
  status("windows plan",
         cufftPlanMany(&plan, 1, size, size, 1, hop, half, 1, window / 2 + 1, CUFFT_R2C, windows));
  status("windows", cufftExecR2C(plan, samples.get(), fft(spectra.get())));
  want.clear();
  for (int w = 0; w < windows; ++w) {
    std::vector<Wide> part(signal.begin() + w * hop, signal.begin() + w * hop + window);
    part = dft(part, window, 1, -1);
    want.insert(want.end(), part.begin(), part.begin() + window / 2 + 1);
  }
  right("windows", relative_error(spectra.host(), want), 1e-6);
  cufftDestroy(plan);
}

void doubles() {
  const int n = 120;
  std::vector<Wide> x;
  for (const Complex& value : random_complex(n, 7)) x.emplace_back(value);
  Device<Wide> in(x), out(x.size());
  cufftHandle plan = 0;
  status("z2z plan", cufftPlan1d(&plan, n, CUFFT_Z2Z, 1));
  status("z2z", cufftExecZ2Z(plan, reinterpret_cast<cufftDoubleComplex*>(in.get()),
                             reinterpret_cast<cufftDoubleComplex*>(out.get()), CUFFT_FORWARD));
  right("z2z", relative_error(out.host(), dft(x, n, 1, -1)), 1e-14);
  cufftDestroy(plan);
}

void made_in_steps() {
  const std::vector<Complex> x = random_complex(2 * 64, 8);
  Device<Complex> in(x), out(x.size());
  cufftHandle plan = 0;
  size_t size = 12345;
  status("create", cufftCreate(&plan));
  status("exec before make", cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_FORWARD));
  status("no own work area", cufftSetAutoAllocation(plan, 0));
  status("make", cufftMakePlan1d(plan, 64, CUFFT_C2C, 2, &size));
  status("make twice", cufftMakePlan1d(plan, 64, CUFFT_C2C, 2, &size));
  size_t again = 1;
  status("get size", cufftGetSize(plan, &again));
  std::printf("the same size: %d\n", again == size);
  Device<char> area(size + 16);
  status("set work area", cufftSetWorkArea(plan, area.get()));
  cudaStream_t stream = nullptr;
  conformance::require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  status("set stream", cufftSetStream(plan, stream));
  status("exec", cufftExecC2C(plan, fft(in.get()), fft(out.get()), CUFFT_FORWARD));
  conformance::require(cudaStreamSynchronize(stream));
  right("exec", relative_error(out.host(), dft(widen(x), 64, 1, -1)), 1e-6);
  status("destroy", cufftDestroy(plan));
  status("destroy twice", cufftDestroy(plan));
  status("stream of a destroyed plan", cufftSetStream(plan, stream));
  conformance::require(cudaStreamDestroy(stream));
}

void bad_arguments() {
  cufftHandle plan = 0;
  status("null plan", cufftPlan1d(nullptr, 8, CUFFT_C2C, 1));
  status("n = 0", cufftPlan1d(&plan, 0, CUFFT_C2C, 1));
  status("n = -4", cufftPlan1d(&plan, -4, CUFFT_C2C, 1));
  status("batch = 0", cufftPlan1d(&plan, 8, CUFFT_C2C, 0));
  status("batch = -1", cufftPlan1d(&plan, 8, CUFFT_C2C, -1));
  status("type 7", cufftPlan1d(&plan, 8, static_cast<cufftType>(7), 1));
  int n[] = {4, 4, 4, 4};
  status("rank 0", cufftPlanMany(&plan, 0, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  status("rank 4", cufftPlanMany(&plan, 4, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  status("no n", cufftPlanMany(&plan, 1, nullptr, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1));
  status("stride 0", cufftPlanMany(&plan, 1, n, n, 0, 4, n, 1, 4, CUFFT_C2C, 1));
  status("embed too small", [&] {
    int image[] = {4, 4}, embed[] = {4, 2};
    return cufftPlanMany(&plan, 2, image, embed, 1, 16, image, 1, 16, CUFFT_C2C, 1);
  }());
  Device<Complex> x(16);
  status("plan", cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  status("no such plan", cufftExecC2C(plan + 1000, fft(x.get()), fft(x.get()), CUFFT_FORWARD));
  status("direction 0", cufftExecC2C(plan, fft(x.get()), fft(x.get()), 0));
  status("direction 2", cufftExecC2C(plan, fft(x.get()), fft(x.get()), 2));
  status("destroy", cufftDestroy(plan));
}

}  // namespace

int main() {
  complex_1d();
  for (const int n : {1, 2, 3, 8, 15, 64, 97, 1000}) {
    real_1d(n, 3, false);
    real_1d(n, 3, true);
  }
  complex_2d_3d();
  real_2d(8, 12);
  real_2d(9, 7);
  layouts();
  doubles();
  made_in_steps();
  bad_arguments();
}

// Tests of 08/16 spectrogram with cuFFT.
#include "16_cufft_spectrogram.h"

#include <cmath>
#include <complex>

#include "08_fft_convolution/test/cufft_errors.h"
#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"

namespace {

constexpr double kPi = 3.14159265358979323846;

// Reference in double: count() rows of bins() magnitudes.
std::vector<double> spectrogram_on_cpu(const std::vector<float>& signal, const Frames& frames) {
  std::vector<double> out;
  for (int frame = 0; frame < frames.count(); ++frame) {
    std::vector<kit::Complex> windowed;
    for (int i = 0; i < frames.length; ++i) {
      const double window = 0.5 - 0.5 * std::cos(2 * kPi * i / frames.length);
      windowed.push_back(window * signal[frame * frames.hop + i]);
    }
    const std::vector<kit::Complex> spectrum = kit::dft_on_cpu(windowed, frames.length);
    for (int bin = 0; bin < frames.bins(); ++bin) out.push_back(std::abs(spectrum[bin]));
  }
  return out;
}

kit::Run check_with(const Spectrogram* spectrogram, const Frames& frames,
                    const std::vector<float>& signal) {
  const auto at_end = kit::Placement::kAtEnd;
  const size_t bins = static_cast<size_t>(frames.count()) * frames.bins();
  const auto d_signal = kit::DeviceBuffer<float>::input(signal, "signal", at_end);
  const auto d_out = kit::DeviceBuffer<float>::output(bins, "out", at_end);
  const kit::Run run = kit::run([&] { run_spectrogram(spectrogram, d_signal.get(), d_out.get()); });
  // Errors of a transform spread over its bins: measured against the frame's size, not the bin's.
  const double error = 4 * 0x1p-24 * std::log2(frames.length) * std::sqrt(frames.length);
  kit::expect_near(d_out, spectrogram_on_cpu(signal, frames), kit::Tolerance::absolute(error),
                   kit::Shape(frames.count(), frames.bins()));
  return run;
}

kit::Run check_signal(const Frames& frames, const std::vector<float>& signal) {
  Spectrogram* spectrogram = make_spectrogram(frames);
  const kit::Run run = check_with(spectrogram, frames, signal);
  destroy_spectrogram(spectrogram);
  return run;
}

kit::Run check(const Frames& frames) {
  return check_signal(frames, kit::random_floats(frames.samples));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Frames& frames) {
  return out << frames.samples << " samples, " << frames.length << " by " << frames.hop;
}

namespace {

TEST(CufftSpectrogram, TransformsEveryFrame) {
  RecordProperty("todo", 1);
  kit::for_each(
      "signal",
      std::vector<Frames>{{256, 256, 1}, {512, 128, 64}, {1000, 100, 25}, {1200, 600, 300}}, check);
}

TEST(CufftSpectrogram, FadesFramesInAndOut) {
  RecordProperty("todo", 2);
  // A tone between two bins: without the window it leaks into all of them.
  const Frames frames = {300, 128, 43};
  std::vector<float> tone;
  for (int i = 0; i < frames.samples; ++i) {
    tone.push_back(static_cast<float>(std::sin(2 * kPi * 20.5 / frames.length * i)));
  }
  check_signal(frames, tone);
}

TEST(CufftSpectrogram, MeasuresMagnitudesNotParts) {
  RecordProperty("todo", 3);
  kit::for_each("signal", std::vector<Frames>{{64, 64, 64}, {2, 2, 1}}, check);
}

TEST(CufftSpectrogram, LeavesOutWhatFillsNoFrame) {
  RecordProperty("todo", 2);
  kit::for_each(
      "signal",
      std::vector<Frames>{{129, 64, 32}, {127, 64, 32}, {90, 30, 77}, {333, 130, 7}, {100, 16, 40}},
      check);
}

TEST(CufftSpectrogram, TakesMoreFramesThanAGridHasRows) {
  RecordProperty("todo", 3);
  // A grid may have 65,535 blocks in y and in z.
  check({65601, 2, 1});
}

TEST(CufftSpectrogram, TakesFramesWithMoreBinsThanAGridHasRows) {
  RecordProperty("todo", 3);
  // A single sample has the same share in all of the 65,537 bins: twice the window in its middle.
  const Frames frames = {1 << 17, 1 << 17, 1};
  std::vector<float> signal(frames.samples);
  signal[frames.length / 2] = 2;
  const auto d_signal = kit::DeviceBuffer<float>::input(signal, "signal");
  const auto d_out = kit::DeviceBuffer<float>::output(frames.bins(), "out");
  Spectrogram* spectrogram = make_spectrogram(frames);
  kit::run([&] { run_spectrogram(spectrogram, d_signal.get(), d_out.get()); });
  kit::expect_near(d_out, std::vector<double>(frames.bins(), 2), kit::Tolerance::relative(1e-3));
  destroy_spectrogram(spectrogram);
}

// What serves the signals of one shape belongs to that shape, for as long as it is there.
TEST(CufftSpectrogram, TwoShapesAreThereAtTheSameTime) {
  RecordProperty("todo", 1);
  const Frames one = {300, 128, 43}, other = {250, 50, 20};
  const std::vector<float> in_one = kit::random_floats(one.samples);
  const std::vector<float> in_other = kit::random_floats(other.samples);
  kit::Cases cases;
  Spectrogram* const first = make_spectrogram(one);
  Spectrogram* const second = make_spectrogram(other);
  cases.run("the one that was made first", [&] { check_with(first, one, in_one); });
  cases.run("the one that was made second", [&] { check_with(second, other, in_other); });
  destroy_spectrogram(second);
  cases.run("the first one when the second is gone", [&] { check_with(first, one, in_one); });
  destroy_spectrogram(first);
}

TEST(CufftSpectrogram, TransformsAllFramesAtOnce) {
  RecordProperty("todo", 1);
  const kit::Run run = check({700, 64, 16});
  const double calls = static_cast<double>(kit::api_calls("cufftExecR2C"));
  kit::budget("library calls for a signal", calls, kit::at_most(1),
              "A batch is one call, whatever the number of frames");
  kit::budget("plans made for a signal", static_cast<double>(kit::api_calls("cufftMakePlan")),
              kit::at_most(0), "make_spectrogram has made the plan; a signal is work for it");
  kit::budget("launches for a signal", static_cast<double>(run.launches().size()), kit::at_most(2),
              "One kernel cuts all frames, one takes all magnitudes");
}

TEST(CufftSpectrogram, SaysThatThePlanCouldNotBeMade) {
  RecordProperty("todo", 1);
  Spectrogram* spectrogram = nullptr;
  kit::expect_cufft_errors_on_stderr(
      "make_spectrogram",
      [&] {
        spectrogram = make_spectrogram({100, 10, 5});
      },
      [&] { destroy_spectrogram(spectrogram); });
}

TEST(CufftSpectrogram, SaysThatTheTransformHasFailed) {
  RecordProperty("todo", 3);
  const Frames frames = {100, 10, 5};
  const auto d_signal = kit::DeviceBuffer<float>::input(kit::random_floats(100), "signal");
  const auto d_out = kit::DeviceBuffer<float>::output(frames.count() * frames.bins(), "out");
  Spectrogram* spectrogram = make_spectrogram(frames);
  kit::expect_cufft_errors_on_stderr(
      "run_spectrogram", [&] { run_spectrogram(spectrogram, d_signal.get(), d_out.get()); }, [] {});
  destroy_spectrogram(spectrogram);
}

TEST(CufftSpectrogram, LeavesNoMemoryBehind) {
  RecordProperty("todo", 1);
  check({100, 10, 5});
  const Frames frames = {64, 16, 8};
  kit::expect_no_leak(kit::run([&] { destroy_spectrogram(make_spectrogram(frames)); }));
}

}  // namespace

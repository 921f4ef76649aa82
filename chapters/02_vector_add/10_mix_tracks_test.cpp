// Tests of 02/10 mix tracks.
#include "10_mix_tracks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

int rounded_up(int n) { return (n + 3) / 4 * 4; }

// tracks x n samples, row-major, and a gain for each track.
struct Recording {
  int tracks, n;
  std::vector<float> samples, gains;

  Recording(int tracks_, int n_)
      : tracks(tracks_),
        n(n_),
        samples(kit::random_floats(static_cast<size_t>(tracks_) * n_)),
        gains(kit::random_floats(tracks_, 0.25f, 1.5f)) {}

  // Reference in double, n elements; `scale` is what the rounding errors are proportional to.
  std::vector<double> mix(std::vector<double>* scale = nullptr) const {
    std::vector<double> mix(n), magnitude(n);
    for (int t = 0; t < tracks; ++t) {
      for (int i = 0; i < n; ++i) {
        const double product =
            static_cast<double>(gains[t]) * samples[static_cast<size_t>(t) * n + i];
        mix[i] += product;
        magnitude[i] += std::fabs(product);
      }
    }
    if (scale != nullptr) *scale = magnitude;
    return mix;
  }

  // Rows with a pitch; the floats between them are NaN.
  std::vector<float> with_pitch(int pitch) const {
    std::vector<float> rows(static_cast<size_t>(tracks) * pitch,
                            std::numeric_limits<float>::quiet_NaN());
    for (int t = 0; t < tracks; ++t) {
      std::copy_n(samples.begin() + static_cast<size_t>(t) * n, n,
                  rows.begin() + static_cast<size_t>(t) * pitch);
    }
    return rows;
  }

  kit::Tolerance tolerance(const std::vector<double>& scale) const {
    return kit::Tolerance::units(tracks + 2, scale);
  }
};

struct Case {
  int tracks, n;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.tracks << " x " << c.n;
}

kit::Run check_launch(const Case& c, int more_pitch = 0) {
  const Recording recording(c.tracks, c.n);
  const int pitch = rounded_up(c.n) + more_pitch;
  const auto samples = kit::DeviceBuffer<float>::input(recording.with_pitch(pitch), "samples");
  const auto gains = kit::DeviceBuffer<float>::input(recording.gains, "gains");
  const auto mix = kit::DeviceBuffer<float>::output(c.n, "mix");
  const kit::Run run =
      kit::run([&] { launch_mix(samples.get(), pitch, gains.get(), mix.get(), c.tracks, c.n); });
  std::vector<double> scale;
  const std::vector<double> expected = recording.mix(&scale);
  kit::expect_near(mix, expected, recording.tolerance(scale));
  return run;
}

// One call from host to host, with a result that starts as NaN so that what is not copied shows.
struct Call {
  Recording recording;
  std::vector<float> mix;
  float ms = -1.0f;
  cudaError_t error = cudaSuccess;

  Call(int tracks, int n) : recording(tracks, n), mix(n) {
    std::memset(mix.data(), 0xFF, n * sizeof(float));
  }
  cudaError_t operator()() {
    return error = mix_tracks(recording.samples.data(), recording.gains.data(), mix.data(),
                              recording.tracks, recording.n, &ms);
  }
};

kit::Run check_call(Call& call) {
  const Recording before = call.recording;
  std::string left_behind;
  const kit::Run run = kit::run([&] {
    call();
    const cudaError_t left = cudaPeekAtLastError();
    if (left != cudaSuccess && *wsim_failed_call() != '\0' && left_behind.empty()) {
      left_behind = std::string(wsim_failed_call()) +
                    " was made to return an error. mix_tracks has returned, and "
                    "cudaGetLastError() still holds " +
                    cudaGetErrorName(left);
    }
    return call.error;
  });
  if (!left_behind.empty()) {
    kit::fail(left_behind +
              ": the next check would blame an innocent call. Forget it before you return, "
              "whichever call has failed.");
  }
  if (call.error != cudaSuccess) {
    kit::fail(std::string("mix_tracks returned ") + cudaGetErrorName(call.error) +
              " for valid arguments.");
  }
  kit::expect_equal("h_samples afterwards", call.recording.samples, before.samples);
  std::vector<double> scale;
  const std::vector<double> expected = call.recording.mix(&scale);
  kit::expect_near("h_mix", call.mix, expected, call.recording.tolerance(scale));
  return run;
}

// Of the bytes of all samples, those that came by requests of 16 bytes per thread; a request of
// fewer than 32 lanes counts as whole.
double share_of_wide_loads(const kit::Counters& c, int tracks, int n) {
  return kit::ratio(512.0 * c.global_load_requests_16, 4.0 * tracks * n);
}

}  // namespace

TEST(MixTracks, MixesWholeGroupsOfFour) {
  // contract: mix[i] is the sum over t of gains[t] * sample i of track t
  // contract: d_gains tracks floats in device memory
  // contract: A recording has tracks, one per microphone, and each has a gain
  RecordProperty("todo", 1);
  kit::for_each("tracks x n", std::vector<Case>{{1, 4}, {2, 128}, {8, 1024}, {3, 4096}},
                [](const Case& c) { check_launch(c); });
}

TEST(MixTracks, CoversAwkwardSizes) {
  // contract: tracks, n tracks >= 1, n from 0 to 2^30
  // contract: d_mix n floats in device memory
  RecordProperty("todo", 1);
  kit::for_each("tracks x n", kit::awkward_sizes(), [](int n) {
    check_launch({3, n});
    check_launch({1, n});
  });
  check_launch({2, 0});
  check_launch({70, 5});
  check_launch({20'000, 5});  // more gains than constant or shared memory has room for
}

TEST(MixTracks, ASilentTrackIsATrackToo) {
  RecordProperty("todo", 1);
  const std::vector<float> samples(2 * 8, std::numeric_limits<float>::infinity());
  const auto d_samples = kit::DeviceBuffer<float>::input(samples, "samples");
  const auto gains = kit::DeviceBuffer<float>::input(std::vector<float>{1.0f, 0.0f}, "gains");
  const auto mix = kit::DeviceBuffer<float>::output(8, "mix");
  kit::run([&] { launch_mix(d_samples.get(), 8, gains.get(), mix.get(), 2, 8); });
  const std::vector<float> got = mix.download();
  if (std::all_of(got.begin(), got.end(), [](float value) { return std::isnan(value); })) return;
  kit::fail(
      "The gain of track 1 is 0 and its samples are infinite, and not every element of mix is NaN: "
      "0 times infinity is NaN. A broken track must show, also where its gain is 0.");
}

TEST(MixTracks, RowsMayLieFurtherApart) {
  // contract: d_samples one row per track in device memory, `pitch` floats
  // contract: what follows them may hold anything
  // contract: pitch a multiple of 4, at least n
  RecordProperty("todo", 1);
  kit::for_each("tracks x n", std::vector<Case>{{4, 1000}, {3, 1023}, {5, 1}},
                [](const Case& c) { check_launch(c, 12); });
}

TEST(MixTracks, MixesFromHostToHost) {
  // contract: The same from host memory to host memory, with launch_mix
  // contract: h_samples tracks x n floats, row-major, with nothing between the rows; n >= 1
  // contract: h_gains tracks floats
  // contract: h_mix n floats
  // contract: cudaSuccess once the mix is in host memory
  // contract: it leaves no device memory and no event
  RecordProperty("todo", 1);
  kit::for_each("tracks x n",
                std::vector<Case>{{1, 1}, {4, 1000}, {3, 1023}, {5, 1025}, {2, 1026}, {17, 333}},
                [](const Case& c) {
                  Call call(c.tracks, c.n);
                  check_call(call);
                });
}

TEST(MixTracks, LoadsSixteenBytesAtATime) {
  // contract: d_samples and d_mix are aligned to 16 bytes
  RecordProperty("todo", 1);
  const auto expect_wide = [](const kit::Run& run, int tracks, int n) {
    kit::budget("samples loaded 16 bytes at a time", share_of_wide_loads(run.counters(), tracks, n),
                kit::at_least(0.9),
                "A thread reads four neighbouring samples of a track by one instruction",
                &kit::Counters::global_load_requests);
  };
  kit::for_each("tracks x n", std::vector<Case>{{4, 1 << 13}, {4, (1 << 13) + 3}},
                [&](const Case& c) { expect_wide(check_launch(c), c.tracks, c.n); });
  // A row of odd length, from the host: what lies where on the device is the function's choice.
  kit::for_each("from host to host, tracks x n", std::vector<Case>{{5, 4099}, {4, 4098}},
                [&](const Case& c) {
                  Call call(c.tracks, c.n);
                  expect_wide(check_call(call), c.tracks, c.n);
                });
}

TEST(MixTracks, MixesTheLongestTracks) {
  RecordProperty("todo", 1);
  const auto check_large = [](int tracks, int pitch, int n) {
    const std::vector<float> gains = {2, -1, 3};
    const auto samples = kit::large_integers(size_t{1} * tracks * pitch, "samples");
    const auto d_gains = kit::DeviceBuffer<float>::input(gains, "gains");
    const auto mix = kit::LargeArray<float>::output(n, "mix");
    kit::run([&] { launch_mix(samples.get(), pitch, d_gains.get(), mix.get(), tracks, n); });
    kit::expect_at_ends(mix, [&](size_t i) {
      float sum = 0;
      for (int t = 0; t < tracks; ++t) sum += gains[t] * samples.at(size_t{1} * t * pitch + i);
      return sum;
    });
  };
  kit::at_largest("3 tracks of 2^29 samples, less 2",
                  [&] { check_large(3, 1 << 29, (1 << 29) - 2); });
  kit::at_largest("1 track of 2^30 samples", [&] { check_large(1, 1 << 30, 1 << 30); });
}

TEST(MixTracks, MovesOnlyWhatItUses) {
  RecordProperty("todo", 1);
  const int tracks = 8, n = 1 << 13;
  const kit::Run run = check_launch({tracks, n});
  const kit::Counters& c = run.counters();
  const auto loads_each_once = [&](const char* what, const kit::Counters& counters) {
    kit::budget(what, kit::ratio(counters.global_load_bytes, static_cast<double>(tracks) * n),
                kit::at_most(5.5), "Each sample is needed once, and a gain serves four of them",
                &kit::Counters::global_load_bytes);
  };
  loads_each_once("bytes loaded per sample", c);
  Call call(tracks, n);
  loads_each_once("bytes loaded per sample, from host to host", check_call(call).counters());
  kit::budget("useful share of moved bytes", kit::useful_share(c), kit::at_least(0.9),
              "Neighbouring threads must use neighbouring groups of four",
              &kit::Counters::global_load_sectors);
}

// Both bounds hold on every card: nothing moves 15 TB/s to a kernel, and host memory is far
// slower.
TEST(MixTracks, TimesTheKernelAndNotTheCopies) {
  // contract: ms receives how many milliseconds the device took for the kernel, without the copies
  RecordProperty("todo", 1);
  Call warm_up(1, 4);
  check_call(warm_up);
  const int tracks = 8, n = kit::work_scale(1 << 19, 1 << 23);
  Call call(tracks, n);
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  call();
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float whole = 0;
  cudaEventElapsedTime(&whole, begin, end);
  cudaEventDestroy(end);
  cudaEventDestroy(begin);
  const double least = 4.0 * (tracks + 1) * n / 1.5e13 * 1e3;  // milliseconds
  if (call.error == cudaSuccess && !(call.ms >= least)) {
    kit::fail("*ms is " + std::to_string(call.ms) + " for " + std::to_string(tracks) +
              " tracks of " + std::to_string(n) + " samples. No card loads these in less than " +
              std::to_string(least) + " ms: what lies between your two marks?");
  }
  if (!(call.ms <= whole / 4)) {
    kit::fail("*ms is " + std::to_string(call.ms) + ", and the whole call took the device " +
              std::to_string(whole) +
              " ms. The copies over the link take most of that, and they do not count: the marks "
              "stand right before and right after the launch.");
  }
  // Of all that the modelled timeline has seen of a call, the time is that of the kernels.
  if (!kit::simulated()) return;
  Call timed(3000, 256);
  double kernel = 0;  // seconds, of all kernels
  kit::run([&] {
    kernel = 0;
    const cudaError_t error = timed();
    for (int i = 0; i < wsim_timeline_count(); ++i) {
      wsim_timeline_item item;
      if (wsim_get_timeline_item(i, &item) != 0) break;
      if (std::strcmp(item.kind, "kernel") == 0) kernel += item.end - item.start;
    }
    return error;
  });
  constexpr double kBetween = 10e-3;  // milliseconds; a launch takes 0.006
  if (kernel > 0 && !(timed.ms <= 1e3 * kernel + kBetween)) {
    kit::fail("*ms is " + std::to_string(timed.ms) + ", and the kernel takes " +
              std::to_string(1e3 * kernel) +
              " ms (modelled): something else lies between the two marks. They stand right before "
              "and right after the launch, and everything is copied by then.");
  }
}

// The card has room for some of the arrays. Only in the simulator: a GPU is shared with others, who
// may free memory at any time.
TEST(MixTracks, ARefusedAllocationLeavesNothingBehind) {
  // contract: Returns the first error
  // contract: no error for the next call to find
  // contract: after an error it may hold anything
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  const int tracks = 2, n = 1 << 18;
  const size_t row = n * sizeof(float);
  kit::for_each("rows that fit", std::vector<int>{2, 1}, [&](int rows) {
    size_t free = 0, total = 0, before = 0, after = 0;
    cudaMemGetInfo(&free, &total);
    void* taken = nullptr;
    cudaMalloc(&taken, free - rows * row - row / 2);
    wsim_live_allocations(&before);
    Call call(tracks, n);
    call();
    const cudaError_t left_behind = cudaGetLastError();
    wsim_live_allocations(&after);
    cudaFree(taken);
    if (call.error != cudaErrorMemoryAllocation) {
      kit::fail("There was room for " + std::to_string(rows) +
                " and a half of the three rows that samples and mix take: mix_tracks must return "
                "cudaErrorMemoryAllocation. It returned " +
                cudaGetErrorName(call.error) + ".");
    }
    if (after > before) {
      kit::fail(std::to_string(after - before) +
                " bytes of device memory are still allocated after a call that found too little. "
                "Every cudaMalloc needs a cudaFree on every way out.");
    }
    if (left_behind != cudaSuccess) {
      kit::fail(
          std::string("mix_tracks has returned its error, and cudaGetLastError() still holds ") +
          cudaGetErrorName(left_behind) +
          ": the next check would blame an innocent call. Forget it before you return.");
    }
  });
}

TEST(MixTracks, FindsTheFirstWrongSample) {
  // contract: The first i for which |h_mix[i] - sum| <= tolerance does not hold
  // contract: -1 if there is none. h_mix may hold anything, also NaN, and so may tolerance
  RecordProperty("todo", 1);
  const Recording recording(3, 50);
  const std::vector<double> expected = recording.mix();
  const auto expect_position = [&](const std::string& planted, const std::vector<float>& mix,
                                   int position, double tolerance) {
    const int found =
        first_wrong_sample(recording.samples.data(), recording.gains.data(), mix.data(),
                           recording.tracks, static_cast<int>(mix.size()), tolerance);
    if (found == position) return;
    kit::fail(planted + ": first_wrong_sample must return " + std::to_string(position) +
              ", it returned " + std::to_string(found) + ".");
  };
  // Rows are as long as the mix, so a shorter mix would be another recording: always 50 here.
  const std::vector<float> right(expected.begin(), expected.end());
  expect_position("every sample is right", right, -1, 1e-6);
  for (const int position : {0, 1, 49}) {
    for (const float error : {0.5f, -0.5f}) {
      std::vector<float> mix = right;
      mix[position] += error;
      mix[49] += 0.75f;
      expect_position("h_mix[" + std::to_string(position) + "] is off by " + std::to_string(error),
                      mix, position, 1e-6);
    }
  }
  std::vector<float> mix = right;
  mix[31] = std::numeric_limits<float>::quiet_NaN();
  expect_position("h_mix[31] is NaN", mix, 31, 1e-6);
  mix[31] = -std::numeric_limits<float>::infinity();
  expect_position("h_mix[31] is infinite", mix, 31, 1e-6);
  expect_position("the tolerance is NaN, with which no comparison holds", right, 0,
                  std::numeric_limits<double>::quiet_NaN());
}

// Infinity less infinity is NaN, which is not at most anything.
TEST(MixTracks, AnInfiniteSumHasNoRightSample) {
  // contract: The first i for which |h_mix[i] - sum| <= tolerance does not hold
  RecordProperty("todo", 1);
  const float gain = 1.0f, infinity = std::numeric_limits<float>::infinity();
  for (const float value : {infinity, -infinity}) {
    const float samples[] = {2.0f, value};
    for (const double tolerance : {1e-6, std::numeric_limits<double>::infinity()}) {
      const int found = first_wrong_sample(samples, &gain, samples, 1, 2, tolerance);
      if (found == 1) continue;
      kit::fail("h_mix[1] and the sum are both " + std::to_string(value) + ", the tolerance is " +
                std::to_string(tolerance) +
                ": their difference is NaN, for which |h_mix[1] - sum| "
                "<= tolerance does not hold. first_wrong_sample must return 1, it returned " +
                std::to_string(found) + ". `a > b` is not the contrary of `a <= b` there.");
    }
  }
}

TEST(MixTracks, TheComparisonIsMadeInDouble) {
  // contract: the sum computed in double
  // contract: Arrays as above; n >= 0
  RecordProperty("todo", 1);
  // Neither 1 + 2^-30 nor 1 + 2^-11 + 2^-24 is a float: a sum, or a product, in float would round
  // the difference away.
  const std::vector<float> samples = {1.0f, 1.0f}, gains = {1.0f, 1.0f / (1 << 30)};
  const float mix = 1.0f;
  const int fine = first_wrong_sample(samples.data(), gains.data(), &mix, 2, 1, 1.0 / (1 << 30));
  const int wrong = first_wrong_sample(samples.data(), gains.data(), &mix, 2, 1, 0.5 / (1 << 30));
  if (fine != -1 || wrong != 0) {
    kit::fail(
        "The sum is 1 + 2^-30 and h_mix[0] is 1. With a tolerance of 2^-30 that is allowed (-1), "
        "with half of it not (0): first_wrong_sample returned " +
        std::to_string(fine) + " and " + std::to_string(wrong) + ".");
  }
  const float factor = 1.0f + 1.0f / (1 << 12), rounded = 1.0f + 1.0f / (1 << 11);
  const int product = first_wrong_sample(&factor, &factor, &rounded, 1, 1, 0.5 / (1 << 24));
  if (product != 0) {
    kit::fail(
        "Sample and gain are 1 + 2^-12, so their product is 1 + 2^-11 + 2^-24, and h_mix[0] lacks "
        "the last part. With a tolerance of 2^-25 that is wrong (0): first_wrong_sample returned " +
        std::to_string(product) + ". The product of two floats is a float.");
  }
  const float one = 1.0f;  // times one is one, and no error at all
  for (const double tolerance : {std::numeric_limits<double>::quiet_NaN(), -1.0}) {
    if (first_wrong_sample(&one, &one, &one, 1, 1, tolerance) == 0) continue;
    kit::fail("h_mix[0] is the sum itself, and the tolerance is " + std::to_string(tolerance) +
              ": an error of 0 is not at most that, so first_wrong_sample must return 0.");
  }
  if (first_wrong_sample(samples.data(), gains.data(), &mix, 2, 0, 0.0) != -1) {
    kit::fail("A mix of 0 samples has no wrong one: first_wrong_sample must return -1.");
  }
}

TEST(MixTracks, IsFast) {
  RecordProperty("todo", 1);
  const int tracks = 8, n = kit::work_scale(1 << 17, 1 << 25);
  kit::Speed speed;
  const auto samples = speed.input<float>(static_cast<size_t>(tracks) * n, "samples");
  const auto gains = speed.input<float>(tracks, "gains");
  const auto mix = speed.output<float>(n, "mix");
  speed.bytes(4.0 * (tracks + 1) * n).flops(2.0 * tracks * n).slice(33);
  speed.launch([&] { launch_mix(samples.get(), n, gains.get(), mix.get(), tracks, n); });
  speed.expect(
      mix,
      [&](size_t i) {
        double sum = 0, scale = 0;
        for (int t = 0; t < tracks; ++t) {
          const double product =
              static_cast<double>(gains.at(t)) * samples.at(static_cast<size_t>(t) * n + i);
          sum += product;
          scale += std::fabs(product);
        }
        return kit::Expected(sum, scale);
      },
      kit::Tolerance::units(tracks + 2));
  speed.against(kit::copy_rate(), kit::Bars(0.60));
  speed.grade();
}

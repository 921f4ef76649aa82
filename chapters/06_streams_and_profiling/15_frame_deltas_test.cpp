// Tests of 06/15 frame deltas.
#include "15_frame_deltas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <thread>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"
#include "kit/stream.h"

namespace {

double tone(double v) { return v / (1 + std::fabs(v)); }

// Reference in double: frames x pixels.
std::vector<double> deltas_on_cpu(const std::vector<float>& film, int pixels, float threshold) {
  std::vector<double> deltas;
  for (size_t i = 0; i < film.size(); ++i) {
    const size_t row = static_cast<size_t>(pixels);
    const double change = tone(film[i]) - (i < row ? 0.0 : tone(film[i - row]));
    deltas.push_back(std::fabs(change) > threshold ? change : 0.0);
  }
  return deltas;
}

// Tones are less than 1, and three operations round.
kit::Tolerance tolerance(size_t n) { return kit::Tolerance::units(4, std::vector<double>(n, 1.0)); }

using PinnedFloats = std::unique_ptr<float[], void (*)(float*)>;

PinnedFloats pinned(size_t n) {
  void* memory = nullptr;
  if (cudaMallocHost(&memory, (n + 1) * sizeof(float)) != cudaSuccess) memory = nullptr;
  return PinnedFloats(static_cast<float*>(memory), [](float* p) { cudaFreeHost(p); });
}

// Frames of other films that `home` has counted already.
constexpr int kEarlier = 1000;

struct Film {
  int frames, pixels;
  size_t size() const { return static_cast<size_t>(frames) * pixels; }
};
std::ostream& operator<<(std::ostream& out, const Film& film) {
  return out << film.frames << " frames of " << film.pixels;
}

// What the timeline of the simulator has of a call.
struct Traffic {
  uint64_t bytes_in = 0, bytes_out = 0;   // over the link
  uint64_t device_bytes = 0;              // of device memory that copies have touched
  double first_home = -1, last_copy = 0;  // seconds: a host function begins, a copy ends
  std::vector<double> homes, copies;      // all of them
};

// What was seen of one call, when it returned and when its stream had ended.
struct Seen {
  kit::Run run;
  Traffic traffic;
  uint64_t waits = 0;  // of the host, in the call
  uint64_t asked = 0;  // bytes that the device's pool had given out at a time
  int home = 0;
  bool idle_at_return = false;
};

uint64_t calls_that_wait() {
  uint64_t calls = 0;
  for (const char* name : {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                           "cudaFree", "cudaMemcpy"}) {
    calls += wsim_api_calls(name);
  }
  return calls;
}

// All copies but those of the test, which read and write these.
Traffic traffic_without(const float* d_film, const float* d_deltas) {
  Traffic traffic;
  std::map<uintptr_t, uint64_t> places;  // bytes by address on the device
  for (int i = 0; i < wsim_timeline_count(); ++i) {
    wsim_timeline_item item;
    if (wsim_get_timeline_item(i, &item) != 0) break;
    const bool is_in = std::strcmp(item.kind, "copy to device") == 0;
    const bool is_out = std::strcmp(item.kind, "copy to host") == 0;
    const void* place = is_in ? item.written : item.read;
    if ((is_in || is_out) && place != d_film && place != d_deltas) {
      (is_in ? traffic.bytes_in : traffic.bytes_out) += item.bytes;
      uint64_t& bytes = places[reinterpret_cast<uintptr_t>(place)];
      bytes = std::max(bytes, item.bytes);
      if (is_out) traffic.copies.push_back(item.end);
      if (is_out) traffic.last_copy = std::max(traffic.last_copy, item.end);
    }
    if (std::strcmp(item.kind, "host function") == 0) traffic.homes.push_back(item.start);
    const bool earlier = traffic.first_home < 0 || item.start < traffic.first_home;
    if (std::strcmp(item.kind, "host function") == 0 && earlier) traffic.first_home = item.start;
  }
  uintptr_t end = 0;  // of what has been counted; places may overlap
  for (const auto& [start, bytes] : places) {
    const uintptr_t first = std::max(start, end), last = start + bytes;
    if (last > first) traffic.device_bytes += last - first;
    end = std::max(end, last);
  }
  return traffic;
}

// The frames come to the host in `stream`, straight before the call, and the deltas go to the
// device in it, straight behind. Nothing else puts these copies and the call in order.
//
// With `statuses`, every call of the runtime fails once (kit::run).
Seen check(const Film& film, const std::vector<float>& frames, float threshold,
           bool statuses = false) {
  const PinnedFloats h_frames = pinned(film.size()), h_deltas = pinned(film.size());
  const auto d_film = kit::DeviceBuffer<float>::input(frames, "d_film");
  const auto d_deltas = kit::DeviceBuffer<float>::output(film.size(), "deltas");
  const kit::Stream stream;
  const size_t bytes = film.size() * sizeof(float);
  std::atomic<int> home{kEarlier};
  Seen seen;
  cudaError_t error = cudaSuccess;
  cudaMemPool_t pool = nullptr;
  cudaDeviceGetDefaultMemPool(&pool, kit::current_device());
  const auto call = [&] {
    home = kEarlier;
    std::memset(h_deltas.get(), 0xFF, bytes);
    cudaMemcpyAsync(h_frames.get(), d_film.get(), bytes, cudaMemcpyDeviceToHost, stream.get());
    uint64_t used = 0;
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &used);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    error = encode_frames(h_frames.get(), h_deltas.get(), film.frames, film.pixels, threshold,
                          &home, stream.get());
    seen.waits = calls_that_wait();
    seen.idle_at_return = cudaStreamQuery(stream.get()) == cudaSuccess;
    cudaGetLastError();  // "not ready" is remembered like an error
    cudaMemcpyAsync(d_deltas.get(), h_deltas.get(), bytes, cudaMemcpyHostToDevice, stream.get());
    cudaStreamSynchronize(stream.get());
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &seen.asked);
    seen.asked -= used;
    seen.home = home - kEarlier;
    seen.traffic = traffic_without(d_film.get(), d_deltas.get());
    return error;
  };
  seen.run = statuses ? kit::run(call) : kit::run([&] { call(); });
  if (error != cudaSuccess) {
    kit::fail(std::string("encode_frames returned ") + cudaGetErrorName(error) + ".");
  }
  kit::expect_near(d_deltas, deltas_on_cpu(frames, film.pixels, threshold), tolerance(film.size()),
                   kit::Shape(film.frames, film.pixels));
  return seen;
}

Seen check(const Film& film, bool statuses = false) {
  return check(film, kit::random_floats(film.size(), -3.0f, 3.0f), 0, statuses);
}

}  // namespace

TEST(FrameDeltas, ComparesEveryFrameWithTheOneBefore) {
  RecordProperty("todo", 1);
  kit::for_each("film", std::vector<Film>{{1, 1000}, {2, 1000}, {7, 300}, {12, 1025}, {30, 65}},
                [](const Film& film) { check(film); });
}

TEST(FrameDeltas, CallsThatFailAreReported) {
  RecordProperty("todo", 1);
  check({6, 40}, true);
}

TEST(FrameDeltas, CoversAnyNumberOfPixels) {
  RecordProperty("todo", 1);
  kit::for_each("pixels", kit::awkward_sizes(), [](int pixels) { check({5, pixels}); });
}

TEST(FrameDeltas, AFilmMayHaveNoFrames) {
  RecordProperty("todo", 1);
  check({0, 100});
  check({3, 100});  // the same function must work when there is something to do
}

TEST(FrameDeltas, SmallChangesAreSilenced) {
  RecordProperty("todo", 1);
  // Tones of small integers: no difference of two lies so close to 0.2 that rounding decides, and
  // the one that is 0.5 is exact.
  const Film film{9, 500};
  kit::for_each("threshold", std::vector<float>{0.2f, 0.5f}, [&](float threshold) {
    check(film, kit::random_integer_floats(film.size(), -8, 8), threshold);
  });
}

TEST(FrameDeltas, AThresholdBelowZeroSilencesNothing) {
  RecordProperty("todo", 1);
  const Film film{4, 300};
  check(film, kit::random_floats(film.size(), -3.0f, 3.0f), -0.5f);
}

TEST(FrameDeltas, TheHostDoesNotWait) {
  RecordProperty("todo", 1);
  const Seen seen = check({kit::work_scale(6, 32), kit::work_scale(1000, 1 << 22)});
  if (kit::simulated() ? seen.waits > 0 : seen.idle_at_return) {
    kit::fail(
        "encode_frames waited for the device. Whatever it makes and takes has to go back "
        "without that: memory in the order of a stream, events and streams at any time.");
  }
}

TEST(FrameDeltas, FramesAreCountedAsTheyComeHome) {
  RecordProperty("todo", 1);
  const Film film{8, 4096};
  const Seen seen = check(film);
  if (seen.home != film.frames) {
    kit::fail("When the stream had ended, `home` had gone from " + std::to_string(kEarlier) +
              " to " + std::to_string(kEarlier + seen.home) + "; " + std::to_string(film.frames) +
              " frames were to be counted.");
  } else if (kit::simulated() &&
             (seen.traffic.first_home < 0 || seen.traffic.first_home >= seen.traffic.last_copy)) {
    kit::fail(
        "No frame was counted before the last one had come home. Each is to be counted as "
        "soon as its deltas are there: a function in a stream, behind its copy.");
  }
  // Where each frame has one copy and one function.
  std::vector<double> homes = seen.traffic.homes, copies = seen.traffic.copies;
  if (homes.size() != copies.size()) return;
  std::sort(homes.begin(), homes.end());
  std::sort(copies.begin(), copies.end());
  for (size_t k = 0; k < homes.size(); ++k) {
    if (homes[k] >= copies[k]) continue;
    kit::fail("The frame that comes home as number " + std::to_string(k + 1) +
              " was counted before its copy to the host had ended: whoever sees the count may not "
              "find its deltas. The function that counts has to wait for that copy.");
    return;
  }
}

TEST(FrameDeltas, NeedsFewFramesOfDeviceMemory) {
  RecordProperty("todo", 1);
  const Film film{24, 2048};
  const Seen seen = check(film);
  kit::budget("frames of device memory",
              kit::ratio(static_cast<double>(std::max(seen.traffic.device_bytes, seen.asked)),
                         film.pixels * sizeof(float)),
              kit::at_most(8), "A film is longer than the memory of a card: places are used again");
}

TEST(FrameDeltas, EveryFrameCrossesTheLinkOnce) {
  RecordProperty("todo", 1);
  const Film film{10, 2048};
  const Seen seen = check(film);
  const double bytes = static_cast<double>(film.size() * sizeof(float));
  kit::budget(
      "bytes over the link, of those of a film there and back",
      kit::ratio(static_cast<double>(seen.traffic.bytes_in + seen.traffic.bytes_out), 2 * bytes),
      kit::at_most(1), "What has been brought once can be read by two kernels");
}

TEST(FrameDeltas, WhatIsNoNumberIsNoChange) {
  RecordProperty("todo", 1);
  // An infinity has no tone: infinity divided by infinity is no number.
  const Film film{5, 100};
  check(film, kit::special_floats_and_nans(film.size()), 0.2f);
}

TEST(FrameDeltas, MovesEveryByteOnce) {
  RecordProperty("todo", 1);
  const Film film{6, 4096};
  const kit::Counters c = check(film).run.counters();
  kit::budget("bytes of global memory per pixel",
              kit::ratio(static_cast<double>(c.global_load_bytes + c.global_store_bytes),
                         static_cast<double>(film.size())),
              kit::at_most(12),
              "Two pixels are read and one is written; what lies between stays in "
              "a register",
              &kit::Counters::global_load_bytes);
}

TEST(FrameDeltas, TakesFilmsOfGigabytes) {
  kit::for_each("pixels", std::vector<int>{1 << 28, (1 << 30) - 1}, [](int pixels) {
    const int frames = static_cast<int>(0x7FFFFFFF / pixels);
    kit::at_largest("frames = " + std::to_string(frames), [&] {
      const size_t n = static_cast<size_t>(frames) * pixels;
      const auto h_frames = kit::LargeHostFloats::input(n, "h_frames", kit::HostPages::kPinned);
      const auto h_deltas = kit::LargeHostFloats::output(n, "h_deltas", kit::HostPages::kPinned);
      const kit::Stream stream;
      std::atomic<int> home{0};
      kit::run([&] {
        encode_frames(h_frames.get(), h_deltas.get(), frames, pixels, -1.0f, &home, stream.get());
        cudaStreamSynchronize(stream.get());
      });
      const auto delta = [&](size_t i) {
        const size_t row = static_cast<size_t>(pixels);
        const double before = i < row ? 0.0 : h_frames.get()[i - row];
        return tone(h_frames.get()[i]) - tone(before);
      };
      kit::expect_at_ends(h_deltas, delta, kit::Tolerance::absolute(1e-6));
    });
  });
}

TEST(FrameDeltas, ThreadsMayCallAtTheSameTime) {
  RecordProperty("todo", 1);
  const Film film{kit::work_scale(6, 40), kit::work_scale(500, 1 << 18)};
  constexpr int kCallers = 3;
  std::vector<std::vector<float>> frames;
  std::vector<PinnedFloats> h_frames, h_deltas;
  for (int t = 0; t < kCallers; ++t) {
    frames.push_back(kit::random_floats(film.size()));
    h_frames.push_back(pinned(film.size()));
    h_deltas.push_back(pinned(film.size()));
    std::copy(frames[t].begin(), frames[t].end(), h_frames[t].get());
  }
  std::vector<cudaError_t> errors(kCallers, cudaSuccess);
  kit::run([&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kCallers; ++t) {
      threads.emplace_back([&, t] {
        const kit::Stream stream;
        std::atomic<int> home{0};
        errors[t] = encode_frames(h_frames[t].get(), h_deltas[t].get(), film.frames, film.pixels,
                                  0.0f, &home, stream.get());
        cudaStreamSynchronize(stream.get());
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  for (int t = 0; t < kCallers; ++t) {
    if (errors[t] != cudaSuccess) {
      kit::fail(std::string("encode_frames returned ") + cudaGetErrorName(errors[t]) +
                " to one of " + std::to_string(kCallers) + " threads.");
    }
    kit::expect_near("deltas of thread " + std::to_string(t),
                     std::vector<float>(h_deltas[t].get(), h_deltas[t].get() + film.size()),
                     deltas_on_cpu(frames[t], film.pixels, 0), tolerance(film.size()));
  }
}

TEST(FrameDeltas, IsFast) {
  RecordProperty("todo", 1);
  const int frames = kit::work_scale(8, 64), pixels = kit::work_scale(1 << 17, 1 << 20);
  const size_t n = static_cast<size_t>(frames) * pixels;
  constexpr float kThreshold = 0.2f;
  kit::Speed speed;
  const auto h_frames =
      speed.host_input<float>(n, "h_frames", kit::pinned_memory(), kit::Values::integers(-8, 8));
  const auto h_deltas = speed.host_output<float>(n, "h_deltas", kit::pinned_memory());
  const size_t room = kit::work_scale(1, static_cast<int>(n));  // the limit is for a GPU
  const auto there = speed.output<float>(room, "there");
  const auto back = speed.input<float>(room, "back");
  const kit::Stream stream, other;
  std::atomic<int> home{0};
  speed.whole_call();
  speed.launch([&] {
    encode_frames(h_frames.get(), h_deltas.get(), frames, pixels, kThreshold, &home, stream.get());
  });
  speed.expect(
      h_deltas,
      [&](size_t i) {
        const size_t row = static_cast<size_t>(pixels);
        const double change = tone(h_frames.at(i)) - (i < row ? 0.0 : tone(h_frames.at(i - row)));
        return kit::Expected(std::fabs(change) > kThreshold ? change : 0.0, 1.0);
      },
      kit::Tolerance::units(4));
  speed.against(kit::stage("one stream",
                           [&] {
                             encode_one_by_one(h_frames.get(), h_deltas.get(), frames, pixels,
                                               kThreshold, stream.get());
                           }),
                kit::Bars(1.3));
  const auto copies = [&] {
    const size_t bytes = n * sizeof(float);
    cudaMemcpyAsync(there.get(), h_frames.get(), bytes, cudaMemcpyHostToDevice, stream.get());
    cudaMemcpyAsync(h_deltas.get(), back.get(), bytes, cudaMemcpyDeviceToHost, other.get());
  };
  speed.against(kit::limit("copies alone", copies).on_gpu_only(), kit::Bars(0.8));
  speed.grade();
}

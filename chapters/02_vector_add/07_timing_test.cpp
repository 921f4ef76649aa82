// Tests of 02/07 timing. What is graded is the method; times are shown and never judged.
#include "07_timing.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "kit/kit.h"
#include "kit/stream.h"

namespace {

// Work that leaves a trace: each call sets some bytes and then lets the stream count itself as
// done.
struct Probe {
  kit::DeviceBuffer<unsigned char> bytes =
      kit::DeviceBuffer<unsigned char>::inout(std::vector<unsigned char>(1 << 16), "bytes");
  std::atomic<int> done{0};                             // calls whose work the device has finished
  std::vector<int> done_at_call;                        // value of `done` when call i began
  std::vector<uint64_t> records_before, records_after;  // cudaEventRecord calls around call i
  std::vector<cudaStream_t> streams;

  int calls() const { return static_cast<int>(streams.size()); }
};

void count_as_done(void* probe) { ++static_cast<Probe*>(probe)->done; }

void probe_work(void* context, cudaStream_t stream) {
  Probe& probe = *static_cast<Probe*>(context);
  probe.done_at_call.push_back(probe.done);
  probe.streams.push_back(stream);
  probe.records_before.push_back(wsim_api_calls("cudaEventRecord"));
  cudaMemsetAsync(probe.bytes.get(), probe.calls(), probe.bytes.size(), stream);
  cudaLaunchHostFunc(stream, count_as_done, &probe);
  probe.records_after.push_back(wsim_api_calls("cudaEventRecord"));
}

// One call of time_work and what was seen while it ran.
struct Timing {
  Probe probe;
  kit::Stream stream;
  int repeats;
  std::vector<float> ms;
  cudaError_t error = cudaSuccess;
  int done_at_return = 0;
  uint64_t elapsed_calls = 0;

  explicit Timing(int repeats_) : repeats(repeats_), ms(repeats_, -1.0f) {
    wsim_reset_counters();
    error = time_work(probe_work, &probe, stream.get(), repeats, ms.data());
    done_at_return = probe.done;
    elapsed_calls = wsim_api_calls("cudaEventElapsedTime");
    cudaGetLastError();  // the error is judged by what time_work returned
    cudaDeviceSynchronize();
    if (error != cudaSuccess) {
      kit::fail(std::string("time_work returned ") + cudaGetErrorName(error) +
                (error == cudaErrorNotReady ? ": the device had not reached the stop event when "
                                              "its time was asked for. Record both events in "
                                              "the stream of the work, and wait for that one "
                                              "first."
                                            : " for work that does not fail."));
    }
  }
};

// Every reading of the clock while somebody watches: when, and after how many kernels.
struct Reading {
  double seconds;
  uint64_t launches;
};
bool watches_the_clock = false;
std::vector<Reading> readings;

// The clock of the processor that was read meanwhile: it stands still while its process waits, and
// runs twice as fast where two threads work.
std::string processor_clock;

void read_processor_clock(const char* name) {
  if (watches_the_clock) processor_clock = name;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

// The clocks of std::chrono come here, and from here to the system.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long status = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) {
    read_processor_clock("clock_gettime");
  }
  if (watches_the_clock) {
    watches_the_clock = false;  // counting may read it too
    kit::Counters counters = {};
    wsim_read_counters(&counters);
    const double seconds = static_cast<double>(time->tv_sec);
    readings.push_back({seconds + 1e-9 * static_cast<double>(time->tv_nsec), counters.launches});
    watches_the_clock = true;
  }
  return static_cast<int>(status);
}

// So do the clocks of the processor.
extern "C" clock_t clock() noexcept {
  read_processor_clock("clock()");
  timespec time = {};
  syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * CLOCKS_PER_SEC + time.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}
extern "C" clock_t times(tms* used) noexcept {
  read_processor_clock("times()");
  return static_cast<clock_t>(syscall(SYS_times, used));
}
extern "C" int getrusage(__rusage_who_t who, rusage* used) noexcept {
  read_processor_clock("getrusage()");
  return static_cast<int>(syscall(SYS_getrusage, who, used));
}

TEST(Timing, TheFirstCallIsNotTimed) {
  // contract: Calls work(context, stream) once without timing it, then `repeats` times
  RecordProperty("todo", 1);
  kit::for_each("repeats", std::vector<int>{5, 1}, [](int repeats) {
    const Timing timing(repeats);
    if (timing.probe.calls() != repeats + 1) {
      kit::fail("work was called " + std::to_string(timing.probe.calls()) + " times, not " +
                std::to_string(repeats + 1) + ": once to warm up and `repeats` times to be timed.");
    }
  });
}

TEST(Timing, TheFirstCallIsWaitedFor) {
  // contract: All of the work is done when it returns
  RecordProperty("todo", 1);
  const Timing timing(3);
  if (timing.probe.calls() > 1 && timing.probe.done_at_call[1] != 1) {
    kit::fail(
        "When work was called for the second time, the device had not finished the first. "
        "What is left of the warm-up would count as part of the first measurement.");
  }
  const Timing nothing_timed(0);
  if (nothing_timed.done_at_return != nothing_timed.probe.calls()) {
    kit::fail(
        "With repeats = 0 time_work returned while the device was still at the warm-up. All of the "
        "work is done when it returns.");
  }
}

TEST(Timing, EachCallLiesBetweenTwoEvents) {
  // contract: how many milliseconds the device took for each of these calls
  RecordProperty("todo", 2);
  const int repeats = 4;
  const Timing timing(repeats);
  const Probe& probe = timing.probe;
  for (int i = 1; kit::simulated() && i < probe.calls(); ++i) {
    // The stop of one call may be the start of the next.
    if (probe.records_before[i] == probe.records_after[i - 1]) {
      kit::fail("No event was recorded between call " + std::to_string(i - 1) + " and call " +
                std::to_string(i) +
                " of work (0 is the warm-up). Record start, call work, record stop, each time.");
    }
  }
  if (kit::simulated() && timing.elapsed_calls != static_cast<uint64_t>(repeats)) {
    kit::fail("cudaEventElapsedTime was called " + std::to_string(timing.elapsed_calls) +
              " times for " + std::to_string(repeats) + " timed calls.");
  }
  for (int i = 0; i < repeats; ++i) {
    if (!(timing.ms[i] > 0.0f) || !std::isfinite(timing.ms[i])) {
      kit::fail("ms[" + std::to_string(i) + "] is " + std::to_string(timing.ms[i]) +
                "; the work takes more than 0 milliseconds. Are both events in the stream of the "
                "work, one on each side of it?");
    }
  }
}

// A pair of events serves any number of calls; so do as many as there are calls.
TEST(Timing, TimesAsManyCallsAsItIsAsked) {
  // contract: then `repeats` times (1 or more), and stores in ms[0 .. repeats - 1]
  RecordProperty("todo", 2);
  const int repeats = 700;
  const Timing timing(repeats);
  if (timing.probe.calls() != repeats + 1) {
    kit::fail("work was called " + std::to_string(timing.probe.calls()) + " times, not " +
              std::to_string(repeats + 1) + ".");
  }
  for (int i = 0; i < repeats; ++i) {
    if (timing.ms[i] > 0.0f && std::isfinite(timing.ms[i])) continue;
    kit::fail("ms[" + std::to_string(i) + "] of " + std::to_string(repeats) + " is " +
              std::to_string(timing.ms[i]) + "; the work takes more than 0 milliseconds.");
    return;
  }
}

// The kit lets the first call of the function fail, then the second, and so on.
TEST(Timing, TheFirstErrorIsReturned) {
  // contract: Returns the first error
  RecordProperty("todo", 2);
  Probe probe;
  const kit::Stream stream;
  std::vector<float> ms(2, -1.0f);
  kit::run([&] { return time_work(probe_work, &probe, stream.get(), 2, ms.data()); });
}

// What a call returns when the simulator makes it fail.
struct Refused {
  const char* call;
  cudaError_t error;
};
std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.call; }

// An event that could not be recorded has no time, and a later call says so in its own words: that
// is an error, too, and not the first one.
TEST(Timing, TheErrorThatIsReturnedIsTheFirst) {
  // contract: Returns the first error of its own calls
  RecordProperty("todo", 2);
  if (!kit::simulated()) return;
  const std::vector<Refused> refusals = {{"cudaEventRecord", cudaErrorInvalidValue},
                                         {"cudaEventSynchronize", cudaErrorLaunchFailure},
                                         {"cudaEventCreate", cudaErrorMemoryAllocation}};
  kit::for_each("the call that fails", refusals, [](const Refused& refused) {
    std::string failed = "the first";
    for (uint64_t k = 1; !failed.empty(); ++k) {
      Probe probe;
      const kit::Stream stream;
      std::vector<float> ms(3, -1.0f);
      wsim_fail_call(k, refused.call, ".cu");
      const cudaError_t error = time_work(probe_work, &probe, stream.get(), 3, ms.data());
      failed = wsim_failed_call();
      wsim_fail_call(0, "", "");
      cudaDeviceSynchronize();
      cudaGetLastError();
      wsim_clear_findings();  // of calls behind the one that failed
      if (failed.empty() || error == refused.error) continue;
      kit::fail(failed + " was made to return " + cudaGetErrorName(refused.error) +
                ", and time_work returned " + cudaGetErrorName(error) +
                ". Keep the status of each call, and return the first that is no success.");
      return;
    }
  });
}

// Work of which call `failing` (from 0) makes a call that is refused.
struct Failing {
  int failing, calls = 0;
};
void work_that_fails(void* context, cudaStream_t stream) {
  Failing& work = *static_cast<Failing*>(context);
  if (work.calls++ == work.failing) cudaMemsetAsync(nullptr, 0, 16, stream);
}

TEST(Timing, AnErrorOfTheWorkIsNotLost) {
  // contract: If a call inside work fails, its error is returned or left for cudaGetLastError()
  // contract: No error is pending when time_work is called
  RecordProperty("todo", 2);
  kit::for_each("the call of work that fails", std::vector<int>{0, 1, 2}, [](int failing) {
    Failing work{failing};
    const kit::Stream stream;
    std::vector<float> ms(2, -1.0f);
    cudaGetLastError();
    const cudaError_t error = time_work(work_that_fails, &work, stream.get(), 2, ms.data());
    const cudaError_t left = cudaGetLastError();
    wsim_clear_findings();  // of that call
    if (work.calls <= failing || error != cudaSuccess || left != cudaSuccess) return;
    kit::fail(
        "A call inside work was refused (cudaMemsetAsync: cudaErrorInvalidValue). time_work "
        "returned cudaSuccess, and cudaGetLastError() knows of nothing any more: somebody has "
        "asked it and thrown the answer away.");
  });
}

TEST(Timing, EventsAreInTheStreamOfTheWork) {
  // contract: Puts work into a stream: launches and copies that run later than the call returns
  RecordProperty("todo", 2);
  const Timing timing(3);
  for (const cudaStream_t stream : timing.probe.streams) {
    if (stream != timing.stream.get()) {
      kit::fail("work was called with another stream than the one that time_work was given.");
    }
  }
  if (timing.done_at_return != timing.probe.calls()) {
    kit::fail("time_work returned when " + std::to_string(timing.done_at_return) + " of " +
              std::to_string(timing.probe.calls()) +
              " calls were done on the device. An event in another stream, the default stream "
              "too, says nothing about this one: pass `stream` to cudaEventRecord.");
  }
}

TEST(Timing, PartsAddUpToLessThanTheWhole) {
  RecordProperty("todo", 2);
  Probe probe;
  const kit::Stream stream;
  std::vector<float> ms(8, -1.0f);
  float whole = 0;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, stream.get());
  time_work(probe_work, &probe, stream.get(), 8, ms.data());
  cudaEventRecord(end, stream.get());
  cudaEventSynchronize(end);
  cudaEventElapsedTime(&whole, begin, end);
  cudaEventDestroy(end);
  cudaEventDestroy(begin);
  float sum = 0;
  for (const float time : ms) sum += time;
  // Events tick in about half a microsecond, two of them per part.
  if (!(sum > 0.0f && sum <= whole * 1.001f + 0.016f)) {
    kit::fail("The 8 times add up to " + std::to_string(sum) +
              " ms, but everything that time_work did in this stream, warm-up included, took " +
              std::to_string(whole) + " ms.");
  }
}

// Work of which the call `long_one` (0 is the warm-up) takes far longer than the others.
struct Uneven {
  kit::DeviceBuffer<unsigned char> bytes =
      kit::DeviceBuffer<unsigned char>::inout(std::vector<unsigned char>(1 << 16), "bytes");
  int long_one, calls = 0;
};
void uneven_work(void* context, cudaStream_t stream) {
  Uneven& work = *static_cast<Uneven*>(context);
  const int repeats = work.calls++ == work.long_one ? 300 : 3;
  for (int i = 0; i < repeats; ++i) cudaMemsetAsync(work.bytes.get(), i, work.bytes.size(), stream);
}

TEST(Timing, EachTimeIsThatOfItsCall) {
  // contract: how many milliseconds the device took for each of these calls
  RecordProperty("todo", 2);
  kit::for_each("call that takes long", std::vector<int>{1, 2, 3}, [](int long_one) {
    Uneven work;
    work.long_one = long_one;
    const kit::Stream stream;
    std::vector<float> ms(4, -1.0f);
    time_work(uneven_work, &work, stream.get(), 4, ms.data());
    const float most = ms[long_one - 1];
    for (int i = 0; i < 4; ++i) {
      if (i == long_one - 1 || ms[i] < most / 4) continue;
      kit::fail("Of four calls that are timed call " + std::to_string(long_one) +
                " does a hundred times the work of each other one. It took " +
                std::to_string(most) + " ms and call " + std::to_string(i + 1) + " " +
                std::to_string(ms[i]) +
                " ms: a time belongs to one call alone, from an event right before it to one right "
                "behind it.");
      return;
    }
  });
}

TEST(Timing, CountsEveryLaunch) {
  // contract: Empty kernels that the host launches
  // contract: One more, before them, is not timed
  RecordProperty("todo", 3);
  kit::for_each("count", std::vector<int>{100, 1}, [](int count) {
    double rate = 0, seconds = 0;
    const kit::Run run = kit::run([&] {
      const Clock::time_point begin = Clock::now();
      rate = launches_per_second(count);
      seconds = seconds_since(begin);
    });
    if (kit::simulated() && run.counters().launches != static_cast<uint64_t>(count) + 1) {
      kit::fail("empty was launched " + std::to_string(run.counters().launches) + " times, not " +
                std::to_string(count + 1) + ": one that is not timed, and count that are.");
    }
    if (!(rate > 0 && std::isfinite(rate) && count / rate <= seconds)) {
      kit::fail("launches_per_second returned " + std::to_string(rate) + ": " +
                std::to_string(count) + " launches in " + std::to_string(count / rate) +
                " s. The whole call took " + std::to_string(seconds) + " s.");
    }
  });
}

TEST(Timing, TheClockStartsAfterTheFirstLaunch) {
  // contract: One more, before them, is not timed
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  const int count = 20;
  double rate = 0;
  readings.clear();
  kit::run([&] {
    watches_the_clock = true;
    rate = launches_per_second(count);
    watches_the_clock = false;
  });
  const double timed = count / rate;
  // The two readings that the result was made of.
  for (const Reading& start : readings) {
    for (const Reading& stop : readings) {
      const bool match = std::fabs(stop.seconds - start.seconds - timed) <= 1e-6 * timed;
      if (!match || start.launches > 0) continue;
      kit::fail(
          "The clock starts before the first launch: the one that loads the code, and is not to be "
          "timed, is part of the time that the result is made of. Launch it, wait for it, and read "
          "the clock then.");
      return;
    }
  }
}

TEST(Timing, TheClockGoesOnWhileTheHostWaits) {
  // contract: by the clock of the host: the time that passes, not what the processor has worked
  RecordProperty("todo", 3);
  processor_clock.clear();
  kit::run([&] {
    watches_the_clock = true;
    launches_per_second(20);
    watches_the_clock = false;
  });
  if (processor_clock.empty()) return;
  kit::fail("launches_per_second reads " + processor_clock +
            ", the time that the processor has worked for this program: it stands still while the "
            "host sleeps and waits for the device, and goes faster where several threads work. "
            "Read a clock that shows the time that passes, such as std::chrono::steady_clock.");
}

TEST(Timing, LaunchesAreDoneWhenTheClockStops) {
  // contract: and the device completes per second
  RecordProperty("todo", 3);
  const int count = kit::work_scale(200, 100000);
  bool done = false;
  double rate = 0;
  kit::run([&] {
    rate = launches_per_second(count);
    kit::Counters counters = {};
    wsim_read_counters(&counters);
    done = kit::simulated() ? counters.launches == static_cast<uint64_t>(count) + 1
                            : cudaStreamQuery(nullptr) == cudaSuccess;
  });
  if (!done) {
    kit::fail(
        "launches_per_second returned while launches were still waiting in the stream: it "
        "timed how fast the host fills a queue, not how fast kernels run.");
  }
  if (!kit::simulated()) {
    std::printf("Measured on this machine: %.0f empty kernels per second.\n", rate);
  }
}

TEST(Timing, TheClockCoversTheLaunchesAndTheWait) {
  RecordProperty("todo", 3);
  // The code is loaded by then, so nearly all of a call's time is that of its launches. What else
  // this machine does makes some of the tries worse, not all of them.
  constexpr int kCount = 2000;
  double share = 0;  // of the time of a call, as far as the result accounts for it: the best try
  kit::run([&] {
    launches_per_second(1);
    for (int i = 0; i < 5; ++i) {
      const Clock::time_point begin = Clock::now();
      const double rate = launches_per_second(kCount);
      share = std::max(share, kCount / rate / seconds_since(begin));
    }
  });
  if (!(share >= 0.7)) {
    kit::fail("The time that launches_per_second divides by is " +
              std::to_string(static_cast<int>(100 * share)) +
              " % of what its launches took. The clock starts before the first of the `count` "
              "launches and stops when the last one is done.");
  }
}

// By the modelled timeline: a launch costs the host 3 us and its kernel ends within them; whoever
// waits for every kernel launches one each 8 us.
TEST(Timing, LaunchesDoNotWaitForEachOther) {
  RecordProperty("todo", 3);
  constexpr int kCount = 50;
  std::vector<double> issued;
  double latency = 0;  // from a launch to the end of its kernel
  kit::run([&] {
    launches_per_second(kCount);
    cudaDeviceSynchronize();
    for (int i = 0; i < wsim_timeline_count(); ++i) {
      wsim_timeline_item item;
      if (wsim_get_timeline_item(i, &item) != 0 || std::strcmp(item.kind, "kernel") != 0) continue;
      issued.push_back(item.issued);
      latency = item.end - item.issued;
    }
  });
  if (issued.size() < kCount) return;  // a GPU has no such timeline; another test counts launches
  const double between = (issued.back() - issued[issued.size() - kCount]) / (kCount - 1);
  if (between > 2 * latency) {
    kit::fail("A launch follows the one before it after " + std::to_string(1e6 * between) +
              " us (modelled), but a kernel ends " + std::to_string(1e6 * latency) +
              " us after its launch: the host waits for each of them. Launch all, then wait once.");
  }
}

#include "cli/time_limits.h"

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "cli/python_program.h"

namespace grade {
namespace {

constexpr double kAtWork = 3;  // times as long as the code under test

bool uses_several_gpus(const RunRequest& request) {
  return request.device == Device::kGpu && request.exercise->gpus > 1;
}

double processor_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// How many times slower than those for which the limits were chosen: 1, 2, ... A chain of
// multiplications, so that no compiler and no second processor shortens it.
int slowness_of_machine() {
  constexpr int kSteps = 200'000;
  constexpr double kUsual = 0.8e-3;  // seconds, unoptimised, at about 3 GHz
  double best = 1;
  for (int i = 0; i < 3; ++i) {
    const double begin = processor_seconds();
    volatile uint64_t value = 1;
    for (int k = 0; k < kSteps; ++k) value = value * 6364136223846793005u + 1442695040888963407u;
    best = std::min(best, processor_seconds() - begin);
  }
  constexpr double kMost = 10;
  return static_cast<int>(std::clamp(best / kUsual, 1.0, kMost));
}

std::string whole_seconds(double seconds) {
  return std::to_string(static_cast<long>(seconds + 0.5)) + " s";
}

std::string what_was_seen(const ChildResult& child, const TimeLimits& limits) {
  if (!child.was_quiet) return "That is as long as a whole run may take. ";
  const TimeHad& had = child.since_event;
  std::string seen = "Nothing was heard of it for so long";
  constexpr double kMuchLonger = 1.25;
  if (had.clock > kMuchLonger * limits.quiet) {
    seen += " (" + whole_seconds(had.clock) +
            " by the clock; the machine is busy, and waiting for a processor does not count)";
  }
  return seen + ". ";
}

}  // namespace

TimeLimits time_limits(const RunRequest& request) {
  TimeLimits limits;
  const bool python = is_python(*request.exercise);
  // Importing PyTorch takes long, and so does compiling an extension, all in silence.
  if (!request.exercise->python.empty()) limits = {240, 60, 0};
  if (python && request.device == Device::kGpu) limits = {400, 120, 0};
  // Eight cards that were asleep, and communicators over all of them, take tens of seconds.
  if (uses_several_gpus(request)) limits = {240, 40, 0};
  const char* text = std::getenv("GRADE_TIME_LIMIT");
  const double chosen = text == nullptr ? 0 : std::atof(text);
  if (chosen > 0) {
    limits = {6 * chosen, chosen, 0};
  } else {
    const int slowness = slowness_of_machine();
    limits = {slowness * limits.whole, slowness * limits.quiet, 0};
  }
  if (request.own_seconds > 0) limits.whole = request.own_seconds;
  if (request.quiet_seconds > 0) limits.quiet = request.quiet_seconds;
  limits.quiet = std::min(limits.quiet, limits.whole);
  limits.at_work = std::min(kAtWork * limits.quiet, limits.whole);
  return limits;
}

EarlyEnd timed_out(const ChildResult& child, const TimeLimits& limits, const RunRequest& request,
                   const std::string& at_work) {
  const double limit = !child.was_quiet  ? limits.whole
                       : at_work.empty() ? limits.quiet
                                         : limits.at_work;
  const std::string after = "Still running after " + whole_seconds(limit) + ", and stopped. ";
  const std::string longer =
      "GRADE_TIME_LIMIT=" + std::to_string(static_cast<long>(3 * limits.quiet)) +
      " in the environment gives it longer.";
  if (!at_work.empty()) {
    return {kTimeLimit, after + "The test itself was busy, " + at_work +
                            ": nothing says that your code is at fault. This machine is slow at "
                            "it; " +
                            longer};
  }
  if (uses_several_gpus(request)) {
    return {kTimeLimit, after +
                            "A rank waits for another that never makes the same call, or a loop "
                            "does not end. --device sim says which: ./grade explain "
                            "nccl-deadlock."};
  }
  constexpr double kIdle = 0.05;  // of its time
  if (child.was_quiet && child.since_event.processor < kIdle * child.since_event.own) {
    return {kTimeLimit, after + what_was_seen(child, limits) +
                            "It does not compute: it waits for what never comes, such as a lock "
                            "that its owner keeps, a thread that does not end, or an answer that "
                            "nobody gives. Look at the waits of your host code."};
  }
  return {kTimeLimit, after + what_was_seen(child, limits) +
                          "It computes all the time. If a loop does not end, the condition of "
                          "every loop in your host code and kernel is where to look; if this "
                          "machine is slow, " +
                          longer};
}

}  // namespace grade

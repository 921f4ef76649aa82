#include "kit/failing_calls.h"

#include <utility>

#include "kit/classes.h"

namespace kit {
namespace {

constexpr uint64_t kMostRuns = 200;
constexpr uint64_t kMostInstructions = 50'000'000;  // of threads, in these runs; about a second
constexpr char kLearnersFiles[] = ".cu";            // tests are .cpp

std::string made_to_fail(const std::string& call) {
  return "A call that fails: " + call +
         " was made to do nothing and to return an error, after a run without that had gone well. ";
}

std::string what_is_wrong(const std::string& call, bool said_success, const std::string& trouble) {
  const std::string failed = made_to_fail(call);
  if (!trouble.empty()) {
    return failed + "The function did not stop there. " + trouble +
           " Look at the status of every call, and return as soon as one is no success.";
  }
  if (said_success) {
    return failed +
           "The function reported success all the same. Look at the status of every call, and "
           "return the first one that is no success; a launch leaves its own for "
           "cudaGetLastError().";
  }
  return "";
}

// A launcher that returns a cudaError_t returns the first one that is no success, as it is.
std::string another_error(const std::string& call, cudaError_t error) {
  const cudaError_t returned = static_cast<cudaError_t>(context().returned_error);
  if (error == cudaSuccess || returned == cudaSuccess || returned == error) return "";
  return made_to_fail(call) + "The call returned " + cudaGetErrorName(error) +
         ", and the function returned " + cudaGetErrorName(returned) +
         ": the reason is lost. Keep the status of each call as it is, and return the first that "
         "is no success; none that comes later, of a call that clears up or of a wait, may take "
         "its place.";
}

}  // namespace

FailingCalls::FailingCalls(bool asked, std::string names, Site site)
    : asked_(asked && simulated() && !context().only_edges && is_asked("statuses") &&
             context().lines_with_failing_calls.insert(site.line).second),
      names_(std::move(names)) {
  if (asked_) before_.emplace();
}

FailingCalls::~FailingCalls() {
  if (asked_) wsim_fail_call(0, "", "");
}

void FailingCalls::begin_run() {
  if (!asked_) return;
  held_ = Belongings::now();
  if (k_ == 0) instructions_before_ = context().thread_instructions;
  const uint64_t spent = context().thread_instructions - instructions_before_;
  if (stage_ == Stage::kEach && (k_ == kMostRuns || spent > kMostInstructions)) {
    // Two more runs, unless one alone takes long.
    stage_ = spent > 2 * kMostInstructions ? Stage::kDone : Stage::kCounting;
  }
  uint64_t failing = 0;
  if (stage_ == Stage::kEach) failing = ++k_;
  if (stage_ == Stage::kUndisturbed || stage_ == Stage::kCounting) failing = UINT64_MAX;  // none
  if (stage_ == Stage::kLast) {
    failing = last_;
    stage_ = Stage::kDone;
  }
  context().returned_error = cudaSuccess;
  wsim_fail_call(failing, names_.c_str(), kLearnersFiles);
}

bool FailingCalls::can_go_on() {
  if (is_open_) return false;
  stage_ = Stage::kDone;
  before_->restore();
  return true;
}

bool FailingCalls::was_failing_run(bool said_success, bool went_well, const std::string& trouble,
                                   std::string* problem) {
  if (!asked_) return false;
  if (stage_ == Stage::kUndisturbed) {
    const bool any_can_fail = wsim_calls_that_could_fail() > 0;
    wsim_fail_call(0, "", "");
    const bool clean = !is_asked("left_behind") || held_.left_behind(1).empty();
    const bool goes_on = said_success && went_well && clean && any_can_fail;
    stage_ = goes_on ? Stage::kEach : Stage::kDone;
    if (stage_ == Stage::kDone) return false;
    wsim_clear_findings();  // notes: the run that counts makes them again
    problem->clear();
    before_->restore();
    return true;
  }
  const std::string call = wsim_failed_call();
  const cudaError_t error = static_cast<cudaError_t>(wsim_failed_call_error());
  const uint64_t calls = wsim_calls_that_could_fail();
  wsim_fail_call(0, "", "");
  const bool counted = call.empty() && stage_ == Stage::kCounting && trouble.empty() && calls > k_;
  if (call.empty() && !counted) return false;
  for (int device = 0; device < device_count(); ++device) {
    const OnDevice scope(device);
    cudaDeviceSynchronize();  // what the launcher gave it before it stopped
  }
  cudaGetLastError();
  wsim_clear_findings();  // of work that the launcher should not have given
  if (counted) {
    last_ = calls;
    stage_ = Stage::kLast;
    problem->clear();
    before_->restore();
    return true;
  }
  *problem = what_is_wrong(call, said_success, trouble);
  if (problem->empty()) *problem = another_error(call, error);
  std::string left = is_asked("left_behind") ? held_.left_behind(1) : "";
  // Who could not set a device could not set it back either.
  const bool could_set = call.rfind("cudaSetDevice", 0) != 0;
  if (left.empty() && could_set && is_asked("left_behind")) left = device_left_behind();
  if (left_behind_.empty() && !left.empty()) {
    left_behind_ = made_to_fail(call) + "The function reported that, but cleaned up badly. " + left;
  }
  // While a capture or a group of NCCL's calls is open nothing else can run.
  is_open_ = left.find("capture") != std::string::npos ||
             left.find("group of NCCL calls") != std::string::npos;
  if (problem->empty() && is_open_) *problem = left_behind_;
  if (problem->empty()) before_->restore();
  return true;
}

std::string FailingCalls::left_behind() const {
  if (left_behind_.empty()) return "";
  const std::string each_time = held_.left_behind(1);
  return each_time.empty() ? left_behind_ : each_time;
}

void internal::note_error(int error) { context().returned_error = error; }

}  // namespace kit

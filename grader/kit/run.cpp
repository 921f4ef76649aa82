#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>

#include "kit/callers_order.h"
#include "kit/classes.h"
#include "kit/context.h"
#include "kit/failing_calls.h"
#include "kit/kit.h"
#include "kit/left_behind.h"
#include "kit/second_call.h"
#include "kit/who_did_the_work.h"

namespace kit {

// Fills in a Run around one launcher.
class RunRecorder {
 public:
  RunRecorder() {
    count_afresh();
    live_before_ = wsim_live_allocations(&bytes_before_);
  }

  void finish(Run& run) const {
    wsim_read_counters(&run.counters_);
    context().thread_instructions += run.counters_.thread_instructions;
    context().counted_instructions = run.counters_.thread_instructions;
    for (int i = 0; i < wsim_launch_count(); ++i) {
      wsim_launch raw;
      if (wsim_get_launch(i, &raw) != 0) break;
      Launch launch;
      launch.kernel = raw.kernel;
      launch.file = raw.file;
      launch.line = raw.line;
      std::copy(raw.grid, raw.grid + 3, launch.grid);
      std::copy(raw.block, raw.block + 3, launch.block);
      launch.dynamic_shared = raw.dynamic_shared;
      run.launches_.push_back(launch);
    }
    size_t bytes = 0;
    const size_t live = wsim_live_allocations(&bytes);
    if (live > live_before_) run.leaked_allocations_ = live - live_before_;
    if (bytes > bytes_before_) run.leaked_bytes_ = bytes - bytes_before_;
  }

  static std::vector<LineCounters> read_lines() {
    std::vector<LineCounters> lines;
    const int count = wsim_line_count();  // gathers them all: once is enough
    for (int i = 0; i < count; ++i) {
      wsim_line_counters raw;
      if (wsim_get_line(i, &raw) != 0) break;
      lines.push_back({raw.file, raw.line, raw.kernel, raw.counters});
    }
    return lines;
  }

  static void set_failed(Run& run) { run.ok_ = false; }

 private:
  size_t live_before_ = 0, bytes_before_ = 0;
};

namespace {

// The runtime's words, and what to look at first.
std::string describe(cudaError_t error) {
  std::string text = std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
  switch (error) {
    case cudaErrorInvalidConfiguration:
      return text +
             ". Look at <<<grid, block>>>: neither may be 0, and a block has at most 1024 "
             "threads.";
    case cudaErrorIllegalAddress:
      return text +
             ". A thread used an address outside every buffer: look at the guard of the "
             "kernel, and run ./grade sanitize.";
    case cudaErrorInvalidValue:
      return text +
             ". An argument does not fit: a pointer, size or direction of a runtime call, or a "
             "grid or block in <<<>>> that is 0 or too large (a block has at most 1024 threads).";
    default:
      return text + ".";
  }
}

// A fault leaves the device unusable until it is reset. Buffers made before are gone with it.
void recover_device() {
  if (cudaDeviceSynchronize() == cudaSuccess) {
    cudaGetLastError();
    return;
  }
  abandon_buffers();
  cudaDeviceReset();
  cudaGetLastError();
  if (cudaDeviceSynchronize() != cudaSuccess) {
    context().device_lost = true;
    context().stopped_by = context().test;
  }
}

// Calls that tests ask about. They are read as soon as the launcher returns, before the kit's own.
constexpr const char* kCountedCalls[] = {
    "cudaMalloc",
    "cudaFree",
    "cudaMallocHost",
    "cudaHostAlloc",
    "cudaFreeHost",
    "cudaHostRegister",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMallocAsync",
    "cudaMallocFromPoolAsync",
    "cudaFreeAsync",
    "cudaMemcpy",
    "cudaMemcpyAsync",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
    "cudaMemcpy3D",
    "cudaMemcpy3DAsync",
    "cudaMemcpyPeer",
    "cudaMemcpyPeerAsync",
    "cudaMemset",
    "cudaMemsetAsync",
    "cudaMemcpyToSymbol",
    "cudaMemcpyFromSymbol",
    "cudaMemPrefetchAsync",
    "cudaMemAdvise",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaLaunchKernel",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchHostFunc",
    "cudaGraphLaunch",
    "cudaGraphInstantiate",
    "cudaStreamBeginCapture",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamDestroy",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
    "cudaEventCreate",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEventElapsedTime",
    "cudaEventDestroy",
    "cudaFuncSetAttribute",
    "cudaDeviceSynchronize",
    "cudaDeviceReset",
    "cufftMakePlan",  // also in cufftPlan1d and its like
    "cufftExecC2C",
    "cufftExecR2C",
    "cufftExecC2R",
    "cublasSgemm",
    "cublasGemmEx",
    "cublasSgemmBatched",
    "cublasSgemmStridedBatched",
    "ncclAllReduce",
    "ncclReduce",
    "ncclBroadcast",
    "ncclBcast",
    "ncclAllGather",
    "ncclReduceScatter",
    "ncclSend",
    "ncclRecv",
};
constexpr const char* kCountedCudnnCalls[] = {
    "cudnnActivationForward",           "cudnnConvolutionForward",
    "cudnnCreateActivationDescriptor",  "cudnnDestroyActivationDescriptor",
    "cudnnCreateConvolutionDescriptor", "cudnnDestroyConvolutionDescriptor",
    "cudnnCreateFilterDescriptor",      "cudnnDestroyFilterDescriptor",
    "cudnnCreatePoolingDescriptor",     "cudnnDestroyPoolingDescriptor",
    "cudnnCreateTensorDescriptor",      "cudnnDestroyTensorDescriptor",
};

constexpr const char* kCountedBlasCalls[] = {
    "cublasSgemmEx",
    "cublasGemmBatchedEx",
    "cublasGemmStridedBatchedEx",
    "cublasLtMatmulPreferenceCreate",
    "cublasLtMatmulPreferenceDestroy",
};

std::map<std::string, uint64_t> count_calls() {
  std::map<std::string, uint64_t> calls;
  for (const char* name : kCountedCalls) calls[name] = wsim_api_calls(name);
  for (const char* name : kCountedCudnnCalls) calls[name] = wsim_api_calls(name);
  for (const char* name : kCountedBlasCalls) calls[name] = wsim_api_calls(name);
  return calls;
}

// Runs the launcher; "" or why it did not end well.
std::string call(const std::function<void()>& launch, bool between_work, cudaError_t* launched,
                 cudaError_t* ended) {
  const int before = current_device();
  const OnDevice scope(before);  // a launcher may leave another one current
  context().device_left = -1;
  if (between_work) caller_works();
  std::string problem;
  context().in_launcher = context().counted_call = true;
  try {
    launch();
  } catch (const std::exception& error) {
    problem = std::string("The launcher threw an exception: ") + error.what();
  } catch (...) {
    problem = "The launcher threw an exception.";
  }
  context().in_launcher = context().counted_call = false;
  context().calls = count_calls();
  context().waited = waited();
  if (between_work) caller_works();
  if (current_device() != before) context().device_left = current_device();
  *launched = cudaGetLastError();
  if (*launched != cudaSuccess) context().failed_call = wsim_last_failed_call();
  if (*launched == cudaErrorNotReady) *launched = cudaSuccess;  // what a query answers; no failure
  *ended = synchronize_devices();
  cudaGetLastError();
  return problem;
}

std::string judge_errors(cudaError_t launched, cudaError_t ended, cudaError_t expected) {
  const cudaError_t error = launched != cudaSuccess ? launched : ended;
  if (expected != cudaSuccess) {
    if (error == expected) return "";
    return std::string("This run must end with ") + cudaGetErrorName(expected) +
           ", but it ended with " + cudaGetErrorName(error) + ".";
  }
  if (launched != cudaSuccess) {
    const std::string& reason = context().refusal;
    if (!reason.empty()) return reason;
    const std::string& call = context().failed_call;
    return (call.empty() ? "A call of the runtime" : call) + " failed: " + describe(launched);
  }
  if (ended != cudaSuccess) return "The kernel failed: " + describe(ended);
  return "";
}

std::string finding_text(const wsim_finding& finding) {
  std::string text = finding.message;
  if (finding.count > 1) text += " (" + std::to_string(finding.count) + " times)";
  return text;
}

// True if the test declared this finding with expect_finding().
bool is_expected(const wsim_finding& finding) {
  // A run that must end with an error is also reported as one.
  const bool about_error =
      std::string(finding.check) == "launch" || std::string(finding.check) == "api";
  bool expected = context().error_expected && about_error;
  for (ExpectedFinding& candidate : context().expected_findings) {
    if (candidate.check != finding.check) continue;
    if (!candidate.kind.empty() && candidate.kind != finding.kind) continue;
    candidate.seen = true;
    expected = true;
  }
  return expected;
}

}  // namespace

// A race or a missing order explains a value that is read before it is written, not the other way
// round: they are of one kernel, or meet in a line.
static bool explains(const wsim_finding& cause, const wsim_finding& effect) {
  const std::string check = cause.check;
  if (cause.is_note || (check != "racecheck" && check != "streamcheck")) return false;
  if (std::string(effect.check) != "initcheck") return false;
  const auto is_at_effect = [&](const char* file, int line) {
    return line > 0 && line == effect.line && std::string(file) == effect.file;
  };
  const std::string kernel = cause.kernel;
  return (!kernel.empty() && kernel == effect.kernel) || is_at_effect(cause.file, cause.line) ||
         is_at_effect(cause.other_file, cause.other_line);
}

// As they were found, but causes before what they explain.
static std::vector<wsim_finding> findings_in_order() {
  std::vector<wsim_finding> all;
  const int count = wsim_finding_count();  // asked again, it would take back the texts
  for (int i = 0; i < count; ++i) {
    wsim_finding finding;
    if (wsim_get_finding(i, &finding) != 0) break;
    const auto effect = std::find_if(all.begin(), all.end(), [&](const wsim_finding& earlier) {
      return explains(finding, earlier);
    });
    all.insert(effect, finding);
  }
  return all;
}

// True if something was found that will be a failure.
static bool found_something() {
  const Context& now = context();
  const auto counts = [&](const wsim_finding& finding) {
    const bool is_of_edges = now.only_edges && std::string(finding.check) == "initcheck";
    return !finding.is_note && !is_of_edges && !is_expected(finding);
  };
  const std::vector<wsim_finding> all = findings_in_order();
  return std::any_of(all.begin(), all.end(), counts);
}

std::string take_findings() {
  Context& now = context();
  std::string first;
  for (const wsim_finding& finding : findings_in_order()) {
    // Where only the edges run, a kernel may read what a block that was left out would have
    // written.
    if (now.only_edges && std::string(finding.check) == "initcheck") {
      now.read_what_did_not_run = true;
      continue;
    }
    const bool expected = is_expected(finding);
    if (std::string(finding.kind) == "refused") context().refusal = finding.message;
    if (!expected && !finding.is_note && first.empty()) first = finding_text(finding);
    // The same defect in thirteen sizes is one defect.
    const std::string key = std::string(finding.check) + '/' + finding.kind + '/' + finding.file +
                            ':' + std::to_string(finding.line) + '/' +
                            std::to_string(finding.other_line);
    if (!now.reported_findings.insert(key).second) continue;
    now.channel.send("finding",
                     JsonObject()
                         .text("test", now.test)
                         .text("case", case_label())
                         .text("check", finding.check)
                         .text("kind", finding.kind)
                         .text("message", finding.message)
                         .text("file", finding.file)
                         .integer("line", static_cast<uint64_t>(finding.line))
                         .text("other_file", finding.other_file)
                         .integer("other_line", static_cast<uint64_t>(finding.other_line))
                         .text("kernel", finding.kernel)
                         .boolean("is_note", finding.is_note != 0)
                         .integer("count", finding.count)
                         .boolean("expected", expected));
  }
  wsim_clear_findings();
  return first;
}

void check_expected_findings() {
  for (const ExpectedFinding& expected : context().expected_findings) {
    if (expected.seen) continue;
    const std::string kind = expected.kind.empty() ? "" : " (" + expected.kind + ")";
    fail("This test provokes a defect on purpose, but " + expected.check + kind +
             " found nothing: the defect did not happen.",
         expected.site);
  }
}

static void send_counters(const Counters& c) {
  JsonObject fields;
#define WSIM_COUNTER(name, meaning) fields.integer(#name, c.name);
#include <warplings/counters.def>
#undef WSIM_COUNTER
  Context& now = context();
  now.channel.send(
      "counters",
      JsonObject().text("test", now.test).text("case", case_label()).raw("counters", fields.str()));
}

void count_afresh() {
  Counters counters = {};
  wsim_read_counters(&counters);
  context().thread_instructions += counters.thread_instructions - context().counted_instructions;
  context().counted_instructions = 0;
  wsim_reset_counters();
}

// What the classes object to in a run that went well.
std::string class_problem(const Run& run, const Belongings& before, int calls,
                          const std::string& left_on_error) {
  if (!simulated()) return "";
  std::string problem;
  if (is_asked("who_did_the_work")) problem = who_did_the_work(run);
  if (problem.empty() && is_asked("waits") && !hands_a_result_to_the_host()) {
    problem = context().waited;
  }
  if (!problem.empty() || !is_asked("left_behind")) return problem;
  if (!left_on_error.empty()) return left_on_error;
  const std::string device = device_left_behind();
  return device.empty() ? before.left_behind(calls) : device;
}

// What is wrong with a run: what its launcher threw, or what was found, or how it ended, or what it
// did to the buffers.
static std::string judge_run(std::string problem, cudaError_t launched, cudaError_t ended,
                             cudaError_t expected) {
  const std::string finding = take_findings();  // names the line: more than an error code
  context().error_expected = false;
  if (problem.empty()) problem = finding;
  if (problem.empty()) problem = judge_errors(launched, ended, expected);
  if (problem.empty() && ended == cudaSuccess) problem = check_buffers();
  return problem;
}

// The launcher of a run, which may say whether all went well.
struct Launcher {
  std::function<bool()> launch;
  bool says_status;
  std::string status;  // the type's name
};

// "cublas cuda" for "14cublasStatus_t", "" for a bool: how the functions begin whose errors a
// status can tell. A library's has a value for an error of the runtime, too.
static std::string families_of(const std::string& status) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto begin = std::find_if_not(status.begin(), status.end(), is_digit);
  if (begin == status.begin()) return "";
  const std::string family(begin, std::find_if_not(begin, status.end(), is_lower));
  return family == "cuda" ? family : family + " cuda";
}

// The case has not failed yet, and there is a device.
static bool can_run(const std::string& what, Site site) {
  Context& now = context();
  if (internal::case_failed()) return false;
  now.run_name = what;
  send_properties();
  if (now.device_lost) fail("Not run: the device stopped working in " + now.stopped_by + ".", site);
  return !now.device_lost;
}

static void keep_class_problem(const std::string& objection, Site site) {
  Context& now = context();
  if (!now.class_problem.empty()) return;
  now.class_problem = objection;
  now.class_problem_site = site;
}

// The caller works before and after, unless the test is about something else.
static bool is_between_work(cudaError_t expected) {
  return simulated() && is_asked("streams") && expected == cudaSuccess &&
         context().expected_findings.empty();
}

static Run run_launcher(const std::string& what, const Launcher& launcher, Site site) {
  Context& now = context();
  Run result;
  if (!can_run(what, site)) {
    RunRecorder::set_failed(result);
    return result;
  }
  // The buffers are complete, for streams that do not wait for the default stream as well: a copy
  // from pageable memory returns before its last bytes are on the device.
  synchronize_devices();
  cudaGetLastError();  // what happened before is not this launcher's fault
  const Belongings before = Belongings::now();
  const cudaError_t expected = now.expected_error;
  EarlierCalls earlier(site);
  now.called_again.clear();
  if (earlier.wanted()) earlier.make([&] { launcher.launch(); });
  now.expected_error = cudaSuccess;
  cudaError_t launched = cudaSuccess, ended = cudaSuccess;
  std::string problem, on_error;
  std::optional<RunRecorder> recorder;
  FailingCalls failing(launcher.says_status && expected == cudaSuccess,
                       families_of(launcher.status), site);
  for (bool counts = false; !counts;) {
    recorder.emplace();
    failing.begin_run();
    bool said_success = false;
    problem = call([&] { said_success = launcher.launch(); }, is_between_work(expected), &launched,
                   &ended);
    std::string trouble = problem;
    if (trouble.empty() && ended != cudaSuccess) trouble = "The kernel failed: " + describe(ended);
    const bool went_well = trouble.empty() && launched == cudaSuccess && !found_something();
    counts = !failing.was_failing_run(said_success, went_well, trouble, &trouble);
    if (counts || trouble.empty()) continue;
    // The values of the run that counts say more: this is told if they are right.
    if (ended == cudaSuccess && failing.can_go_on()) {
      on_error = trouble;
      continue;
    }
    if (ended != cudaSuccess) recover_device();
    RunRecorder::set_failed(result);
    fail(trouble, site);
    return result;
  }
  const std::string left_on_error = failing.left_behind();
  recorder->finish(result);
  earlier.remember_cost(result.counters().thread_instructions);
  now.ran = launched == cudaSuccess;  // else there is no launch to summarise
  now.last_run = result;
  now.last_lines = RunRecorder::read_lines();
  if (simulated()) send_counters(result.counters());
  // Gives back moved memory, before anybody counts what is left.
  const bool well = launched == cudaSuccess && ended == cudaSuccess;
  if (well) now.called_again = earlier.finish();
  std::string objection = well ? class_problem(result, before, earlier.calls(), left_on_error) : "";
  if (!on_error.empty()) objection = on_error;
  problem = judge_run(problem, launched, ended, expected);
  // Where this call suffers from what an earlier one left, that comes first: undisturbed it had
  // gone well.
  if (!problem.empty() && launched != cudaSuccess && !left_on_error.empty())
    problem = left_on_error;
  if (!problem.empty() && !on_error.empty()) problem = on_error;
  if (problem.empty()) keep_class_problem(objection, site);
  if (!well) recover_device();
  if (problem.empty()) return result;
  RunRecorder::set_failed(result);
  RunRecorder::set_failed(now.last_run);
  fail(problem, site);
  return result;
}

Run run(const std::function<void()>& launch, Site site) { return run("", launch, site); }

Run run(const std::string& what, const std::function<void()>& launch, Site site) {
  return run_launcher(what, {[&] { return launch(), true; }, false, ""}, site);
}

Run internal::run_reporting(const std::string& what, const std::function<bool()>& launch,
                            const char* status, Site site) {
  return run_launcher(what, {launch, true, status}, site);
}

std::string captured_output(const std::function<void()>& body) {
  testing::internal::CaptureStdout();
  context().output_captured = true;
  body();
  context().output_captured = false;
  cudaDeviceSynchronize();  // device printf arrives at a synchronisation
  return testing::internal::GetCapturedStdout();
}

bool expect_no_leak(const Run& run, Site site) {
  if (run.leaked_allocations() == 0) return true;
  const size_t count = run.leaked_allocations();
  return fail(std::to_string(count) + (count == 1 ? " allocation (" : " allocations (") +
                  std::to_string(run.leaked_bytes()) +
                  " bytes) made by this function were not freed: every cudaMalloc needs a cudaFree "
                  "on every way out.",
              site);
}

uint64_t api_calls(const char* function) {
  const auto found = context().calls.find(function);
  if (found != context().calls.end()) return found->second;
  fail(std::string("kit::api_calls does not count ") + function +
       ": add it to kCountedCalls in grader/kit/run.cpp.");
  return 0;
}

uint64_t api_calls_like(const char* begin) {
  uint64_t sum = 0;
  for (const auto& [name, calls] : context().calls) {
    if (name.rfind(begin, 0) == 0) sum += calls;
  }
  return sum;
}

bool simulated() { return wsim_active() != 0; }

int work_scale(int in_simulator, int on_gpu) {
  // Set by ./grade profile, which shows both sides' counters of the same work.
  const char* sizes = std::getenv("GRADE_SIZES");
  const bool small = sizes != nullptr && std::string(sizes) == "simulator";
  return simulated() || small ? in_simulator : on_gpu;
}

double milliseconds(const std::function<void()>& launch) {
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  launch();
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float time = 0;
  cudaEventElapsedTime(&time, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return time;
}

void expect_finding(const char* check, const char* kind, Site site) {
  if (simulated()) context().expected_findings.push_back({check, kind, site});
}

void expect_cuda_error(cudaError_t error) { context().expected_error = error; }

}  // namespace kit

// What the kit knows about the test that runs: its case, its buffers, its last run. The functions
// of kit.h are free functions, as GoogleTest's are, so they need one place to meet; this is the
// only mutable state of the kit, and the listener starts it afresh for every test.
#ifndef WARPLINGS_KIT_CONTEXT_H_
#define WARPLINGS_KIT_CONTEXT_H_

#include <gtest/gtest-spi.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "kit/channel.h"
#include "kit/kit.h"

namespace kit {

namespace internal {
class SparseMemory;  // kit/sparse.h
}

struct LineCounters {
  std::string file;
  int line = 0;
  std::string kernel;
  Counters counters = {};
};

class EarlierCalls;  // kit/second_call.h
class Mistake;       // kit/mistake.h

struct ExpectedFinding {
  std::string check, kind;
  Site site;
  bool seen = false;
};

struct Context {
  // ---- of the program
  Channel channel;
  uint64_t base_seed = 0;
  bool seed_given = false;
  uint64_t thread_instructions = 0;   // simulated so far
  uint64_t counted_instructions = 0;  // of those, still in the simulator's counters
  bool device_lost = false;           // a fault that no reset could clear
  std::string stopped_by;             // the test in which that happened
  bool finished = false;              // main() has sent its last event
  std::set<internal::Allocation*> allocations;
  std::set<internal::SparseMemory*> sparse;
  std::set<int> devices;  // on which the kit has had memory

  // ---- of the running test
  std::string test;  // "Suite.Name", "" between tests
  uint64_t draws = 0;
  std::vector<std::string> cases;                        // names of nested cases, outermost first
  testing::TestPartResultArray* case_results = nullptr;  // failures of the innermost case
  std::string run_name;
  bool ran = false;  // kit::run has run in this case
  Run last_run;
  std::vector<LineCounters> last_lines;
  std::map<std::string, uint64_t> calls;  // of the runtime, by the last run
  // What a wrong value of a buffer suggests, by its name (kit/second_call.h).
  std::map<std::string, std::string> called_again;
  std::vector<const Mistake*> mistakes;  // that comparisons try
  // What a class of grader/tests/classes objects to, until the case has ended without a failure.
  std::string class_problem;
  Site class_problem_site = {"", 0};
  bool compared = false, explained = false;     // the case: values were wrong, and a guess says how
  bool in_launcher = false;                     // of a kit::run
  bool counted_call = false;                    // the one that is compared and counted
  const EarlierCalls* earlier_calls = nullptr;  // of this run, if there were any
  bool output_captured = false;                 // inside captured_output
  bool order_chosen = false;                    // inside in_block_order
  bool other_device = false;                    // in a case on device 1
  bool other_device_tried = false;              // of this test: a case has run on device 1
  bool other_order = false;                     // in a case whose last block comes first
  bool other_order_tried = false;               // of this test
  bool any_begin = false;                       // in a case whose arrays begin at any element
  bool any_begin_tried = false;                 // of this test
  bool has_words = false;                       // in this case: arrays that invite wide accesses
  bool has_short_input = false;                 // in this case: an array of less than one vector
  size_t input_bytes = 0;                       // of this case
  size_t least_input_tried = SIZE_MAX;          // of this test: of the cases that were short
  bool in_doubt = false;                        // ... in which no condition alone is the reason
  bool only_edges = false;                      // inside at_largest
  bool read_what_did_not_run = false;           // there: a value of a block that was left out
  std::vector<ExpectedFinding> expected_findings;
  std::set<std::string> reported_findings;
  std::set<int> lines_with_failing_calls;    // of this test: kit::run has been asked there
  cudaError_t expected_error = cudaSuccess;  // of the next run
  bool error_expected = false;               // of the run whose findings are taken now
  std::string waited;                        // the message of class "waits" for the last launcher
  int device_left = -1;     // the current device after the last launcher, if it is another
  int returned_error = 0;   // the last launcher's own word, if it returns a cudaError_t
  std::string failed_call;  // of the last launcher that left an error: "cudaMalloc at x.cu:12"
  std::string refusal;      // why the last launch was refused, in the simulator's words
  int properties_sent = 0;
  int launches_sent = 0;
  // Failure text of a case that Cases has not reported yet, as a finished line for the channel and
  // as text for the terminal: whatever ends the program early writes it out.
  std::string pending_line, pending_text;
};

Context& context();

// What the blocks of a case do that is run once more with the last of them first.
const char* order_of_another_run();

// "n = 1025", "rows = 3, cols = 5", or "" outside cases.
std::string case_name();
// The same with the name of the run: "n = 1025, the timed call".
std::string case_label();
// The last part of a path.
std::string base_name(const std::string& path);

// What the test itself does beside a launcher is its own affair.
bool is_test_file(const std::string& path);

// Sends RecordProperty values that have not been sent yet.
void send_properties();
// Sends the launches of the last run, at most four per test.
void send_launches();
// What the kit does itself from now on, which may take long: "copies to the device". "": the
// learner's code runs. The grader waits for a new event, and says what it has waited for.
void report_at_work(const std::string& doing);
// The event of one failure.
JsonObject failure_fields(const std::string& file, int line, const std::string& message);

// kit::fail for results that are wrong: where nothing was launched, that is why.
bool fail_results(const std::string& message, Site site);

// Reports what the simulator found since the last call. Returns the message of the first finding
// that is a failure, or "".
std::string take_findings();

// Fails for every finding that the test declared and that never came.
void check_expected_findings();

// Writes the failure that has not been reported yet. Async-signal-safe.
void flush_pending();

// Memory of the kit lies on it: synchronize_devices() waits for it as well.
void uses_device(int device);
// Waits for all devices in use, or for the current one; the first error.
cudaError_t synchronize_devices();

// What follows is counted from zero; what was counted goes to Context::thread_instructions.
void count_afresh();

// Checks that buffers make after a run; "" or what is wrong.
std::string check_buffers();
// What the buffers hold, to be put back after a run that was made to fail.
class BuffersBefore {
 public:
  BuffersBefore();
  void restore() const;

 private:
  struct Copy {
    const internal::Allocation* allocation;
    std::vector<unsigned char> bytes;
    std::vector<uint8_t> written;  // one for each byte
  };
  std::vector<Copy> copies_;
};
// After a device reset, or when the device is lost: buffers must not touch their memory any more.
void abandon_buffers();

}  // namespace kit

#endif  // WARPLINGS_KIT_CONTEXT_H_

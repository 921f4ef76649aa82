#include <algorithm>
#include <exception>

#include "kit/classes.h"
#include "kit/context.h"
#include "kit/kit.h"
#include "kit/left_behind.h"
#include "kit/second_call.h"

namespace kit {
namespace {

// Work that failing code may still do after its first failure, in simulated instructions: enough to
// count the other cases, not enough to sit through thirteen endless loops. Counted, not timed, so
// that the same code gets the same message everywhere.
constexpr uint64_t kInstructionsAfterFailure = 100'000'000;
constexpr size_t kNamesShown = 6;

std::string count_of(size_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

// "n = 31, 33, 127": names that begin alike are not repeated.
std::string join_names(const std::vector<std::string>& names) {
  std::string out, last_prefix;
  for (size_t i = 0; i < names.size() && i < kNamesShown; ++i) {
    const size_t equals = names[i].find(" = ");
    const bool alone = names[i].find(',') == std::string::npos && equals != std::string::npos;
    const std::string prefix = alone ? names[i].substr(0, equals + 3) : "";
    const bool again = !prefix.empty() && prefix == last_prefix;
    out += (i == 0 ? "" : ", ") + (again ? names[i].substr(prefix.size()) : names[i]);
    last_prefix = prefix;
  }
  return names.size() > kNamesShown ? out + ", ..." : out;
}

// ADD_FAILURE_AT without its word "Failed".
void add_failure(const char* file, int line, const std::string& message) {
  GTEST_MESSAGE_AT_(file, line, message.c_str(), testing::TestPartResult::kNonFatalFailure);
}

std::string launch_sizes(const Launch& launch) {
  const auto product = [](const unsigned* sizes) {
    if (sizes[1] == 1 && sizes[2] == 1) return std::string();
    std::string text = " (" + std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]);
    if (sizes[2] != 1) text += " x " + std::to_string(sizes[2]);
    return text + ")";
  };
  const uint64_t per_block = launch.blocks() == 0 ? 0 : launch.threads() / launch.blocks();
  return count_of(launch.blocks(), "block") + product(launch.grid) + " of " +
         count_of(per_block, "thread") + product(launch.block) + " = " +
         count_of(launch.threads(), "thread");
}

// True if exactly the failing sizes leave a last block partly used.
bool partial_blocks(const std::vector<std::string>& failed, const std::vector<std::string>& passed,
                    uint64_t block) {
  if (block < 2 || passed.empty()) return false;
  const auto is_multiple = [&](const std::string& name, bool multiple) {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits == name.size() || name.find(',') != std::string::npos) return false;
    return (std::stoull(name.substr(digits)) % block == 0) == multiple;
  };
  return std::all_of(failed.begin(), failed.end(),
                     [&](const std::string& name) { return is_multiple(name, false); }) &&
         std::all_of(passed.begin(), passed.end(),
                     [&](const std::string& name) { return is_multiple(name, true); });
}

std::string launch_summary() {
  const Context& now = context();
  if (!now.ran || !simulated()) return "";
  const std::vector<Launch>& launches = now.last_run.launches();
  if (launches.empty()) return "";
  const Launch& launch = launches.front();
  std::string text = "\nThe launch";
  if (!launch.file.empty()) {
    text += " at " + base_name(launch.file) + ":" + std::to_string(launch.line);
  }
  text += " has " + launch_sizes(launch) + ".";
  if (launches.size() == 2) text += " 1 more launch follows.";
  if (launches.size() > 2) {
    text += " " + std::to_string(launches.size() - 1) + " more launches follow.";
  }
  return text;
}

}  // namespace

bool internal::case_failed() {
  const Context& now = context();
  if (now.case_results != nullptr) return now.case_results->size() > 0;
  return testing::Test::HasFailure();
}

// What the other calls of the launcher say about a wrong buffer: of the one that the message names,
// or of any.
static std::string called_again(const std::string& message) {
  const std::map<std::string, std::string>& suspicions = context().called_again;
  for (const auto& [name, text] : suspicions) {
    if (message.find(name) != std::string::npos) return text + "\n";
  }
  return suspicions.empty() ? "" : suspicions.begin()->second + "\n";
}

void report_class_problem() {
  Context& now = context();
  const std::string problem = std::move(now.class_problem);
  now.class_problem.clear();
  if (!problem.empty()) fail(problem, now.class_problem_site);
}

bool fail_results(const std::string& wrong, Site site) {
  const Context& now = context();
  const std::string message = called_again(wrong) + wrong;
  const Counters& counters = now.last_run.counters();
  // A call of a CUDA library moves bytes without a launch.
  const bool idle = now.ran && simulated() && now.last_run.launches().empty() &&
                    counters.global_load_bytes + counters.global_store_bytes == 0;
  return fail(idle ? message + "\nNo kernel was launched." : message, site);
}

const char* order_of_another_run() { return is_asked("few_blocks") ? "few" : "reversed"; }

bool fail(const std::string& message, Site site) {
  if (internal::case_failed()) return false;
  const Context& now = context();
  const std::string label = case_label();
  std::string text = (label.empty() ? "" : label + ": ");
  // What is the reason comes before what it leads to.
  if (now.in_doubt) {
    text +=
        "Run once, this case passes. Run again where another device is current, the last block "
        "comes first and arrays begin at any element, it fails; each of these alone it passes. So "
        "look first for what is kept from an earlier call: a static variable, an address, a "
        "device.\n";
  } else if (now.other_device) {
    text +=
        "With device 0 current this case passes; what differs here is the device alone. The arrays "
        "lie on device 1, which is current when the function is called. What it makes and launches "
        "belongs there, in every thread of the host: take the device from cudaGetDevice. It is "
        "another card, too, with fewer multiprocessors and less shared memory and L2, where "
        "managed memory moves as a whole: what is asked of a device, is asked of this one, each "
        "time.\n";
  }
  if (now.other_order && !now.in_doubt) {
    const bool few = std::string(order_of_another_run()) == "few";
    text +=
        "With the first block first this case passes; what differs here is the order alone: the "
        "last block comes first" +
        std::string(few ? "" : ", and of the warps of a block the last") +
        ". CUDA promises no order: what a block or a warp needs of another one, it has to wait "
        "for, or to take by atomics.";
    if (few) {
      text +=
          " Half of the blocks run at a time, as where other work has the rest of the card. Who "
          "waits for a block that has not begun keeps its place from it: wait for blocks that have "
          "begun, as tickets tell (only a cooperative launch is promised to run all at once).";
    }
    text += "\n";
  }
  if (now.any_begin && !now.in_doubt) {
    text +=
        "With every array at a multiple of 256 bytes this case passes; what differs here is that "
        "alone: each array begins one element later. The header promises no more: whoever takes "
        "several elements at once, such as a float4 or a word of four bytes, looks at the address "
        "first, and takes them one by one where it is no multiple of that size, never more of them "
        "than there are.\n";
  }
  text += message + launch_summary();
  if (now.seed_given) {
    text += "\nThe inputs can be had again with GRADE_SEED=" + std::to_string(now.base_seed) + ".";
  }
  send_launches();
  add_failure(site.file, site.line, text);
  return false;
}

// What a passing case is run under once more.
struct Conditions {
  bool other_device = false, other_order = false, any_begin = false;
  bool any() const { return other_device || other_order || any_begin; }
};

struct Cases::State {
  std::vector<std::string> passed, failed, not_run;
  std::string file, message;  // of the first failure
  int line = 0;
  uint64_t instructions_before_failure = 0;
  uint64_t block = 0;  // threads per block of the first launch of the first failing case
  // What is told are wrong values, and nothing says how they are wrong.
  bool in_the_dark = false;

  bool run(const std::string& name, const std::function<void()>& body,
           uint64_t instructions_before);
  void run_again(const std::string& name, const std::function<void()>& body,
                 const Conditions& conditions);
  void keep_first_failure(const std::string& name, const testing::TestPartResultArray& results,
                          uint64_t instructions_before);
};

// Under these conditions; what went wrong on any device is forgotten afterwards.
class Again {
 public:
  explicit Again(const Conditions& conditions)
      : scope_(conditions.other_device ? 1 : current_device()) {
    Context& now = context();
    now.other_device = conditions.other_device;
    wsim_make_unlike(conditions.other_device ? 1 : -1);
    now.other_order = conditions.other_order;
    now.any_begin = conditions.any_begin;
    if (conditions.other_order) wsim_select_order(order_of_another_run());
  }
  ~Again() {
    context().other_device = context().any_begin = false;
    synchronize_devices();  // what is queued belongs to the order that it was meant for
    wsim_make_unlike(-1);
    if (context().other_order) wsim_select_order("");
    context().other_order = false;
    wsim_forgive_faults();
    cudaGetLastError();
  }
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  OnDevice scope_;
};

// The first case of a test that passes is run once more where another device is current: what the
// function makes and launches belongs there, and as it is another card, too, so does what the
// function asks. And the first one that has several blocks, with the
// last of them first: no answer may depend on who comes first. So is the first one whose arrays
// invite wide accesses, where each begins one element later, and each that is shorter than those
// before it and than a vector: such an array may end before the first whole vector begins. Not one
// that takes long, or uses what a case around it has made on the first device.
static Conditions worth_another_run(uint64_t instructions_before, bool alone) {
  constexpr uint64_t kMostInstructions = 5'000'000;  // of threads
  Context& now = context();
  if (!simulated() || !now.ran) return {};
  const std::vector<Launch>& launches = now.last_run.launches();
  const bool several = std::any_of(launches.begin(), launches.end(),
                                   [](const Launch& launch) { return launch.blocks() > 1; });
  const bool device = !now.other_device_tried && is_asked("other_device");
  const bool shorter = now.has_short_input && now.input_bytes < now.least_input_tried;
  const bool begin =
      (shorter || (now.has_words && !now.any_begin_tried)) && is_asked("array_begin");
  const bool order = several && !now.other_order_tried && is_asked("block_order");
  now.other_device_tried = true;
  const bool special = now.output_captured || now.order_chosen || now.only_edges ||
                       !now.expected_findings.empty() || is_watched();
  if (special || !alone || now.thread_instructions - instructions_before >= kMostInstructions ||
      current_device() != 0) {
    return {};
  }
  now.other_order_tried = now.other_order_tried || order;
  now.any_begin_tried = now.any_begin_tried || (begin && now.has_words);
  if (begin && shorter) now.least_input_tried = now.input_bytes;
  return {device && device_count() > 1, order, begin};
}

// `instructions_before`: executed before the case.
void Cases::State::keep_first_failure(const std::string& name,
                                      const testing::TestPartResultArray& results,
                                      uint64_t instructions_before) {
  Context& now = context();
  const testing::TestPartResult& first = results.GetTestPartResult(0);
  file = first.file_name() == nullptr ? "" : first.file_name();
  line = first.line_number();
  message = first.summary();  // message() may end in a stack trace
  // Newer GoogleTests end every message with a line break.
  while (!message.empty() && message.back() == '\n') message.pop_back();
  const std::string label = case_label();
  // EXPECT_EQ and its like know nothing of cases.
  if (message.find(name) == std::string::npos) {
    message = (label.empty() ? "" : label + ", ") + name + ": " + message;
  }
  instructions_before_failure = instructions_before;
  if (now.ran && !now.last_run.launches().empty()) {
    const Launch& launch = now.last_run.launches().front();
    if (launch.blocks() > 0) block = launch.threads() / launch.blocks();
  }
  if (now.channel.open()) {
    now.pending_line = Channel::line("failure", failure_fields(file, line, message));
  }
  now.pending_text = message + "\n";
}

Cases::Cases() : state_(new State) {}

void Cases::run(const std::string& name, const std::function<void()>& body) {
  Context& now = context();
  // A case around these cases has failed already: it stays silent.
  if (internal::case_failed()) return;
  report_class_problem();  // of what ran before the cases
  if (internal::case_failed()) return;
  send_properties();  // the code of a case may end the program, or never end
  State& state = *state_;
  const bool enough =
      !state.failed.empty() &&
      (now.device_lost ||
       now.thread_instructions - state.instructions_before_failure > kInstructionsAfterFailure);
  if (enough) {
    state.not_run.push_back(name);
    return;
  }
  const uint64_t begin = now.thread_instructions;
  const bool alone = now.allocations.empty() && Belongings::now().empty();
  if (!state.run(name, body, begin)) return;
  state.passed.push_back(name);
  state.run_again(name, body, worth_another_run(begin, alone));
}

// Under all of the conditions at once; only what fails then is asked which of them it was.
void Cases::State::run_again(const std::string& name, const std::function<void()>& body,
                             const Conditions& conditions) {
  constexpr char kOtherDevice[] = ", where device 1 is current";
  constexpr char kOtherOrder[] = ", where the last block comes first";
  constexpr char kAnyBegin[] = ", where arrays begin at any element";
  constexpr char kTogether[] = ", run again under other conditions";
  if (!conditions.any()) return;
  const auto passes = [&](State& state, const char* condition, const Conditions& asked) {
    const Again again(asked);
    return state.run(name + condition, body, context().thread_instructions);
  };
  const char* const either = conditions.other_device  ? kOtherDevice
                             : conditions.other_order ? kOtherOrder
                                                      : kAnyBegin;
  State both;
  if (passes(both, either, conditions)) return;
  // Without any condition, too, it may fail the second time: then they are not the reason.
  State plain;
  const bool is_reason = passes(plain, ", run once more", {});
  if (!is_reason) std::swap(both, plain);
  const int conditions_asked =
      conditions.other_device + conditions.other_order + conditions.any_begin;
  if (is_reason && conditions_asked > 1) {
    if (conditions.other_device && !passes(*this, kOtherDevice, {true, false, false})) return;
    if (conditions.other_order && !passes(*this, kOtherOrder, {false, true, false})) return;
    if (conditions.any_begin && !passes(*this, kAnyBegin, {false, false, true})) return;
    // None of them alone: what an earlier run has left decides, or all of them together.
    State together;
    context().in_doubt = true;
    passes(together, kTogether, conditions);
    context().in_doubt = false;
    if (!together.failed.empty()) std::swap(both, together);
  }
  failed.push_back(both.failed.front());
  if (failed.size() > 1) return;
  file = both.file;
  line = both.line;
  message = both.message;
  block = both.block;
  instructions_before_failure = both.instructions_before_failure;
}

// True if the case passes.
bool Cases::State::run(const std::string& name, const std::function<void()>& body,
                       uint64_t instructions_before) {
  Context& now = context();
  testing::TestPartResultArray results;
  testing::TestPartResultArray* const outer = now.case_results;
  now.cases.push_back(name);
  now.run_name.clear();
  now.ran = now.compared = now.explained = false;
  now.called_again.clear();
  now.has_words = now.has_short_input = false;
  now.input_bytes = 0;
  {
    testing::ScopedFakeTestPartResultReporter capture(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    now.case_results = &results;
    try {
      body();
    } catch (const std::exception& error) {
      fail(std::string("An exception ended the case: ") + error.what());
    }
    const std::string finding = take_findings();
    if (!finding.empty()) fail(finding);
    report_class_problem();
  }
  now.case_results = outer;
  now.cases.pop_back();
  now.run_name.clear();
  if (results.size() == 0) return true;
  failed.push_back(name);
  const bool first = failed.size() == 1;
  // A larger case may show what is wrong with the values of a small one.
  const bool same_place = results.GetTestPartResult(0).line_number() == line;
  const bool says_more = !first && in_the_dark && now.compared && now.explained && same_place;
  if (says_more) std::swap(failed.front(), failed.back());
  if (first || says_more) {
    keep_first_failure(name, results, instructions_before);
    in_the_dark = now.compared && !now.explained;
  }
  return false;
}

Cases::~Cases() {
  const State& state = *state_;
  if (state.failed.empty()) return;
  context().pending_line.clear();
  context().pending_text.clear();
  std::string message = state.message;
  const std::vector<std::string> others(state.failed.begin() + 1, state.failed.end());
  if (!others.empty()) {
    message += "\nand " + count_of(others.size(), "more case") +
               (others.size() == 1 ? " fails: " : " fail: ") + join_names(others);
    if (partial_blocks(state.failed, state.passed, state.block)) {
      message += " (all with a last, partial block)";
    }
  }
  if (!state.passed.empty()) {
    message += std::string("\n") +
               (others.empty() ? "all others" : count_of(state.passed.size(), "case")) +
               (state.passed.size() == 1 && !others.empty() ? " passes: " : " pass: ") +
               join_names(state.passed);
  }
  if (!state.not_run.empty()) {
    message +=
        "\n" + count_of(state.not_run.size(), "case") + " not run: " + join_names(state.not_run);
  }
  add_failure(state.file.c_str(), state.line, message);
}

}  // namespace kit

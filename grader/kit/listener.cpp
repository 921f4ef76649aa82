#include "kit/listener.h"

#include <unistd.h>

#include <cstdio>

#include "kit/context.h"
#include "kit/output_mark.h"

namespace kit {
namespace {

std::string full_name(const testing::TestInfo& info) {
  return std::string(info.test_suite_name()) + "." + info.name();
}

// Leaves what belongs to the program and forgets what belonged to the last test.
void begin_test(const std::string& name) {
  Context& now = context();
  now.test = name;
  now.draws = 0;
  now.cases.clear();
  now.case_results = nullptr;
  now.run_name.clear();
  now.ran = false;
  now.last_run = Run();
  now.last_lines.clear();
  now.calls.clear();
  now.called_again.clear();
  now.class_problem.clear();
  now.other_device_tried = now.other_order_tried = now.any_begin_tried = false;
  now.least_input_tried = SIZE_MAX;
  now.expected_findings.clear();
  now.reported_findings.clear();
  now.lines_with_failing_calls.clear();
  now.expected_error = cudaSuccess;
  now.properties_sent = 0;
  now.launches_sent = 0;
  wsim_clear_findings();
}

// In both streams, behind what earlier tests printed.
void mark_output(const std::string& test) {
  std::fflush(stdout);
  const std::string line = kOutputMark + test + "\n";
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) write_all(fd, line.data(), line.size());
}

}  // namespace

void Listener::OnTestIterationStart(const testing::UnitTest& program, int /*iteration*/) {
  std::vector<std::string> tests;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& info = *suite.GetTestInfo(k);
      if (info.should_run()) tests.push_back(json_string(full_name(info)));
    }
  }
  context().channel.send(
      "start", JsonObject().boolean("simulated", simulated()).raw("tests", json_array(tests)));
}

void Listener::OnTestStart(const testing::TestInfo& info) {
  begin_test(full_name(info));
  if (context().channel.open()) mark_output(context().test);
  start_ = std::chrono::steady_clock::now();
  context().channel.send("test_start", JsonObject().text("test", context().test));
}

void Listener::OnTestPartResult(const testing::TestPartResult& result) {
  if (!result.failed()) return;
  const char* file = result.file_name() == nullptr ? "" : result.file_name();
  context().channel.send("failure", failure_fields(file, result.line_number(), result.summary()));
}

void Listener::OnTestEnd(const testing::TestInfo& info) {
  const std::string stray = take_findings();  // of launches outside kit::run
  if (!stray.empty()) fail(stray);
  report_class_problem();
  check_expected_findings();
  context().properties_sent = 0;  // all again: a test may have changed one since
  send_properties();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start_;
  Context& now = context();
  now.channel.send("test_end", JsonObject()
                                   .text("test", now.test)
                                   .boolean("passed", info.result()->Passed())
                                   .number("ms", time.count()));
  now.test.clear();
}

}  // namespace kit

#include "failure_of.h"

#include <gtest/gtest-spi.h>

#include "kit/context.h"

namespace kit_tests {

std::vector<std::string> failures_of(const std::function<void()>& body) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter capture(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    kit::context().case_results = &results;
    body();
    kit::report_class_problem();
    kit::context().case_results = nullptr;
  }
  std::vector<std::string> messages;
  for (int i = 0; i < results.size(); ++i) {
    // Newer GoogleTests end every message with a line break; the kit sends none.
    std::string message = results.GetTestPartResult(i).summary();
    while (!message.empty() && message.back() == '\n') message.pop_back();
    messages.push_back(message);
  }
  return messages;
}

std::string failure_of(const std::function<void()>& body) {
  const std::vector<std::string> messages = failures_of(body);
  if (messages.empty()) return "";
  if (messages.size() > 1) return std::to_string(messages.size()) + " failures";
  return messages[0];
}

}  // namespace kit_tests

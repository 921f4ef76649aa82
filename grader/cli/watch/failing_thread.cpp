#include "cli/watch/failing_thread.h"

#include <cstdlib>

#include "cli/verdict.h"
#include "course/pattern.h"
#include "course/text.h"

namespace grade {
namespace {

// "33" or "(1, 2)" as numbers.
std::vector<int> coordinates_of(const std::string& text) {
  std::vector<int> numbers;
  static const course::Pattern kNumber("[0-9]+");
  for (auto match = kNumber.find(text); match; match = kNumber.find(match->rest)) {
    numbers.push_back(std::atoi(match->groups[0].c_str()));
  }
  return numbers;
}

// The number of a thread in its block, which has `block` threads in each direction.
int number_in_block(const std::vector<int>& thread, const int (&block)[3]) {
  int number = 0;
  for (size_t i = thread.size(); i-- > 0;) number = number * block[i] + thread[i];
  return number;
}

// Of the kernel that a finding is about, or of the first one.
const LaunchInfo* launch_of(const TestReport& test, const std::string& kernel) {
  for (const LaunchInfo& launch : test.launches) {
    if (launch.kernel == kernel) return &launch;
  }
  return test.launches.empty() ? nullptr : &test.launches.front();
}

}  // namespace

std::vector<std::string> trace_arguments(const Result& result) {
  const TestReport* test = result.first_failed();
  if (test == nullptr) return {};
  std::vector<std::string> arguments = {"--case", test->short_name()};
  const Finding* finding = finding_told(result);
  static const course::Pattern kThread(
      R"([Tt]hread ([0-9]+|\([^)]*\)) of block ([0-9]+|\([^)]*\)))");
  if (finding == nullptr) return arguments;
  const auto match = kThread.find(finding->message);
  if (!match) return arguments;
  const std::vector<int> thread = coordinates_of(match->groups[1]);
  const LaunchInfo* launch = launch_of(*test, finding->kernel);
  std::string block;
  for (const int each : coordinates_of(match->groups[2])) {
    block += (block.empty() ? "" : ",") + std::to_string(each);
  }
  arguments.insert(arguments.end(), {"--block", block});
  if (thread.size() == 1 || launch != nullptr) {
    const int number = thread.size() == 1 ? thread[0] : number_in_block(thread, launch->block);
    arguments.insert(arguments.end(), {"--thread", std::to_string(number)});
  }
  return arguments;
}

}  // namespace grade

#ifndef WARPLINGS_KIT_LISTENER_H_
#define WARPLINGS_KIT_LISTENER_H_

#include <gtest/gtest.h>

#include <chrono>

namespace kit {

// Starts the context of every test, checks at its end what can only be known then, and sends the
// events of a run to the grader.
class Listener : public testing::EmptyTestEventListener {
 public:
  void OnTestIterationStart(const testing::UnitTest& program, int iteration) override;
  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestPartResult(const testing::TestPartResult& result) override;
  void OnTestEnd(const testing::TestInfo& info) override;

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_LISTENER_H_

// Baselines in Python: what is asked and answered, and what is said when nothing answers.
#include "kit/libraries/script.h"

#include <gtest/gtest.h>

namespace {

TEST(Script, IsReadyAndDoesWhatItIsAsked) {
  kit::Script sample("script_sample.py", {"prepare"});
  EXPECT_EQ(sample.missing(), "");
  sample.ask("work 1");
  sample.ask("work 2");
}

TEST(Script, SaysWhyItIsMissing) {
  const kit::Script sample("script_sample.py", {"refuse"});
  EXPECT_EQ(sample.missing(), "no framework here");
}

TEST(Script, OfAFileThatIsNotThereIsMissing) {
  const kit::Script sample("no_such_sample.py", {});
  EXPECT_NE(sample.missing().find("did not start no_such_sample.py"), std::string::npos)
      << sample.missing();
}

TEST(ScriptDeathTest, EndsTheTestWithTheReasonOfAFailure) {
  kit::Script sample("script_sample.py", {"prepare"});
  EXPECT_DEATH(sample.ask("fail"), "asked for \"fail\": out of memory");
}

TEST(Script, AsABaselineIsLeftOutInTheSimulator) {
  kit::Script sample("script_sample.py", {"prepare"});
  const kit::Baseline baseline = kit::script("sample", sample, "work 1");
  EXPECT_TRUE(baseline.gpu_only);
  EXPECT_EQ(baseline.missing, "");
  baseline.launch();
}

}  // namespace

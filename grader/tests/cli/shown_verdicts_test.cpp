// The verdicts that the front page and the page of editors show are those that `./grade` gives.
#include <gtest/gtest.h>

#include <regex>

#include "course/text.h"
#include "real_course.h"

namespace grade::test {
namespace {

class ShownVerdicts : public testing::Test {
 protected:
  // As a learner's file has it: the TODOs are comments, and other marks of starters are gone.
  static std::string answer(const std::string& old_text, const std::string& new_text) {
    std::string text;
    for (const std::string& line :
         course::split_lines(RealCourse::solution_with(old_text, new_text))) {
      const size_t todo = line.find("// TODO(");
      if (!course::starts_with(course::trim(line), "//~")) {
        text += line + "\n";
      } else if (todo != std::string::npos) {
        text += "  " + line.substr(todo) + "\n";
      }
    }
    return text;
  }

  static std::string one_block_too_few() {
    return answer("(n + kBlock - 1) / kBlock", "n / kBlock");
  }

  std::string verdict(const std::string& code, std::vector<std::string> more = {}) {
    course_.save(code, RealCourse::kVectorAdd);
    more.insert(more.begin(), {"run", RealCourse::kVectorAdd, "--device", "sim"});
    return course_.grade(more).out;
  }

  // The fenced block of the page that holds `text`.
  static std::string shown(const char* page, const std::string& text) {
    const std::string whole = read_file(fs::path(GRADE_CLONE) / page);
    const size_t at = whole.find(text);
    if (at == std::string::npos) return std::string(page) + " shows no \"" + text + "\"";
    const size_t begin = whole.find('\n', whole.rfind("\n```", at) + 1) + 1;
    return whole.substr(begin, whole.find("\n```", at) + 1 - begin);
  }

  // Without the seconds, and up to what comes next: this course has one exercise.
  static std::string told(const std::string& verdict) {
    static const std::regex kSeconds(" +\\d+\\.\\d s");
    const std::string text = std::regex_replace(verdict, kSeconds, "");
    return text.substr(0, text.find("  next  "));
  }

  RealCourse course_;
};

TEST_F(ShownVerdicts, OfTheFrontPageAreThoseOfToday) {
  EXPECT_EQ(told(shown("README.md", "  FAIL  ")), told(verdict(one_block_too_few())));
  EXPECT_EQ(told(shown("README.md", "  PASS  ")),
            told(verdict(answer("kBlock = 256", "kBlock = 256"))));
}

TEST_F(ShownVerdicts, InTheFormOfCompilersAreThoseOfToday) {
  const std::string line = shown("docs/editors.md", ": error: ");
  const std::string now = verdict(one_block_too_few(), {"--problems"});
  EXPECT_EQ(line.substr(0, line.find("...")), now.substr(0, line.find("..."))) << now;
}

}  // namespace
}  // namespace grade::test

// Submissions to 02/01 that do no work. None may pass, and nothing outside of it may change.
#ifndef WARPLINGS_TESTS_HOSTILE_HOSTILE_H_
#define WARPLINGS_TESTS_HOSTILE_HOSTILE_H_

#include <ostream>
#include <string>
#include <vector>

#include "real_course.h"

namespace grade::test {

struct Submission {
  std::string name;
  std::string says;  // a regular expression that the verdict, its blanks made one, must match
  std::string code;  // ROOT stands for the folder of the course
};
inline std::ostream& operator<<(std::ostream& out, const Submission& one) {
  return out << one.name;
}

// Ways to forge a verdict, and ways to spoil the next one.
std::vector<Submission> forgeries();
// Ways to read or write what is not the submission's.
std::vector<Submission> trespasses();
// What only a jail keeps from doing harm: a class is graded with them (batch_test.py), and nobody's
// own file.
std::vector<Submission> strangers();

// The file of a submission: what it needs besides, and ROOT replaced.
std::string whole_file(const Submission& submission, const std::string& root);

// Processes whose command line or environment holds the text, this one left out.
std::vector<int> processes_with(const std::string& text);

}  // namespace grade::test
#endif  // WARPLINGS_TESTS_HOSTILE_HOSTILE_H_

// A scratch course with the real vector add exercise: nvcc, the kit and the simulator of this
// build.
#ifndef WARPLINGS_TESTS_CLI_REAL_COURSE_H_
#define WARPLINGS_TESTS_CLI_REAL_COURSE_H_

#include <string>

#include "scratch_course.h"

namespace grade::test {

class RealCourse : public ScratchCourse {
 public:
  static constexpr const char* kVectorAdd = "02_vector_add/01_vector_add";

  // Throws if the exercise has not been built in this build tree: its commands are reused.
  explicit RealCourse(const fs::path& place = fs::temp_directory_path());

  // The solution with `old_text` replaced by `new_text`; throws unless it occurs exactly once.
  static std::string solution_with(const std::string& old_text, const std::string& new_text);
};

}  // namespace grade::test
#endif  // WARPLINGS_TESTS_CLI_REAL_COURSE_H_

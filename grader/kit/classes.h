// Which of the classes the running test is asked (grader/tests/classes/README.md): all of them,
// but for what course.json takes out with a reason.
#ifndef WARPLINGS_KIT_CLASSES_H_
#define WARPLINGS_KIT_CLASSES_H_

#include <string>

namespace kit {

// `key` as in course.json: "second_call".
bool is_asked(const char* key);

// "02_vector_add/04_saxpy" for ".../chapters/02_vector_add/04_saxpy_test.cpp", "" for other files.
std::string exercise_of(const std::string& test_file);

}  // namespace kit

#endif  // WARPLINGS_KIT_CLASSES_H_

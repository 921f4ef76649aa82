// The classes, in the order of their columns.
#include "course/manifest.h"

namespace course {

const std::vector<AnswerClass>& answer_classes() {
  static const std::vector<AnswerClass> all = {
      {"second_call", "called again", "Called again", false},
      {"who_did_the_work", "who did the work", "Who did the work", false},
      {"left_behind", "left behind", "Left behind", false},
      {"streams", "streams", "In its stream", false},
      {"statuses", "a call that fails", "A call that fails", false},
      {"large_extents", "large extents", "At a large size", false},
      {"huge_arrays", "beyond 2^31", "Beyond 2^31 elements", false},
      {"varied_answers", "varied answers", "With another answer", false},
      {"contract", "contract", "The header asks", false},
      {"approximations", "approximations", "Approximated", false},
  };
  return all;
}

}  // namespace course

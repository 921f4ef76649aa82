// The classes, in the order of their columns.
#include "course/manifest.h"

namespace course {

const std::vector<AnswerClass>& answer_classes() {
  static const std::vector<AnswerClass> all = {
      {"second_call",
       "called again",
       "Called again",
       true,
       {"repeats_the_last_answer", "works_once"}},
      {"who_did_the_work", "who did the work", "Who did the work", true, {"results_from_the_host"}},
      {"left_behind",
       "left behind",
       "Left behind",
       true,
       {"leaves_memory", "leaves_a_stream", "leaves_an_event"}},
      {"streams", "streams", "In its stream", false, {}},
      {"statuses", "a call that fails", "A call that fails", false, {}},
      {"large_extents", "large extents", "At a large size", false, {}},
      {"huge_arrays", "beyond 2^31", "Beyond 2^31 elements", false, {}},
      {"varied_answers", "varied answers", "With another answer", false, {}},
      {"contract", "contract", "The header asks", false, {}},
      {"approximations", "approximations", "Approximated", false, {}},
  };
  return all;
}

}  // namespace course

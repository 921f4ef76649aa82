// The classes, in the order of their columns.
#include "course/manifest.h"

namespace course {

const std::vector<AnswerClass>& answer_classes() {
  constexpr auto kKit = AnswerClass::kKit, kTests = AnswerClass::kTests;
  static const std::vector<AnswerClass> all = {
      {"second_call",
       "called again",
       "Called again",
       kKit,
       {},
       {"repeats_the_last_answer", "works_once"}},
      {"who_did_the_work",
       "who did the work",
       "Who did the work",
       kKit,
       {},
       {"results_from_the_host"}},
      {"left_behind",
       "left behind",
       "Left behind",
       kKit,
       {},
       {"leaves_memory", "leaves_a_stream", "leaves_an_event"}},
      {"streams",
       "streams",
       "Out of the caller's order",
       kKit,
       {},
       {"works_in_a_stream_of_its_own", "works_in_the_default_stream"}},
      {"waits", "waits", "It waits", kKit, {}, {"waits_for_the_device", "asks_until_it_is_done"}},
      {"statuses",
       "a call that fails",
       "A call that fails",
       kKit,
       {"cudaError_t ", "Status_t ", "ncclResult_t ", "cufftResult "},
       {"says_success_always", "leaves_a_stream_on_error"}},
      {"other_device",
       "another device",
       "where device 1 is current",
       kKit,
       {},
       {"works_on_device_0", "goes_back_to_device_0"}},
      {"block_order", "order of blocks", "where the last block comes first", kKit, {}, {}},
      {"few_blocks",
       "room for few blocks",
       "Half of the blocks run at a time",
       kKit,
       {"for_each_block_order"},
       {}},
      {"array_begin",
       "begin of arrays",
       "where arrays begin at any element",
       kKit,
       {"uint8_t", "unsigned char", "unsigned short", "bfloat16", "__half"},
       {}},
      // Whatever fails then is about what lies beyond.
      {"large_extents", "large extents", "", kTests, {}, {"ends_at_65535", "ends_at_32767"}},
      {"huge_arrays",
       "largest sizes",
       "At the largest size",
       kKit,
       {"kit::SparseBuffer", "at_largest", "check_largest", "check_large_"},
       {"ends_at_2_to_24", "ends_at_32000"}},
      {"varied_answers", "varied answers", "", kKit, {"wsim_script_"}, {}},
      {"contract", "contract", "", kKit, {"// contract:"}, {}},
      {"approximations", "approximations", "", kKit, {}, {}},
  };
  return all;
}

}  // namespace course

// Single pictures of a recording: as SVG for pages, in the course's colours on a light sheet of
// their own, and in block characters for a terminal of 80 columns.
#ifndef WARPLINGS_CLI_VIEW_PICTURE_H_
#define WARPLINGS_CLI_VIEW_PICTURE_H_

#include <string>

#include "cli/view/recording.h"

namespace grade::view {

// "lens:LINE[.N]"   the N-th load or store of global memory in that line (the first)
// "banks:LINE[.N]"  the same of shared memory
// "block"           threads and time of one block
// "time"            the timeline
struct PictureName {
  enum class Kind { kLens, kBanks, kBlock, kTime };
  Kind kind = Kind::kBlock;
  int line = 0, number = 1;
};
// Throws course::Error: says which there are.
// Throws course::Error, in the name of the option that asked.
PictureName picture_name(const std::string& text, const std::string& option = "--svg");

// The picture of the launch. Throws course::Error where it has none such: says which it has.
std::string picture_svg(const Recording& recording, const Launch& launch, const PictureName& name);

// The lens of each line that touches memory, one block, the timeline: 80 columns.
std::string picture_text(const Recording& recording, const Launch& launch);

}  // namespace grade::view
#endif  // WARPLINGS_CLI_VIEW_PICTURE_H_

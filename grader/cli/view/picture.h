// Single pictures of a recording: as SVG for pages, in the course's colours on a light sheet of
// their own, and in block characters for a terminal.
#ifndef WARPLINGS_CLI_VIEW_PICTURE_H_
#define WARPLINGS_CLI_VIEW_PICTURE_H_

#include <functional>
#include <map>
#include <string>

#include "cli/view/recording.h"

namespace grade::view {

// "lens:LINE[.N]"   the N-th load or store of global memory in that line (the first)
// "banks:LINE[.N]"  the same of shared memory
// "map:LINE[.N]"    the elements of an array, and which threads touch them in that line
// "shared:NAME"     an array in shared memory, after each step that writes it
// "block"           threads and time of one block
// "pipeline"        copies under way in that block, phases of its mbarriers, who waits for which
// "time"            the timeline
// "bars:COUNTER"    a counter of every kernel of the program
// "finding"         what was found wrong: the two accesses, or the array and who missed it
// Behind a comma what is shown of it: "map:7,cols=8,rows=4", "lens:12,block=3,warp=1",
// "block,from=0,to=60".
struct PictureName {
  enum class Kind { kLens, kBanks, kMap, kShared, kBlock, kPipeline, kTime, kBars, kFinding };
  Kind kind = Kind::kBlock;
  int line = 0, number = 1;
  std::string what;  // of kShared and kBars
  std::map<std::string, int> crop;
  int crop_or(const char* key, int otherwise) const;
  // Of one launch of a kernel, not of the whole run.
  bool is_of_launch() const {
    return kind != Kind::kTime && kind != Kind::kBars && kind != Kind::kFinding;
  }
};
// Throws course::Error, in the name of the option that asked: says which there are.
PictureName picture_name(const std::string& text, const std::string& option = "--svg");

// A line of a source file, "" where it is not to be shown.
using SourceLine = std::function<std::string(const std::string& file, int line)>;
// As much of it as a picture has room for.
std::string code_of(const SourceLine& source, const std::string& file, int line);
// Of files as they lie on this machine.
std::string line_of_file(const std::string& file, int line);

// The picture of the launch. Throws course::Error where it has none such: says which it has.
std::string picture_svg(const Recording& recording, const Launch& launch, const PictureName& name,
                        const SourceLine& source);

// The lens of each line that touches memory, and one block, in a terminal of 60 columns or more.
std::string picture_text(const Launch& launch, int columns);

// Of picture_svg.
std::string lens_svg(const Launch& launch, const PictureName& name, const SourceLine& source);
std::string banks_svg(const Launch& launch, const PictureName& name, const SourceLine& source);
std::string map_svg(const Launch& launch, const PictureName& name, const SourceLine& source);
std::string shared_svg(const Launch& launch, const PictureName& name, const SourceLine& source);
std::string block_svg(const Launch& launch, const PictureName& name, const SourceLine& source);
std::string pipeline_svg(const Launch& launch, const PictureName& name);
std::string pipeline_text(const Launch& launch);
std::string time_svg(const Recording& recording);
std::string bars_svg(const Recording& recording, const PictureName& name);
std::string finding_svg(const Recording& recording, const PictureName& name,
                        const SourceLine& source);

}  // namespace grade::view
#endif  // WARPLINGS_CLI_VIEW_PICTURE_H_

// From solution to starter, and to ablations: the three rules.
//   //~ X              X is in the starter only, at the indentation of the marker
//   //~begin N //~end  the lines between are in the solution only: they are TODO N
//   everything else    in both
// In Python the markers start with #~.
#ifndef WARPLINGS_COURSE_STARTER_H_
#define WARPLINGS_COURSE_STARTER_H_

#include <string>
#include <vector>

#include "course/error.h"

namespace course {

enum class Part { kBoth, kSolutionOnly, kStarterOnly, kMarker };

struct MarkedLine {
  Part part = Part::kBoth;
  int todo = 0;      // of a region or of the starter-only lines that touch it; 0: of none
  std::string text;  // as it is emitted, without the line end
};

// A solution cut into lines; lines[i] is line i + 1 of the file.
struct MarkedSource {
  std::string file;
  std::vector<MarkedLine> lines;
  int todos = 0;  // regions are numbered 1..todos, contiguous
};

// `file` chooses the marker by its extension (.py: #~) and is named in errors.
// Throws course::Error: malformed, nested, unopened or unclosed marker, numbers not contiguous.
MarkedSource parse_marked(const std::string& text, const std::string& file);

// The image that is committed as chapters/NN_topic/MM_name.cu.
std::string starter_text(const MarkedSource& source);
std::string starter_text(const std::string& solution, const std::string& file);

// The TODOs of which a learner's text still has every starter line, and the lines around them.
std::vector<int> untouched_todos(const MarkedSource& source, const std::string& learner);

// The solution without its markers. Every line keeps its number.
std::string solution_text(const MarkedSource& source);

// The solution with only TODO `todo` reverted. Every line keeps its number: cut lines are blank.
std::string ablation_text(const MarkedSource& source, int todo);

}  // namespace course
#endif  // WARPLINGS_COURSE_STARTER_H_

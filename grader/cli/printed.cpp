#include "cli/printed.h"

#include "kit/output_mark.h"

namespace grade {
namespace {

// Adds `text` to `pieces`; what stands before its first mark belongs to `test`.
void add_printed(const std::string& text, const std::string& test, std::vector<Printed>* pieces) {
  pieces->push_back({test, ""});
  for (size_t at = 0; at < text.size();) {
    const size_t mark = text.find(kit::kOutputMark, at);
    pieces->back().text += text.substr(at, mark - at);
    if (mark == std::string::npos) return;
    const size_t end = text.find('\n', mark);
    if (end == std::string::npos) return;  // the program was ended while it wrote the mark
    pieces->push_back({text.substr(mark + 1, end - mark - 1), ""});
    at = end + 1;
  }
}

}  // namespace

std::vector<Printed> printed_by_test(const Capture& stream) {
  std::vector<Printed> pieces;
  const uint64_t missing = stream.total - stream.head.size() - stream.tail.size();
  if (missing == 0) {
    add_printed(stream.head + stream.tail, "", &pieces);
    return pieces;
  }
  add_printed(stream.head, "", &pieces);
  const std::string gap = "\n... " + std::to_string(missing) + " bytes not shown ...\n";
  add_printed(gap + stream.tail, "", &pieces);
  return pieces;
}

}  // namespace grade

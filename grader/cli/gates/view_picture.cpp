#include "cli/gates/view_picture.h"

#include <unistd.h>

#include <atomic>
#include <optional>

#include "cli/gates/page_program.h"
#include "cli/gates/run_sources.h"
#include "cli/view/picture.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

bool is_picture(const Mark& mark) { return mark.source[0] == "view"; }

std::string reason_for_no_picture(const std::string& page) {
  constexpr std::string_view kBegin = "<!-- no picture: ", kEnd = " -->";
  for (const std::string& line : course::split_lines(page)) {
    if (!course::starts_with(line, std::string(kBegin)) || !line.ends_with(kEnd)) continue;
    return line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size());
  }
  return "";
}

namespace {

// The launch in which something was found wrong, or else the last.
std::string drawn(const view::Recording& recording, const Mark& mark, const std::string& kernel,
                  const std::string& own_file, const view::SourceLine& source) {
  const view::PictureName name = view::picture_name(mark.source[2]);
  if (!name.is_of_launch()) return view::picture_svg(recording, {}, name, source);
  const course::Json& chosen = recording.kernel(kernel, own_file);
  const std::optional<view::Launch> wrong = recording.wrong_launch_of(chosen);
  return view::picture_svg(recording, wrong ? *wrong : recording.launch_of(chosen), name, source);
}

std::string picture_of_page(const GateContext& context, const Mark& mark, const fs::path& page) {
  const std::vector<std::string>& s = mark.source;
  if (s.size() < 3 || s.size() > 4) {
    throw course::Error(
        shown(context, page), mark.line,
        "a picture of a program of this page reads: view FILE.cu PICTURE [KERNEL].");
  }
  const view::Recording recording(course::parse_json(recording_of_page(context, page, s[1]), s[1]));
  return drawn(recording, mark, s.size() > 3 ? s[3] : "", s[1], view::line_of_file);
}

// A solution's lines are for those who have passed; a starter's are before everybody.
view::SourceLine lines_to_show(const std::string& program) {
  if (program.ends_with("@starter")) return view::line_of_file;
  return nullptr;
}

}  // namespace

std::string picture_of_run(const GateContext& context, const Mark& mark, const fs::path& page) {
  if (is_of_page(mark)) return picture_of_page(context, mark, page);
  const std::string file = shown(context, page);
  const std::vector<std::string>& s = mark.source;
  if (s.size() < 3 || s.size() > 5) {
    throw course::Error(file, mark.line, "a picture reads: view EX PICTURE [TEST [KERNEL]].");
  }
  // Where a program under test may write; pages are drawn side by side.
  static std::atomic<int> pictures{0};
  const fs::path recorded =
      fs::temp_directory_path() / ("warplings-picture-" + std::to_string(::getpid()) + "-" +
                                   std::to_string(++pictures) + ".json");
  fs::remove(recorded);
  run_for(context, mark, file, s[1], s.size() > 3 ? s[3] : "",
          {{"GRADE_SIM_VIEW", recorded.string()}});
  if (!fs::exists(recorded)) {
    throw course::Error(file, mark.line, s[1] + " ended before it could be drawn.");
  }
  // Starter and mutants lie in a namespace, which their file does not have.
  const size_t at = s[1].find('@');
  const std::string id = s[1].substr(0, at);
  std::string text = course::read_text(recorded);
  if (at != std::string::npos) text = course::replace_all(text, s[1].substr(at + 1) + "::", "");
  const view::Recording recording(course::parse_json(text, s[1]));
  fs::remove(recorded);
  const course::Exercise* exercise = context.course->find(id);
  return drawn(recording, mark, s.size() == 5 ? s[4] : "", exercise->name + exercise->extension(),
               lines_to_show(s[1]));
}

fs::path picture_file(const fs::path& page, const Mark& mark, const std::string& link) {
  const size_t open = link.find("]("), close = link.rfind(')');
  const bool is_link = link.rfind("![", 0) == 0 && open != std::string::npos &&
                       close != std::string::npos && close > open;
  if (!is_link || !link.substr(0, close).ends_with(".svg")) {
    throw course::Error(page.string(), mark.line,
                        "a mark of a view stands before a link to a picture: ![words](PATH.svg).");
  }
  return (page.parent_path() / link.substr(open + 2, close - open - 2)).lexically_normal();
}

}  // namespace grade

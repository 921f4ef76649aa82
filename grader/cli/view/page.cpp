#include "cli/view/page.h"

#include <cstdio>
#include <set>

#include "cli/json_out.h"
#include "course/error.h"
#include "course/manifest.h"
#include "course/text.h"

namespace grade::view {

namespace fs = std::filesystem;

namespace {

// In the order in which one needs what another has.
constexpr const char* kModules[] = {"data.js",     "draw.js",     "code.js",     "lens.js",
                                    "pipeline.js", "block.js",    "findings.js", "time.js",
                                    "compare.js",  "roofline.js", "main.js"};
constexpr uintmax_t kMostSource = 400 << 10;  // bytes of a source file that is shown

// One script of all modules: they import each other only, so `import` and `export` can go.
std::string script(const fs::path& folder) {
  std::string all;
  for (const char* module : kModules) {
    for (const std::string& line : course::split_lines(course::read_text(folder / module))) {
      if (course::starts_with(line, "import ")) continue;
      all += (course::starts_with(line, "export ") ? line.substr(7) : line) + "\n";
    }
  }
  return all;
}

// Every source file that the recording names.
void note_files(const course::Json& json, std::set<std::string>& files) {
  for (const course::Json& item : json.items) note_files(item, files);
  for (const course::JsonMember& member : json.members) {
    if (member.key == "file" || member.key == "other_file") files.insert(member.value.text);
    if (member.key == "view") continue;  // names the same
    note_files(member.value, files);
  }
}

std::string sources(const course::Json& recording) {
  std::set<std::string> files;
  note_files(recording, files);
  JsonOut out;
  for (const std::string& file : files) {
    std::error_code error;
    if (file.empty() || !fs::is_regular_file(file, error)) continue;
    if (fs::file_size(file, error) > kMostSource) continue;
    out.text(file, course::read_text(file));
  }
  return out.str();
}

// `</script>` in a source must not end the script that carries it.
std::string in_html(const std::string& json) { return course::replace_all(json, "<", "\\u003c"); }

std::string in_tag(const std::string& text) {
  return course::replace_all(course::replace_all(text, "&", "&amp;"), "<", "&lt;");
}

std::string json_text(const course::Json& json) {
  switch (json.type) {
    case course::Json::Type::kNull:
      return "null";
    case course::Json::Type::kBool:
      return json.boolean ? "true" : "false";
    case course::Json::Type::kString:
      return course::json_quote(json.text);
    case course::Json::Type::kNumber: {
      char text[40];
      std::snprintf(text, sizeof text, "%.15g", json.number);
      return text;
    }
    case course::Json::Type::kArray: {
      std::vector<std::string> items;
      for (const course::Json& item : json.items) items.push_back(json_text(item));
      return json_array(items);
    }
    case course::Json::Type::kObject: {
      JsonOut out;
      for (const course::JsonMember& member : json.members) {
        out.raw(member.key, json_text(member.value));
      }
      return out.str();
    }
  }
  return "null";
}

}  // namespace

std::string page_html(const fs::path& root, const PageContent& content) {
  const fs::path folder = root / "grader" / "view";
  const course::Json recording = course::parse_json(content.recording, "the recording");
  JsonOut data;
  data.text("title", content.title)
      .text("about", content.about)
      .text("exercise", content.exercise)
      .text("file", content.file)
      .raw("run", content.recording)
      .raw("reference", content.reference.empty() ? "null" : content.reference)
      .raw("history", content.history.empty() ? "null" : content.history)
      .raw("sources", sources(recording));
  std::string page = course::read_text(folder / "page.html");
  for (const auto& [place, text] :
       {std::pair<std::string, std::string>{"{{title}}", in_tag(content.title)},
        {"{{style}}", course::read_text(folder / "view.css")},
        {"{{script}}", script(folder)},
        {"{{data}}", in_html(data.str())}}) {
    const size_t at = page.find(place);
    if (at == std::string::npos) {
      throw course::Error((folder / "page.html").string(), 0, "lacks " + place + ".");
    }
    page.replace(at, place.size(), text);
  }
  return page;
}

std::string summary(const course::Json& recording) {
  std::vector<std::string> kernels;
  const course::Json* profile = recording.find("profile");
  if (profile == nullptr || profile->find("kernels") == nullptr) return "{\"kernels\": []}";
  for (const course::Json& kernel : profile->find("kernels")->items) {
    JsonOut out;
    for (const char* key : {"name", "launches", "launch", "cost", "totals"}) {
      if (const course::Json* value = kernel.find(key)) out.raw(key, json_text(*value));
    }
    kernels.push_back(out.str());
  }
  return JsonOut().raw("kernels", json_array(kernels)).str();
}

}  // namespace grade::view

// The one HTML file of `grade view`: the modules of grader/view and the recording, in one text.
#ifndef WARPLINGS_CLI_VIEW_PAGE_H_
#define WARPLINGS_CLI_VIEW_PAGE_H_

#include <filesystem>
#include <string>

#include "course/json.h"

namespace grade::view {

struct PageContent {
  std::string title, about;
  std::string exercise;   // id, "" for a program
  std::string file;       // whose kernels come first
  std::string recording;  // what the simulator wrote
  std::string reference;  // summary() of the reference's; "" none
  std::string history;    // history_json() of versions before; "" none
};

// Throws course::Error where a module is missing.
std::string page_html(const std::filesystem::path& root, const PageContent& content);

// Of a recording only what comparisons need: kernels with their counters and cost, as JSON.
std::string summary(const course::Json& recording);

}  // namespace grade::view
#endif  // WARPLINGS_CLI_VIEW_PAGE_H_

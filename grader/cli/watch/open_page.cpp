#include "cli/watch/open_page.h"

#include <regex>

#include "cli/browser.h"
#include "cli/lesson_text.h"
#include "cli/process/child.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

// https://HOST/OWNER/NAME of the clone's remote, whatever protocol it is fetched by; "" if it is no
// website.
std::string website(const fs::path& root) {
  ChildOptions options;
  options.argv = {"git", "-C", root.string(), "remote", "get-url", "origin"};
  options.wall_seconds = 10;
  const std::string url = course::trim(run_child(options).out.text());
  static const std::regex kRemote(
      R"(^(?:https://|ssh://git@|git@)(git(?:hub|lab)\.com)[:/]([^/]+/[^/]+?)(?:\.git)?/?$)");
  std::smatch match;
  if (!std::regex_match(url, match, kRemote)) return "";
  return "https://" + match[1].str() + "/" + match[2].str() + "/blob/HEAD/";
}

// Of a page of the repository; "" where it has none.
std::string address_of(const fs::path& root, const std::string& page) {
  const fs::path built = (root / "build" / "site" / page).replace_extension(".html");
  if (fs::exists(built)) return "file://" + built.string();
  const std::string site = website(root);
  return site.empty() ? "" : site + page;
}

// On its own, so that it outlives us and writes nothing on this screen.
}  // namespace

std::string open_page(App& app, const course::Exercise& exercise) {
  const std::string page = page_of(app, exercise);
  const std::string address = address_of(app.paths().root, page);
  if (!address.empty() && open_in_browser(address)) return "Opened " + address + "\n";
  const std::string why = has_browser() ? "" : "There is no browser here. ";
  return why + "The page is " + (address.empty() ? page : address) + "; r shows it here.\n";
}

}  // namespace grade

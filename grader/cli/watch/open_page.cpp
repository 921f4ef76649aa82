#include "cli/watch/open_page.h"

#include "cli/browser.h"
#include "cli/lesson_text.h"
#include "cli/process/child.h"
#include "course/pattern.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

// https://HOST/OWNER/NAME of the clone's remote, whatever protocol it is fetched by; "" if it is no
// website.
std::string website(const fs::path& root) {
  ChildOptions options;
  options.argv = {"git", "-C", root.string(), "remote", "get-url", "origin"};
  options.own_seconds = 10;
  const std::string url = course::trim(run_child(options).out.text());
  static const course::Pattern kRemote(
      R"(^(https://|ssh://git@|git@)(git(hub|lab)\.com)[:/]([^/]+/[^/]+)/?$)");
  const auto match = kRemote.find(url);
  if (!match) return "";
  std::string name = match->groups[4];
  if (course::ends_with(name, ".git")) name.resize(name.size() - 4);
  return "https://" + match->groups[2] + "/" + name + "/blob/HEAD/";
}

// Of a page of the repository; "" where it has none.
std::string address_of(const fs::path& root, const std::string& page) {
  const fs::path built = (root / "build" / "site" / page).replace_extension(".html");
  if (fs::exists(built)) return "file://" + built.string();
  const std::string site = website(root);
  return site.empty() ? "" : site + page;
}

}  // namespace

std::string open_page(App& app, const course::Exercise& exercise) {
  const std::string page = page_of(app, exercise);
  const std::string address = address_of(app.paths().root, page);
  if (!address.empty() && open_in_browser(address)) return "Opened " + address + "\n";
  const std::string why = has_browser() ? "" : "There is no browser here. ";
  return why + "The page is " + (address.empty() ? page : address) + "; r shows it here.\n";
}

}  // namespace grade

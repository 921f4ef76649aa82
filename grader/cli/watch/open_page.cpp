#include "cli/watch/open_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/lesson_text.h"
#include "cli/process/child.h"
#include "course/pattern.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (size_t end = 0; !folders.empty(); folders.erase(0, end + 1)) {
    end = std::min(folders.find(':'), folders.size() - 1);
    const std::string folder = folders.substr(0, folders.find(':'));
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// What opens a page here; "" where nothing can.
std::string browser() {
  if (is_set("BROWSER")) return std::getenv("BROWSER");
  if (is_set("WSL_DISTRO_NAME") && is_installed("wslview")) return "wslview";
  const bool has_screen = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
  return has_screen && is_installed("xdg-open") ? "xdg-open" : "";
}

// https://HOST/OWNER/NAME of the clone's remote, whatever protocol it is fetched by; "" if it is no
// website.
std::string website(const fs::path& root) {
  ChildOptions options;
  options.argv = {"git", "-C", root.string(), "remote", "get-url", "origin"};
  options.wall_seconds = 10;
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

// On its own, so that it outlives us and writes nothing on this screen.
bool start_browser(const std::string& program, const std::string& address) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
  std::string name = program, page = address;
  char* argv[] = {name.data(), page.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, program.c_str(), &files, &how, argv, environ);
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  return error == 0;
}

}  // namespace

std::string open_page(App& app, const course::Exercise& exercise) {
  const std::string page = page_of(app, exercise);
  const std::string address = address_of(app.paths().root, page);
  const std::string program = browser();
  if (!address.empty() && !program.empty() && start_browser(program, address)) {
    return "Opened " + address + "\n";
  }
  const std::string why = program.empty() ? "There is no browser here. " : "";
  return why + "The page is " + (address.empty() ? page : address) + "; r shows it here.\n";
}

}  // namespace grade

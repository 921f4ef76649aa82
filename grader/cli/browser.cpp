#include "cli/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace grade {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// What opens a page here; "" where nothing can.
std::string browser() {
  if (is_set("BROWSER")) return std::getenv("BROWSER");
  if (is_set("SSH_CONNECTION")) return "";
  if (is_set("WSL_DISTRO_NAME") && is_in_path("wslview")) return "wslview";
  const bool has_screen = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
  return has_screen && is_in_path("xdg-open") ? "xdg-open" : "";
}

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

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::filesystem::path folder = folders.substr(begin, end - begin);
    if (::access((folder / program).c_str(), X_OK) == 0) return true;
    begin = end + 1;
  }
  return false;
}

bool has_browser() { return !browser().empty(); }

bool open_in_browser(const std::string& address) {
  const std::string program = browser();
  return !program.empty() && start_browser(program, address);
}

}  // namespace grade

#include "cli/process/jail.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr const char* kTemporaryBytes = "268435456";  // of /tmp and /dev/shm, which lie in memory

constexpr const char* kDriver = "libcuda.so.1";

// Whether a name below /dev is a card (nvidia0), or what every one of them is driven by. In WSL2
// that is dxg alone. nvidia-modeset is for screens, and nvidia-caps for who sets cards up.
bool is_gpu_node(std::string_view name) {
  if (name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-uvm-tools" || name == "dxg") {
    return true;
  }
  constexpr std::string_view kCard = "nvidia";
  return name.starts_with(kCard) && name.size() > kCard.size() &&
         name.find_first_not_of("0123456789", kCard.size()) == std::string_view::npos;
}

// Where the loader would look for the driver before it asks /etc/ld.so.cache, whose folders are in
// sight.
std::vector<std::string> driver_folders(const fs::path& root) {
  const char* search = std::getenv("LD_LIBRARY_PATH");
  std::vector<std::string> asked = {(root / "run/opengl-driver/lib").string()};
  std::string_view left = search == nullptr ? "" : search;
  while (!left.empty()) {
    const size_t end = std::min(left.find(':'), left.size());
    asked.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  std::vector<std::string> folders;
  for (const std::string& folder : asked) {
    std::error_code error;
    if (folder.starts_with('/') && fs::exists(fs::path(folder) / kDriver, error)) {
      folders.push_back(folder);
    }
  }
  return folders;
}

// Namespaces and what every program needs. Of /etc there is only how libraries are found.
std::vector<std::string> room(const std::vector<fs::path>& devices = {}) {
  std::vector<std::string> argv = {"bwrap", "--unshare-all",     "--unshare-user", "--cap-drop",
                                   "ALL",   "--die-with-parent", "--hostname",     "jail"};
  const auto add = [&](std::vector<std::string> more) {
    argv.insert(argv.end(), more.begin(), more.end());
  };
  add({"--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"});
  add({"--size", kTemporaryBytes, "--tmpfs", "/dev/shm"});
  add({"--size", kTemporaryBytes, "--tmpfs", "/tmp"});
  for (const fs::path& node : devices) {
    add({"--dev-bind", node.string(), "/dev/" + node.filename().string()});
  }
  add({"--remount-ro", "/dev", "--dir", "/tmp/home"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64"}) {
    std::error_code error;
    if (fs::is_symlink(folder, error)) {
      add({"--symlink", fs::read_symlink(folder, error).string(), folder});
    } else {
      add({"--ro-bind-try", folder, folder});
    }
  }
  for (const char* known :
       {"/opt", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"}) {
    add({"--ro-bind-try", known, known});
  }
  return argv;
}

// Of each process, and of how many there may be.
std::vector<std::string> limits() {
  return {"prlimit", "--nproc=512", "--nofile=1024", "--core=0", "--"};
}

std::string ask_for_a_jail() {
  ChildOptions options;
  options.argv = room();
  options.argv.emplace_back("--");
  const std::vector<std::string> within = limits();
  options.argv.insert(options.argv.end(), within.begin(), within.end());
  options.argv.emplace_back("true");
  options.own_seconds = 20;
  const ChildResult child = run_child(options);
  if (child.ok()) return "";
  if (child.end == ChildResult::End::kNotStarted) {
    return "There is no jail without bubblewrap (the package bubblewrap of your distribution).";
  }
  std::string said = course::trim(child.err.text());
  if (said.empty()) said = "it ended with status " + std::to_string(child.status) + ".";
  return "bubblewrap makes no jail here: " + said +
         " It takes version 0.7 and user namespaces, which some systems and containers forbid.";
}

}  // namespace

std::string why_no_jail() {
  static const std::string reason = ask_for_a_jail();
  return reason;
}

std::vector<fs::path> gpu_nodes(const fs::path& root) {
  std::vector<fs::path> nodes;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "dev", error)) {
    std::error_code gone;
    if (is_gpu_node(entry.path().filename().string()) && entry.is_character_file(gone)) {
      nodes.push_back(entry.path());
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

void jail(ChildOptions* options, const std::vector<fs::path>& readable,
          const fs::path& root_of_gpus) {
  std::vector<fs::path> nodes, in_sight = readable;
  std::string search;
  if (!root_of_gpus.empty()) {
    nodes = gpu_nodes(root_of_gpus);
    for (const std::string& folder : driver_folders(root_of_gpus)) {
      in_sight.emplace_back(folder);
      search += (search.empty() ? "" : ":") + folder;
    }
  }
  std::vector<std::string> argv = room(nodes);
  for (const fs::path& path : in_sight) {
    const std::string text = path.string();
    if (text.starts_with("/usr/") || text.starts_with("/opt/")) continue;  // in sight already
    argv.insert(argv.end(), {"--ro-bind-try", text, text});
  }
  argv.insert(argv.end(), {"--remount-ro", "/", "--chdir", "/tmp", "--"});
  const std::vector<std::string> within = limits();
  argv.insert(argv.end(), within.begin(), within.end());
  argv.insert(argv.end(), options->argv.begin(), options->argv.end());
  options->argv = std::move(argv);
  options->directory = "/";
  options->dropped = {""};  // all: keys and names are nobody's business
  const char* path = std::getenv("PATH");
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"PATH", path == nullptr ? "" : path},
                                                        {"HOME", "/tmp/home"},
                                                        {"TMPDIR", "/tmp"},
                                                        {"LC_ALL", "C.UTF-8"}}) {
    options->environment.emplace_back(name, value);
  }
  if (!search.empty()) options->environment.emplace_back("LD_LIBRARY_PATH", search);
  options->whole_tree = true;
}

}  // namespace grade

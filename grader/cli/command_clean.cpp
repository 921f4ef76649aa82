// grade clean [build|toolkit|data|all]: what the course uses on disk, and its removal.
#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/folder_size.h"
#include "cli/json_out.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

struct Part {
  const char* word;
  const char* folder;
  const char* what;
  const char* after;  // what it costs to have it again
};

constexpr Part kParts[] = {
    {"build", "build", "what was compiled", "./grade builds it again (about a minute)"},
    {"toolkit", ".toolkit", "the private CUDA compiler", "./grade downloads it again (105 MB)"},
    {"data", ".data", "images for chapter 12", "sh setup/data.sh gets them again"},
};

void remove_part(App& app, const Part& part) {
  const fs::path folder = app.paths().root / part.folder;
  if (!fs::exists(fs::symlink_status(folder))) return;
  const std::string size = bytes_text(static_cast<double>(folder_size(folder)));
  const std::string question = "Remove " + std::string(part.folder) + " (" + size + ")?";
  if (!app.options().yes && !confirm(question)) {
    print(std::string(part.folder) + " stays.\n");
    return;
  }
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) throw course::Error(folder.string(), 0, "cannot be removed: " + error.message());
  print(std::string(part.folder) + " is removed. " + part.after + ".\n");
}

}  // namespace

uint64_t folder_size(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
       it.increment(error)) {
    struct stat facts = {};
    if (::lstat(it->path().c_str(), &facts) != 0) continue;
    constexpr uint64_t kBlock = 512;  // bytes, whatever the file system uses
    bytes += static_cast<uint64_t>(facts.st_blocks) * kBlock;
  }
  return bytes;
}

int clean_command(App& app) {
  const std::string which = app.options().operands.empty() ? "" : app.options().operands.front();
  const bool is_part = std::any_of(std::begin(kParts), std::end(kParts),
                                   [&](const Part& part) { return which == part.word; });
  if (!which.empty() && which != "all" && !is_part) {
    throw UsageError("clean takes build, toolkit, data or all, not \"" + harmless(which) + "\".");
  }
  if (app.options().json) {
    JsonOut out;
    out.number("format", 1).text("kind", "clean");
    for (const Part& part : kParts) {
      out.number(part.word, static_cast<double>(folder_size(app.paths().root / part.folder)));
    }
    print(out.str() + "\n");
    return kPass;
  }
  for (const Part& part : kParts) {
    if (!which.empty() && which != "all" && which != part.word) continue;
    const fs::path folder = app.paths().root / part.folder;
    const std::string size =
        fs::exists(folder) ? bytes_text(static_cast<double>(folder_size(folder))) : "not there";
    print("  " + pad(part.folder, 10) + pad_left(size, 10) + "  " + part.what + "\n");
  }
  // Without a name on no terminal there is nobody to ask.
  if (which.empty() && !app.terminal().is_terminal) {
    print(
        "Your files, their kept copies and your progress are not touched. To remove: ./grade clean "
        "all\n");
    return kPass;
  }
  for (const Part& part : kParts) {
    if (which.empty() || which == "all" || which == part.word) remove_part(app, part);
  }
  return kPass;
}

}  // namespace grade

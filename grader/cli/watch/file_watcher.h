// Tells when one file was saved, also by editors that write a new file and rename it.
#ifndef WARPLINGS_CLI_WATCH_FILE_WATCHER_H_
#define WARPLINGS_CLI_WATCH_FILE_WATCHER_H_

#include <filesystem>
#include <string>

#include "cli/process/stream.h"

namespace grade {

class FileWatcher {
 public:
  // Watches the folder of `file` with inotify; looks every 300 ms where that is silent (network and
  // Windows-mounted file systems, or GRADE_WATCH=poll). Throws std::system_error.
  explicit FileWatcher(std::filesystem::path file);

  // Readable when changed() has something to look at.
  int fd() const { return fd_.get(); }
  // True if the file was saved since the last call. Never blocks.
  bool changed();
  bool polls() const { return polls_; }
  // Waits until the file has been quiet for 50 ms: editors save in several steps.
  void settle();

 private:
  bool changed_by_events();
  bool changed_by_look();
  std::string facts() const;

  std::filesystem::path file_;
  Descriptor fd_;
  bool polls_ = false;
  std::string last_facts_;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_FILE_WATCHER_H_

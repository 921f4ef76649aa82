// What the watch loop works with: keys one by one, saves of a file, and whole screens.
#ifndef WARPLINGS_CLI_WATCH_CONSOLE_H_
#define WARPLINGS_CLI_WATCH_CONSOLE_H_

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/watch/file_watcher.h"
#include "cli/watch/raw_terminal.h"

namespace grade {

class Console {
 public:
  explicit Console(App& app) : app_(app) {}

  // From now on saves of `file` count.
  void follow(const std::filesystem::path& file) { watcher_.emplace(file); }
  bool saved() const { return saved_; }
  // Waits until the file is quiet, and forgets that it was saved.
  void take_save();
  bool quits() const { return quits_; }
  void quit() { quits_ = true; }

  // Waits for a key; kRedraw where the window has another size. 0 where something else ended the
  // wait: saved() or quits().
  char key();
  // What is typed before Enter, echoed; nullopt where something else ends it, or an empty line.
  std::optional<std::string> line();

  // While a child runs: what wakes its watcher up, and whether the child must end.
  std::vector<int> watched() const;
  bool must_stop();
  // The same, but any key ends it.
  bool any_key_stops();

  int rows() const { return raw_.rows(); }
  const Terminal& terminal() const { return app_.terminal(); }
  // Replaces what is shown, without a flash. Where the cursor cannot be sent about: shows it below.
  void show(const std::string& screen) const;

 private:
  void look();  // without waiting
  App& app_;
  RawTerminal raw_;
  std::optional<FileWatcher> watcher_;
  std::deque<char> keys_;
  bool saved_ = false, quits_ = false;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_CONSOLE_H_

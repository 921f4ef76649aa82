// grade read [EX]: the lesson of an exercise; wrapped, on a terminal a screen at a time.
#include <poll.h>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/lesson_text.h"
#include "cli/process/interrupt.h"
#include "cli/watch/raw_terminal.h"

namespace grade {
namespace {

// The next key of a terminal; 'q' where there is none any more.
char wait_for_key(RawTerminal& raw) {
  while (!raw.closed() && !Interrupts::instance().ended()) {
    pollfd polled[] = {{raw.fd(), POLLIN, 0}, {Interrupts::instance().fd(), POLLIN, 0}};
    ::poll(polled, 2, -1);
    const std::string keys = raw.keys();
    if (!keys.empty()) return keys.front();
  }
  return 'q';
}

int read_on_terminal(App& app, const std::string& text) {
  Interrupts::instance();
  RawTerminal raw;
  const std::vector<std::string> screens = screens_of(text, raw.rows());
  for (size_t at = 0; at < screens.size(); ++at) {
    print(screens[at]);
    if (raw.fd() < 0 || at + 1 == screens.size()) continue;
    print(app.terminal().paint(Style::kDim, "Space goes on, q ends.  " + std::to_string(at + 1) +
                                                " of " + std::to_string(screens.size())));
    const char key = wait_for_key(raw);
    print("\r\x1b[K");
    if (key == 'q') break;
  }
  constexpr int kSignalled = 128;
  const int signal = Interrupts::instance().signal();
  return signal == 0 ? kPass : kSignalled + signal;
}

}  // namespace

int read_command(App& app) {
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) {
    print("All exercises are passed. ./grade read EX shows the lesson of one.\n");
    return kPass;
  }
  const std::string text = lesson_text(app, *exercise);
  if (app.terminal().is_terminal) return read_on_terminal(app, text);
  print(text);
  return kPass;
}

}  // namespace grade

// grade read [EX]: the lesson of an exercise; wrapped, on a terminal a screen at a time.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/lesson_text.h"
#include "cli/process/interrupt.h"
#include "cli/watch/pager.h"

namespace grade {

int read_command(App& app) {
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) {
    print("All exercises are passed. ./grade read EX shows the lesson of one.\n");
    return kPass;
  }
  const std::string text = lesson_text(app, *exercise);
  if (!app.terminal().moves) {
    print(text);
    return kPass;
  }
  Interrupts::instance();
  Console console(app);
  page(console, text);
  print("\n");
  constexpr int kSignalled = 128;
  const int signal = Interrupts::instance().signal();
  return signal == 0 ? kPass : kSignalled + signal;
}

}  // namespace grade

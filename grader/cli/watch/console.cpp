#include "cli/watch/console.h"

#include <poll.h>

#include <algorithm>

#include "cli/process/interrupt.h"
#include "course/text.h"

namespace grade {

void Console::take_save() {
  watcher_->settle();
  saved_ = false;
  keys_.clear();  // they were meant for a screen that the save has ended
}

void Console::look() {
  if (Interrupts::instance().ended()) quits_ = true;
  if (watcher_ && watcher_->changed()) saved_ = true;
  for (const char key : raw_.keys()) keys_.push_back(key);
  if (raw_.closed()) quits_ = true;
}

char Console::key() {
  while (!quits_ && !saved_) {
    if (!keys_.empty()) {
      const char key = keys_.front();
      keys_.pop_front();
      return key;
    }
    pollfd polled[] = {{Interrupts::instance().fd(), POLLIN, 0},
                       {raw_.fd(), POLLIN, 0},
                       {watcher_ ? watcher_->fd() : -1, POLLIN, 0}};
    ::poll(polled, 3, -1);
    look();
    if (Interrupts::instance().resized()) {
      app_.terminal() = Terminal::of_stdout(app_.options().colour);
      return kRedraw;
    }
  }
  return 0;
}

std::optional<std::string> Console::line() {
  constexpr char kDelete = 127;
  std::string line;
  for (char key = this->key(); key != 0 && key != kEscape; key = this->key()) {
    if (key == '\n' || key == '\r') return line.empty() ? std::nullopt : std::optional(line);
    if ((key == kDelete || key == '\b') && !line.empty()) {
      print("\b \b");
      line.pop_back();
    } else if (static_cast<unsigned char>(key) >= ' ' && key != kDelete) {  // UTF-8 too
      line += key;
      print(std::string(1, key));
    }
  }
  return std::nullopt;
}

std::vector<int> Console::watched() const {
  std::vector<int> all = {Interrupts::instance().fd()};
  if (watcher_) all.push_back(watcher_->fd());
  if (raw_.fd() >= 0) all.push_back(raw_.fd());
  return all;
}

bool Console::must_stop() {
  look();
  if (std::find(keys_.begin(), keys_.end(), 'q') != keys_.end()) quits_ = true;
  return quits_ || saved_;
}

bool Console::any_key_stops() {
  look();
  const bool pressed = !keys_.empty();
  keys_.clear();
  return quits_ || pressed;
}

void Console::show(const std::string& screen) const {
  if (!terminal().moves) {
    print("\n" + screen);
    return;
  }
  // Each line over the old one: a cleared screen would flash.
  print("\x1b[H" + course::replace_all(screen, "\n", "\x1b[K\n") + "\x1b[K\x1b[J");
}

}  // namespace grade

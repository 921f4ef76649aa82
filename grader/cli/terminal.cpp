#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "course/text.h"

namespace grade {
namespace {

constexpr int kColumns = 80;
int output_error = 0;  // of the first write to stdout that failed

std::string wrap_line(std::string_view line, const std::string& first, size_t columns, bool cut) {
  const size_t own = std::min(line.find_first_not_of(' '), line.size());
  const std::string rest(width_of(first) + own, ' ');
  std::string out = first + std::string(own, ' ');
  size_t at = width_of(out);
  bool empty = true;
  for (size_t i = own; i < line.size();) {
    const size_t begin = line.find_first_not_of(' ', i);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find(' ', begin), line.size());
    // Inner spaces of a line are kept: tables and source lines stay as they are.
    const std::string gap(empty ? 0 : begin - i, ' ');
    std::string_view word = line.substr(begin, end - begin);
    if (!empty && at + gap.size() + width_of(word) > columns) {
      out += "\n" + rest;
      at = rest.size();
    } else {
      out += gap;
      at += gap.size();
    }
    while (cut && at + word.size() > columns && columns > at) {
      out += std::string(word.substr(0, columns - at)) + "\n" + rest;
      word.remove_prefix(columns - at);
      at = rest.size();
    }
    out += word;
    at += width_of(word);
    empty = false;
    i = end;
  }
  return out + "\n";
}

}  // namespace

Terminal Terminal::of_stdout(bool allow_colour) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::strcmp(term, "dumb") == 0;
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  terminal.moves = terminal.is_terminal && !dumb;
  terminal.colour = terminal.moves && allow_colour && !refused;
  winsize size = {};
  constexpr int kNarrowest = 40;
  if (terminal.is_terminal) {
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    terminal.width = std::max<int>(known ? size.ws_col : kColumns, kNarrowest);
    terminal.columns = std::min(terminal.width, kColumns);
  } else if (const char* columns = std::getenv("COLUMNS")) {
    const int told = std::atoi(columns);
    if (told > 0) terminal.columns = std::clamp(told, kNarrowest, kColumns);
  }
  return terminal;
}

std::string Terminal::paint(Style style, std::string_view text) const {
  static constexpr const char* kCodes[] = {"",         "\x1b[32;1m", "\x1b[31;1m",
                                           "\x1b[33m", "\x1b[2m",    "\x1b[1m"};
  if (!colour || style == Style::kPlain) return std::string(text);
  return kCodes[static_cast<int>(style)] + std::string(text) + "\x1b[0m";
}

size_t width_of(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else {
      width += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 ? 1 : 0;
    }
  }
  return width;
}

std::string wrap(std::string_view text, const std::string& first, int columns, bool cut) {
  std::string out;
  std::string indent = first;
  for (const std::string& line : course::split_lines(text)) {
    out += line.empty() ? "\n" : wrap_line(line, indent, static_cast<size_t>(columns), cut);
    indent = std::string(width_of(first), ' ');
  }
  return out;
}

namespace {

// The bytes of the first `columns` code points.
size_t bytes_of(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && seen++ == columns) break;
  }
  return at;
}

}  // namespace

std::vector<std::string> pieces_of(std::string_view line, const std::string& indent, int width) {
  std::vector<std::string> pieces;
  const size_t columns = static_cast<size_t>(std::max(width, 0));
  size_t room = columns;
  std::string before;
  while (columns > 0 && width_of(line) > room) {
    const size_t bytes = bytes_of(line, room);
    pieces.push_back(before + std::string(line.substr(0, bytes)));
    line.remove_prefix(bytes);
    before = indent;
    room = columns - std::min(width_of(indent), columns - 1);
  }
  pieces.push_back(before + std::string(line));
  return pieces;
}

std::string cut(std::string_view text, size_t columns) {
  constexpr size_t kDots = 3;
  if (columns == 0 || width_of(text) <= columns) return std::string(text);
  return std::string(text.substr(0, bytes_of(text, columns - std::min(columns, kDots)))) + "...";
}

std::string pad(std::string_view text, size_t columns) {
  const size_t width = width_of(text);
  return std::string(text) + std::string(width < columns ? columns - width : 0, ' ');
}

std::string pad_left(std::string_view text, size_t columns) {
  const size_t width = width_of(text);
  return std::string(width < columns ? columns - width : 0, ' ') + std::string(text);
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 9.95 ? "%.1f s" : "%.0f s", seconds);
  return text;
}

std::string bytes_text(double bytes) {
  char text[32];
  if (bytes < 1e3) {
    std::snprintf(text, sizeof text, "%.0f bytes", bytes);
  } else if (bytes < 1e6) {
    std::snprintf(text, sizeof text, "%.0f kB", bytes / 1e3);
  } else if (bytes < 1e9) {
    std::snprintf(text, sizeof text, "%.1f MB", bytes / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  }
  return text;
}

std::string harmless(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += c;
    } else if (c == '\t') {
      out += ' ';
    } else if (static_cast<unsigned char>(c) < ' ' || c == 127) {
      if (c != '\r') out += '?';
    } else {
      out += c;
    }
  }
  return out;
}

void print(std::string_view text) {
  while (!text.empty() && output_error == 0) {
    const ssize_t done = ::write(STDOUT_FILENO, text.data(), text.size());
    if (done >= 0) {
      text.remove_prefix(static_cast<size_t>(done));
    } else if (errno != EINTR && errno != EAGAIN) {
      output_error = errno;
    }
  }
}

void complain(const std::string& text) {
  const std::string message = wrap(text, "grade: ", Terminal::of_stdout(false).columns);
  std::fputs(message.c_str(), stderr);
}

int close_stdout(int status) {
  if (output_error == 0 || output_error == EPIPE) return status;
  complain(std::string("cannot write to standard output: ") + std::strerror(output_error));
  constexpr int kSetUp = 2;
  return status == 0 ? kSetUp : status;
}

bool confirm(const std::string& question) {
  print(question + " [y/N] ");
  std::string answer;
  if (!std::getline(std::cin, answer)) {
    print("\n");
    return false;
  }
  answer = course::trim(answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace grade

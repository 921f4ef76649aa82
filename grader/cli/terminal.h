// Text for people: colours only on a terminal, prose of at most 80 columns.
#ifndef WARPLINGS_CLI_TERMINAL_H_
#define WARPLINGS_CLI_TERMINAL_H_

#include <string>
#include <string_view>
#include <vector>

namespace grade {

enum class Style { kPlain, kGood, kBad, kNote, kDim, kBold };

struct Terminal {
  bool is_terminal = false;  // stdout is one
  bool colour = false;
  bool moves = false;  // the cursor can be sent about: a terminal, and TERM is not dumb
  int columns = 80;    // of prose; never more than 80
  int width = 0;       // of source lines; 0: whole, as in a pipe

  // As stdout is now; `allow_colour` false for --no-color. Into a pipe, COLUMNS is believed.
  static Terminal of_stdout(bool allow_colour);
  std::string paint(Style style, std::string_view text) const;
};

// Code points: close enough to columns for what we print.
size_t width_of(std::string_view text);

// Breaks `text` at spaces into lines of at most `columns`. The first begins with `first`, the
// others with as many spaces. Line ends in `text` stay; deeper indentation of a line is kept. A
// word that is too long gets a line of its own, except with cut = true, which splits it.
std::string wrap(std::string_view text, const std::string& first, int columns, bool cut = false);

// `line` in pieces of at most `width` columns, each after the first begins with `indent`; whole
// where width is 0.
std::vector<std::string> pieces_of(std::string_view line, const std::string& indent, int width);
// At most `columns` of `text`, with "..." where something was left out; whole where columns is 0.
std::string cut(std::string_view text, size_t columns);

// `text` filled up with spaces.
std::string pad(std::string_view text, size_t columns);
std::string pad_left(std::string_view text, size_t columns);

// "0.4 s", "12 s"
std::string seconds_text(double seconds);
// "512 bytes", "3.4 MB", "1.2 GB"
std::string bytes_text(double bytes);

// Without control characters and escape sequences: what a learner's program printed may be shown.
std::string harmless(std::string_view text);

// Writes to stdout. What cannot be written is remembered for close_stdout().
void print(std::string_view text);
// To stderr: "grade: ..." wrapped.
void complain(const std::string& text);
// Flushes. `status`, or 2 with a message where something could not be written (a full disk, a
// closed descriptor). A reader that went away (| head) is not an error.
int close_stdout(int status);

// Asks on stdout, reads a line from stdin. Only "y" and "yes" are yes; the end of input is no.
bool confirm(const std::string& question);

}  // namespace grade
#endif  // WARPLINGS_CLI_TERMINAL_H_

// What a terminal of a given size would show: enough of a VT100 for our own output.
#ifndef WARPLINGS_TESTS_CLI_SCREEN_H_
#define WARPLINGS_TESTS_CLI_SCREEN_H_

#include <string>
#include <string_view>
#include <vector>

namespace grade::test {

class Screen {
 public:
  Screen(int rows, int columns) : rows_(rows), columns_(columns) { clear(); }

  void resize(int rows, int columns);
  // Text, CR, LF, backspace, CSI H, J (2 and below), K, m. Anything else is kept in unknown().
  void write(std::string_view bytes);
  // All rows, trailing spaces removed.
  std::string text() const;
  bool shows(std::string_view words) const { return text().find(words) != std::string::npos; }
  // Lines that left the screen at the top since the last clearing.
  int scrolled() const { return scrolled_; }
  // Lines that were longer than the screen is wide since then.
  int wrapped() const { return wrapped_; }
  const std::string& unknown() const { return unknown_; }

 private:
  void clear();
  void put(char byte);
  void line_feed();
  void command(char final, const std::string& parameters);

  int rows_, columns_;
  int row_ = 0, column_ = 0, scrolled_ = 0, wrapped_ = 0;
  std::vector<std::string> lines_;
  std::string pending_, unknown_;
};

}  // namespace grade::test
#endif  // WARPLINGS_TESTS_CLI_SCREEN_H_

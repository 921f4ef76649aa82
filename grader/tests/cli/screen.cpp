#include "screen.h"

#include <algorithm>

namespace grade::test {

void Screen::clear() {
  lines_.assign(static_cast<size_t>(rows_), "");
  scrolled_ = wrapped_ = 0;
}

void Screen::resize(int rows, int columns) {
  rows_ = rows;
  columns_ = columns;
  lines_.resize(static_cast<size_t>(rows));
  row_ = std::min(row_, rows - 1);
  column_ = std::min(column_, columns - 1);
}

void Screen::write(std::string_view bytes) {
  for (const char byte : bytes) {
    if (pending_.empty() && byte != '\x1b') {
      put(byte);
      continue;
    }
    pending_ += byte;
    if (pending_.size() == 2 && byte != '[') {
      unknown_ += pending_;
      pending_.clear();
    } else if (pending_.size() > 2 && byte >= '@' && byte <= '~') {
      command(byte, pending_.substr(2, pending_.size() - 3));
      pending_.clear();
    }
  }
}

void Screen::put(char byte) {
  if (byte == '\r') {
    column_ = 0;
  } else if (byte == '\n') {
    line_feed();
  } else if (byte == '\b') {
    column_ = std::max(column_ - 1, 0);
  } else if (static_cast<unsigned char>(byte) < ' ') {
    unknown_ += byte;
  } else if ((static_cast<unsigned char>(byte) & 0xc0) == 0x80) {
    // The rest of a character of several bytes, which stands on the screen as one '#'.
  } else {
    if (static_cast<unsigned char>(byte) >= 0xc0) byte = '#';
    if (column_ == columns_) {  // wraps as a terminal does
      ++wrapped_;
      column_ = 0;
      line_feed();
    }
    std::string& line = lines_[static_cast<size_t>(row_)];
    const size_t at = static_cast<size_t>(column_);
    if (line.size() <= at) line.resize(at + 1, ' ');
    line[at] = byte;
    ++column_;
  }
}

void Screen::line_feed() {
  if (++row_ < rows_) return;
  row_ = rows_ - 1;
  lines_.erase(lines_.begin());
  lines_.emplace_back();
  ++scrolled_;
}

void Screen::command(char final, const std::string& parameters) {
  if (final == 'H') {
    row_ = column_ = 0;
  } else if (final == 'J' && parameters == "2") {
    clear();
  } else if (final == 'J' && parameters.empty()) {
    command('K', "");
    for (int row = row_ + 1; row < rows_; ++row) lines_[static_cast<size_t>(row)].clear();
  } else if (final == 'K') {
    lines_[static_cast<size_t>(row_)].resize(
        std::min(lines_[static_cast<size_t>(row_)].size(), static_cast<size_t>(column_)));
  } else if (final != 'm') {
    unknown_ += "[" + parameters + final;
  }
}

std::string Screen::text() const {
  std::string text;
  for (const std::string& line : lines_) {
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace grade::test

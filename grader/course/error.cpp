#include "course/error.h"

namespace course {
namespace {

std::string located(const std::string& file, int line, const std::string& message) {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line);
  return text.empty() ? message : text + ": " + message;
}

}  // namespace

Error::Error(const std::string& file, int line, const std::string& message)
    : std::runtime_error(located(file, line, message)), file_(file), line_(line) {}

}  // namespace course

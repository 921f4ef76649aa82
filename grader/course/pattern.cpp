#include "course/pattern.h"

#include <cstdio>
#include <cstdlib>

namespace course {

Pattern::Pattern(const char* extended) {
  if (regcomp(&compiled_, extended, REG_EXTENDED) == 0) return;
  std::fprintf(stderr, "grade: not a regular expression: %s\n", extended);
  std::abort();
}

Pattern::~Pattern() { regfree(&compiled_); }

std::optional<Pattern::Match> Pattern::find(const char* text, int flags, size_t* begin) const {
  std::vector<regmatch_t> parts(compiled_.re_nsub + 1);
  if (regexec(&compiled_, text, parts.size(), parts.data(), flags) != 0) return std::nullopt;
  Match match;
  for (const regmatch_t& part : parts) {
    match.groups.push_back(part.rm_so < 0 ? "" : std::string(text + part.rm_so, text + part.rm_eo));
  }
  match.rest = text + parts[0].rm_eo;
  *begin = static_cast<size_t>(parts[0].rm_so);
  return match;
}

std::optional<Pattern::Match> Pattern::find(const std::string& text) const {
  size_t begin = 0;
  return find(text.c_str(), 0, &begin);
}

std::string Pattern::leave_groups(const std::string& text) const {
  std::string result, rest = text;
  size_t begin = 0;
  for (int flags = 0; auto match = find(rest.c_str(), flags, &begin); flags = REG_NOTBOL) {
    result += rest.substr(0, begin);
    for (size_t i = 1; i < match->groups.size(); ++i) result += match->groups[i];
    if (match->groups[0].empty()) break;  // it would be found again
    rest = match->rest;
  }
  return result + rest;
}

}  // namespace course

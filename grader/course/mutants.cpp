#include "course/mutants.h"

#include "course/text.h"

namespace course {
namespace {

constexpr char kKeys[] = "mutant, expect, only, find, put";

class MutantParser {
 public:
  explicit MutantParser(const std::string& file) : file_(file) {}

  std::vector<Mutant> parse(const std::string& text) {
    for (const std::string& line : split_lines(text)) {
      ++line_;
      if (starts_with(line, "|")) {
        quote(line.substr(1));
      } else if (trim(line).empty()) {
        finish();
      } else if (line[0] != '#') {
        key(line);
      }
    }
    finish();
    return std::move(mutants_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& message) const {
    throw Error(file_, line, message + ".");
  }

  void quote(const std::string& text) {
    if (block_ == nullptr) fail(line_, "a line with '|' belongs below \"find:\" or \"put:\"");
    *block_ += text + "\n";
  }

  void key(const std::string& line) {
    const size_t colon = line.find(':');
    const std::string name = line.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : trim(line.substr(colon + 1));
    block_ = nullptr;
    if (name == "mutant") {
      if (open_) fail(line_, "a mutant begins inside another; separate them by an empty line");
      if (value.empty()) fail(line_, "\"mutant:\" needs a sentence that says what is wrong");
      open_ = true;
      now_ = {};
      has_put_ = false;
      now_.sentence = value;
      now_.line = line_;
      return;
    }
    if (!open_) fail(line_, "\"" + name + "\" outside a mutant; a block begins with \"mutant:\"");
    if (name == "expect") {
      now_.expect = expectation(value);
    } else if (name == "only") {
      if (value != "yes") fail(line_, "\"only:\" is \"yes\" or left out");
      now_.only = true;
    } else if (name == "find" || name == "put") {
      if (!value.empty()) fail(line_, "put the text of \"" + name + ":\" below it, after '|'");
      block_ = name == "find" ? &now_.find : &now_.put;
      has_put_ = has_put_ || name == "put";
    } else {
      fail(line_, "unknown key \"" + name + "\"; the keys are " + kKeys);
    }
  }

  Expectation expectation(const std::string& text) const {
    Expectation expect;
    expect.text = text;
    if (starts_with(text, "finding:")) {
      const std::string name = trim(std::string_view(text).substr(8));
      const size_t slash = name.find('/');
      expect.what = Expectation::What::kFinding;
      expect.name = name.substr(0, slash);
      if (slash != std::string::npos) expect.kind = name.substr(slash + 1);
    } else if (starts_with(text, "budget:")) {
      expect.what = Expectation::What::kBudget;
      expect.name = trim(std::string_view(text).substr(7));
    } else {
      expect.name = text;
      if (text.find('.') == std::string::npos || text.find(' ') != std::string::npos) {
        fail(line_,
             "\"expect:\" is Suite.Name of a test, finding:CHECK, finding:CHECK/KIND or "
             "budget:NAME");
      }
    }
    if (expect.name.empty()) fail(line_, "\"expect:\" names nothing");
    return expect;
  }

  void finish() {
    block_ = nullptr;
    if (!open_) return;
    open_ = false;
    const std::string what = "mutant \"" + now_.sentence + "\" has no ";
    if (now_.expect.name.empty()) fail(now_.line, what + "\"expect:\"");
    if (now_.find.empty()) fail(now_.line, what + "\"find:\" with lines after '|'");
    // An edit that only deletes has a "put:" with nothing below.
    if (!has_put_) fail(now_.line, what + "\"put:\"");
    mutants_.push_back(now_);
  }

  const std::string& file_;
  int line_ = 0;
  bool open_ = false;
  bool has_put_ = false;
  Mutant now_;
  std::string* block_ = nullptr;
  std::vector<Mutant> mutants_;
};

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

std::vector<Mutant> parse_mutants(const std::string& text, const std::string& file) {
  return MutantParser(file).parse(text);
}

std::string mutate(const std::string& solution, const Mutant& mutant, const std::string& file) {
  // Whole lines: "n" in find must not match the end of another line.
  const std::string text = "\n" + solution;
  const std::string find = "\n" + mutant.find;
  const size_t count = count_of(text, find);
  if (count != 1) {
    const std::string first = split_lines(mutant.find).front();
    throw Error(file, mutant.line,
                "the lines to find of mutant \"" + mutant.sentence + "\" occur " +
                    plural(count, "time") + " in the solution, expected exactly once (they begin " +
                    "with \"" + trim(first) + "\"). Quote them as they stand in the solution now.");
  }
  std::string edited = text;
  edited.replace(text.find(find) + 1, mutant.find.size(), mutant.put);
  return edited.substr(1);
}

}  // namespace course

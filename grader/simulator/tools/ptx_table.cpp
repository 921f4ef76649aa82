#include "tools/ptx_table.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "ptx/module.h"

namespace warplings::sim {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A line that is indented by two blanks, with what continues it: lines that are indented further,
// or stand before its braces are closed.
struct Entry {
  int line;
  std::string text;
};

// A line in the first column, and what is indented below it.
struct Block {
  int line;
  std::string head;
  std::vector<Entry> entries;
};

[[noreturn]] void fail(const std::string& path, int line, const std::string& message) {
  throw FixtureError(path + ":" + std::to_string(line) + ": " + message);
}

bool has_open_brace(const std::string& text) {
  return std::count(text.begin(), text.end(), '{') > std::count(text.begin(), text.end(), '}');
}

std::vector<Block> blocks_of(const std::string& path, const std::string& text) {
  std::vector<Block> blocks;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != ' ') {
      blocks.push_back({number, line, {}});
      continue;
    }
    const std::string content = line.substr(std::min<size_t>(2, line.find_first_not_of(' ')));
    if (blocks.empty()) fail(path, number, "this belongs to no fixture");
    std::vector<Entry>& entries = blocks.back().entries;
    if (content[0] == ' ' && entries.empty()) {
      blocks.back().head += content.substr(content.find_first_not_of(' ') - 1);
    } else if (!entries.empty() && (content[0] == ' ' || has_open_brace(entries.back().text))) {
      entries.back().text += "\n" + content;
    } else {
      entries.push_back({number, content});
    }
  }
  return blocks;
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool starts_with_one_of(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

void replace_all(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size()) {
    text->replace(at, from.size(), to);
  }
}

// "{a<3>}" means "{a0, a1, a2}".
std::string with_vectors(std::string code) {
  for (size_t end = 0; (end = code.find(">}", end)) != std::string::npos;) {
    const size_t begin = code.rfind('{', end);
    const size_t angle = code.find('<', begin);
    if (begin == std::string::npos || angle > end) break;
    const std::string name = code.substr(begin + 1, angle - begin - 1);
    std::string list;
    for (int i = 0; i < std::atoi(code.c_str() + angle + 1); ++i) {
      list += (i > 0 ? ", " : "") + name + std::to_string(i);
    }
    code.replace(begin + 1, end - begin, list);
  }
  return code;
}

// Values of a table, separated by blanks: "7*3" is three of them, "4..31" all from 4 to 31.
Words values_of(const Words& words, size_t first) {
  constexpr long long kMost = 65536;
  Words values;
  for (size_t i = first; i < words.size(); ++i) {
    const size_t star = words[i].find('*');
    const size_t dots = words[i].find("..");
    Words some = {words[i].substr(0, star)};
    if (dots != std::string::npos) {
      some.clear();
      const long long from = std::atoll(words[i].c_str());
      const long long to = std::atoll(words[i].c_str() + dots + 2);
      for (long long n = from; n <= std::min(to, from + kMost); ++n) {
        some.push_back(std::to_string(n));
      }
    }
    const long long times = star == std::string::npos ? 1 : std::atoll(words[i].c_str() + star + 1);
    for (long long n = 0; n < std::min(times, kMost); ++n) {
      values.insert(values.end(), some.begin(), some.end());
    }
  }
  return values;
}

// One row on its way to the text of a .ptx file.
class Row {
 public:
  Row(const std::string& path, const Block& block, const std::map<std::string, Block>& inputs)
      : path_(path), line_(block.line), inputs_(inputs) {
    const size_t colon = block.head.find(':');
    name = block.head.substr(0, colon);
    comments_ = "//" + block.head.substr(colon + 1) + "\n";
  }

  std::string name;
  Words use, ptx;  // the shell with what it is given, version and target

  void add(const Entry& entry) {
    const Words words = words_of(entry.text);
    if (words[0] == "use" || words[0] == "ptx") {
      (words[0] == "use" ? use : ptx).assign(words.begin() + 1, words.end());
    } else if (words[0] == "input" || words[0] == "expect") {
      data(words, entry.line);
    } else if (words[0] == "launch" || words[0] == "shared" || words[0] == "tolerance") {
      has_launch_ = has_launch_ || words[0] == "launch";
      comments_ += "// " + words[0] + ":" + entry.text.substr(words[0].size()) + "\n";
    } else {
      code_.push_back(with_vectors(entry.text));
    }
  }

  std::string text(const std::string& shell) {
    sort_code(shell.find("$declarations") != std::string::npos);
    for (const auto& [part, lines] : parts_) {
      if (lines.empty() || part == "$parameters" || shell.find(part) != std::string::npos) continue;
      fail(path_, line_,
           "the shell " + use[0] + " has no " + part +
               ", where this would stand: " + lines.substr(0, lines.find('\n')));
    }
    if (threads_ > 0 && !has_launch_) {
      comments_ += "// launch: block " + std::to_string(threads_) + "\n";
    }
    std::string body;
    std::istringstream lines(shell);
    for (std::string line; std::getline(lines, line);) {
      const size_t indent = std::min(line.find_first_not_of(' '), line.size());
      const auto part = parts_.find(line.substr(indent));
      if (part == parts_.end()) {
        body += line + "\n";
      } else if (!part->second.empty()) {
        std::string piece = "\n" + part->second;
        piece.pop_back();
        replace_all(&piece, "\n", "\n" + line.substr(0, indent));
        body += piece.substr(1) + "\n";
      }
    }
    replace_all(&body, "$entry", ".visible .entry " + name + "(" + signature() + ")" + directives_);
    for (size_t i = 1; i < use.size(); ++i) replace_all(&body, "$" + std::to_string(i), use[i]);
    return comments_ + ".version " + ptx[0] + "\n.target " + ptx[1] + "\n.address_size 64\n\n" +
           body;
  }

 private:
  void data(const Words& words, int line) {
    if (words[0] == "input" && words.size() == 2 && inputs_.contains(words[1])) {
      for (const Entry& entry : inputs_.at(words[1]).entries) {
        values(words_of("input " + entry.text), entry.line);
      }
    } else {
      values(words, line);
    }
  }

  // "a f32 1 2" with a register, "a b32 f16 1 2 3 4" where its bits are other values, "f32 1 2"
  // without one
  void values(const Words& words, int line) {
    const bool is_input = words[0] == "input";
    const auto size = [&](size_t i) {
      return i < words.size() ? static_cast<size_t>(ptx::size_of(ptx::type_from_name(words[i])))
                              : 0;
    };
    const size_t type = size(1) > 0 ? 1 : size(3) > 0 ? 3 : 2;
    if (size(type) == 0 || (type > 1 && size(2) == 0) || words.size() == type + 1) {
      fail(path_, line,
           "values are written as: " +
               std::string(is_input ? "input a f32 1 2, or input f32 1 2, or input and the name of "
                                      "inputs that are declared"
                                    : "expect d f32 1 2, or expect f32 1 2"));
    }
    const Words all = values_of(words, type + 1);
    std::string list;
    for (const std::string& value : all) list += (list.empty() ? " " : ", ") + value;
    comments_ += "// " + words[0] + ": " + words[type] + list + "\n";
    has_input_ = has_input_ || is_input;
    size_t* offset = is_input ? &input_bytes_ : &output_bytes_;
    if (type > 1) {
      registers(words[1], words[2], is_input, *offset, all.size() * size(type), line);
    }
    *offset += all.size() * size(type);
  }

  // Thread i has the i-th value of a register; those of a1 follow those of a0.
  void registers(const std::string& word, const std::string& type, bool is_input, size_t offset,
                 size_t all_bytes, int line) {
    const size_t angle = word.find('<');
    const bool is_one = angle == std::string::npos;
    const auto bytes = static_cast<size_t>(ptx::size_of(ptx::type_from_name(type)));
    const size_t count =
        is_one ? 1 : static_cast<size_t>(std::max(1, std::atoi(word.c_str() + angle + 1)));
    if (threads_ == 0) threads_ = all_bytes / bytes / count;
    if (threads_ * count * bytes != all_bytes) {
      fail(path_, line,
           word + " has " + std::to_string(all_bytes / bytes) + " values, but there are " +
               std::to_string(threads_) + " threads: as many as the first register has values");
    }
    const std::string bits = ".b" + std::to_string(8 * bytes);
    const std::string size = std::to_string(bytes);
    parts_["$declarations"] += ".reg " +
                               (type == "f32" || type == "f64" ? "." + type
                                : bytes == 1                   ? ".b32"
                                                               : bits) +
                               " " + word + ";\n";
    for (size_t i = 0; i < count; ++i) {
      const std::string one = word.substr(0, angle) + (is_one ? "" : std::to_string(i));
      const size_t at = offset + i * threads_ * bytes;
      const std::string place = at == 0 ? "[at]" : "[at+" + std::to_string(at) + "]";
      if (is_input) {
        parts_["$loads"] += "mad.wide.u32 at, thread, " + size + ", in;\nld.global" +
                            (bytes == 1 ? "." + type : bits) + " " + one + ", " + place + ";\n";
      } else {
        parts_["$stores"] += "mad.wide.u32 at, thread, " + size + ", out;\nst.global" + bits + " " +
                             place + ", " + one + ";\n";
      }
    }
  }

  // Of the lines that begin with a dot some stand before the kernel, some behind its name.
  void sort_code(bool declares) {
    for (const std::string& line : code_) {
      const bool is_instruction = line[0] != '.' || !declares;
      if (is_instruction) {
        parts_["$code"] += line + "\n";
      } else if (starts_with_one_of(line, {".reg ", ".shared ", ".local "})) {
        parts_["$declarations"] += line + "\n";
      } else if (line.back() == ';' || line.back() == '}') {
        parts_["$module"] += line + "\n";
      } else {
        directives_ += "\n" + line;
      }
    }
    parts_["$parameters"] = std::string(has_input_ ? "ld.param.u64 in, [input];\n" : "") +
                            "ld.param.u64 out, [output];\n";
  }

  std::string signature() const {
    return std::string(has_input_ ? ".param .u64 input, " : "") + ".param .u64 output";
  }

  const std::string& path_;
  const int line_;
  const std::map<std::string, Block>& inputs_;
  std::string comments_, directives_;
  std::vector<std::string> code_;
  std::map<std::string, std::string> parts_ = {{"$module", ""}, {"$declarations", ""},
                                               {"$loads", ""},  {"$code", ""},
                                               {"$stores", ""}, {"$parameters", ""}};
  size_t threads_ = 0, input_bytes_ = 0, output_bytes_ = 0;
  bool has_input_ = false, has_launch_ = false;
};

class Table {
 public:
  explicit Table(std::string path) : path_(std::move(path)) {}

  void read(const std::string& text) {
    for (const Block& block : blocks_of(path_, text)) {
      const Words words = words_of(block.head);
      if (words[0].back() == ':') {
        row(block);
      } else if (words.size() == 2 && words[0] == "shell") {
        std::string& shell = shells_[words[1]];
        shell.clear();
        for (const Entry& entry : block.entries) shell += entry.text + "\n";
      } else if (words.size() == 2 && words[0] == "inputs") {
        inputs_[words[1]] = block;
      } else if (words.size() == 3 && words[0] == "ptx") {
        ptx_.assign(words.begin() + 1, words.end());
      } else if (words.size() >= 2 && words[0] == "use") {
        use_.assign(words.begin() + 1, words.end());
      } else {
        fail(path_, block.line,
             "a line in the first column is a fixture (name: what it shows) or one of: "
             "ptx 8.0 sm_80, use SHELL, shell NAME, inputs NAME");
      }
    }
  }

  std::vector<FixtureText> take() { return std::move(texts_); }

 private:
  void row(const Block& block) {
    Row row(path_, block, inputs_);
    if (!names_.insert(row.name).second) {
      fail(path_, block.line, "there is a fixture " + row.name + " already");
    }
    row.ptx = ptx_;
    row.use = use_;
    for (const Entry& entry : block.entries) row.add(entry);
    if (row.ptx.size() != 2) {
      fail(path_, block.line, "version and target are written as: ptx 8.0 sm_80");
    }
    if (row.use.empty() || !shells_.contains(row.use[0])) {
      fail(path_, block.line, "there is no shell " + (row.use.empty() ? "" : row.use[0]));
    }
    texts_.push_back({path_ + ":" + std::to_string(block.line) + ": " + row.name,
                      row.text(shells_[row.use[0]])});
  }

  const std::string path_;
  Words ptx_ = {"8.0", "sm_80"}, use_ = {"kernel"};
  std::map<std::string, std::string> shells_;
  std::map<std::string, Block> inputs_;
  std::set<std::string> names_;
  std::vector<FixtureText> texts_;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw FixtureError(path.string() + ": this file cannot be read");
  return text.str();
}

std::vector<FixtureText> fixtures_of(const fs::path& file) {
  if (file.extension() != ".table") return {{file.string(), text_of(file)}};
  const fs::path shells = file.parent_path() / "shells.table";
  return expand_table(file.string(), text_of(file), fs::exists(shells) ? text_of(shells) : "");
}

}  // namespace

std::vector<FixtureText> expand_table(const std::string& path, const std::string& text,
                                      const std::string& shells) {
  Table table(path);
  table.read(shells);
  table.read(text);
  return table.take();
}

std::vector<FixtureText> load_fixtures(const std::string& path) {
  std::vector<FixtureText> fixtures;
  std::error_code error;
  const size_t colon = path.rfind(':');
  if (fs::is_directory(path, error)) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path, error)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".ptx" || extension == ".table") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      for (FixtureText& one : fixtures_of(file)) fixtures.push_back(std::move(one));
    }
  } else if (fs::exists(path, error)) {
    fixtures = fixtures_of(path);
  } else if (colon != std::string::npos && fs::exists(path.substr(0, colon), error)) {
    const std::string name = ": " + path.substr(colon + 1);
    fixtures = fixtures_of(path.substr(0, colon));
    std::erase_if(fixtures, [&](const FixtureText& one) { return !one.path.ends_with(name); });
  }
  return fixtures;
}

}  // namespace warplings::sim

#include "ptx/parser.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace warplings::sim::ptx {
namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// A file's name as nvcc writes it: \" and \\, and bytes beyond ASCII in octal.
std::string unescaped(std::string_view quoted) {
  constexpr size_t kDigits = 3;
  std::string text;
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      text += quoted[i];
      continue;
    }
    const std::string_view digits = quoted.substr(i + 1, kDigits);
    if (digits.size() == kDigits && std::all_of(digits.begin(), digits.end(), is_octal)) {
      text += static_cast<char>(std::stoi(std::string(digits), nullptr, 8));
      i += kDigits;
    } else {
      text += quoted[++i];
    }
  }
  return text;
}

}  // namespace

void Parser::run() {
  while (tokens_.size() < kAhead) tokens_.push_back(lexer_.next());
  module_.files.resize(1);
  while (token().kind != Token::Kind::kEnd) {
    module_statement();
    tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  if (module_.version_major == 0) fail("a PTX module starts with .version, which is missing here");
}

// ---- tokens ----

// At most kAhead - 1 tokens ahead.
const Token& Parser::token(int ahead) const { return tokens_[next_ + static_cast<size_t>(ahead)]; }

const Token& Parser::take() {
  const Token& taken = token();
  if (taken.kind != Token::Kind::kEnd) {
    ++next_;
    tokens_.push_back(lexer_.next());
  }
  return taken;
}

bool Parser::at_punctuation(char c, int ahead) const {
  const Token& t = token(ahead);
  return t.kind == Token::Kind::kPunctuation && t.punctuation == c;
}

bool Parser::at_word(std::string_view dot_word, int ahead) const {
  const Token& t = token(ahead);
  return t.kind == Token::Kind::kDotWord && t.text == dot_word;
}

bool Parser::accept(char c) {
  if (!at_punctuation(c)) return false;
  take();
  return true;
}

void Parser::expect(char c, const char* where) {
  if (!accept(c)) {
    fail(std::string("expected '") + c + "' " + where + ", found " + describe(token()));
  }
}

std::string_view Parser::identifier(const char* what) {
  if (token().kind != Token::Kind::kIdentifier) {
    fail(std::string("expected ") + what + ", found " + describe(token()));
  }
  return take().text;
}

uint64_t Parser::integer_literal(const char* what, uint64_t limit) {
  if (token().kind != Token::Kind::kInteger) {
    fail(std::string("expected ") + what + ", found " + describe(token()));
  }
  if (token().bits > limit) {
    fail(std::string(what) + " is too large: at most " + std::to_string(limit));
  }
  return take().bits;
}

std::string Parser::describe(const Token& t) const {
  switch (t.kind) {
    case Token::Kind::kEnd:
      return "the end of the text";
    case Token::Kind::kDotWord:
      return "'." + std::string(t.text) + "'";
    case Token::Kind::kString:
      return "a string";
    default:
      return "'" + std::string(t.text) + "'";
  }
}

void Parser::fail(const Token& at, const std::string& message) const {
  // A dot word's text starts behind its dot, a string's behind its quote: point at them.
  const bool has_lead = at.kind == Token::Kind::kDotWord || at.kind == Token::Kind::kString;
  fail_at(module_.text, module_.name, at.text.data() - (has_lead ? 1 : 0), message);
}

// ---- module level ----

void Parser::module_statement() {
  if (accept(';')) return;  // stray, and harmless
  if (at_punctuation('@') && at_punctuation('@', 1)) {
    const int line = token().line;  // @@DWARF of old compilers: debug data, a line each
    while (token().kind != Token::Kind::kEnd && token().line == line) take();
    return;
  }
  if (token().kind != Token::Kind::kDotWord) {
    fail("expected a directive such as .visible, .entry or .global, found " + describe(token()));
  }
  Linkage linkage = Linkage::kInternal;
  for (;; take()) {
    if (at_word("extern")) {
      linkage = Linkage::kExtern;
    } else if (at_word("weak") || at_word("common")) {
      linkage = Linkage::kWeak;
    } else if (at_word("visible")) {
      linkage = Linkage::kVisible;
    } else {
      break;
    }
  }
  if (at_word("version")) return version();
  if (at_word("target")) return target();
  if (at_word("file")) return file();
  if (at_word("loc")) return location();
  if (at_word("section")) return skip_section();
  if (at_word("alias")) return alias();
  if (at_word("entry") || at_word("func")) return function(linkage);
  if (at_word("address_size")) {
    take();
    module_.address_size = static_cast<int>(integer_literal("the address size", 64));
    if (module_.address_size != 64) fail("only .address_size 64 can be run");
    return;
  }
  if (at_word("pragma")) {
    take();
    skip_directive_arguments();
    accept(';');
    return;
  }
  if (at_word("reg")) fail("registers can be declared inside functions only");
  module_variables(linkage);
}

void Parser::version() {
  take();
  const std::string_view text = token().text;
  const size_t dot = text.find('.');
  const bool is_number = token().kind == Token::Kind::kFloat64 && dot != std::string_view::npos &&
                         text.size() < 8 && dot + 1 < text.size();
  if (!is_number) fail("expected a version such as 8.0, found " + describe(token()));
  module_.version_major = std::atoi(std::string(text.substr(0, dot)).c_str());
  module_.version_minor = std::atoi(std::string(text.substr(dot + 1)).c_str());
  if (module_.version_major == 0) fail("there is no PTX version " + std::string(text));
  take();
}

void Parser::target() {
  take();
  module_.target = identifier("a target such as sm_80");
  while (accept(',')) identifier("a target option such as debug");
}

void Parser::file() {
  take();
  const uint64_t index = integer_literal("the number of a file", 65535);
  if (token().kind != Token::Kind::kString) fail("expected the file's name as a string");
  std::string path = unescaped(take().text);
  while (accept(',')) integer_literal("the file's time stamp or size", UINT64_MAX);
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = std::move(path);
}

// .loc file line column [, function_name label[+offset], inlined_at file line column]
// The call site was itself named by an earlier .loc, whose chain is taken over.
void Parser::location() {
  take();
  const auto number = [&](const char* what) {
    return static_cast<int>(integer_literal(what, INT_MAX));
  };
  const int file = number("the number of a file");
  const int line = number("a line");
  const int column = number("a column");
  int inlined_at = -1;
  while (at_punctuation(',')) {
    take();
    const std::string_view word = identifier("function_name or inlined_at");
    if (word == "function_name") {
      identifier("the label of the function's name");
      if (accept('+')) integer_literal("an offset", INT_MAX);
    } else if (word == "inlined_at") {
      std::array<int, 3> site{};
      for (int& part : site) part = number("file, line and column of the call");
      const auto known = call_sites_.find(site);
      inlined_at = known != call_sites_.end() ? known->second
                                              : location_index(site[0], site[1], site[2], -1);
    } else {
      fail("expected function_name or inlined_at, found '" + std::string(word) + "'");
    }
  }
  location_ = location_index(file, line, column, inlined_at);
  call_sites_[{file, line, column}] = location_;
}

int Parser::location_index(int file, int line, int column, int inlined_at) {
  const auto [entry, is_new] = location_ids_.try_emplace({file, line, column, inlined_at},
                                                         static_cast<int>(location_ids_.size()));
  if (is_new) module_.locations.push_back({file, line, column, inlined_at});
  return entry->second;
}

// Debug data. Its content is of no use here; braces do not nest in it, but counting is free.
void Parser::skip_section() {
  const Token& start = take();
  while (!at_punctuation('{')) {
    if (token().kind == Token::Kind::kEnd) fail(start, "this section has no { }");
    take();
  }
  int depth = 0;
  do {
    if (token().kind == Token::Kind::kEnd) fail(start, "this section is never closed with }");
    if (at_punctuation('{')) ++depth;
    if (at_punctuation('}')) --depth;
    take();
  } while (depth > 0);
}

void Parser::alias() {
  take();
  const std::string name(identifier("a function's name"));
  expect(',', "between the two names of .alias");
  module_.aliases[name] = identifier("a function's name");
  expect(';', "after .alias");
}

// ---- functions ----

void Parser::function(Linkage linkage) {
  Function function;
  function.linkage = linkage;
  function.is_entry = take().text == "entry";
  function_ = &function;
  scopes_.reset(&globals_);
  register_count_ = 0;
  local_bytes_ = 0;
  Variable ignored;
  while (at_word("attribute")) attribute(ignored);
  if (!function.is_entry && at_punctuation('(')) function.returns = parameter_list(true);
  const Token at = token();
  function.name = identifier("a function's name");
  if (at_punctuation('(')) function.params = parameter_list(true);
  function_directives(function);
  if (at_punctuation('{')) {
    // Known before its body is read: it may call itself.
    globals_.try_emplace(function.name, Symbol{Symbol::Kind::kFunction, function.name});
    body();
  } else {
    expect(';', "or a body in { } after the head of a function");
    function.is_declaration = true;
  }
  function_ = nullptr;
  add_function(std::move(function), at);
}

void Parser::add_function(Function function, const Token& at) {
  globals_.try_emplace(function.name, Symbol{Symbol::Kind::kFunction, function.name});
  if (variable_index_.contains(function.name)) {
    fail(at, "'" + function.name + "' is already the name of a variable");
  }
  const auto [entry, is_new] = function_index_.try_emplace(function.name, module_.functions.size());
  if (is_new) {
    module_.functions.push_back(std::move(function));
    return;
  }
  Function& known = module_.functions[entry->second];
  if (function.is_declaration) return;
  if (!known.is_declaration) {
    if (function.linkage == Linkage::kWeak) return;
    fail(at, "function '" + function.name + "' is defined twice");
  }
  function.is_noreturn |= known.is_noreturn;
  known = std::move(function);
}

void Parser::function_directives(Function& function) {
  while (token().kind == Token::Kind::kDotWord) {
    const std::string_view word = take().text;
    if (word == "noreturn") {
      function.is_noreturn = true;
    } else if (word == "maxntid") {
      dimensions_directive(function.max_threads);
    } else if (word == "reqntid") {
      dimensions_directive(function.required_threads);
    } else if (word == "reqnctapercluster") {
      dimensions_directive(function.cluster);
    } else if (word == "minnctapersm") {
      function.min_blocks_per_sm = static_cast<int>(integer_literal("a number of blocks", INT_MAX));
    } else if (word == "maxnreg") {
      function.max_registers = static_cast<int>(integer_literal("a number of registers", INT_MAX));
    } else {
      skip_directive_arguments();  // .maxnctapersm, .pragma, .explicitcluster, .abi_preserve ...
      if (word == "pragma") accept(';');
    }
  }
}

void Parser::dimensions_directive(int (&out)[3]) {
  int i = 0;
  do {
    if (i == 3) fail("a block has at most three dimensions");
    out[i++] = static_cast<int>(integer_literal("a number of threads", INT_MAX));
  } while (accept(','));
  for (; i < 3; ++i) out[i] = 1;
}

void Parser::skip_directive_arguments() {
  while (token().kind == Token::Kind::kInteger || token().kind == Token::Kind::kString ||
         at_punctuation(',')) {
    take();
  }
}

std::vector<Variable> Parser::parameter_list(bool declare) {
  std::vector<Variable> parameters;
  expect('(', "before parameters");
  if (accept(')')) return parameters;
  do {
    parameters.push_back(parameter(declare));
  } while (accept(','));
  expect(')', "after parameters");
  return parameters;
}

// `declare` is off in prototypes, whose parameters are all called "_".
Variable Parser::parameter(bool declare) {
  const bool is_register = at_word("reg");
  if (!is_register && !at_word("param")) {
    fail("expected a parameter that starts with .param or .reg, found " + describe(token()));
  }
  take();
  const Declaration declaration = declaration_prefix(is_register ? Space::kReg : Space::kParam);
  Variable variable = declaration.prototype;
  const Token at = token();
  const std::string name(identifier("a parameter's name"));
  variable.size = byte_size(declaration, dimensions(), at);
  variable.name = name;
  if (!declare || name == "_") return variable;
  if (is_register) {
    declare_register(name, variable.type, variable.vector_width, at);
    variable.name = scopes_.find(name, scopes_.current())->unique;
    return variable;
  }
  Symbol* symbol =
      scopes_.declare(name, {Symbol::Kind::kVariable, "", 1,
                             declaration.element_bytes * declaration.prototype.vector_width});
  if (symbol == nullptr) fail(at, "parameter '" + name + "' is declared twice");
  variable.name = symbol->unique;
  return variable;
}

}  // namespace warplings::sim::ptx

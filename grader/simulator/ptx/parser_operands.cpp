// Operands and constant expressions.
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "ptx/parser.h"

namespace warplings::sim::ptx {
namespace {

constexpr int kMaxNesting = 64;
constexpr int64_t kMaxOffset = int64_t{1} << 40;

// Read-only registers that every kernel has. With `dimensions`, ".x" may follow.
struct SpecialName {
  std::string_view name;
  bool dimensions;
};
constexpr std::array kSpecial = {
    SpecialName{"%tid", true},
    SpecialName{"%ntid", true},
    SpecialName{"%ctaid", true},
    SpecialName{"%nctaid", true},
    SpecialName{"%clusterid", true},
    SpecialName{"%nclusterid", true},
    SpecialName{"%cluster_ctaid", true},
    SpecialName{"%cluster_nctaid", true},
    SpecialName{"%cluster_ctarank", false},
    SpecialName{"%cluster_nctarank", false},
    SpecialName{"%is_explicit_cluster", false},
    SpecialName{"%laneid", false},
    SpecialName{"%warpid", false},
    SpecialName{"%nwarpid", false},
    SpecialName{"%smid", false},
    SpecialName{"%nsmid", false},
    SpecialName{"%gridid", false},
    SpecialName{"%lanemask_eq", false},
    SpecialName{"%lanemask_le", false},
    SpecialName{"%lanemask_lt", false},
    SpecialName{"%lanemask_ge", false},
    SpecialName{"%lanemask_gt", false},
    SpecialName{"%clock", false},
    SpecialName{"%clock_hi", false},
    SpecialName{"%clock64", false},
    SpecialName{"%globaltimer", false},
    SpecialName{"%globaltimer_lo", false},
    SpecialName{"%globaltimer_hi", false},
    SpecialName{"%reserved_smem_offset_begin", false},
    SpecialName{"%reserved_smem_offset_end", false},
    SpecialName{"%reserved_smem_offset_cap", false},
    SpecialName{"%total_smem_size", false},
    SpecialName{"%aggr_smem_size", false},
    SpecialName{"%dynamic_smem_size", false},
    SpecialName{"%current_graph_exec", false},
};

// %envreg0..31, %pm0..7, %pm0_64 .., %reserved_smem_offset_0/1
bool is_numbered_special(std::string_view name) {
  for (const std::string_view prefix : {"%envreg", "%pm", "%reserved_smem_offset_"}) {
    if (!name.starts_with(prefix)) continue;
    std::string_view rest = name.substr(prefix.size());
    if (prefix == "%pm" && rest.ends_with("_64")) rest.remove_suffix(3);
    if (rest.empty() || rest.size() > 2) return false;
    for (const char c : rest) {
      if (c < '0' || c > '9') return false;
    }
    return true;
  }
  return false;
}

bool is_selector(std::string_view word) {
  if (word.size() < 2 || word.size() > 5 || (word[0] != 'b' && word[0] != 'h')) return false;
  for (const char c : word.substr(1)) {
    if (c < '0' || c > '7') return false;
  }
  return true;
}

}  // namespace

const Symbol* Parser::find(std::string_view name) const {
  if (const Symbol* symbol = scopes_.find(name, scopes_.current())) return symbol;
  const auto global = globals_.find(name);
  return global == globals_.end() ? nullptr : &global->second;
}

bool Parser::special_register(std::string_view name) const {
  for (const SpecialName& special : kSpecial) {
    if (special.name == name) return true;
  }
  return is_numbered_special(name);
}

// One operand, or a pair %p1|%p2.
Operand Parser::operand(bool in_call) {
  Operand first = plain_operand(in_call);
  const bool can_pair =
      first.kind == Operand::Kind::kRegister || first.kind == Operand::Kind::kSink;
  if (!can_pair || !accept('|')) return first;
  Operand pair;
  pair.kind = Operand::Kind::kVector;
  pair.is_pair = true;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(plain_operand(in_call));
  return pair;
}

Operand Parser::plain_operand(bool in_call) {
  if (at_punctuation('[')) return address();
  if (at_punctuation('{')) return group('{', '}', Operand::Kind::kVector, in_call);
  if (in_call && at_punctuation('(')) return group('(', ')', Operand::Kind::kParenList, false);
  if (at_punctuation('!') && token(1).kind == Token::Kind::kIdentifier) {
    take();
    Operand negated = named_operand();
    if (negated.kind != Operand::Kind::kRegister) fail("only a predicate can follow '!'");
    negated.negated = true;
    return negated;
  }
  if (at_punctuation('-') && token(1).kind == Token::Kind::kIdentifier &&
      token(1).text != "WARP_SZ") {  // vmad: -a
    take();
    Operand negated = named_operand();
    if (negated.kind != Operand::Kind::kRegister) fail("only a register can follow '-' here");
    negated.negated = true;
    return negated;
  }
  const bool is_name = token().kind == Token::Kind::kIdentifier && token().text != "WARP_SZ";
  if (is_name) return named_operand();
  return constant_operand(constant_expression());
}

Operand Parser::group(char open, char close, Operand::Kind kind, bool in_call) {
  if (group_depth_ >= kMaxNesting) fail("operands are nested too deep");
  ++group_depth_;
  Operand out;
  out.kind = kind;
  expect(open, "before operands");
  if (!accept(close)) {
    do {
      out.elements.push_back(operand(in_call));
    } while (accept(','));
    expect(close, "after operands");
  }
  --group_depth_;
  return out;
}

Operand Parser::named_operand() {
  const Token& at = token();
  const std::string_view name = take().text;
  if (name == "_") return {};
  const Symbol* symbol = find(name);
  if (symbol != nullptr &&
      (symbol->kind == Symbol::Kind::kRegister || symbol->kind == Symbol::Kind::kVectorRegister)) {
    return register_operand(*symbol);
  }
  if (symbol == nullptr && name.starts_with('%')) {
    if (!special_register(name)) {
      fail(at, "register '" + std::string(name) + "' is not declared here");
    }
    Operand special;
    special.kind = Operand::Kind::kSpecial;
    special.name = name;
    for (const SpecialName& row : kSpecial) {
      const bool has_component = row.dimensions && row.name == name &&
                                 token().kind == Token::Kind::kDotWord && token().text.size() == 1;
      if (!has_component) continue;
      if (std::string_view("xyzw").find(token().text) == std::string_view::npos) {
        fail("expected .x, .y, .z or .w, found " + describe(token()));
      }
      special.name += '.';
      special.name += take().text;
    }
    return special;
  }
  return symbol_operand(name, symbol);
}

Operand Parser::register_operand(const Symbol& symbol) {
  Operand out;
  out.kind = Operand::Kind::kRegister;
  out.name = symbol.unique;
  if (symbol.kind == Symbol::Kind::kRegister) {
    if (token().kind == Token::Kind::kDotWord && is_selector(token().text)) {
      out.selector = take().text;
    }
    return out;
  }
  if (token().kind == Token::Kind::kDotWord) {
    const size_t component = std::string_view("xyzw").find(token().text);
    if (token().text.size() != 1 || component >= static_cast<size_t>(symbol.width)) {
      fail("this register has no component " + describe(token()));
    }
    out.name += '.';
    out.name += take().text;
    return out;
  }
  out.kind = Operand::Kind::kVector;
  out.name.clear();
  for (int i = 0; i < symbol.width; ++i) {
    Operand component;
    component.kind = Operand::Kind::kRegister;
    component.name = symbol.unique + "." + "xyzw"[i];
    out.elements.push_back(std::move(component));
  }
  return out;
}

// A label, function, parameter or variable: name, name+4, name[2].
Operand Parser::symbol_operand(std::string_view name, const Symbol* symbol) {
  Operand out;
  out.kind = Operand::Kind::kSymbol;
  const bool is_label = symbol != nullptr && symbol->kind == Symbol::Kind::kLabel;
  out.name = symbol == nullptr || is_label ? std::string(name) : symbol->unique;
  int64_t offset = 0;
  if (symbol != nullptr && symbol->kind == Symbol::Kind::kVariable && at_punctuation('[')) {
    take();
    const Token& at = token();
    const auto index = static_cast<int64_t>(constant_expression().bits);
    if (index < -kMaxOffset || index > kMaxOffset) fail(at, "this index is out of any range");
    offset = index * symbol->element_bytes;
    expect(']', "after an index");
  }
  offset += signed_offset("an offset from the symbol");
  out.bits = static_cast<uint64_t>(offset);
  return out;
}

// Nothing, +4, -4 or +-4.
int64_t Parser::signed_offset(const char* what) {
  if (!at_punctuation('+') && !at_punctuation('-')) return 0;
  const bool minus = take().punctuation == '-';
  const Token& at = token();
  const Constant value = constant_expression();
  const auto offset = static_cast<int64_t>(value.bits);
  if (value.kind != Token::Kind::kInteger || offset < -kMaxOffset || offset > kMaxOffset) {
    fail(at, std::string(what) + " is an integer of at most 2^40");
  }
  return minus ? -offset : offset;
}

// [%rd1], [%rd1+-8], [name+4], [16], [texture, {%f1, %f2}], [texture, sampler, {%f1}]
Operand Parser::address() {
  if (group_depth_ >= kMaxNesting) fail("operands are nested too deep");
  ++group_depth_;
  Operand out;
  out.kind = Operand::Kind::kAddress;
  expect('[', "before an address");
  if (token().kind == Token::Kind::kIdentifier && token().text != "WARP_SZ") {
    const Token& at = token();
    Operand base = named_operand();
    const bool is_symbol = base.kind == Operand::Kind::kSymbol;
    if (!is_symbol && base.kind != Operand::Kind::kRegister) {
      fail(at, "an address starts with a register, a name or a number");
    }
    int64_t offset = static_cast<int64_t>(base.bits);
    if (!is_symbol) offset = signed_offset("an offset from the register");
    base.bits = 0;
    out.elements.push_back(std::move(base));
    out.bits = static_cast<uint64_t>(offset);
  } else {
    const Token& at = token();
    const Constant absolute = constant_expression();
    if (absolute.kind != Token::Kind::kInteger) fail(at, "an address is an integer");
    out.bits = absolute.bits;
    out.is_negative = absolute.is_negative;
    if (at_punctuation(',')) out.elements.emplace_back();  // what follows starts at elements[1]
  }
  while (accept(',')) out.elements.push_back(operand(false));
  expect(']', "after an address");
  --group_depth_;
  return out;
}

// ---- constant expressions ----

double Parser::Constant::as_double() const {
  if (kind == Token::Kind::kFloat64) return std::bit_cast<double>(bits);
  if (kind == Token::Kind::kFloat32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<int64_t>(bits));
}

Operand Parser::constant_operand(const Constant& constant) {
  Operand out;
  out.bits = constant.bits;
  out.is_negative = constant.is_negative;
  out.kind = constant.kind == Token::Kind::kFloat32   ? Operand::Kind::kFloat32
             : constant.kind == Token::Kind::kFloat64 ? Operand::Kind::kFloat64
                                                      : Operand::Kind::kInteger;
  return out;
}

Parser::Constant Parser::constant_expression(int depth) {
  if (depth > kMaxNesting) fail("this expression is nested too deep");
  Constant condition = constant_binary(0, depth);
  if (!accept('?')) return condition;
  const Constant yes = constant_expression(depth + 1);
  expect(':', "between the two values of ?:");
  const Constant no = constant_expression(depth + 1);
  return condition.bits != 0 ? yes : no;
}

// Precedence of the binary operator here, as in C; -1 if there is none.
int Parser::binary_operator(std::string& spelling) const {
  if (token().kind != Token::Kind::kPunctuation) return -1;
  const char c = token().punctuation;
  const Token& second = token(1);
  const bool is_adjacent =
      second.kind == Token::Kind::kPunctuation && second.text.data() == token().text.data() + 1;
  spelling = c;
  if (is_adjacent) {
    const std::string two = spelling + second.punctuation;
    for (const auto& [text, precedence] :
         {std::pair("||", 0), std::pair("&&", 1), std::pair("==", 5), std::pair("!=", 5),
          std::pair("<=", 6), std::pair(">=", 6), std::pair("<<", 7), std::pair(">>", 7)}) {
      if (two == text) {
        spelling = two;
        return precedence;
      }
    }
  }
  switch (c) {
    case '|':
      return 2;
    case '^':
      return 3;
    case '&':
      return 4;
    case '<':
    case '>':
      return 6;
    case '+':
    case '-':
      return 8;
    case '*':
    case '/':
    case '%':
      return 9;
    default:
      return -1;
  }
}

Parser::Constant Parser::constant_binary(int minimum_precedence, int depth) {
  if (depth > kMaxNesting) fail("this expression is nested too deep");
  Constant left = constant_unary(depth);
  std::string op;
  for (int precedence; (precedence = binary_operator(op)) >= minimum_precedence;) {
    const Token& at = token();
    for (size_t i = 0; i < op.size(); ++i) take();
    const Constant right = constant_binary(precedence + 1, depth + 1);
    left = apply(at, op, left, right);
  }
  return left;
}

Parser::Constant Parser::constant_unary(int depth) {
  if (depth > kMaxNesting) fail("this expression is nested too deep");
  const Token& t = token();
  Constant value;
  if (t.kind == Token::Kind::kInteger || t.kind == Token::Kind::kFloat32 ||
      t.kind == Token::Kind::kFloat64) {
    take();
    value.kind = t.kind;
    value.bits = t.bits;
    value.is_unsigned = t.is_unsigned;
    return value;
  }
  if (t.kind == Token::Kind::kIdentifier && t.text == "WARP_SZ") {
    take();
    value.bits = 32;
    return value;
  }
  if (accept('(')) {
    if (at_word("s64") || at_word("u64")) {  // a cast
      const bool is_unsigned = take().text == "u64";
      expect(')', "after a cast");
      value = constant_unary(depth + 1);
      value.is_unsigned = is_unsigned;
      return value;
    }
    value = constant_expression(depth + 1);
    expect(')', "after an expression");
    return value;
  }
  const bool is_unary =
      at_punctuation('-') || at_punctuation('+') || at_punctuation('!') || at_punctuation('~');
  if (!is_unary) fail("expected an operand, found " + describe(t));
  const char op = take().punctuation;
  value = constant_unary(depth + 1);
  if (op == '+') return value;
  if (value.kind != Token::Kind::kInteger) {
    if (op != '-') fail(t, "this operator needs an integer");
    value.bits ^= value.kind == Token::Kind::kFloat32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
    value.is_negative = !value.is_negative;
    return value;
  }
  if (op == '-') {
    value.bits = 0 - value.bits;
    value.is_negative = !value.is_negative;
    value.is_unsigned = false;
  } else if (op == '~') {
    value.bits = ~value.bits;
  } else {
    value.bits = value.bits == 0;
  }
  return value;
}

Parser::Constant Parser::apply(const Token& at, const std::string& op, const Constant& a,
                               const Constant& b) const {
  Constant out;
  if (a.kind != Token::Kind::kInteger || b.kind != Token::Kind::kInteger) {
    const double x = a.as_double();
    const double y = b.as_double();
    double value = 0;
    if (op == "+") {
      value = x + y;
    } else if (op == "-") {
      value = x - y;
    } else if (op == "*") {
      value = x * y;
    } else if (op == "/") {
      value = x / y;
    } else {
      fail(at, "operator " + op + " needs integers");
    }
    out.kind = Token::Kind::kFloat64;
    out.bits = std::bit_cast<uint64_t>(value);
    return out;
  }
  out.is_unsigned = a.is_unsigned || b.is_unsigned;
  const uint64_t x = a.bits;
  const uint64_t y = b.bits;
  const auto sx = static_cast<int64_t>(x);
  const auto sy = static_cast<int64_t>(y);
  const bool is_less = out.is_unsigned ? x < y : sx < sy;
  if (op == "/" || op == "%") {
    if (y == 0) fail(at, "this divides by zero");
    if (out.is_unsigned) {
      out.bits = op == "/" ? x / y : x % y;
    } else if (sy == -1) {
      out.bits = op == "/" ? 0 - x : 0;  // also the smallest integer, which / would trap on
    } else {
      out.bits = static_cast<uint64_t>(op == "/" ? sx / sy : sx % sy);
    }
  } else if (op == ">>") {
    const uint64_t count = y > 63 ? 63 : y;
    out.bits = a.is_unsigned ? (y > 63 ? 0 : x >> y) : static_cast<uint64_t>(sx >> count);
  } else {
    out.bits = op == "+"    ? x + y
               : op == "-"  ? x - y
               : op == "*"  ? x * y
               : op == "|"  ? (x | y)
               : op == "^"  ? (x ^ y)
               : op == "&"  ? (x & y)
               : op == "<<" ? (y > 63 ? 0 : x << y)
               : op == "==" ? x == y
               : op == "!=" ? x != y
               : op == "<"  ? is_less
               : op == ">"  ? !is_less && x != y
               : op == "<=" ? is_less || x == y
               : op == ">=" ? !is_less
               : op == "&&" ? x != 0 && y != 0
                            : x != 0 || y != 0;
  }
  out.is_negative = !out.is_unsigned && static_cast<int64_t>(out.bits) < 0;
  return out;
}

}  // namespace warplings::sim::ptx

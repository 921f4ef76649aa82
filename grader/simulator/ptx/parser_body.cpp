// Statements of a function: scopes, labels, declarations, instructions.
#include <utility>

#include "ptx/parser.h"

namespace warplings::sim::ptx {

void Parser::body() {
  const Token& open = take();
  location_ = -1;
  call_sites_.clear();
  scope_of_instruction_.clear();
  scope_of_target_list_.clear();
  const int outermost = scopes_.depth();
  // The body shares the scope of the parameters; nested scopes need no recursion.
  while (!(at_punctuation('}') && scopes_.depth() == outermost)) {
    const Token& t = token();
    if (t.kind == Token::Kind::kEnd) fail(open, "this { of a function is never closed");
    if (accept('{')) {
      if (scopes_.depth() >= Scopes::kMaxDepth) fail(t, "scopes are nested too deep");
      scopes_.push();
    } else if (accept('}')) {
      scopes_.pop();
    } else if (accept(';')) {
      continue;
    } else if (t.kind == Token::Kind::kDotWord) {
      directive_statement();
    } else if (t.kind == Token::Kind::kIdentifier && at_punctuation(':', 1)) {
      take();
      take();
      label(t.text, t);
    } else {
      instruction();
    }
  }
  take();
  resolve_labels();
}

void Parser::directive_statement() {
  Linkage linkage = Linkage::kInternal;
  for (; at_word("extern") || at_word("visible") || at_word("weak"); take()) {
    if (at_word("extern")) linkage = Linkage::kExtern;
  }
  if (at_word("loc")) return location();
  if (at_word("reg")) return register_declaration();
  if (at_word("param")) return body_variables(Space::kParam, linkage);
  if (at_word("local")) return body_variables(Space::kLocal, linkage);
  if (at_word("shared")) return body_variables(Space::kShared, linkage);
  if (at_word("global") || at_word("const")) return module_variables(linkage);
  if (at_word("file")) return file();
  if (at_word("section")) return skip_section();
  if (at_word("pragma")) {
    take();
    skip_directive_arguments();
    expect(';', "after .pragma");
    return;
  }
  fail("'." + std::string(token().text) + "' is not a statement of a function");
}

void Parser::label(std::string_view name, const Token& at) {
  const Symbol* symbol = scopes_.declare(name, {Symbol::Kind::kLabel, "", 1, 1});
  if (symbol == nullptr) {
    fail(at, "'" + std::string(name) + "' is declared twice in this scope");
  }
  if (at_word("branchtargets") || at_word("calltargets")) {
    target_list(symbol->unique);
  } else if (at_word("callprototype")) {
    prototype(symbol->unique);
  } else {
    function_->labels[symbol->unique] = static_cast<int>(function_->body.size());
  }
}

// label: .branchtargets a, b, c;
void Parser::target_list(const std::string& label) {
  const bool are_labels = take().text == "branchtargets";
  std::vector<std::string>& targets = function_->target_lists[label];
  do {
    targets.emplace_back(identifier("a label or function"));
  } while (accept(','));
  expect(';', "after the targets");
  if (are_labels) scope_of_target_list_.emplace_back(label, scopes_.current());
}

// label: .callprototype (results) _ (parameters) .noreturn;
void Parser::prototype(const std::string& label) {
  take();
  Function::Prototype& prototype = function_->prototypes[label];
  if (at_punctuation('(')) prototype.returns = parameter_list(false);
  identifier("the place of the function's name: _");
  if (at_punctuation('(')) prototype.params = parameter_list(false);
  while (token().kind == Token::Kind::kDotWord) {  // .noreturn, .abi_preserve 16
    take();
    skip_directive_arguments();
  }
  expect(';', "after a prototype");
}

void Parser::instruction() {
  Instruction& out = function_->body.emplace_back();
  scope_of_instruction_.push_back(scopes_.current());
  out.location = location_;
  out.text_line = token().line;
  if (accept('@')) {
    out.guard_negated = accept('!');
    out.guard = guard_register();
  }
  if (at_punctuation('{')) fail("a guard can stand before an instruction only");
  out.opcode = identifier("an instruction");
  out.row = &opcode_row(out.opcode);
  while (token().kind == Token::Kind::kDotWord) out.modifiers.emplace_back(take().text);
  if (accept(';')) return;
  const bool is_call = flow_of(*out.row) == Flow::kCall;
  do {
    out.operands.push_back(operand(is_call));
  } while (accept(','));
  if (!accept(';')) {
    fail("expected ',' or ';' after an operand of " + out.opcode + ", found " + describe(token()));
  }
}

std::string Parser::guard_register() {
  const Token& at = token();
  const std::string_view name = identifier("a predicate register after @");
  const Symbol* symbol = find(name);
  if (symbol == nullptr || symbol->kind != Symbol::Kind::kRegister) {
    fail(at, "'" + std::string(name) + "' is not a declared predicate register");
  }
  return symbol->unique;
}

// Branches may name labels that come later, so names are looked up when the body has been read.
void Parser::resolve_labels() {
  const auto unique_label = [&](const std::string& name, int scope) -> const std::string* {
    const Symbol* symbol = scopes_.find(name, scope);
    return symbol && symbol->kind == Symbol::Kind::kLabel ? &symbol->unique : nullptr;
  };
  for (size_t i = 0; i < function_->body.size(); ++i) {
    Instruction& instruction = function_->body[i];
    const Flow flow = flow_of(*instruction.row);
    const bool is_branch = flow == Flow::kBranch || flow == Flow::kBranchTable;
    if (!is_branch && flow != Flow::kCall) continue;
    for (Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::kSymbol) continue;
      if (const std::string* label = unique_label(operand.name, scope_of_instruction_[i])) {
        operand.name = *label;
      } else if (is_branch) {
        fail_on_line(instruction.text_line, operand.name,
                     "there is no label '" + operand.name + "' in this function");
      }
    }
  }
  for (const auto& [list, scope] : scope_of_target_list_) {
    for (std::string& target : function_->target_lists[list]) {
      const std::string* label = unique_label(target, scope);
      if (label == nullptr) {
        const Token& end = tokens_[next_ - 1];
        fail(end, "'" + list + "' names the label '" + target + "', which this function has not");
      }
      target = *label;
    }
  }
}

// For errors found after the tokens have gone by: points at `word` from the given line on.
void Parser::fail_on_line(int line, std::string_view word, const std::string& message) const {
  const std::string_view text = module_.text;
  size_t start = 0;
  for (int i = 1; i < line; ++i) start = text.find('\n', start) + 1;
  const size_t found = text.find(word, start);
  fail_at(text, module_.name, text.data() + (found == std::string_view::npos ? start : found),
          message);
}

}  // namespace warplings::sim::ptx

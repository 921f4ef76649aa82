// Recursive descent over the tokens of one module. Internal to ptx/: use parse() of module.h.
//   parser.cpp              module level: directives, functions
//   parser_declarations.cpp variables, registers, initial values
//   parser_body.cpp         statements of a function
//   parser_operands.cpp     operands and constant expressions
#ifndef WARPLINGS_SIMULATOR_PTX_PARSER_H_
#define WARPLINGS_SIMULATOR_PTX_PARSER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/module.h"
#include "ptx/scope.h"

namespace warplings::sim::ptx {

class Parser {
 public:
  explicit Parser(Module& module) : module_(module), lexer_(module.text, module.name) {}
  void run();

 private:
  // A constant expression's value; an integer unless `kind` says float.
  struct Constant {
    Token::Kind kind = Token::Kind::kInteger;
    uint64_t bits = 0;
    bool is_unsigned = false;
    bool is_negative = false;  // written with a leading minus
    double as_double() const;
  };
  // What stands before the names of a declaration: ".global .align 4 .v2 .f32".
  struct Declaration {
    Variable prototype;
    int element_bytes = 0;  // one scalar
  };
  struct Dimensions {
    std::vector<uint64_t> sizes;  // outermost first; 0: left to the initialiser
    bool is_array() const { return !sizes.empty(); }
  };

  // Tokens.
  const Token& token(int ahead = 0) const;
  const Token& take();
  bool at_punctuation(char c, int ahead = 0) const;
  bool at_word(std::string_view dot_word, int ahead = 0) const;
  bool accept(char c);
  void expect(char c, const char* where);
  std::string_view identifier(const char* what);
  uint64_t integer_literal(const char* what, uint64_t limit);
  std::string describe(const Token& token) const;
  [[noreturn]] void fail(const std::string& message) const { fail(token(), message); }
  [[noreturn]] void fail(const Token& token, const std::string& message) const;

  // Module level (parser.cpp).
  void module_statement();
  void version();
  void target();
  void file();
  void location();
  int location_index(int file, int line, int column, int inlined_at);
  void skip_section();
  void alias();
  void function(Linkage linkage);
  void function_directives(Function& function);
  void dimensions_directive(int (&out)[3]);
  void skip_directive_arguments();
  std::vector<Variable> parameter_list(bool declare);
  Variable parameter(bool declare);
  void add_function(Function function, const Token& at);
  void module_variables(Linkage linkage);
  void add_module_variable(Variable variable, const Token& at, int element_bytes);

  // Declarations (parser_declarations.cpp).
  Declaration declaration_prefix(Space space);
  void attribute(Variable& variable);
  Dimensions dimensions();
  uint64_t byte_size(const Declaration& declaration, const Dimensions& dims, const Token& at) const;
  void register_declaration();
  void declare_registers(std::string_view name, Type type, int width, uint64_t count,
                         const Token& at);
  void declare_register(const std::string& name, Type type, int width, const Token& at);
  void body_variables(Space space, Linkage linkage);
  void initialiser(Variable& variable, const Declaration& declaration, Dimensions& dims);
  void initialiser_list(Variable& variable, const Declaration& declaration,
                        const std::vector<uint64_t>& strides, size_t level, uint64_t start,
                        uint64_t end, uint64_t& used);
  void initial_value(Variable& variable, const Declaration& declaration, uint64_t element);
  void initial_address(Variable& variable, const Declaration& declaration, uint64_t element,
                       uint64_t mask, bool masked);
  void store_initial(Variable& variable, uint64_t offset, uint64_t bits, int width) const;

  // Function bodies (parser_body.cpp).
  void body();
  void directive_statement();
  void label(std::string_view name, const Token& at);
  void target_list(const std::string& label);
  void prototype(const std::string& label);
  void instruction();
  void resolve_labels();
  [[noreturn]] void fail_on_line(int line, std::string_view word, const std::string& message) const;

  // Operands (parser_operands.cpp).
  Operand operand(bool in_call);
  Operand plain_operand(bool in_call);
  Operand named_operand();
  Operand register_operand(const Symbol& symbol);
  Operand symbol_operand(std::string_view name, const Symbol* symbol);
  Operand address();
  Operand group(char open, char close, Operand::Kind kind, bool in_call);
  static Operand constant_operand(const Constant& constant);
  bool special_register(std::string_view name) const;
  std::string guard_register();
  const Symbol* find(std::string_view name) const;

  Constant constant_expression(int depth = 0);
  Constant constant_binary(int minimum_precedence, int depth);
  Constant constant_unary(int depth);
  int binary_operator(std::string& spelling) const;
  Constant apply(const Token& at, const std::string& op, const Constant& a,
                 const Constant& b) const;
  int64_t signed_offset(const char* what);

  Module& module_;
  Lexer lexer_;
  // Of the statement of the module that is being read, and kAhead more: references to them stay
  // good until it ends.
  static constexpr size_t kAhead = 2;
  std::deque<Token> tokens_;
  size_t next_ = 0;
  NameMap<Symbol> globals_;
  std::unordered_map<std::string, size_t> function_index_, variable_index_;

  Function* function_ = nullptr;  // whose body or head is being read
  Scopes scopes_;
  std::vector<int> scope_of_instruction_;
  std::vector<std::pair<std::string, int>> scope_of_target_list_;
  int location_ = -1;
  uint64_t register_count_ = 0;
  uint64_t local_bytes_ = 0;     // of the function
  uint64_t constant_bytes_ = 0;  // of the module
  int group_depth_ = 0;
  std::map<std::array<int, 4>, int> location_ids_;  // file, line, column, inlined_at
  std::map<std::array<int, 3>, int> call_sites_;    // file, line, column -> latest location here
};

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_PARSER_H_

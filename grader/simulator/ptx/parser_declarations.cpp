// Variables, registers and their initial values.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "ptx/parser.h"

namespace warplings::sim::ptx {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxInitialBytes = uint64_t{1} << 28;
constexpr uint64_t kMaxRegisters = uint64_t{1} << 20;  // in one function
constexpr size_t kMaxDimensions = 16;

// Bytes that the variables of a space can have, as on hardware: local memory of a thread, shared
// memory of a block, parameters of a kernel, constants of a module.
uint64_t most_bytes(Space space) {
  switch (space) {
    case Space::kLocal:
      return 512 * 1024;
    case Space::kShared:
      return 228 * 1024;
    case Space::kParam:
      return 32 * 1024;
    case Space::kConst:
      return 64 * 1024;
    default:
      return kMaxBytes;
  }
}

std::optional<Space> space_from_name(std::string_view word) {
  if (word.starts_with("const")) return Space::kConst;
  if (word == "global" || word == "tex") return Space::kGlobal;
  if (word == "shared" || word == "shared::cta") return Space::kShared;
  if (word == "local") return Space::kLocal;
  if (word == "param") return Space::kParam;
  return std::nullopt;
}

// Round to nearest even, for initial values only.
uint16_t half_bits(double value, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  if (value != value) return 0x7fff;
  const double magnitude = value < 0 ? -value : value;
  if (magnitude == std::numeric_limits<double>::infinity()) return sign | infinity;
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  exponent = std::max(exponent, 1 - bias);  // below: subnormal, with the smallest exponent's step
  // Powers of two within double's range; the quotient is exact, the sum with 2^52 rounds to even.
  const double step =
      std::bit_cast<double>(static_cast<uint64_t>(exponent - mantissa_bits + 1023) << 52);
  const double scaled = magnitude / step;
  if (scaled >= 4503599627370496.0) return sign | infinity;
  const auto units = static_cast<uint64_t>((scaled + 4503599627370496.0) - 4503599627370496.0);
  const uint64_t encoded = units + (static_cast<uint64_t>(exponent + bias - 1) << mantissa_bits);
  return static_cast<uint16_t>(sign | std::min<uint64_t>(encoded, infinity));
}

}  // namespace

// Space, alignment, vector width and type stand in any order that compilers write.
Parser::Declaration Parser::declaration_prefix(Space space) {
  Declaration declaration;
  Variable& variable = declaration.prototype;
  variable.space = space;
  variable.type = Type::kNone;
  const Token& start = token();
  while (token().kind == Token::Kind::kDotWord) {
    const std::string_view word = token().text;
    if (word == "align") {
      take();
      const Token& at = token();
      variable.alignment = integer_literal("an alignment", uint64_t{1} << 30);
      if (!std::has_single_bit(variable.alignment)) fail(at, "an alignment is a power of two");
    } else if (word == "attribute") {
      attribute(variable);
    } else if (word == "v2" || word == "v4" || word == "v8") {
      take();
      variable.vector_width = word[1] - '0';
    } else if (word == "ptr" || (space == Space::kParam && space_from_name(word))) {
      take();  // a promise about what the parameter points to: ".ptr .global .align 8"
      if (word == "ptr") {
        if (token().kind == Token::Kind::kDotWord && space_from_name(token().text)) take();
        if (at_word("align")) {
          take();
          integer_literal("an alignment", uint64_t{1} << 30);
        }
      }
    } else {
      if (variable.type != Type::kNone) fail("this declaration has two types");
      variable.type = type_from_name(word);
      if (variable.type == Type::kNone) fail("'." + std::string(word) + "' is not a type");
      take();
    }
  }
  if (variable.type == Type::kNone) fail(start, "a type such as .u32 is missing here");
  declaration.element_bytes = size_of(variable.type);
  if (variable.type == Type::kPred && space != Space::kReg) {
    fail(start, "a predicate can only be a register");
  }
  return declaration;
}

void Parser::attribute(Variable& variable) {
  take();
  expect('(', "after .attribute");
  do {
    if (at_word("managed")) {
      variable.is_managed = true;
    } else if (!at_word("unified")) {
      fail("expected .managed or .unified, found " + describe(token()));
    }
    take();
    if (accept('(')) {
      do {
        integer_literal("a part of the identifier", UINT64_MAX);
      } while (accept(','));
      expect(')', "after the identifier");
    }
  } while (accept(','));
  expect(')', "after the attributes");
}

Parser::Dimensions Parser::dimensions() {
  Dimensions dims;
  while (accept('[')) {
    if (dims.sizes.size() == kMaxDimensions) fail("this array has too many dimensions");
    if (at_punctuation(']')) {
      if (!dims.sizes.empty()) fail("only the first dimension can be left out");
      dims.sizes.push_back(0);
    } else {
      const Token& at = token();
      const Constant size = constant_expression();
      if (size.kind != Token::Kind::kInteger || size.bits > kMaxBytes) {
        fail(at, "an array size is an integer from 0 to 2^40");
      }
      dims.sizes.push_back(size.bits);
    }
    expect(']', "after an array size");
  }
  return dims;
}

uint64_t Parser::byte_size(const Declaration& declaration, const Dimensions& dims,
                           const Token& at) const {
  uint64_t bytes =
      static_cast<uint64_t>(declaration.element_bytes) * declaration.prototype.vector_width;
  for (const uint64_t size : dims.sizes) {
    if (size != 0 && bytes > kMaxBytes / size) fail(at, "this array is larger than 2^40 bytes");
    bytes *= size;
  }
  const uint64_t most = most_bytes(declaration.prototype.space);
  if (bytes > most) fail(at, "this space holds at most " + std::to_string(most) + " bytes");
  return bytes;
}

// ---- registers ----

// .reg .b32 %r<6>, %x;
void Parser::register_declaration() {
  take();
  const Declaration declaration = declaration_prefix(Space::kReg);
  const Variable& prototype = declaration.prototype;
  do {
    const Token& at = token();
    const std::string_view name = identifier("a register's name");
    if (accept('<')) {
      const uint64_t count = integer_literal("a number of registers", kMaxRegisters);
      expect('>', "after the number of registers");
      declare_registers(name, prototype.type, prototype.vector_width, count, at);
    } else {
      declare_register(std::string(name), prototype.type, prototype.vector_width, at);
    }
  } while (accept(','));
  expect(';', "after registers");
}

void Parser::declare_registers(std::string_view name, Type type, int width, uint64_t count,
                               const Token& at) {
  for (uint64_t i = 0; i < count; ++i) {
    declare_register(std::string(name) + std::to_string(i), type, width, at);
  }
}

void Parser::declare_register(const std::string& name, Type type, int width, const Token& at) {
  register_count_ += static_cast<uint64_t>(width);
  if (register_count_ > kMaxRegisters) fail(at, "this function has more than 2^20 registers");
  const auto kind = width > 1 ? Symbol::Kind::kVectorRegister : Symbol::Kind::kRegister;
  const Symbol* symbol = scopes_.declare(name, {kind, "", width, size_of(type)});
  if (symbol == nullptr) fail(at, "'" + name + "' is declared twice in this scope");
  if (width == 1) {
    function_->registers.push_back({symbol->unique, type});
    return;
  }
  if (width > 4) fail(at, "a register has at most four components");
  for (int i = 0; i < width; ++i) {
    function_->registers.push_back({symbol->unique + "." + "xyzw"[i], type});
  }
}

// ---- variables ----

void Parser::module_variables(Linkage linkage) {
  const std::optional<Space> space = space_from_name(token().text);
  if (!space || *space == Space::kParam) {
    fail("'." + std::string(token().text) + "' does not start anything at module level");
  }
  const bool is_texture = token().text == "tex";
  take();
  if (*space == Space::kConst && accept('[')) {  // .const[bank] of old compilers: one space now
    integer_literal("a constant bank", 10);
    expect(']', "after the constant bank");
  }
  Declaration declaration = declaration_prefix(*space);
  if (is_texture) {
    declaration.prototype.type = Type::kTexRef;
    declaration.element_bytes = size_of(Type::kTexRef);
  }
  declaration.prototype.linkage = linkage;
  do {
    const Token& at = token();
    Variable variable = declaration.prototype;
    variable.name = identifier("a variable's name");
    Dimensions dims = dimensions();
    if (accept('=')) initialiser(variable, declaration, dims);
    variable.size = byte_size(declaration, dims, at);
    if (*space == Space::kConst && (constant_bytes_ += variable.size) > most_bytes(*space)) {
      fail(at, "the constant variables of this module are larger than 64 KiB");
    }
    add_module_variable(std::move(variable), at,
                        declaration.element_bytes * declaration.prototype.vector_width);
  } while (accept(','));
  expect(';', "after a variable");
}

void Parser::add_module_variable(Variable variable, const Token& at, int element_bytes) {
  if (function_index_.contains(variable.name)) {
    fail(at, "'" + variable.name + "' is already the name of a function");
  }
  globals_.try_emplace(variable.name,
                       Symbol{Symbol::Kind::kVariable, variable.name, 1, element_bytes});
  const auto [entry, is_new] = variable_index_.try_emplace(variable.name, module_.variables.size());
  if (is_new) {
    module_.variables.push_back(std::move(variable));
    return;
  }
  Variable& known = module_.variables[entry->second];
  if (variable.linkage == Linkage::kExtern) return;
  if (known.linkage != Linkage::kExtern) {
    if (variable.linkage == Linkage::kWeak) return;
    fail(at, "variable '" + variable.name + "' is defined twice");
  }
  known = std::move(variable);
}

void Parser::body_variables(Space space, Linkage linkage) {
  take();
  const Declaration declaration = declaration_prefix(space);
  do {
    const Token& at = token();
    Variable variable = declaration.prototype;
    const std::string_view name = identifier("a variable's name");
    variable.linkage = linkage;
    Dimensions dims = dimensions();
    if (accept('=')) initialiser(variable, declaration, dims);
    variable.size = byte_size(declaration, dims, at);
    if (space == Space::kLocal && (local_bytes_ += variable.size) > most_bytes(space)) {
      fail(at, "the local variables of this function are larger than 512 KiB");
    }
    const Symbol* symbol =
        scopes_.declare(name, {Symbol::Kind::kVariable, "", 1,
                               declaration.element_bytes * declaration.prototype.vector_width});
    if (symbol == nullptr) {
      fail(at, "'" + std::string(name) + "' is declared twice in this scope");
    }
    variable.name = symbol->unique;
    function_->variables.push_back(std::move(variable));
  } while (accept(','));
  expect(';', "after a variable");
}

// ---- initial values ----

// Scalars count in elements; a vector type is one more, innermost dimension.
void Parser::initialiser(Variable& variable, const Declaration& declaration, Dimensions& dims) {
  const Token& at = token();
  if (variable.type == Type::kTexRef || variable.type == Type::kSamplerRef ||
      variable.type == Type::kSurfRef) {
    expect('{', "before the fields of a texture, sampler or surface");
    while (!at_punctuation('}') && token().kind != Token::Kind::kEnd) take();
    expect('}', "after the fields of a texture, sampler or surface");
    return;
  }
  std::vector<uint64_t> sizes = dims.sizes;
  if (variable.vector_width > 1) sizes.push_back(static_cast<uint64_t>(variable.vector_width));
  std::vector<uint64_t> strides(sizes.size(), 1);  // elements that one step of a level covers
  for (size_t i = sizes.size(); i-- > 1;) {
    if (sizes[i] != 0 && strides[i] > kMaxInitialBytes / sizes[i]) {
      fail(at, "this array is too large for initial values");
    }
    strides[i - 1] = strides[i] * sizes[i];
  }
  const bool is_open = dims.is_array() && dims.sizes[0] == 0;
  const uint64_t limit = std::min(kMaxInitialBytes, most_bytes(variable.space)) /
                         static_cast<uint64_t>(declaration.element_bytes);
  uint64_t elements = 1;
  if (!sizes.empty()) elements = strides[0] * (is_open ? 1 : std::min(sizes[0], limit));
  if (!is_open) {
    if (elements > limit) fail(at, "this array is too large for initial values");
    variable.initial.resize(elements * static_cast<uint64_t>(declaration.element_bytes));
  }
  if (sizes.empty()) {
    initial_value(variable, declaration, 0);
    return;
  }
  uint64_t used = 0;
  initialiser_list(variable, declaration, strides, 0, 0, is_open ? limit : elements, used);
  if (is_open) {
    dims.sizes[0] = strides[0] == 0 ? 0 : (used + strides[0] - 1) / strides[0];
    variable.initial.resize(dims.sizes[0] * strides[0] *
                            static_cast<uint64_t>(declaration.element_bytes));
  }
}

// Reads { ... } into elements [start, end). An inner list starts at a multiple of its stride.
void Parser::initialiser_list(Variable& variable, const Declaration& declaration,
                              const std::vector<uint64_t>& strides, size_t level, uint64_t start,
                              uint64_t end, uint64_t& used) {
  expect('{', "before initial values");
  if (accept('}')) return;
  uint64_t element = start;
  do {
    if (at_punctuation('}')) break;  // a trailing comma
    if (at_punctuation('{')) {
      if (level + 1 >= strides.size()) fail("these initial values are nested too deep");
      const uint64_t stride = strides[level];
      if (stride != 0) element = start + (element - start + stride - 1) / stride * stride;
      if (stride > end - std::min(element, end))
        fail("there are more initial values than elements");
      initialiser_list(variable, declaration, strides, level + 1, element, element + stride, used);
      element += stride;
    } else {
      if (element >= end) fail("there are more initial values than elements");
      initial_value(variable, declaration, element++);
    }
    used = std::max(used, element);
  } while (accept(','));
  expect('}', "after initial values");
}

void Parser::initial_value(Variable& variable, const Declaration& declaration, uint64_t element) {
  if (token().kind == Token::Kind::kIdentifier && token().text != "WARP_SZ") {
    initial_address(variable, declaration, element, ~uint64_t{0}, false);
    return;
  }
  if (token().kind == Token::Kind::kInteger && at_punctuation('(', 1)) {  // 0xFF00(symbol)
    const uint64_t mask = take().bits;
    take();
    initial_address(variable, declaration, element, mask, true);
    expect(')', "after a masked address");
    return;
  }
  const Constant value = constant_expression();
  uint64_t bits = value.bits;
  const bool is_float = value.kind != Token::Kind::kInteger;
  const int width = declaration.element_bytes;
  switch (variable.type) {
    case Type::kF64:
      bits = std::bit_cast<uint64_t>(value.as_double());
      break;
    case Type::kF32:
    case Type::kTF32:
      if (value.kind != Token::Kind::kFloat32) {
        bits = std::bit_cast<uint32_t>(static_cast<float>(value.as_double()));
      }
      break;
    case Type::kF16:
      if (is_float) bits = half_bits(value.as_double(), 5);
      break;
    case Type::kBF16:
      if (is_float) bits = half_bits(value.as_double(), 8);
      break;
    default:
      if (value.kind == Token::Kind::kFloat64 && width == 4) {
        bits = std::bit_cast<uint32_t>(static_cast<float>(value.as_double()));
      }
  }
  store_initial(variable, element * static_cast<uint64_t>(width), bits, width);
}

// symbol, symbol+4, generic(symbol), generic(symbol)+4
void Parser::initial_address(Variable& variable, const Declaration& declaration, uint64_t element,
                             uint64_t mask, bool masked) {
  const int width = declaration.element_bytes;
  if (!masked && width < 4) fail("an address needs a type of 4 or 8 bytes, or a mask: 0xFF(name)");
  Variable::Relocation relocation{};
  relocation.offset = element * static_cast<uint64_t>(width);
  relocation.width = width;
  relocation.mask = mask;
  if (token().text == "generic" && at_punctuation('(', 1)) {
    take();
    take();
    relocation.generic = true;
    relocation.symbol = identifier("a variable's or function's name");
    relocation.addend = signed_offset("an offset from the variable");
    expect(')', "after generic(name");
  } else {
    relocation.symbol = identifier("a variable's or function's name");
  }
  relocation.addend += signed_offset("an offset from the variable");  // each is at most 2^40
  store_initial(variable, relocation.offset, 0, width);
  variable.relocations.push_back(std::move(relocation));
}

void Parser::store_initial(Variable& variable, uint64_t offset, uint64_t bits, int width) const {
  const uint64_t end = offset + static_cast<uint64_t>(width);
  if (variable.initial.size() < end) variable.initial.resize(end);
  for (int i = 0; i < width; ++i) {  // 128-bit elements: sign and upper half are zero
    variable.initial[offset + static_cast<uint64_t>(i)] =
        i < 8 ? static_cast<uint8_t>(bits >> (8 * i)) : 0;
  }
}

}  // namespace warplings::sim::ptx

#include "ptx/module.h"

#include <array>
#include <utility>

#include "ptx/parser.h"

namespace warplings::sim::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  Type type;
  int size;
};

constexpr std::array kTypes = {
    TypeRow{"pred", Type::kPred, 0},
    TypeRow{"b8", Type::kB8, 1},
    TypeRow{"b16", Type::kB16, 2},
    TypeRow{"b32", Type::kB32, 4},
    TypeRow{"b64", Type::kB64, 8},
    TypeRow{"b128", Type::kB128, 16},
    TypeRow{"u8", Type::kU8, 1},
    TypeRow{"u16", Type::kU16, 2},
    TypeRow{"u32", Type::kU32, 4},
    TypeRow{"u64", Type::kU64, 8},
    TypeRow{"s8", Type::kS8, 1},
    TypeRow{"s16", Type::kS16, 2},
    TypeRow{"s32", Type::kS32, 4},
    TypeRow{"s64", Type::kS64, 8},
    TypeRow{"u16x2", Type::kU16x2, 4},
    TypeRow{"s16x2", Type::kS16x2, 4},
    TypeRow{"f16", Type::kF16, 2},
    TypeRow{"f16x2", Type::kF16x2, 4},
    TypeRow{"bf16", Type::kBF16, 2},
    TypeRow{"bf16x2", Type::kBF16x2, 4},
    TypeRow{"tf32", Type::kTF32, 4},
    TypeRow{"f32", Type::kF32, 4},
    TypeRow{"f32x2", Type::kF32x2, 8},
    TypeRow{"f64", Type::kF64, 8},
    TypeRow{"e4m3", Type::kE4M3, 1},
    TypeRow{"e5m2", Type::kE5M2, 1},
    TypeRow{"e4m3x2", Type::kE4M3x2, 2},
    TypeRow{"e5m2x2", Type::kE5M2x2, 2},
    // Opaque handles: 64 bits of generic address.
    TypeRow{"texref", Type::kTexRef, 8},
    TypeRow{"samplerref", Type::kSamplerRef, 8},
    TypeRow{"surfref", Type::kSurfRef, 8},
};

}  // namespace

int size_of(Type type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.size;
  }
  return 0;
}

Type type_from_name(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return Type::kNone;
}

std::string_view Module::text_of_line(int text_line) const {
  if (text_line < 1) return {};
  std::string_view rest = text;
  for (int line = 1; line < text_line; ++line) {
    const size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) return {};
    rest.remove_prefix(newline + 1);
  }
  std::string_view found = rest.substr(0, rest.find('\n'));
  if (found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

std::unique_ptr<Module> parse(std::string text, std::string name) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  module->name = std::move(name);
  Parser(*module).run();
  return module;
}

}  // namespace warplings::sim::ptx

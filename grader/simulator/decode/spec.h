// The modifiers of one instruction, read one by one: what nobody asked for is an error, so no
// modifier is ever ignored by accident.
#ifndef WARPLINGS_SIMULATOR_DECODE_SPEC_H_
#define WARPLINGS_SIMULATOR_DECODE_SPEC_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "decode/opcodes.h"
#include "ptx/module.h"

namespace warplings::sim {

enum class Rounding : uint8_t { kNearest, kZero, kDown, kUp };

class Spec {
 public:
  explicit Spec(const ptx::Instruction& instruction) : row(*instruction.row), op(row.opcode) {
    for (const std::string& modifier : instruction.modifiers) {
      const ptx::Type type = ptx::type_from_name(modifier);
      if (type != ptx::Type::kNone) {
        types.push_back(type);
      } else {
        words_.push_back(modifier);
      }
    }
    used_.assign(words_.size(), false);
  }

  // True if the modifier is there; it counts as understood.
  bool take(std::string_view word) {
    bool found = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == word) found = used_[i] = true;
    }
    return found;
  }
  // Index of the one that is there, -1 if none.
  int take_one_of(std::initializer_list<std::string_view> list) {
    int index = 0;
    for (std::string_view word : list) {
      if (take(word)) return index;
      ++index;
    }
    return -1;
  }
  Rounding take_rounding() {
    switch (take_one_of({"rn", "rz", "rm", "rp"})) {
      case 1:
        return Rounding::kZero;
      case 2:
        return Rounding::kDown;
      case 3:
        return Rounding::kUp;
      default:
        return Rounding::kNearest;
    }
  }
  // Hints that change no result: cache operators, eviction priorities, prefetch sizes.
  void take_cache_hints() {
    for (size_t i = 0; i < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (word.rfind("L1::", 0) == 0 || word.rfind("L2::", 0) == 0 || word == "ca" ||
          word == "cg" || word == "cs" || word == "lu" || word == "cv" || word == "wb" ||
          word == "wt" || word == "nc" || word == "unified") {
        used_[i] = true;
      }
    }
  }
  // The first modifier that nobody took; empty if all are understood.
  std::string unknown() const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if (!used_[i]) return words_[i];
    }
    return "";
  }
  ptx::Type type(size_t i = 0) const { return i < types.size() ? types[i] : ptx::Type::kNone; }
  ptx::Type last_type() const { return types.empty() ? ptx::Type::kNone : types.back(); }

  const OpcodeRow& row;
  const Opcode op;
  std::vector<ptx::Type> types;  // in the order written

 private:
  std::vector<std::string> words_;
  std::vector<bool> used_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_SPEC_H_

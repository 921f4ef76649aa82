// Scalar accesses to shared memory that the assembler joins.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "decode/assembler_view.h"
#include "decode/decoder.h"

namespace warplings::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

constexpr uint64_t kMostAligned = 1 << 16;  // bytes: more than anything asks for
constexpr uint64_t kWidest = 16;            // bytes of one access

uint64_t alignment_of_value(uint64_t value) {
  return value == 0 ? kMostAligned : std::min(kMostAligned, uint64_t{1} << std::countr_zero(value));
}

// Powers of two that divide what a register holds, over all its definitions.
class Alignments {
 public:
  Alignments(const ptx::Function& function,
             const std::unordered_map<std::string, uint32_t>& shared_offsets)
      : shared_offsets_(shared_offsets) {
    for (const Instruction& in : function.body)
      for_each_result(in, [&](const std::string& name) { known_[name] = kMostAligned; });
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& in : function.body) {
        const uint64_t result = result_of(in);
        for_each_result(in, [&](const std::string& name) {
          uint64_t& alignment = known_[name];
          if (result < alignment) alignment = result, changed = true;
        });
      }
    }
  }

  uint64_t of(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kRegister: {
        const auto found = known_.find(operand.name);
        return found == known_.end() ? 1 : found->second;
      }
      case Operand::Kind::kInteger:
        return alignment_of_value(operand.bits);
      case Operand::Kind::kSymbol: {
        const auto found = shared_offsets_.find(operand.name);
        return found == shared_offsets_.end() ? 1
                                              : alignment_of_value(found->second + operand.bits);
      }
      default:
        return 1;
    }
  }

 private:
  uint64_t result_of(const Instruction& in) const {
    const auto at = [&](size_t i) { return i < in.operands.size() ? of(in.operands[i]) : 1; };
    const auto product = [&] { return std::min(kMostAligned, at(1) * at(2)); };
    const bool shifts = in.operands.size() == 3 && in.operands[2].kind == Operand::Kind::kInteger &&
                        in.operands[2].bits < 16;
    switch (in.row->computes) {
      case Computes::kCopy:
        return at(1);
      case Computes::kCast:
        return in.has("f32") || in.has("f64") || in.has("f16") ? 1 : at(1);
      case Computes::kSum:
      case Computes::kDifference:
      case Computes::kOr:
      case Computes::kXor:
      case Computes::kChoice:
        return std::min(at(1), at(2));
      case Computes::kAnd:
        return std::max(at(1), at(2));
      case Computes::kProduct:
        return in.has("hi") ? 1 : product();
      case Computes::kProductSum:
        return in.has("hi") ? 1 : std::min(product(), at(3));
      case Computes::kShiftLeft:
        return shifts ? std::min(kMostAligned, at(1) << in.operands[2].bits) : 1;
      case Computes::kShiftRight:
        return shifts ? std::max<uint64_t>(1, at(1) >> in.operands[2].bits) : 1;
      default:
        return 1;
    }
  }

  const std::unordered_map<std::string, uint32_t>& shared_offsets_;
  std::unordered_map<std::string, uint64_t> known_;
};

class Joiner {
 public:
  Joiner(const ptx::Module& module, ptx::Function& function,
         const std::unordered_map<std::string, uint32_t>& shared_offsets)
      : module_(module),
        function_(function),
        shared_offsets_(shared_offsets),
        alignments_(function, shared_offsets),
        removed_(function.body.size(), false),
        starts_(function.body.size() + 1, false) {
    for (const auto& [label, index] : function.labels) starts_[static_cast<size_t>(index)] = true;
  }

  void run() {
    for (size_t i = 0; i < function_.body.size(); ++i) {
      if (starts_[i]) end_of_block();
      visit(i);
    }
    end_of_block();
    drop_removed();
  }

 private:
  struct Access {
    size_t index;
    uint64_t offset;
  };
  // Accesses that may be joined: same base (and its definition), type, source line.
  struct Key {
    bool store;
    std::string base;
    int version;
    std::string type;
    int file, line;
    bool operator<(const Key& other) const {
      return std::tie(store, base, version, type, file, line) <
             std::tie(other.store, other.base, other.version, other.type, other.file, other.line);
    }
  };

  static const Operand& address_of(const Instruction& in) {
    return in.operands[is_store(in) ? 0 : 1];
  }
  static const Operand& value_of(const Instruction& in) {
    return in.operands[is_store(in) ? 1 : 0];
  }

  std::optional<Key> key_of(const Instruction& in, uint64_t* offset) const {
    const bool store = is_store(in);
    if ((!store && !is_load(in)) || !in.guard.empty() || in.operands.size() != 2) return {};
    if (in.modifiers.size() != 2) return {};
    if (in.modifiers[0] != "shared" && in.modifiers[0] != "shared::cta") return {};
    const int size = ptx::size_of(ptx::type_from_name(in.modifiers[1]));
    if ((size != 4 && size != 8) || in.location < 0) return {};
    const Operand& address = address_of(in);
    if (address.kind != Operand::Kind::kAddress || address.elements.size() != 1) return {};
    if (value_of(in).kind != Operand::Kind::kRegister) return {};
    const Operand& base = address.elements[0];
    const ptx::SourceLocation& where = module_.locations[static_cast<size_t>(in.location)];
    Key key{store, base.name, 0, in.modifiers[1], where.file, where.line};
    *offset = address.bits;
    if (base.kind == Operand::Kind::kSymbol) {
      const auto found = shared_offsets_.find(base.name);
      if (found == shared_offsets_.end()) return {};
      *offset += base.bits + found->second;
    } else {
      const auto found = versions_.find(base.name);
      key.version = found == versions_.end() ? 0 : found->second;
    }
    return key;
  }

  void visit(size_t i) {
    const Instruction& in = function_.body[i];
    uint64_t offset = 0;
    const std::optional<Key> key = key_of(in, &offset);
    if (key) {
      // A store ends groups of loads, and of stores elsewhere, that it may overlap; a load those of
      // stores.
      std::erase_if(groups_, [&](const auto& group) {
        const bool ends =
            key->store ? !group.first.store || group.first.base != key->base : group.first.store;
        if (ends) join(group.first, group.second);
        return ends;
      });
      groups_[*key].push_back({i, offset});
    } else if (ends_block(in)) {
      end_of_block();
    }
    for_each_result(in, [&](const std::string& name) { ++versions_[name]; });
  }

  // Control flow, barriers, and memory operations that may touch shared memory in another way.
  static bool ends_block(const Instruction& in) {
    if (is_load(in) || is_store(in)) {
      return !in.has("global") && !in.has("param") && !in.has("const") && !in.has("local");
    }
    return in.row->flow != Flow::kNext || in.row->orders;
  }

  void end_of_block() {
    for (const auto& [key, accesses] : groups_) join(key, accesses);
    groups_.clear();
  }

  void join(const Key& key, std::vector<Access> accesses) {
    std::stable_sort(accesses.begin(), accesses.end(),
                     [](const Access& a, const Access& b) { return a.offset < b.offset; });
    for (size_t i = 1; i < accesses.size(); ++i) {
      if (accesses[i].offset == accesses[i - 1].offset) return;
    }
    const Operand& base = address_of(function_.body[accesses.front().index]).elements[0];
    const uint64_t alignment =
        base.kind == Operand::Kind::kSymbol ? kMostAligned : alignments_.of(base);
    const uint64_t size = static_cast<uint64_t>(ptx::size_of(ptx::type_from_name(key.type)));
    for (size_t i = 0; i < accesses.size();) {
      size_t joined = 1;
      for (uint64_t bytes = kWidest; bytes > size && joined == 1; bytes /= 2) {
        const size_t n = bytes / size;
        if (alignment < bytes || accesses[i].offset % bytes != 0 || i + n > accesses.size())
          continue;
        if (accesses[i + n - 1].offset != accesses[i].offset + bytes - size) continue;
        if (try_join({accesses.begin() + static_cast<long>(i),
                      accesses.begin() + static_cast<long>(i + n)})) {
          joined = n;
        }
      }
      i += joined;
    }
  }

  // A load moves up to the first of its group, a store down to the last: nothing on the way may use
  // the register.
  bool may_move(const Access& access, size_t to) const {
    const std::string& name = value_of(function_.body[access.index]).name;
    const bool store = is_store(function_.body[access.index]);
    const size_t first = std::min(access.index, to), last = std::max(access.index, to);
    for (size_t i = first; i <= last; ++i) {
      if (i == access.index) continue;
      const Instruction& in = function_.body[i];
      const int destinations = destinations_of(in);
      for (size_t k = 0; k < in.operands.size(); ++k) {
        const bool written = static_cast<int>(k) < destinations;
        if ((written || !store) && in.operands[k].mentions(name)) return false;
      }
      if (!store && in.guard == name) return false;
    }
    return true;
  }

  bool try_join(const std::vector<Access>& parts) {
    const auto [first, last] =
        std::minmax_element(parts.begin(), parts.end(),
                            [](const Access& a, const Access& b) { return a.index < b.index; });
    const bool store = is_store(function_.body[first->index]);
    const size_t at = store ? last->index : first->index;
    for (const Access& part : parts) {
      if (part.index != at && !may_move(part, at)) return false;
    }
    Operand values;
    values.kind = Operand::Kind::kVector;
    for (const Access& part : parts)
      values.elements.push_back(value_of(function_.body[part.index]));
    Operand address = address_of(function_.body[parts.front().index]);
    Instruction& joined = function_.body[at];
    joined.operands[store ? 0 : 1] = std::move(address);
    joined.operands[store ? 1 : 0] = std::move(values);
    joined.modifiers.insert(joined.modifiers.begin() + 1, parts.size() == 4 ? "v4" : "v2");
    for (const Access& part : parts) removed_[part.index] = part.index != at;
    return true;
  }

  void drop_removed() {
    std::vector<int> moved(function_.body.size() + 1);
    std::vector<Instruction> kept;
    for (size_t i = 0; i < function_.body.size(); ++i) {
      moved[i] = static_cast<int>(kept.size());
      if (!removed_[i]) kept.push_back(std::move(function_.body[i]));
    }
    moved.back() = static_cast<int>(kept.size());
    for (auto& [label, index] : function_.labels) index = moved[static_cast<size_t>(index)];
    function_.body = std::move(kept);
  }

  const ptx::Module& module_;
  ptx::Function& function_;
  const std::unordered_map<std::string, uint32_t>& shared_offsets_;
  Alignments alignments_;
  std::vector<bool> removed_, starts_;
  std::map<Key, std::vector<Access>> groups_;
  std::unordered_map<std::string, int> versions_;
};

}  // namespace

void join_shared_accesses(const ptx::Module& module, ptx::Function& function,
                          const std::unordered_map<std::string, uint32_t>& shared_offsets) {
  const bool any = std::any_of(function.body.begin(), function.body.end(),
                               [](const Instruction& in) { return in.has("shared"); });
  if (any) Joiner(module, function, shared_offsets).run();
}

}  // namespace warplings::sim

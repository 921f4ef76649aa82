// Names of a function body and the scopes they live in. Every `{ }` of PTX may declare names again
// (call sequences do), so each declaration gets a name that is unique in its function.
#ifndef WARPLINGS_SIMULATOR_PTX_SCOPE_H_
#define WARPLINGS_SIMULATOR_PTX_SCOPE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warplings::sim::ptx {

struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using NameMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

struct Symbol {
  enum class Kind : uint8_t { kRegister, kVectorRegister, kVariable, kFunction, kLabel };
  Kind kind = Kind::kVariable;
  std::string unique;     // name in Module and Function
  int width = 1;          // kVectorRegister: number of components, named unique.x, unique.y ...
  int element_bytes = 1;  // kVariable: what a[1] steps over
};

class Scopes {
 public:
  static constexpr int kMaxDepth = 256;

  // Starts a function. Names in `globals` are taken: a local one that hides them is renamed.
  void reset(const NameMap<Symbol>* globals) {
    globals_ = globals;
    scopes_.clear();
    open_.clear();
    uses_.clear();
    push();
  }
  void push() {
    scopes_.push_back({open_.empty() ? -1 : open_.back(), {}});
    open_.push_back(static_cast<int>(scopes_.size()) - 1);
  }
  void pop() { open_.pop_back(); }
  int depth() const { return static_cast<int>(open_.size()); }
  int current() const { return open_.back(); }

  // Adds a name to the innermost scope; nullptr if that scope has it already.
  Symbol* declare(std::string_view name, Symbol symbol) {
    auto [entry, is_new] = scopes_[current()].names.emplace(name, std::move(symbol));
    if (!is_new) return nullptr;
    entry->second.unique = unique_name(name);
    return &entry->second;
  }

  // Innermost declaration seen from `scope`; nullptr if there is none in the function.
  const Symbol* find(std::string_view name, int scope) const {
    for (int s = scope; s >= 0; s = scopes_[s].parent) {
      const auto entry = scopes_[s].names.find(name);
      if (entry != scopes_[s].names.end()) return &entry->second;
    }
    return nullptr;
  }

 private:
  struct Scope {
    int parent;
    NameMap<Symbol> names;
  };

  // '@' cannot occur in a PTX name, so "param0@1" is new.
  std::string unique_name(std::string_view name) {
    int& uses = uses_.try_emplace(std::string(name), globals_ && globals_->contains(name) ? 1 : 0)
                    .first->second;
    const int use = uses++;
    return use == 0 ? std::string(name) : std::string(name) + "@" + std::to_string(use);
  }

  const NameMap<Symbol>* globals_ = nullptr;
  std::vector<Scope> scopes_;
  std::vector<int> open_;
  NameMap<int> uses_;
};

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_SCOPE_H_

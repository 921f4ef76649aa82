#include "checks/words.h"

#include "exec/interpreter.h"

namespace warplings::sim {

std::string readable(const std::string& demangled) {
  constexpr size_t kLong = 60;
  if (demangled.size() <= kLong) return demangled;
  std::string name;  // without what stands in <>
  int depth = 0;
  for (const char c : demangled) {
    if (c == '<') ++depth;
    if (depth == 0) name += c;
    if (c == '>') --depth;
  }
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

std::string kernel_name(const Warp& warp) { return readable(warp.block->grid->kernel->demangled); }

std::string number(uint64_t n) { return std::to_string(n); }

std::string bytes_text(uint64_t n) { return n == 1 ? "1 byte" : number(n) + " bytes"; }

Finding make(const Warp& warp, const char* check, const char* kind, uint32_t pc) {
  Finding finding;
  finding.check = check;
  finding.kind = kind;
  finding.kernel = warp.block->grid->kernel->demangled;
  finding.where = warp.module->position_of(pc).user;
  finding.scene = std::make_shared<Scene>();
  finding.scene->grid = warp.block->grid->config->grid;
  finding.scene->block = warp.block->grid->config->block;
  finding.scene->parties.push_back(
      {warp.block->index, warp.index, warp.group_mask, finding.where, ""});
  return finding;
}

uint64_t key_at(const Warp& warp, uint32_t pc, Report report, uint64_t detail) {
  uint64_t key = reinterpret_cast<uintptr_t>(warp.module);
  for (const uint64_t part : {static_cast<uint64_t>(report), uint64_t{pc}, detail}) {
    key = (key ^ part) * 0x9e3779b97f4a7c15ull;
    key ^= key >> 29;
  }
  return key | 1;
}

bool repeated_at(const Warp& warp, uint32_t pc, Report report, uint64_t detail) {
  return FindingLog::instance().repeated(key_at(warp, pc, report, detail));
}

bool repeated(const Warp& warp, Report report, uint64_t detail) {
  return repeated_at(warp, warp.pc, report, detail);
}

std::string at(const Warp& warp, uint32_t pc) {
  const CodePosition code = warp.module->position_of(pc);
  const std::string called =
      code.caller.known() ? " (called at " + code.caller.short_name() + ")" : "";
  if (code.user.known()) return "at " + code.user.short_name() + called;
  return "at line " + number(warp.module->text_lines[pc]) + " of the PTX of " + kernel_name(warp);
}

std::string dims(unsigned x, unsigned y, unsigned z, const Dim3& extent) {
  if (extent.z > 1) return "(" + number(x) + ", " + number(y) + ", " + number(z) + ")";
  if (extent.y > 1) return "(" + number(x) + ", " + number(y) + ")";
  return number(x);
}

uint32_t lane_value(const Warp& warp, uint32_t offset, int lane) {
  return reinterpret_cast<const uint32_t*>(warp.special + offset)[lane];
}

}  // namespace warplings::sim

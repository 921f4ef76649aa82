#include "ptx/select_kernels.h"

#include <algorithm>

namespace warplings::sim::ptx {
namespace {

// Whether a line of PTX outside of bodies begins a kernel.
bool begins_kernel(std::string_view line) {
  for (const std::string_view linkage : {".visible ", ".weak "}) {
    if (line.substr(0, linkage.size()) == linkage) line.remove_prefix(linkage.size());
  }
  return line.substr(0, 7) == ".entry ";
}

// The name in ".visible .const .align 4 .b8 NAME[4096];", "" in another line.
std::string_view constant_declared_in(std::string_view line) {
  constexpr std::string_view kVisible = ".visible ";
  if (line.substr(0, kVisible.size()) == kVisible) line.remove_prefix(kVisible.size());
  if (line.substr(0, 7) != ".const ") return "";
  line = line.substr(0, line.find_first_of("[=;"));
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  return line.substr(line.rfind(' ') + 1);
}

}  // namespace

std::string leave_out_constants(const std::string& module,
                                const std::function<bool(std::string_view name)>& unwanted) {
  std::string out;
  for (size_t at = 0; at < module.size();) {
    const size_t end = std::min(module.find('\n', at), module.size() - 1) + 1;
    const std::string_view line(module.data() + at, end - at);
    const std::string_view name = constant_declared_in(line);
    const auto is_used = [&] {
      const size_t first = module.find(name);
      return module.find(name, first + 1) != std::string::npos;
    };
    if (name.empty() || line.find(';') == std::string_view::npos || !unwanted(name) || is_used()) {
      out += line;
    }
    at = end;
  }
  return out;
}

std::string select_kernels(const std::string& module,
                           const std::function<bool(std::string_view name)>& wanted) {
  std::string out;
  bool skipping = false, in_body = false;
  int depth = 0;  // of braces; calls in a body have their own, at a margin or not
  for (size_t at = 0; at < module.size();) {
    const size_t end = std::min(module.find('\n', at), module.size() - 1) + 1;
    const std::string_view line(module.data() + at, end - at);
    at = end;
    if (depth == 0 && begins_kernel(line)) {
      const size_t name = line.find(".entry ") + 7;
      skipping = !wanted(line.substr(name, line.find('(') - name));
      in_body = false;
    }
    if (!skipping) out += line;
    const std::string_view code = line.substr(0, line.find("//"));
    depth += static_cast<int>(std::count(code.begin(), code.end(), '{')) -
             static_cast<int>(std::count(code.begin(), code.end(), '}'));
    in_body |= depth > 0;
    // Its body has ended, or it was a declaration.
    const bool declared = !in_body && code.find(';') != std::string_view::npos;
    if (skipping && depth == 0 && (in_body || declared)) skipping = false;
  }
  return out;
}

}  // namespace warplings::sim::ptx

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

}  // namespace

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

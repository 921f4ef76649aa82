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
  bool skipping = false;
  for (size_t at = 0; at < module.size();) {
    const size_t end = std::min(module.find('\n', at), module.size() - 1) + 1;
    const std::string_view line(module.data() + at, end - at);
    at = end;
    if (begins_kernel(line)) {
      const size_t name = line.find(".entry ") + 7;
      skipping = !wanted(line.substr(name, line.find('(') - name));
    }
    if (!skipping) out += line;
    if (line.front() == '}') skipping = false;  // nvcc ends bodies, and nothing else, at a margin
  }
  return out;
}

}  // namespace warplings::sim::ptx

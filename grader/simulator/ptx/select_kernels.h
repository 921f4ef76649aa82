// The text of a module without some of its kernels and constants.
#ifndef WARPLINGS_SIMULATOR_PTX_SELECT_KERNELS_H_
#define WARPLINGS_SIMULATOR_PTX_SELECT_KERNELS_H_

#include <functional>
#include <string>
#include <string_view>

namespace warplings::sim::ptx {

// The text in nvcc's layout without the kernels whose mangled name `wanted` refuses. Functions and
// variables stay.
std::string select_kernels(const std::string& module,
                           const std::function<bool(std::string_view name)>& wanted);

// The text without the variables in constant memory whose mangled name `unwanted` accepts and that
// nothing in it uses: all of a module's have 64 KiB.
std::string leave_out_constants(const std::string& module,
                                const std::function<bool(std::string_view name)>& unwanted);

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_SELECT_KERNELS_H_

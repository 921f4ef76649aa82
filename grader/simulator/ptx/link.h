// Links the modules of a program into one, as nvlink does with the objects of nvcc -rdc=true.
#ifndef WARPLINGS_SIMULATOR_PTX_LINK_H_
#define WARPLINGS_SIMULATOR_PTX_LINK_H_

#include <memory>
#include <vector>

#include "ptx/module.h"

namespace warplings::sim::ptx {

// At least one module. Declarations meet the definitions of other modules; names that a module
// keeps to itself stay apart, renamed where two modules use the same. Throws LinkError where a name
// is defined twice, or is a function here and a variable there.
std::unique_ptr<Module> link(std::vector<std::unique_ptr<Module>> modules);

// what() names the symbol.
class LinkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warplings::sim::ptx

#endif  // WARPLINGS_SIMULATOR_PTX_LINK_H_

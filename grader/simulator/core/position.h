// A line of a source file.
#ifndef WARPLINGS_SIMULATOR_CORE_POSITION_H_
#define WARPLINGS_SIMULATOR_CORE_POSITION_H_

#include <string>

namespace warplings::sim {

struct Position {
  std::string file;  // as the compiler wrote it; "" if unknown
  int line = 0;
  bool known() const { return line > 0; }
  // "01_vector_add.cu:14"; the folder is left out.
  std::string short_name() const;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_POSITION_H_

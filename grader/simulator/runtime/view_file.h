// Writes what `grade view` reads when the program exits.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_VIEW_FILE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_VIEW_FILE_H_

namespace warplings::sim {

// Reads the environment; called before the first launch.
void start_view();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_VIEW_FILE_H_

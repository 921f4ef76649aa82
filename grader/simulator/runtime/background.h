// Work for programs that wait without asking: a GPU makes progress by itself, so a host thread may
// block on a flag or a condition that only a kernel or a host function of a stream will set.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_BACKGROUND_H_
#define WARPLINGS_SIMULATOR_RUNTIME_BACKGROUND_H_

namespace warplings::sim {

// From now on pending work runs when every thread of the program is blocked, or when the program
// has computed for a second without a call. Otherwise work still runs as late as is legal. Only for
// grade exec: a test program ends its work with a synchronisation, and one thread keeps it
// repeatable.
void start_background_progress();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_BACKGROUND_H_

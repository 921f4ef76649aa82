// Initcheck in registers: where an undefined value starts to matter.
#ifndef WARPLINGS_SIMULATOR_CHECKS_INITCHECK_H_
#define WARPLINGS_SIMULATOR_CHECKS_INITCHECK_H_

#include "exec/warp.h"

namespace warplings::sim {

// Called before a guarded instruction while some register may hold undefined bytes: the guard
// decides what happens.
void check_guard(Warp& warp, const Instr& in, uint32_t mask);

// Called before an instruction while some register may hold undefined bytes: reports an undefined
// source of arithmetic, or passes undefinedness on to the destination of a move.
void before_instruction(Warp& warp, const Instr& in, uint32_t mask);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_INITCHECK_H_

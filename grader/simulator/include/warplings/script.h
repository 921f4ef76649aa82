/* How the simulated libraries answer where the vendor's may answer one way or another. Without a
 * script they always answer the same. Plain C; does nothing on real hardware. */
#ifndef WARPLINGS_SCRIPT_H_
#define WARPLINGS_SCRIPT_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The algorithms that cublasLtMatmulAlgoGetHeuristic chooses from, best first, by the bytes of
// workspace that each needs; `count` may be 0. A negative count: as usual, one that needs none.
void wsim_script_algorithms(const size_t* workspaces, int count);
// The position in that list of the algorithm that the last product was given; -1: none of them.
int wsim_used_algorithm(void);
// From now on (1; 0: no longer) the lists of algorithms that cuDNN's heuristics and searches give
// come in another order: what does not work first, then from the slowest to the fastest.
void wsim_script_turned_lists(int on);
// From now on kernels of `device` cannot be given access to memory of `peer`, as between cards of
// different bridges; the other direction is as it was. A negative device: all reach all again.
void wsim_script_unreachable(int device, int peer);

#ifdef __cplusplus
}
#endif
#endif  // WARPLINGS_SCRIPT_H_

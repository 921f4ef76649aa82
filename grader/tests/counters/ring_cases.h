// The ring of ring_cases.cu.
#ifndef WARPLINGS_TESTS_RING_CASES_H_
#define WARPLINGS_TESTS_RING_CASES_H_

// One block brings `steps` pieces of 4 KiB through `stages` places, at most 8. False: it failed.
bool run_ring(int stages, int steps);

#endif  // WARPLINGS_TESTS_RING_CASES_H_

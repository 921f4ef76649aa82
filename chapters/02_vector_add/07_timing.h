// 02/07 Timing: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_07_TIMING_H_
#define CHAPTERS_02_VECTOR_ADD_07_TIMING_H_

#include <cuda_runtime.h>

// Puts work into a stream: launches and copies that run later than the call returns.
using Work = void (*)(void* context, cudaStream_t stream);

// Calls work(context, stream) once without timing it, then `repeats` times (1 or more), and stores
// in ms[0 .. repeats - 1] how many milliseconds the device took for each of these calls.
// Returns the first error of its own calls. All of the work is done when it returns. If a call
// inside work fails, its error is returned or left for cudaGetLastError(), whichever you like: it
// is not lost. No error is pending when time_work is called.
cudaError_t time_work(Work work, void* context, cudaStream_t stream, int repeats, float* ms);

// Empty kernels that the host launches and the device completes per second, over `count` of them
// in the default stream, by the clock of the host: the time that passes, not what the processor has
// worked. One more, before them, is not timed.
double launches_per_second(int count);

#endif  // CHAPTERS_02_VECTOR_ADD_07_TIMING_H_

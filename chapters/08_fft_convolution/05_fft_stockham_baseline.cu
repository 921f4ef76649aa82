// What 08/05 is timed against is what 08/03 is timed against: a pass through global memory for each
// stage, launch_fft_global.
#include "03_fft_radix2_baseline.cu"

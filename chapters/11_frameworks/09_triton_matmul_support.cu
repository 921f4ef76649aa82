// 11/09, given: the product of 07/12 for Python. Addresses are of the device; the call waits for
// nothing and runs in the default stream, as PyTorch's own work does.
#include "12_matmul_warp_tiled.h"

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  launch_matmul_warp_tiled(a, b, c, m, n, k);
}

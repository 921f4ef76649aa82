// 11/08, given: the softmax of 05/10 for Python. Addresses are of the device; the call waits for
// nothing and runs in the default stream, as PyTorch's own work does.
#include "10_softmax_rows.h"

extern "C" void softmax_rows(const float* x, float* y, int rows, int cols) {
  launch_softmax_rows(x, y, rows, cols);
}

// One long thin product for each extent of a matrix product, which cost little in the simulator:
//
//   TEST(MatmulNaive, CoversEveryExtent) {
//     RecordProperty("todo", 2);
//     kit::for_each("c", kit::long_matmuls(), [](const kit::MatmulSizes& s) {
//       kit::check_matmul_precision(launch_matmul_naive, s);
//     });
//   }
#ifndef WARPLINGS_TILED_MATMUL_TEST_MATMUL_EXTENTS_H_
#define WARPLINGS_TILED_MATMUL_TEST_MATMUL_EXTENTS_H_

#include <vector>

#include "07_tiled_matmul/test/matmul.h"

namespace kit {

// More rows, then more columns, than 16 bits can count and than a grid has blocks in y and z; and
// sums of more products than the other tests have. For kernels of a thread per element.
inline const std::vector<MatmulSizes>& long_matmuls() {
  static const std::vector<MatmulSizes> all = {{65'537, 1, 3}, {1, 65'537, 3}, {5, 6, 2051}};
  return all;
}

// The same for kernels that make whole tiles, and would mostly multiply zeros: the longest sums are
// those of no products. A kernel that is many times as slow as it could be still comes to its end.
inline const std::vector<MatmulSizes>& long_tiled_matmuls() {
  static const std::vector<MatmulSizes> all = {
      {65'537, 1, 0}, {1, 65'537, 0}, {1031, 1, 3}, {1, 1031, 3}, {5, 6, 1031}};
  return all;
}

}  // namespace kit

#endif  // WARPLINGS_TILED_MATMUL_TEST_MATMUL_EXTENTS_H_

// Kernels whose times on other cards were published, written anew after their descriptions.
#ifndef WARPLINGS_TESTS_COUNTERS_PUBLISHED_H_
#define WARPLINGS_TESTS_COUNTERS_PUBLISHED_H_

enum class Product {
  kNaive,        // one thread per element, blocks of 16 x 16
  kLibraryLike,  // 64 x 128 per block of 128 threads, double buffered
};

// c (m x n) = a (m x k) times b (k x n), fp32; m, n and k are multiples of the kernel's block.
void run_product(Product product, int m, int n, int k);

#endif  // WARPLINGS_TESTS_COUNTERS_PUBLISHED_H_

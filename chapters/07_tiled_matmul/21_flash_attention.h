// 07/21 Flash attention: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_21_FLASH_ATTENTION_H_
#define CHAPTERS_07_TILED_MATMUL_21_FLASH_ATTENTION_H_

constexpr int kDim = 64;  // floats of a query, a key, a value

// out = softmax(q k^T / sqrt(64)) v for each head; row-major in device memory, aligned to 16 bytes.
//   d_q, d_out  heads x queries x 64 floats;  heads from 0 to 65,535, queries from 0 to 2^20
//   d_k, d_v    heads x keys x 64 floats;     keys from 1 to 2^20; all scores and values are finite
// The softmax goes along the keys: the weights of a query are exp(score - greatest score of the
// query), divided by their sum.
void launch_flash_attention(const float* d_q, const float* d_k, const float* d_v, float* d_out,
                            int heads, int queries, int keys);

// Given: the same in three kernels: products, softmax of rows, products.
//   d_scores  heads x queries x keys floats, for what the first hands to the second
void launch_attention_in_three_kernels(const float* d_q, const float* d_k, const float* d_v,
                                       float* d_scores, float* d_out, int heads, int queries,
                                       int keys);

#endif  // CHAPTERS_07_TILED_MATMUL_21_FLASH_ATTENTION_H_

// 01/07 Device functions
#ifndef CHAPTERS_01_HELLO_INDEXING_07_DEVICE_FUNCTIONS_H_
#define CHAPTERS_01_HELLO_INDEXING_07_DEVICE_FUNCTIONS_H_

// Causal mask on a matrix of attention scores, queries x keys floats in row-major order:
//   out(query, key) = scale * scores(query, key)   if key <= query
//                     -infinity                    otherwise
// -infinity because the softmax that follows turns it into a weight of exactly 0.
// queries and keys from 1 to 65,535, fewer than 2^31 scores. scores and out are different arrays.

// On the GPU; both pointers are device pointers.
void launch_mask_scores(const float* d_scores, float* d_out, float scale, int queries, int keys);

// The same on the CPU; both pointers are host pointers.
void mask_scores_on_cpu(const float* h_scores, float* h_out, float scale, int queries, int keys);

#endif  // CHAPTERS_01_HELLO_INDEXING_07_DEVICE_FUNCTIONS_H_

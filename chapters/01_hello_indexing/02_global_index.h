// 01/02 Global index
#ifndef CHAPTERS_01_HELLO_INDEXING_02_GLOBAL_INDEX_H_
#define CHAPTERS_01_HELLO_INDEXING_02_GLOBAL_INDEX_H_

// d_out[i] = first + i * step for 0 <= i < n; these fit an int, and so does every i * step. d_out
// holds n ints; n from 0 to 2^30.
void launch_arange(int* d_out, int first, int step, int n);

#endif  // CHAPTERS_01_HELLO_INDEXING_02_GLOBAL_INDEX_H_

// 01/06 Which memory
#ifndef CHAPTERS_01_HELLO_INDEXING_06_WHICH_MEMORY_H_
#define CHAPTERS_01_HELLO_INDEXING_06_WHICH_MEMORY_H_

// d_y[i] = factor * h_x[i] for 0 <= i < n, n from 1 to 2^28. Takes its input from host memory and
// leaves its result in device memory; frees whatever it allocates. The caller may overwrite h_x as
// soon as the call has returned.
void scale_on_device(const float* h_x, float* d_y, float factor, int n);

// The value of element n - 1 of an array in device memory, n from 1 to 2^28.
float last_element(const float* d_y, int n);

#endif  // CHAPTERS_01_HELLO_INDEXING_06_WHICH_MEMORY_H_

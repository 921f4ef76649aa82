// 02/09 One thread to grid: what the test calls.
#ifndef CHAPTERS_02_VECTOR_ADD_09_ONE_THREAD_TO_GRID_H_
#define CHAPTERS_02_VECTOR_ADD_09_ONE_THREAD_TO_GRID_H_

// What you expect, before you run it.
double predicted_instruction_ratio();  // warp instructions of <<<1, 1>>> over those of <<<1, 256>>>
int predicted_blocks(int n);           // fewest blocks of 256 with a thread for each element

// c = a + b, three times with the same kernel; n from 1 to 2^30. launch_one_thread is <<<1, 1>>>,
// launch_one_block is <<<1, 256>>>, and launch_full_grid has a thread for each element.
void launch_one_thread(const float* d_a, const float* d_b, float* d_c, int n);
void launch_one_block(const float* d_a, const float* d_b, float* d_c, int n);
void launch_full_grid(const float* d_a, const float* d_b, float* d_c, int n);

#endif  // CHAPTERS_02_VECTOR_ADD_09_ONE_THREAD_TO_GRID_H_

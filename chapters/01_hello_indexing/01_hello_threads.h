// 01/01 Hello threads
#ifndef CHAPTERS_01_HELLO_INDEXING_01_HELLO_THREADS_H_
#define CHAPTERS_01_HELLO_INDEXING_01_HELLO_THREADS_H_

// Launches `blocks` blocks of `threads` threads (1 to 1024). Each thread takes one line of the
// guest book and writes there its block and its number in that block.
//   d_block_of, d_thread_of  blocks * threads ints
//   d_next_line              1 int, holds 0; afterwards the number of lines taken
void launch_hello_threads(int blocks, int threads, int* d_block_of, int* d_thread_of,
                          int* d_next_line);

#endif  // CHAPTERS_01_HELLO_INDEXING_01_HELLO_THREADS_H_

// 01/01 Hello threads: every thread of a grid signs a guest book.
//   block_of, thread_of  one int per line of the book, blocks * threads lines
//   next_line            one int, 0 at the start: the first free line
//   A thread takes the next free line and writes there which block it belongs to and which thread
//   of that block it is. Lines go to whoever comes first, and CUDA promises no order.
//   TODOs                2
#include "01_hello_threads.h"

__global__ void hello_threads(int* block_of, int* thread_of, int* next_line) {
  // Returns the old value and adds 1 in one indivisible step, so every thread gets its own line
  // (chapter 04 shows what happens without it).
  const int line = atomicAdd(next_line, 1);
  // TODO(1): Write this thread's block and its number in that block (2 lines).
  block_of[line] = -1;
  thread_of[line] = -1;
}

void launch_hello_threads(int blocks, int threads, int* d_block_of, int* d_thread_of,
                          int* d_next_line) {
  if (blocks < 1 || threads < 1) {
    return;  // an empty grid is a launch error
  }
  // TODO(2): Launch `blocks` blocks of `threads` threads each (change the 2 numbers).
  hello_threads<<<1, 1>>>(d_block_of, d_thread_of, d_next_line);
}

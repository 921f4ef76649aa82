// 01/08 Life
#ifndef CHAPTERS_01_HELLO_INDEXING_08_LIFE_H_
#define CHAPTERS_01_HELLO_INDEXING_08_LIFE_H_

// A board of rows x cols cells, row-major, one byte each: 1 lives, 0 does not. It has no border:
// the cell above row 0 is in the last row, the cell left of column 0 in the last column, and so on.
// rows and cols from 3 to 65,535, fewer than 2^31 cells.
//
// From one generation to the next, all cells at once: a cell with exactly three living neighbours
// (of the eight around it) lives, one with exactly two stays what it is, any other does not live.

// One generation, from d_cells to d_next: two boards in device memory.
void launch_generation(const unsigned char* d_cells, unsigned char* d_next, int rows, int cols);

// `generations` of them, 0 or more, on the device. Both boards are in host memory, and h_cells
// keeps its cells. One copy in, one copy out; frees what it allocates.
void live(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
          int generations);

// The same on the CPU.
void live_on_cpu(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
                 int generations);

#endif  // CHAPTERS_01_HELLO_INDEXING_08_LIFE_H_

// 01/08 Life, the capstone: a world of cells that live and die. A thread for each is enough.
//   cells, after  rows x cols bytes, row-major, 1 or 0; a board without borders, rows, cols >= 3
//   The header has the rule and the three functions.
//   Budget: a byte stored per cell, at most nine loaded; at most 5 sectors per request; two copies.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "08_life.h"

void launch_generation(const unsigned char* d_cells, unsigned char* d_next, int rows, int cols) {
}

void live(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
          int generations) {
}

void live_on_cpu(const unsigned char* h_cells, unsigned char* h_after, int rows, int cols,
                 int generations) {
}

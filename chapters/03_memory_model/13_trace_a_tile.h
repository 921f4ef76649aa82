// 03/13 Trace a tile: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_13_TRACE_A_TILE_H_
#define CHAPTERS_03_MEMORY_MODEL_13_TRACE_A_TILE_H_

constexpr int kTile = 4;  // rows and columns of a tile

// Inside each 4 x 4 tile: out[r][c] = in[r][c] + all elements of column c above it.
//   d_in, d_out   rows x cols ints in device memory, row-major; 1 <= rows <= 2^17,
//                 1 <= cols <= 2^20
void launch_column_totals(const int* d_in, int* d_out, int rows, int cols);

// What the unsolved kernel does with the tile of the first test:
//      1    2    3    4
//     10   20   30   40
//    100  200  300  400
//   1000 2000 3000 4000
struct FirstWrongLoad {
  int thread;     // the lowest that ever loads a wrong element: 4 * threadIdx.y + threadIdx.x
  int loads;      // the value of the first wrong element that it loads
  int should_be;  // the value that it should have loaded there
};
FirstWrongLoad first_wrong_load();

#endif  // CHAPTERS_03_MEMORY_MODEL_13_TRACE_A_TILE_H_

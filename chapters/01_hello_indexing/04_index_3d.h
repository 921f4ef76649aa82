// 01/04 Index 3-D
#ifndef CHAPTERS_01_HELLO_INDEXING_04_INDEX_3D_H_
#define CHAPTERS_01_HELLO_INDEXING_04_INDEX_3D_H_

#include <vector_types.h>  // dim3

// Extents in voxels, each from 1 to 65,535, fewer than 2^31 voxels. Voxel (x, y, z) is element
// x + width * (y + height * z).
struct Volume {
  int width, height, depth;
};

// Covers the volume with blocks of the given shape, one thread per voxel, and stores for each voxel
// the ids of its thread. All ids start at 0 and count x first, then y, then z. The blocks have
// fewer than 2^31 threads in all.
//   d_block_id   number of the block in the grid
//   d_thread_id  number of the thread in its block
//   d_global_id  number of the thread in the grid: the threads of block 0, then of block 1, ...
// Each holds width * height * depth ints.
void launch_number_voxels(int* d_block_id, int* d_thread_id, int* d_global_id, Volume volume,
                          dim3 block);

#endif  // CHAPTERS_01_HELLO_INDEXING_04_INDEX_3D_H_

// Ids of threads by cooperative groups, and the block from their quotient: right as long as there are fewer
// than 2^31 threads, as the header says.
#include <cooperative_groups.h>

#include "04_index_3d.h"

__global__ void number_voxels(int* block_id, int* thread_id, int* global_id, Volume volume) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= volume.width || y >= volume.height || z >= volume.depth) return;
  const int voxel = x + volume.width * (y + volume.height * z);

  const int global = static_cast<int>(cooperative_groups::this_grid().thread_rank());
  const int thread = static_cast<int>(cooperative_groups::this_thread_block().thread_rank());
  const int block = (global - thread) / static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
  block_id[voxel] = block;
  thread_id[voxel] = thread;
  global_id[voxel] = global;
}

void launch_number_voxels(int* d_block_id, int* d_thread_id, int* d_global_id, Volume volume,
                          dim3 block) {
  const auto cover = [](int extent, unsigned size) { return (extent + size - 1) / size; };
  const dim3 grid(cover(volume.width, block.x), cover(volume.height, block.y),
                  cover(volume.depth, block.z));
  number_voxels<<<grid, block>>>(d_block_id, d_thread_id, d_global_id, volume);
}

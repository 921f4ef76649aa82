// 01/04 Index 3-D: flatten a 3-D grid of 3-D blocks into block, thread and global ids.
//   block_id, thread_id, global_id  one int per voxel of a volume, depth x height x width
//   A voxel belongs to the thread that stands on it and receives that thread's three ids. All ids
//   count x first, then y, then z. Any volume, any block shape; the last blocks stick out.
//   TODOs                           3
#include "04_index_3d.h"

__global__ void number_voxels(int* block_id, int* thread_id, int* global_id, Volume volume) {
  // TODO(1): Number the blocks of the grid, x first (1 to 3 lines).
  const int block = 0;
  // TODO(2): Number the threads of the block, x first (1 to 3 lines).
  const int thread = 0;
  // TODO(3): Number all threads, block after block (1 or 2 lines).
  const int global = 0;

  // The voxel under this thread: the same flattening, over the volume.
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= volume.width || y >= volume.height || z >= volume.depth) {
    return;  // this thread stands outside of the volume, but it has its ids too
  }
  const int voxel = x + volume.width * (y + volume.height * z);
  block_id[voxel] = block;
  thread_id[voxel] = thread;
  global_id[voxel] = global;
}

void launch_number_voxels(int* d_block_id, int* d_thread_id, int* d_global_id, Volume volume,
                          dim3 block) {
  const dim3 grid((volume.width + block.x - 1) / block.x, (volume.height + block.y - 1) / block.y,
                  (volume.depth + block.z - 1) / block.z);
  number_voxels<<<grid, block>>>(d_block_id, d_thread_id, d_global_id, volume);
}

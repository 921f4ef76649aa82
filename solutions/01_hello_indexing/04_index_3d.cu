// 01/04 Index 3-D: flatten a 3-D grid of 3-D blocks into block, thread and global ids.
//   block_id, thread_id, global_id  one int per voxel of a volume, depth x height x width
//   A voxel belongs to the thread that stands on it and receives that thread's three ids. All ids
//   count x first, then y, then z. Any volume, any block shape; the last blocks stick out.
//   TODOs                           4
#include "04_index_3d.h"

__global__ void number_voxels(int* block_id, int* thread_id, int* global_id, Volume volume) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  //~ // TODO(1): Send home the threads outside the volume; the others know their voxel (4 lines).
  //~ if (x + y + z > 0) return;
  //~ const int voxel = 0;
  //~begin 1
  if (x >= volume.width || y >= volume.height || z >= volume.depth) {
    return;  // this thread has its ids too, and nowhere to write them
  }
  const int voxel = x + volume.width * (y + volume.height * z);
  //~end

  //~ // TODO(2): The number of this block in the grid, x first (1 to 3 lines).
  //~ const int block = 0;
  //~begin 2
  const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  //~end
  //~ // TODO(3): The number of this thread in its block, x first (1 to 3 lines).
  //~ const int thread = 0;
  //~begin 3
  const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  //~end
  //~ // TODO(4): The number of this thread in the grid, block after block (1 or 2 lines).
  //~ const int global = 0;
  //~begin 4
  const int threads_per_block = blockDim.x * blockDim.y * blockDim.z;
  const int global = block * threads_per_block + thread;
  //~end
  block_id[voxel] = block;
  thread_id[voxel] = thread;
  global_id[voxel] = global;
}

void launch_number_voxels(int* d_block_id, int* d_thread_id, int* d_global_id, Volume volume,
                          dim3 block) {
  //~ // TODO(1), the launch: blocks that cover the volume along all three axes (3 lines).
  //~ number_voxels<<<1, block>>>(d_block_id, d_thread_id, d_global_id, volume);
  //~begin 1
  const dim3 grid((volume.width + block.x - 1) / block.x, (volume.height + block.y - 1) / block.y,
                  (volume.depth + block.z - 1) / block.z);
  number_voxels<<<grid, block>>>(d_block_id, d_thread_id, d_global_id, volume);
  //~end
}

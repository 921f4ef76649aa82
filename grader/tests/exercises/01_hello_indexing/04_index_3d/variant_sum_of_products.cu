// Another right answer: sums of products instead of nesting, and the global id from the extents.
#include "04_index_3d.h"

__global__ void number_voxels_by_sums(int* block_id, int* thread_id, int* global_id,
                                      Volume volume) {
  const unsigned blocks_per_layer = gridDim.x * gridDim.y;
  const unsigned block = blockIdx.z * blocks_per_layer + blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned threads_per_layer = blockDim.x * blockDim.y;
  const unsigned thread = threadIdx.z * threads_per_layer + threadIdx.y * blockDim.x + threadIdx.x;
  const int x = threadIdx.x + blockIdx.x * blockDim.x;
  const int y = threadIdx.y + blockIdx.y * blockDim.y;
  const int z = threadIdx.z + blockIdx.z * blockDim.z;
  if (x < volume.width && y < volume.height && z < volume.depth) {
    const int voxel = (z * volume.height + y) * volume.width + x;
    block_id[voxel] = block;
    thread_id[voxel] = thread;
    global_id[voxel] = block * threads_per_layer * blockDim.z + thread;
  }
}

void launch_number_voxels(int* d_block_id, int* d_thread_id, int* d_global_id, Volume volume,
                          dim3 block) {
  const dim3 grid((volume.width - 1) / block.x + 1, (volume.height - 1) / block.y + 1,
                  (volume.depth - 1) / block.z + 1);
  number_voxels_by_sums<<<grid, block>>>(d_block_id, d_thread_id, d_global_id, volume);
}

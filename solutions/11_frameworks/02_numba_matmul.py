# 11/02 Numba matmul: the tiled product of 11/01 as a kernel that Numba compiles.
#   a  m x k, b  k x n    NumPy arrays of float32, contiguous; m, n and k from 1, m to 1,000,000
#   GRADE_DEVICE          "sim": Numba's simulator runs the kernel as Python; "gpu": the card
#   TODOs                 3
import os

#~ # TODO(1): Numba's simulator is on, unless GRADE_DEVICE is "gpu". The import below reads
#~ # NUMBA_ENABLE_CUDASIM from the environment (2 lines).
#~begin 1
if os.environ.get("GRADE_DEVICE") != "gpu":
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
#~end
import numpy as np
from numba import config, cuda, float32

# Rows and columns of a tile; threads of a block in x and in y. Each is a thread of Python's in the
# simulator.
TILE = 4 if config.ENABLE_CUDASIM else 16


@cuda.jit
def matmul_tiled(a, b, c):
    #~ pass  # TODO(2): c = a b by blocks of TILE x TILE threads, through two tiles in shared memory,
    #~ # as in 11/01 (about 22 lines). cuda.shared.array(shape, float32) is such a tile.
    #~begin 2
    tile_a = cuda.shared.array((TILE, TILE), float32)  # rows of a
    tile_b = cuda.shared.array((TILE, TILE), float32)  # rows of b
    m, k = a.shape
    n = b.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0)
    for begin in range(0, k, TILE):
        tile_a[ty, tx] = float32(0)
        tile_b[ty, tx] = float32(0)
        if row < m and begin + tx < k:
            tile_a[ty, tx] = a[row, begin + tx]
        if begin + ty < k and col < n:
            tile_b[ty, tx] = b[begin + ty, col]
        cuda.syncthreads()  # both tiles are whole before anyone reads them
        for i in range(TILE):
            acc += tile_a[ty, i] * tile_b[i, tx]
        cuda.syncthreads()  # all have read before the next step overwrites the tiles
    if row < m and col < n:
        c[row, col] = acc
    #~end


def matmul(a, b):
    #~ return np.zeros((a.shape[0], b.shape[1]), np.float32)  # TODO(3): a b, computed on the device by
    #~ # matmul_tiled. Nothing is copied that need not be (about 6 lines).
    #~begin 3
    m, n = a.shape[0], b.shape[1]
    d_a, d_b = cuda.to_device(a), cuda.to_device(b)
    d_c = cuda.device_array((m, n), np.float32)  # not written: no copy to the device
    grid = ((n + TILE - 1) // TILE, (m + TILE - 1) // TILE)
    matmul_tiled[grid, (TILE, TILE)](d_a, d_b, d_c)
    return d_c.copy_to_host()
    #~end

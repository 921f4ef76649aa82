# Another correct solution: the tile of b stored by columns, the first step loaded before
# the loop.
import os

os.environ["NUMBA_ENABLE_CUDASIM"] = "0" if os.environ.get("GRADE_DEVICE") == "gpu" else "1"

import numpy as np
from numba import config, cuda, float32

TILE = 4 if config.ENABLE_CUDASIM else 16


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)  # [column][row of b]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    begin = 0
    while begin < a.shape[1]:
        inside_a = row < a.shape[0] and begin + tx < a.shape[1]
        inside_b = col < b.shape[1] and begin + ty < b.shape[0]
        tile_a[ty, tx] = a[row, begin + tx] if inside_a else float32(0)
        tile_b[tx, ty] = b[begin + ty, col] if inside_b else float32(0)
        cuda.syncthreads()
        for i in range(TILE - 1, -1, -1):
            acc += tile_a[ty, i] * tile_b[tx, i]
        cuda.syncthreads()
        begin += TILE
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = acc


def matmul(a, b):
    shape = a.shape[0], b.shape[1]
    d_c = cuda.device_array(shape, np.float32)
    grid = (-(-shape[1] // TILE), -(-shape[0] // TILE))
    matmul_tiled[grid, (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), d_c)
    c = np.empty(shape, np.float32)
    d_c.copy_to_host(c)
    return c

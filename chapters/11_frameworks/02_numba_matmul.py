# 11/02 Numba matmul: the tiled product of 11/01 as a kernel that Numba compiles.
#   a  m x k, b  k x n    NumPy arrays of float32, any sizes
#   GRADE_DEVICE          "sim": Numba's simulator runs the kernel as Python; "gpu": the card
#   TODOs                 3
import os

# TODO(1): Ask for Numba's simulator, unless GRADE_DEVICE is "gpu": NUMBA_ENABLE_CUDASIM=1 in
# os.environ, before the import reads it (2 lines).
import numpy as np
from numba import config, cuda, float32

# Rows and columns of a tile; threads of a block in x and in y. Each is a thread of Python's in the
# simulator.
TILE = 4 if config.ENABLE_CUDASIM else 16


@cuda.jit
def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)  # rows of a
    tile_b = cuda.shared.array((TILE, TILE), float32)  # rows of b
    m, k = a.shape
    n = b.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0)
    # TODO(2): Go through k in steps of TILE, as in 11/01: load an element of each tile (0 outside),
    # cuda.syncthreads(), add TILE products to acc, cuda.syncthreads() (about 11 lines).
    if row < m and col < n:
        c[row, col] = acc


def matmul(a, b):
    m, n = a.shape[0], b.shape[1]
    return np.zeros((m, n), np.float32)  # TODO(3): Copy a and b to the device, make c there,
    # launch enough blocks of (TILE, TILE) threads, and copy c back (about 6 lines).

# 11/02 Numba matmul: the tiled product of 11/01 as a kernel that Numba compiles.
#   a  m x k, b  k x n    NumPy arrays of float32, contiguous; m, n and k from 1, m to 1,000,000
#   GRADE_DEVICE          "sim": Numba's simulator runs the kernel as Python; "gpu": the card
#   TODOs                 3
import os

# TODO(1): Numba's simulator is on, unless GRADE_DEVICE is "gpu". The import below reads
# NUMBA_ENABLE_CUDASIM from the environment (2 lines).
import numpy as np
from numba import config, cuda, float32

# Rows and columns of a tile; threads of a block in x and in y. Each is a thread of Python's in the
# simulator.
TILE = 4 if config.ENABLE_CUDASIM else 16


@cuda.jit
def matmul_tiled(a, b, c):
    pass  # TODO(2): c = a b by blocks of TILE x TILE threads, through two tiles in shared memory,
    # as in 11/01 (about 22 lines). cuda.shared.array(shape, float32) is such a tile.


def matmul(a, b):
    return np.zeros((a.shape[0], b.shape[1]), np.float32)  # TODO(3): a b, computed on the device by
    # matmul_tiled. Nothing is copied that need not be (about 6 lines).

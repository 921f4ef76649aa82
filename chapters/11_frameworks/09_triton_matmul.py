# 11/09 Triton matmul: a program makes a tile of c; Triton places it in registers and copies ahead.
#   a  m x k, b  k x n, c  m x n    float32, contiguous, on the current device; m, n
#         and k from 1, no matrix of 2^31 elements
#   fp32 throughout: the products of float32 without TF32
#   TODOs 3
import torch
import triton
import triton.language as tl

# TODO(3): What is tried (triton.Config): TILE_M x TILE_N is the tile of c, TILE_K the step in k. The
# interpreter takes the first.
CONFIGS = [triton.Config({"TILE_M": 16, "TILE_N": 16, "TILE_K": 16}, num_warps=1)]


@triton.autotune(CONFIGS, key=["m", "n", "k"])
@triton.jit
def matmul_tiles(a, b, c, m, n, k, GROUP: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                 TILE_K: tl.constexpr):
    tile_m, tile_n = 0, 0  # TODO(2): This program's tile: each is made once, and programs of
    # neighbouring numbers share rows of a and columns of b in L2.
    # TODO(1): The tile, through k in steps of TILE_K, in float32 throughout; nothing is read or
    # written outside of a, b and c.


def launch_matmul(a, b, c):
    pass  # TODO(3), too: A program per tile of c, whichever shape is chosen; GROUP is yours.

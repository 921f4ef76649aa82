# 11/09 Triton matmul: a program makes a tile of c; Triton places it in registers and copies ahead.
#   a  m x k, b  k x n, c  m x n    float32, contiguous, on the current device; m, n
#         and k from 1, no matrix of 2^31 elements
#   fp32 throughout: the products of float32 without TF32
#   TODOs 3
import torch
import triton
import triton.language as tl

#~ # TODO(3): What is tried (triton.Config): TILE_M x TILE_N is the tile of c, TILE_K the step in k. The
#~ # interpreter takes the first.
#~ CONFIGS = [triton.Config({"TILE_M": 16, "TILE_N": 16, "TILE_K": 16}, num_warps=1)]
#~begin 3
# What is tried: tile of c, step in k, warps, copies under way. The interpreter takes the first.
SHAPES = [(64, 64, 32, 4, 2), (64, 128, 32, 4, 2), (64, 64, 64, 4, 2), (32, 128, 32, 4, 3),
          (64, 128, 16, 4, 2), (128, 64, 16, 8, 3)]
CONFIGS = [triton.Config({"TILE_M": m, "TILE_N": n, "TILE_K": k}, num_warps=w, num_stages=stages)
           for m, n, k, w, stages in (SHAPES if torch.cuda.is_available() else SHAPES[:1])]
#~end


@triton.autotune(CONFIGS, key=["m", "n", "k"])
@triton.jit
def matmul_tiles(a, b, c, m, n, k, GROUP: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                 TILE_K: tl.constexpr):
    #~ tile_m, tile_n = 0, 0  # TODO(2): This program's tile: each is made once, and programs of
    #~ # neighbouring numbers share rows of a and columns of b in L2.
    #~begin 2
    tiles_m, tiles_n = tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)
    number = tl.program_id(0)
    first = number // (GROUP * tiles_n) * GROUP  # row of tiles at which this group begins
    rows = min(GROUP, tiles_m - first)  # the last group may be lower
    tile_m = first + number % (GROUP * tiles_n) % rows
    tile_n = number % (GROUP * tiles_n) // rows
    #~end
    #~ # TODO(1): The tile, through k in steps of TILE_K, in float32 throughout; nothing is read or
    #~ # written outside of a, b and c.
    #~begin 1
    row = tile_m * TILE_M + tl.arange(0, TILE_M)  # TILE_M row numbers
    col = tile_n * TILE_N + tl.arange(0, TILE_N)  # TILE_N column numbers
    acc = tl.zeros((TILE_M, TILE_N), tl.float32)
    for begin in range(0, k, TILE_K):
        i = begin + tl.arange(0, TILE_K)
        part_a = tl.load(a + row[:, None] * k + i[None, :],
                         mask=(row[:, None] < m) & (i[None, :] < k), other=0.0)
        part_b = tl.load(b + i[:, None] * n + col[None, :],
                         mask=(i[:, None] < k) & (col[None, :] < n), other=0.0)
        acc = tl.dot(part_a, part_b, acc, input_precision="ieee")
    tl.store(c + row[:, None] * n + col[None, :], acc,
             mask=(row[:, None] < m) & (col[None, :] < n))
    #~end


def launch_matmul(a, b, c):
    #~ pass  # TODO(3), too: A program per tile of c, whichever shape is chosen; GROUP is yours.
    #~begin 3
    (m, k), n = a.shape, b.shape[1]
    grid = lambda meta: (triton.cdiv(m, meta["TILE_M"]) * triton.cdiv(n, meta["TILE_N"]),)
    matmul_tiles[grid](a, b, c, m, n, k, GROUP=16)
    #~end

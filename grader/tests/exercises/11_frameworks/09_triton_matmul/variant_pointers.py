# Another correct solution: one shape, row after row of tiles, pointers that move along k.
import triton
import triton.language as tl

TILE = 64


@triton.jit
def matmul_tiles(a, b, c, m, n, k, TILE: tl.constexpr, STEP: tl.constexpr):
    tiles_n = tl.cdiv(n, TILE)
    row = tl.program_id(0) // tiles_n * TILE + tl.arange(0, TILE)
    col = tl.program_id(0) % tiles_n * TILE + tl.arange(0, TILE)
    i = tl.arange(0, STEP)
    from_a = a + row[:, None] * k + i[None, :]
    from_b = b + i[:, None] * n + col[None, :]
    acc = tl.zeros((TILE, TILE), tl.float32)
    for begin in range(0, k, STEP):
        left = k - begin
        part_a = tl.load(from_a, mask=(row[:, None] < m) & (i[None, :] < left), other=0.0)
        part_b = tl.load(from_b, mask=(i[:, None] < left) & (col[None, :] < n), other=0.0)
        acc += tl.dot(part_a, part_b, input_precision="ieee")
        from_a += STEP
        from_b += STEP * n
    tl.store(c + row[:, None] * n + col[None, :], acc, mask=(row[:, None] < m) & (col[None, :] < n))


def launch_matmul(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tiles = triton.cdiv(m, TILE) * triton.cdiv(n, TILE)
    matmul_tiles[(tiles,)](a, b, c, m, n, k, TILE, 32, num_warps=4, num_stages=2)

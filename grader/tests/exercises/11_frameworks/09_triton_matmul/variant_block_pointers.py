# Another correct solution: block pointers, and a grid of two dimensions that asks what it is handed
# for the sizes as well.
import triton
import triton.language as tl

CONFIGS = [triton.Config({"TILE_M": 32, "TILE_N": 64, "TILE_K": 16}, num_warps=4)]


@triton.autotune(CONFIGS, key=["m", "n", "k"])
@triton.jit
def matmul_tiles(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
                 TILE_K: tl.constexpr):
    row, col = tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N
    at_a = tl.make_block_ptr(a, (m, k), (k, 1), (row, 0), (TILE_M, TILE_K), (1, 0))
    at_b = tl.make_block_ptr(b, (k, n), (n, 1), (0, col), (TILE_K, TILE_N), (1, 0))
    at_c = tl.make_block_ptr(c, (m, n), (n, 1), (row, col), (TILE_M, TILE_N), (1, 0))
    acc = tl.zeros((TILE_M, TILE_N), tl.float32)
    for _ in range(0, k, TILE_K):
        part_a = tl.load(at_a, boundary_check=(0, 1), padding_option="zero")
        part_b = tl.load(at_b, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(part_a, part_b, acc, input_precision="ieee")
        at_a = tl.advance(at_a, (0, TILE_K))
        at_b = tl.advance(at_b, (TILE_K, 0))
    tl.store(at_c, acc, boundary_check=(0, 1))


def launch_matmul(a, b, c):
    grid = lambda meta: (
        triton.cdiv(meta["m"], meta["TILE_M"]), triton.cdiv(meta["n"], meta["TILE_N"]))
    matmul_tiles[grid](a, b, c, a.shape[0], b.shape[1], a.shape[1])

# 11/01 Python runner: a kernel launch made of Python's threads, and a tiled product in it.
#   launch(kernel, grid, block, shared_size, *args)
#     grid, block    (x, y); kernel(thread, *args) runs once for each thread of each block
#     shared_size    numbers of shared memory of a block; all NaN when the block begins
#   a  m x k, b  k x n, c  m x n    lists of rows, any sizes
#   TODOs            3
import array
import math
import threading

TILE = 2  # rows and columns of a tile; threads of a block in x and in y


class Thread:
    """What a kernel knows about the thread that it runs as."""

    def __init__(self, block_x, block_y, x, y, shared, barrier):
        self.block_x, self.block_y, self.x, self.y = block_x, block_y, x, y
        self.shared = shared  # a memoryview: a slice of it is the same memory, no copy
        self.barrier = barrier

    def syncthreads(self):
        self.barrier.wait()


def run_thread(kernel, thread, args, errors):
    """What one thread raises ends its whole block, as a fault ends a launch on a card."""
    try:
        kernel(thread, *args)
    except Exception as error:
        errors.append(error)
        thread.barrier.abort()


def launch(kernel, grid, block, shared_size, *args):
    errors = []
    # TODO(1): For each block make its shared memory, a memoryview of array.array("d", ...) of NaN,
    # and a threading.Barrier for all its threads. Start a threading.Thread for each, with
    # run_thread(kernel, Thread(...), args, errors), then join them all (about 12 lines).
    if errors:
        raise errors[0]


def matmul_tiled(thread, a, b, c, show):
    m, k, n = len(a), len(b), len(b[0])
    row = thread.block_y * TILE + thread.y
    col = thread.block_x * TILE + thread.x
    tile_a = tile_b = thread.shared  # TODO(2): TILE * TILE numbers each: two slices (2 lines).
    acc = 0.0
    for step in range(math.ceil(k / TILE)):
        # TODO(3): Load this thread's element of both tiles, 0.0 outside of a and b. Wait until all
        # have loaded. Below, add TILE products to acc, then wait until all have read (8 lines).
        if show and thread.x == 0 and thread.y == 0:
            print_tiles(thread, step, tile_a, tile_b)
    if row < m and col < n:
        c[row][col] = acc


def print_tiles(thread, step, tile_a, tile_b):
    for y in range(TILE):
        left = "block " + str((thread.block_x, thread.block_y)) + " step " + str(step)
        rows = [" ".join(f"{value:5.1f}" for value in tile[y * TILE : (y + 1) * TILE])
                for tile in (tile_a, tile_b)]
        print((left if y == 0 else "").ljust(20) + "a " + rows[0] + "   b " + rows[1])


def matmul(a, b, show=False):
    m, n = len(a), len(b[0])
    c = [[math.nan] * n for _ in range(m)]
    grid = (math.ceil(n / TILE), math.ceil(m / TILE))
    launch(matmul_tiled, grid, (TILE, TILE), 2 * TILE * TILE, a, b, c, show)
    return c


if __name__ == "__main__":
    numbers = [[float(4 * y + x) for x in range(4)] for y in range(4)]
    identity = [[float(x == y) for x in range(4)] for y in range(4)]
    for line in matmul(numbers, identity, show=True):
        print(line)

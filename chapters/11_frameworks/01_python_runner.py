# 11/01 Python runner: a kernel launch made of Python's threads, and a tiled product in it.
#   launch(kernel, grid, block, shared_size, *args)
#     grid, block    (x, y); kernel(thread, *args) runs once for each thread of each block
#     shared_size    numbers of shared memory of a block; all NaN when the block begins
#   a  m x k, b  k x n, c  m x n    lists of rows, any sizes from 1; a and b stay as they are
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
    kernel(thread, *args)  # TODO(1): Nobody waits at a barrier for a thread that has raised; what it
    # raised is in `errors`, whatever it is: sys.exit() raises, too.


def launch(kernel, grid, block, shared_size, *args):
    pass  # TODO(1), too: Every thread of every block runs the kernel once, by run_thread. A block
    # has shared memory of its own, all NaN, whose slices are no copies, and its threads meet at
    # barriers. What a thread raises first, the caller gets, when all that have begun have ended.


def matmul_tiled(thread, a, b, c, show):
    tile_a = tile_b = thread.shared  # TODO(2): Two tiles of TILE * TILE numbers each.
    # TODO(3): c[row][col], where this thread has one, is the sum of k products, step by step of TILE
    # columns, from tiles that the whole block has loaded: 0.0 outside of a and b. If `show`, thread
    # (0, 0) prints with print_tiles() in every step, when both are whole.


def print_tiles(thread, step, tile_a, tile_b):
    for y in range(TILE):
        left = "block " + str((thread.block_x, thread.block_y)) + " step " + str(step)
        rows = [" ".join(f"{value:5.1f}" for value in tile[y * TILE : (y + 1) * TILE])
                for tile in (tile_a, tile_b)]
        print((left if y == 0 else "").ljust(20) + "a " + rows[0] + "   b " + rows[1])


def matmul(a, b, show=False):
    return [[0.0] * len(b[0]) for _ in a]  # TODO(3), too: a b, by a launch of matmul_tiled.


if __name__ == "__main__":
    numbers = [[float(4 * y + x) for x in range(4)] for y in range(4)]
    identity = [[float(x == y) for x in range(4)] for y in range(4)]
    for line in matmul(numbers, identity, show=True):
        print(line)

# Another correct solution: blocks numbered in one loop, all of them resident at once, tiles of two
# dimensions that one buffer holds.
import array
import math
import threading

TILE = 2


class Thread:
    def __init__(self, block, place, shared, barrier):
        self.block_x, self.block_y = block
        self.x, self.y = place
        self.shared, self.barrier = shared, barrier

    def syncthreads(self):
        self.barrier.wait()


def launch(kernel, grid, block, shared_size, *args):
    errors, threads = [], []

    def run(thread):
        try:
            kernel(thread, *args)
        except BaseException as error:
            errors.append(error)
            thread.barrier.abort()

    for number in range(grid[0] * grid[1]):
        barrier = threading.Barrier(block[0] * block[1])
        shared = memoryview(array.array("d", [math.nan] * shared_size))
        for i in range(block[0] * block[1]):
            me = Thread(
                (number % grid[0], number // grid[0]),
                (i % block[0], i // block[0]),
                shared,
                barrier,
            )
            threads.append(threading.Thread(target=run, args=(me,)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def matmul_tiled(thread, a, b, c, show):
    m, k, n = len(a), len(b), len(b[0])
    both = thread.shared.cast("B").cast("d", shape=[2, TILE, TILE])
    x, y = thread.x, thread.y
    row, col = thread.block_y * TILE + y, thread.block_x * TILE + x
    products = []
    for begin in range(0, k, TILE):
        both[0, y, x] = a[row][begin + x] if row < m and begin + x < k else 0.0
        both[1, y, x] = b[begin + y][col] if begin + y < k and col < n else 0.0
        thread.syncthreads()
        if show and (x, y) == (0, 0):
            print_tiles(thread, begin // TILE)
        products += [both[0, y, i] * both[1, i, x] for i in range(TILE)]
        thread.syncthreads()
    if row < m and col < n:
        c[row][col] = math.fsum(products)


def print_tiles(thread, step):
    for y in range(TILE):
        left = f"block {(thread.block_x, thread.block_y)} step {step}" if y == 0 else ""
        a, b = (thread.shared[t * TILE * TILE + y * TILE :][:TILE] for t in range(2))
        print(
            left.ljust(20)
            + "a "
            + " ".join(f"{v:5.1f}" for v in a)
            + "   b "
            + " ".join(f"{v:5.1f}" for v in b)
        )


def matmul(a, b, show=False):
    c = [[math.nan] * len(b[0]) for _ in a]
    grid = (math.ceil(len(b[0]) / TILE), math.ceil(len(a) / TILE))
    launch(matmul_tiled, grid, (TILE, TILE), 2 * TILE * TILE, a, b, c, show)
    return c

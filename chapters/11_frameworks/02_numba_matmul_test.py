"""11/02: in Numba's simulator, one Python thread per CUDA thread; on a GPU larger matrices too."""

import numpy as np
from numba import config, cuda

import kit

# numba-cuda up to 0.30 asks for a name that NumPy 2.5 no longer has.
if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack

exercise = kit.exercise()
TILE = exercise.TILE


# c = a b in double: m x n, from m x k and k x n.
def matmul_on_cpu(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


# 16 roundings of each of the products' sizes: what float32 in any order stays below, and what
# bfloat16 or TF32 does not.
def tolerance(a, b):
    return 16 * 2.0**-24 * (np.abs(a) @ np.abs(b)) + 1e-30


def inputs(m, n, k):
    draw = np.random.default_rng(kit.generator().randrange(1 << 30))
    return (
        draw.uniform(-1, 1, (m, k)).astype(np.float32),
        draw.uniform(-1, 1, (k, n)).astype(np.float32),
    )


def run(call):
    return kit.within(
        60,
        call,
        "the kernel does not end. Every thread of a block must reach every "
        "cuda.syncthreads(): none may return before it.",
    )


@kit.todo(1)
def test_runs_in_the_simulator_without_a_gpu():
    if kit.on_gpu:
        kit.expect(
            not config.ENABLE_CUDASIM, 'Numba\'s simulator is on, though GRADE_DEVICE is "gpu".'
        )
        return
    kit.expect(
        config.ENABLE_CUDASIM,
        "Numba would use a GPU: its simulator is off. The import reads "
        "NUMBA_ENABLE_CUDASIM, so set it in a line above the import.",
    )


def needs_the_simulator():
    kit.expect(kit.on_gpu or config.ENABLE_CUDASIM, "Numba's simulator is off: TODO 1 comes first.")


@kit.todo(2)
def test_kernel_multiplies_one_block():
    needs_the_simulator()
    for m, n, k in kit.cases("m x n x k", [(TILE, TILE, 2 * TILE), (TILE - 1, 2, TILE + 1)]):
        a, b = inputs(m, n, k)
        c = np.full((m, n), np.nan, np.float32)

        def launch():
            d_c = cuda.to_device(c)
            exercise.matmul_tiled[(1, 1), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), d_c)
            return d_c.copy_to_host()

        kit.expect_near("c", run(launch), matmul_on_cpu(a, b), tolerance(a, b))


@kit.todo(3)
def test_multiplies_any_sizes():
    needs_the_simulator()
    sizes = [(1, 1, 1), (2 * TILE, TILE, TILE), (TILE - 1, TILE + 2, TILE + 3)]
    if kit.on_gpu:
        sizes += [(1000, 515, 771), (1, 4097, 33)]
    for m, n, k in kit.cases("m x n x k", sizes):
        a, b = inputs(m, n, k)
        kept = a.copy(), b.copy()
        c = run(lambda: exercise.matmul(a, b))
        kit.expect(
            isinstance(c, np.ndarray) and c.dtype == np.float32,
            f"matmul() gives a {type(c).__name__}, expected a NumPy array of float32 on the host.",
        )
        kit.expect_near("c", c, matmul_on_cpu(a, b), tolerance(a, b))
        kit.expect((a == kept[0]).all() and (b == kept[1]).all(), "matmul() changed its inputs.")


@kit.todo(3)
def test_copies_c_back_once():
    needs_the_simulator()
    a, b = inputs(TILE, TILE, TILE)
    launched = []
    real = exercise.matmul_tiled

    class Watched:
        def __getitem__(self, shape):
            def launch(*args):
                launched.append((shape, args))
                return real[shape](*args)

            return launch

    exercise.matmul_tiled = Watched()
    try:
        run(lambda: exercise.matmul(a, b))
    finally:
        exercise.matmul_tiled = real
    kit.expect(len(launched) == 1, f"{len(launched)} kernels were launched, expected one.")
    host = [name for name, arg in zip("abc", launched[0][1]) if isinstance(arg, np.ndarray)]
    kit.expect(
        not host,
        f"{' and '.join(host)} went to the kernel as an array of the host. Numba then "
        "copies it to the device and back around each launch: use cuda.to_device and "
        "cuda.device_array.",
    )

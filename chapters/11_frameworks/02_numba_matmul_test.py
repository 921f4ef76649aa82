"""11/02: in Numba's simulator, one Python thread per CUDA thread; on a GPU larger matrices too."""

import os
import pathlib
import subprocess
import sys
import warnings

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
        30,
        call,
        "the kernel does not end: look at the condition of its loop. Every thread of a block must "
        "reach every cuda.syncthreads(), so none may return before it.",
    )


def all_bits_set(array):
    """NaN in every type of float: what nobody writes is then seen in the result."""
    return np.full(array.nbytes, 255, np.uint8).view(array.dtype).reshape(array.shape)


def poison_device_arrays():
    make = cuda.device_array

    def made(*args, **options):
        array = make(*args, **options)
        array.copy_to_device(all_bits_set(array))
        return array

    cuda.device_array = made


def poison_shared_memory(shared):
    """In the simulator: np.empty's garbage otherwise, often 0."""
    launch = shared.__init__

    def begin(self, *args):
        launch(self, *args)
        self._allocations = Poisoned()

    shared.__init__ = begin


class Poisoned(dict):
    """Arrays by the line that asks for them."""

    def __setitem__(self, line, array):
        array[...] = all_bits_set(array)
        super().__setitem__(line, array)


poison_device_arrays()
if config.ENABLE_CUDASIM:
    from numba.cuda.simulator.kernelapi import FakeCUDAShared

    poison_shared_memory(FakeCUDAShared)


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


@kit.todo(1)
def test_a_card_is_used_where_one_is_asked_for():
    found = subprocess.run(
        [sys.executable, "-c", UP_TO_NUMBA, exercise.__file__],
        capture_output=True,
        text=True,
        env={**os.environ, "GRADE_DEVICE": "gpu", "NUMBA_ENABLE_CUDASIM": ""},
    ).stdout.strip()
    kit.expect(
        found in ("", "0"),
        f'with GRADE_DEVICE "gpu", NUMBA_ENABLE_CUDASIM is "{found}" when Numba is imported, so its '
        "simulator is on there as well. It belongs behind an if.",
    )


# Runs a file until it imports Numba, and prints what Numba would read then.
UP_TO_NUMBA = """
import os, runpy, sys

class AtNumba:
    def find_spec(self, name, path=None, target=None):
        if name == "numba":
            print(os.environ.get("NUMBA_ENABLE_CUDASIM", ""), flush=True)
            os._exit(0)

sys.meta_path.insert(0, AtNumba())
runpy.run_path(sys.argv[1])
"""


def test_runs_in_the_simulator_where_nobody_says_which_device():
    """As python3 runs the file: what it does to a Numba that has been imported is asked."""
    names = "GRADE_DEVICE", "NUMBA_ENABLE_CUDASIM"
    kept, was_on = {name: os.environ.pop(name, None) for name in names}, config.ENABLE_CUDASIM
    config.ENABLE_CUDASIM = 0
    try:
        kit.load(pathlib.Path(exercise.__file__))
        on = config.ENABLE_CUDASIM or int(os.environ.get("NUMBA_ENABLE_CUDASIM", "0"))
    finally:
        config.ENABLE_CUDASIM = was_on
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    kit.expect(
        on,
        "Numba would use a GPU where GRADE_DEVICE is not set, as where python3 runs your file: "
        'its simulator is on unless GRADE_DEVICE is "gpu".',
    )


def needs_the_simulator():
    kit.expect(kit.on_gpu or config.ENABLE_CUDASIM, "Numba's simulator is off: TODO 1 comes first.")


@kit.todo(2)
def test_kernel_multiplies_one_block():
    needs_the_simulator()
    sizes = [(TILE, TILE, 2 * TILE), (TILE - 1, 2, TILE + 1), (2, 3, TILE - 1)]
    for m, n, k in kit.cases("m x n x k", sizes):
        a, b = inputs(m, n, k)
        c = np.full((m, n), np.nan, np.float32)

        def launch():
            d_c = cuda.to_device(c)
            exercise.matmul_tiled[(1, 1), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), d_c)
            return d_c.copy_to_host()

        c = run(launch)
        kit.expect(
            not np.isnan(c).any(),
            f"{np.isnan(c).sum()} of {c.size} elements of c are NaN: made from a place of a tile "
            "that nobody wrote. Every thread writes to both tiles in every step, zeros outside of "
            "a and b, so none may return before the loop.",
        )
        kit.expect_near("c", c, matmul_on_cpu(a, b), tolerance(a, b))


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
            f"matmul() gives a {type(c).__name__} of {getattr(c, 'dtype', 'no type')}, expected a "
            "NumPy array of float32 on the host.",
        )
        kit.expect_near("c", c, matmul_on_cpu(a, b), tolerance(a, b))
        kit.expect((a == kept[0]).all() and (b == kept[1]).all(), "matmul() changed its inputs.")


@kit.todo(3)
def test_reads_arrays_that_have_changed():
    needs_the_simulator()
    a, b = inputs(TILE, TILE, TILE)
    first = run(lambda: exercise.matmul(a, b))
    kept = first.copy()
    arrays = {"a": a, "b": b}
    for name in kit.cases("changed in place", arrays):
        arrays[name][...] = arrays[name][::-1] - 1
        c = run(lambda: exercise.matmul(a, b))
        kit.expect_near("c of the second call", c, matmul_on_cpu(a, b), tolerance(a, b))
        kit.expect(
            (first == kept).all(),
            "the second call has changed the array that the first one returned: it is its caller's "
            "now, and every call returns one of its own.",
        )


@kit.todo(3)
def test_zero_times_infinity_is_not_zero():
    needs_the_simulator()
    a, b = inputs(TILE, TILE, TILE)
    a[0, 0] = b[2, 2] = 0
    b[0, :2] = np.inf, np.nan
    a[2, 2] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = matmul_on_cpu(a, b)
        c = run(lambda: exercise.matmul(a, b))
    for row, col in np.ndindex(wanted.shape):
        got, right = float(c[row, col]), float(wanted[row, col])
        kit.expect(
            np.isfinite(right) or got == right or (np.isnan(got) and np.isnan(right)),
            f"c[{row}][{col}] is {got:.6g}, expected {right}: a product of 0 and an infinity is no "
            "number, and belongs to the sum like all others.",
        )


@kit.todo(3)
def test_copies_c_back_once():
    needs_the_simulator()
    a, b = inputs(TILE, TILE, TILE)
    launched, copied = [], []
    real, to_device = exercise.matmul_tiled, cuda.to_device

    def watched_copy(*args, **options):
        copied.append(1)
        return to_device(*args, **options)

    class Watched:
        def __getitem__(self, shape):
            def launch(*args):
                launched.append((shape, args))
                return real[shape](*args)

            return launch

    exercise.matmul_tiled, cuda.to_device = Watched(), watched_copy
    try:
        run(lambda: exercise.matmul(a, b))
    finally:
        exercise.matmul_tiled, cuda.to_device = real, to_device
    kit.expect(len(launched) == 1, f"{len(launched)} kernels were launched, expected one.")
    host = [name for name, arg in zip("abc", launched[0][1]) if isinstance(arg, np.ndarray)]
    kit.expect(
        not host,
        f"{' and '.join(host)} went to the kernel as an array of the host. Numba then "
        "copies it to the device and back around each launch: use cuda.to_device and "
        "cuda.device_array.",
    )
    kit.expect(
        len(copied) <= 2,
        f"{len(copied)} arrays were copied to the device, expected a and b: the kernel writes all "
        "of c, and cuda.device_array reserves it without a copy.",
    )

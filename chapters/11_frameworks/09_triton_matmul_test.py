"""11/09: values against double and a product that only fp32 gets right; on a GPU the time beside
the CUDA kernel of 07/12 and cuBLAS."""

import ctypes

import torch

import kit
import launches
import tensors

exercise = kit.exercise()


# c = a b in double, and 16 roundings of the products' sizes.
def matmul_on_cpu(a, b):
    return a.double() @ b.double(), 16 * 2.0**-24 * (a.double().abs() @ b.double().abs()) + 1e-30


# Beside those in CONFIGS: Triton may choose any, and asks the grid then.
MORE_SHAPES = [{"TILE_M": 16, "TILE_N": 128}, {"TILE_M": 128, "TILE_N": 32}]


def check_grid(launch, m, n):
    """Before the launch: a program too many stores nothing, so nobody would notice it."""
    shapes = [config.kwargs for config in getattr(exercise, "CONFIGS", [])] or [{}]
    names_are_known = callable(launch.grid) and {"TILE_M", "TILE_N"} <= shapes[0].keys()
    if not callable(launch.grid):
        shapes = [{"TILE_M": 16, "TILE_N": 16}]  # the smallest that tl.dot takes
    elif names_are_known:
        shapes = shapes + [{**shapes[0], **shape} for shape in MORE_SHAPES]
    for shape in shapes:
        tile_m, tile_n = shape.get("TILE_M", 16), shape.get("TILE_N", 16)
        most = -(-m // tile_m) * -(-n // tile_n)
        count = launch.programs(shape)
        kit.expect(
            count <= most,
            f"{count} programs for a c of {m} x {n}, where {most} would do: a tile has {tile_m} x "
            f"{tile_n} elements.",
        )
        kit.expect(
            count == most or not names_are_known,
            f"{count} programs for a c of {m} x {n}, which has {most} tiles if Triton chooses "
            f"{tile_m} x {tile_n}: the grid computes with what it is handed, not with one shape.",
        )


def multiply(m, n, k, a, b):
    c, whole = tensors.fenced(m, n)
    kept = a.clone(), b.clone()
    look = lambda launch: check_grid(launch, m, n)
    with launches.watched(exercise, "matmul_tiles", look) as seen:
        exercise.launch_matmul(a, b, c)
    kit.check_findings()
    kit.expect(len(seen) == 1, f"matmul_tiles was launched {len(seen)} times, expected once.")
    tensors.expect_fence("c", whole)
    kit.expect(torch.equal(a, kept[0]) and torch.equal(b, kept[1]), "a or b was changed.")
    return c


@kit.todo(1)
def test_multiplies_one_tile():
    for m, n, k in kit.cases("m x n x k", [(32, 32, 32), (33, 17, 50), (1, 1, 1), (5, 64, 1)]):
        a, b = tensors.tensor(m, k), tensors.tensor(k, n)
        tensors.expect_close("c", multiply(m, n, k, a, b), *matmul_on_cpu(a, b))


@kit.todo(2)
def test_every_tile_is_made_once():
    # A group of 16 rows of tiles, and a last one that is lower.
    sizes = [(17 * 64 + 5, 2 * 64 + 1, 8), (70, 200, 33)] + (
        [(1000, 515, 771)] if kit.on_gpu else []
    )
    for m, n, k in kit.cases("m x n x k", sizes):
        a, b = tensors.tensor(m, k), tensors.tensor(k, n)
        tensors.expect_close("c", multiply(m, n, k, a, b), *matmul_on_cpu(a, b))


@kit.todo(3)
def test_launches_a_program_per_tile():
    a, b = tensors.tensor(130, 40), tensors.tensor(40, 70)
    tensors.expect_close("c", multiply(130, 70, 40, a, b), *matmul_on_cpu(a, b))


@kit.todo(1)
def test_multiplies_in_fp32():
    # Odd numbers of 12 bits times 1 or -1: every order of fp32 is exact, TF32 rounds one bit off.
    m, n, k = 64, 64, 128
    a = (2 * (tensors.tensor(m, k) * 512).round() + 3073).clamp(2049, 4095)
    b = torch.where(tensors.tensor(k, n) < 0, -1.0, 1.0)
    c = multiply(m, n, k, a, b)
    try:
        tensors.expect_same("c", c, (a.double() @ b.double()).float())
    except kit.Failure as failure:
        kit.fail(
            f"{failure} These numbers have 12 bits, and TF32 keeps 11: tl.dot takes it for "
            'float32 without input_precision="ieee".'
        )


if kit.on_gpu:
    import speed

    def cuda_kernel(a, b, c):
        call = ctypes.CDLL(kit.kernels()).matmul
        call.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int] * 3
        arguments = a.data_ptr(), b.data_ptr(), c.data_ptr(), a.shape[0], b.shape[1], a.shape[1]
        return lambda: call(*arguments)

    @kit.todo(3)
    def test_is_fast():
        torch.backends.cuda.matmul.allow_tf32 = False
        n = 4096
        a, b = tensors.large(n, n), tensors.large(n, n)
        c = torch.empty_like(a)
        exercise.launch_matmul(a, b, c)  # tries all shapes

        def check_last():
            rows = slice(0, n, n // 64)
            expected, tolerance = matmul_on_cpu(a[rows], b)
            tensors.expect_close("of a timed call, c", c[rows], expected, tolerance)

        # Bars against 07/12: 0.5 of its speed for a pass, 0.9 for gold.
        speed.against(
            lambda: exercise.launch_matmul(a, b, c),
            [c],
            [
                speed.Other("stage", "the CUDA kernel of 07/12", cuda_kernel(a, b, c), 0.5, 0.9),
                speed.Other("library", "cuBLAS in fp32", lambda: torch.mm(a, b, out=c), 0.5, 0.9),
            ],
            check_last,
            bytes_moved=12 * n * n,
            flops=2 * n**3,
        )

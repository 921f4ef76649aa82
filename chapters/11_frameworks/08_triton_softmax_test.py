"""11/08: values against double; on a GPU the time beside the CUDA kernel of 05/10 and PyTorch's."""

import ctypes

import torch

import kit
import launches
import tensors

exercise = kit.exercise()


# y: rows x cols in double.
def softmax_on_cpu(x):
    power = torch.exp(x.double() - x.double().amax(dim=1, keepdim=True))
    return power / power.sum(dim=1, keepdim=True)


# The relative error of exp in float32 for |x - max| < 100, of the sum and of the quotient. Half
# precision is 50 times further off.
def tolerance(expected):
    return 2e-5 * expected + 1e-37


def check_warps(launch):
    warps = launch.options.get("num_warps", 4)
    kit.expect(
        warps in (1, 2, 4, 8, 16),
        f"num_warps is {warps}; it is a power of two, and at most 16 here.",
    )


def check(x, what="y"):
    y, whole = tensors.fenced(*x.shape)
    kept = x.clone()
    with launches.watched(exercise, "softmax_rows", check_warps) as seen:
        exercise.launch_softmax_rows(x, y)
    kit.check_findings()
    kit.expect(len(seen) == 1, f"softmax_rows was launched {len(seen)} times, expected once.")
    expected = softmax_on_cpu(kept)
    tensors.expect_close(what, y, expected, tolerance(expected))
    tensors.expect_fence(what, whole)
    kit.expect(torch.equal(x, kept), "x was changed.")


@kit.todo(1)
def test_normalises_rows_of_any_length():
    shapes = [(1, 1), (3, 31), (2, 33), (5, 100), (4, 127), (2, 1025)]
    shapes += [(7, 8191), (3, 32768), (65, 1025)] if kit.on_gpu else []
    for rows, cols in kit.cases("rows x cols", shapes):
        check(3 * tensors.tensor(rows, cols))


@kit.todo(1)
def test_rows_of_negative_values_ignore_what_lies_beside_them():
    for cols in kit.cases("cols", [3, 33, 100]):
        check(tensors.tensor(4, cols) - 50)


@kit.todo(1)
def test_large_values_stay_finite():
    for shift in kit.cases("shift", [1e4, -1e4]):
        check(tensors.tensor(4, 64) + shift)


@kit.todo(1)
def test_values_far_apart_stay_finite():
    for far in kit.cases("one value of a row", [200.0, -200.0, 3e38, -3e38]):
        x = tensors.tensor(3, 64)
        x[0, 0], x[1, 17], x[2, 63] = far, far, far
        check(x)
    x = tensors.tensor(3, 64)
    x[0, 1], x[0, 50] = -3e38, 3e38
    check(x)


@kit.todo(1)
def test_rows_may_begin_behind_2_to_31_elements():
    cols = 1 << 15
    row = (1 << 31) // cols
    if not kit.on_gpu:
        x = tensors.tensor(1, cols)
        y, whole = tensors.fenced(1, cols)
        with launches.as_program(row, 4 * row * cols):
            exercise.softmax_rows[(1,)](x, y, cols, cols)
        found = kit.take_findings()
        kit.expect(
            not found,
            f"program {row:,} of {cols:,} columns does not find its row, which begins 2^31 elements "
            "behind x: tl.program_id(0) has 32 bits, and so has what it is multiplied by. Give the "
            f"number of the row 64 bits first.\n{found}",
        )
        tensors.expect_fence("y", whole)
    elif torch.cuda.mem_get_info()[0] > 2.5 * 4 * (row + 1) * cols:
        whole = torch.zeros(row + 1, cols, device="cuda")
        whole[-1] = tensors.tensor(cols)
        result = torch.empty_like(whole)
        exercise.launch_softmax_rows(whole, result)
        x, y = whole[-1:], result[-1:]
    else:
        return
    expected = softmax_on_cpu(x)
    tensors.expect_close(f"row {row:,} of y: y", y, expected, tolerance(expected))


@kit.todo(1)
def test_weighs_one_block():
    x = tensors.tensor(1, 16)
    y, whole = tensors.fenced(1, 16)
    exercise.softmax_rows[(1,)](x, y, 16, 16)
    expected = softmax_on_cpu(x)
    tensors.expect_close("y", y, expected, tolerance(expected))
    tensors.expect_fence("y", whole)


@kit.todo(2)
def test_takes_many_rows():
    check(tensors.tensor(37, 40))


@kit.todo(2)
def test_longer_rows_get_more_warps():
    warps = []
    for cols in (64, 32768):
        x = tensors.tensor(2, cols)
        with launches.watched(exercise, "softmax_rows", check_warps) as seen:
            exercise.launch_softmax_rows(x, torch.empty_like(x))
        warps.append(seen[0].options.get("num_warps", 4))
    kit.expect(
        warps[1] > warps[0],
        f"rows of 64 columns get {warps[0]} warps and rows of 32768 get {warps[1]}: a thread holds "
        "the row's share of it in registers, so longer rows want more of them.",
    )


if kit.on_gpu:
    import speed

    def cuda_kernel(x, y):
        call = ctypes.CDLL(kit.kernels()).softmax_rows
        call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
        arguments = x.data_ptr(), y.data_ptr(), *x.shape
        return lambda: call(*arguments)

    @kit.todo(2)
    def test_is_fast():
        for cols in kit.cases("cols", [1024, 8192, 32768]):
            x = tensors.large((1 << 26) // cols, cols)
            y = torch.empty_like(x)

            def check_last():
                rows = slice(0, len(x), len(x) // 64)
                expected = softmax_on_cpu(x[rows])
                tensors.expect_close("of a timed call, y", y[rows], expected, tolerance(expected))

            # Bars against 05/10: 0.5 of its speed for a pass, 0.9 for gold.
            speed.against(
                lambda: exercise.launch_softmax_rows(x, y),
                [y],
                [
                    speed.Other("stage", "the CUDA kernel of 05/10", cuda_kernel(x, y), 0.5, 0.9),
                    speed.Other(
                        "library", "torch.softmax", lambda: torch.softmax(x, 1, out=y), 1.0
                    ),
                ],
                check_last,
                bytes_moved=8 * x.numel(),
                flops=0,
            )

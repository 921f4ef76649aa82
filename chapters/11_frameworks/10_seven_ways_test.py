"""11/10: every way computes the same, and the three measurements measure what they say."""

import tempfile
import time

import torch

import kit

exercise = kit.exercise()


FENCE = 1024  # numbers behind y: more than a block, or a program, of any way
PATTERN = -777.25


def check(name):
    with tempfile.TemporaryDirectory() as folder:
        saxpy = exercise.build(name, folder)
        for n, a in kit.cases("n and a", [(1000, 0.5), (1025, -3.0), (256, 1.25), (1, 2.0)]):
            check_size(saxpy, exercise.WAYS[name][2], n, a)


def check_size(saxpy, kind, n, a):
    x, whole = exercise.arrays(kind, n + FENCE)
    # A slice of a list is a copy, of an array the same memory.
    x, y = x[:n], whole[:n]
    before = [torch.as_tensor(values).double().tolist() for values in (x, y)]
    expected = [a * of_x + of_y for of_x, of_y in zip(*before)]
    if kind != "list":
        whole[n:] = PATTERN
    saxpy(a, x, y)
    exercise.wait(kind)
    kit.expect_near("y", torch.as_tensor(y).double().tolist(), expected, 1e-6)
    kit.expect_near("x, which nobody changes:", torch.as_tensor(x).double().tolist(), before[0], 0)
    if kind != "list":
        changed = int((torch.as_tensor(whole[n:]) != PATTERN).sum())
        kit.expect(
            changed == 0,
            f"{changed} numbers behind the end of y were changed: the last block, or program, "
            "needs a guard or a mask.",
        )


@kit.todo(1)
def test_ways_of_the_host_agree():
    for name in kit.cases("way", ["Python", "NumPy", "C++"]):
        check(name)


@kit.todo(2)
def test_cuda_agrees():
    check("CUDA")


@kit.todo(3)
def test_triton_agrees():
    check("Triton")


@kit.todo(3)
def test_libraries_agree():
    for name in kit.cases("way", ["cuBLAS", "PyTorch"]):
        check(name)


class Watched:
    """In place of a way on the card: a build and runs of known length, which end when somebody
    waits for the card."""

    def __init__(self):
        self.calls = self.pending = 0
        exercise.WAYS["watched"] = ("watched.py", "\none\n\n  two\nthree\n", "cuda")

    def build(self, name, folder):
        spin(0.05)
        return self.run

    def run(self, a, x, y):
        self.calls += 1
        # The first run and every third take longer.
        slow = 0.04 if self.calls == 1 else 0.1 if self.calls % 3 == 0 else 0
        self.pending += slow or 0.005

    def synchronize(self, device=None):
        spin(self.pending)
        self.pending = 0


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def measured():
    watched, build, synchronize = Watched(), exercise.build, torch.cuda.synchronize
    exercise.build, torch.cuda.synchronize = watched.build, watched.synchronize
    try:
        return watched, exercise.measure("watched", 10, "", runs=7)
    finally:
        exercise.build, torch.cuda.synchronize = build, synchronize
        del exercise.WAYS["watched"]


@kit.todo(4)
def test_counts_lines_that_are_not_empty():
    lines = measured()[1][0]
    kit.expect(lines == 3, f"{lines} lines are counted in a source of three and two empty ones.")


@kit.todo(4)
def test_building_lasts_until_the_first_run_has_ended():
    built = measured()[1][1]
    kit.expect(
        0.085 < built < 0.3,
        f"building takes {built:.3f} s; it takes 0.05 s, and the first run, "
        "which may still compile and whose end is to be awaited, 0.04 s.",
    )


@kit.todo(4)
def test_running_is_the_median_of_the_later_runs():
    watched, (_, _, run) = measured()
    kit.expect(watched.calls == 8, f"{watched.calls} calls, expected the first and 7 timed ones.")
    kit.expect(
        0.004 < run < 0.02,
        f"a run takes {run:.4f} s; most take 0.005 s and some 0.1: take the "
        "median, without the first, and wait for the end of each.",
    )


@kit.todo(4)
def test_table_has_a_row_for_each_way():
    real, n = exercise.measure, 1 << 20
    runs = {name: 0.0021 if i == 0 else 4e-6 * i for i, name in enumerate(exercise.WAYS)}
    exercise.measure = lambda name, *_, **__: (len(name), 0.25, runs[name])
    try:
        rows = exercise.table(n)["rows"]
    finally:
        exercise.measure = real
    expected = [
        [
            name,
            str(len(name)),
            "0.25 s",
            "2.1 ms" if run > 1e-3 else f"{1e6 * run:.0f} us",
            f"{12e-9 * n / run:,.1f}",
        ]
        for name, run in runs.items()
    ]
    kit.expect(rows == expected, f"the rows are {rows}, expected {expected}.")


@kit.todo(4)
def test_waits_for_the_card():
    n = 1 << 26
    with tempfile.TemporaryDirectory() as folder:
        run = exercise.measure("PyTorch", n, folder)[2]
    peak = 12 * n / 20e12  # seconds: no card moves 20 TB/s
    kit.expect(
        run > peak,
        f"{1e6 * run:.1f} us for {12 * n:,} bytes is faster than a card can move them: the clock "
        "stopped before the kernel had ended.",
    )

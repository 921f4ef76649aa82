"""11/10: every way computes the same, and the three measurements measure what they say."""

import tempfile
import time

import torch

import kit

exercise = kit.exercise()


def check(name):
    n = 1000
    with tempfile.TemporaryDirectory() as folder:
        saxpy = exercise.build(name, folder)
        kind = exercise.WAYS[name][2]
        x, y = exercise.arrays(kind, n)
        expected = [
            0.5 * a + b for a, b in zip(*(torch.as_tensor(v).double().tolist() for v in (x, y)))
        ]
        saxpy(0.5, x, y)
        exercise.wait(kind)
        kit.expect_near("y", torch.as_tensor(y).double().tolist(), expected, 1e-6)


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
    """In place of a way: a build and runs of known length."""

    def __init__(self):
        self.calls = 0
        exercise.WAYS["watched"] = ("watched.py", "\none\n\n  two\nthree\n", "list")

    def build(self, name, folder):
        spin(0.05)
        return self.run

    def run(self, a, x, y):
        self.calls += 1
        # The first run and every third take longer.
        spin(0.04 if self.calls == 1 or self.calls % 3 == 0 else 0.005)


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def measured():
    watched, real = Watched(), exercise.build
    exercise.build = watched.build
    try:
        return watched, exercise.measure("watched", 10, "", runs=7)
    finally:
        exercise.build = real
        del exercise.WAYS["watched"]


@kit.todo(4)
def test_counts_lines_that_are_not_empty():
    lines = measured()[1][0]
    kit.expect(lines == 3, f"{lines} lines are counted in a source of three and two empty ones.")


@kit.todo(4)
def test_building_lasts_until_the_first_run_has_ended():
    built = measured()[1][1]
    kit.expect(
        0.085 < built < 0.2,
        f"building takes {built:.3f} s; it takes 0.05 s, and the first run, "
        "which may still compile, 0.04 s.",
    )


@kit.todo(4)
def test_running_is_the_median_of_the_later_runs():
    watched, (_, _, run) = measured()
    kit.expect(watched.calls == 8, f"{watched.calls} calls, expected the first and 7 timed ones.")
    kit.expect(
        0.004 < run < 0.012,
        f"a run takes {run:.4f} s; most take 0.005 s and some 0.04: take the "
        "median, without the first.",
    )


@kit.todo(4)
def test_waits_for_the_card():
    n = 1 << 26
    with tempfile.TemporaryDirectory() as folder:
        run = exercise.measure("PyTorch", n, folder)[2]
    peak = 12 * n / 20e12  # seconds: no card moves 20 TB/s
    kit.expect(
        run > peak,
        f"{12e-12 * n / run:.0f} TB/s is more than a card can move: the clock stopped "
        "before the kernel had ended.",
    )

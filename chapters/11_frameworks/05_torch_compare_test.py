"""11/05: the clock on work of known length, the kernel's values, a table that hangs together."""

import time

import torch

import kit
import tensors

exercise = kit.exercise()


class Watched:
    """In place of LIBRARY: calls the kernel and keeps what it was given."""

    def __init__(self, library):
        self.library = library
        self.counts, self.streams = [], []

    def poly(self, x, y, n, stream):
        self.counts.append(n)
        self.streams.append(getattr(stream, "value", stream))
        self.library.poly(x, y, n, stream)


def cycles(ms):
    """So many cycles of the card last about that long."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(1000)
    begin.record()
    torch.cuda._sleep(20_000_000)
    end.record()
    end.synchronize()
    return int(20_000_000 * ms / begin.elapsed_time(end))


@kit.todo(1)
def test_kernel_computes_the_polynomial():
    library = exercise.LIBRARY
    exercise.LIBRARY = watched = Watched(library)
    try:
        for n in kit.cases("n", [1, 1023, 1025, 100_000]):
            x = 3 * tensors.tensor(n)
            double = x.double()
            tensors.expect_close(
                "y",
                exercise.poly_cuda(x),
                double * double + double + 1,
                3 * 2.0**-24 * (double * double + double.abs() + 1),
            )
            # Memory of PyTorch's lies around y, so a kernel that writes more raises no error.
            kit.expect(
                watched.counts == [n],
                f"LIBRARY.poly was called with n = {watched.counts}, expected [{n}]: it "
                "counts elements.",
            )
            watched.counts.clear()
    finally:
        exercise.LIBRARY = library


@kit.todo(1)
def test_kernel_runs_in_the_current_stream():
    x = tensors.tensor(1 << 16)
    late = torch.zeros_like(x)
    expected = exercise.poly_cuda(x)  # loads the kernel, which may wait for the device
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    library = exercise.LIBRARY
    exercise.LIBRARY = watched = Watched(library)
    try:
        with torch.cuda.stream(stream):
            torch.cuda._sleep(100_000_000)  # cycles: x arrives late in this stream
            late.copy_(x)
            y = exercise.poly_cuda(late)
        waited = stream.query()
    finally:
        exercise.LIBRARY = library
    torch.cuda.synchronize()
    # The values alone may be right by chance: two streams may share a queue of the card.
    kit.expect(
        watched.streams == [stream.cuda_stream],
        f"LIBRARY.poly was given the stream {watched.streams}, and PyTorch works on "
        f"{stream.cuda_stream}: nothing makes the kernel wait for an x that is written there.",
    )
    wrong = int((y != expected).sum())
    kit.expect(
        wrong == 0,
        f"{wrong} elements are wrong where x is written late in a stream of its own: the "
        "kernel did not wait for it. Pass the current stream.",
    )
    kit.expect(
        not waited,
        "poly_cuda() returned when its kernel had ended: the call waits for the device. "
        "Streams keep the order; the host goes on.",
    )


@kit.todo(2)
def test_times_the_device_and_not_the_launch():
    length = cycles(2.0)
    ms = exercise.median_ms(lambda: torch.cuda._sleep(length), warmup=2, runs=10)
    kit.expect(
        1.4 < ms < 3.0,
        f"a kernel of about 2 ms takes {ms:.3f} ms by median_ms: a launch returns "
        "before its kernel has run, so record events on the device.",
    )


@kit.todo(2)
def test_leaves_out_what_the_host_does_meanwhile():
    length = cycles(4.0)

    def call():
        end = time.perf_counter() + 3e-3
        while time.perf_counter() < end:
            pass
        torch.cuda._sleep(length)

    ms = exercise.median_ms(call, warmup=2, runs=10)
    kit.expect(
        3.0 < ms < 5.5,
        f"a kernel of about 4 ms, beside which the host works for 3 ms, takes {ms:.3f} ms by "
        "median_ms: wait once, behind all runs, so that the host stays ahead of the card.",
    )


@kit.todo(2)
def test_takes_the_median_behind_a_warm_up():
    length = cycles(1.0)
    calls = []

    def call():
        calls.append(1)
        number = len(calls)
        # Slow while it warms up, and now and then later.
        torch.cuda._sleep(20 * length if number <= 5 or number % 7 == 0 else length)

    ms = exercise.median_ms(call, warmup=5, runs=30)
    kit.expect(len(calls) == 35, f"{len(calls)} calls, expected 5 of warm-up and 30 timed ones.")
    kit.expect(
        0.6 < ms < 1.6,
        f"{ms:.2f} ms for calls of 1 ms with some of 20 ms among them: take the "
        "median, which few slow runs do not move, and leave the warm-up out.",
    )


@kit.todo(3)
def test_compares_all_ways_on_the_same_size():
    sizes = [1 << 12, 1 << 22]
    rows = exercise.compare(sizes)
    ways = list(exercise.WAYS)
    kit.expect(
        [row[:2] for row in rows] == [[way, n] for n in sizes for way in ways],
        f"the rows are of {[row[:2] for row in rows]}, expected every way for each size.",
    )
    for name, n, ms, rate, ratio in rows:
        kit.expect(
            abs(rate - 8 * n / ms / 1e6) <= 1e-6 * rate,
            f"{name}, n = {n}: {rate:.1f} GB/s does not follow from the time.",
        )
        eager = next(row[2] for row in rows if row[0] == ways[0] and row[1] == n)
        kit.expect(
            abs(ratio - eager / ms) <= 1e-6 * ratio,
            f"{name}, n = {n}: {ratio:.2f} is not eager's time of this size divided by its own.",
        )


@kit.todo(3)
def test_fusing_pays():
    rows = {row[0]: row for row in exercise.compare([1 << 26])}
    for name in ("torch.compile", "our CUDA kernel"):
        kit.expect(
            rows[name][4] > 2,
            f"{name} reaches {rows[name][4]:.2f} times the speed of eager: 8 "
            "bytes per element instead of 28 are worth more than 2.",
        )

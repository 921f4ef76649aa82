"""11/01: the launcher by what its kernels see, the kernel in the launcher and in one of our own."""

import array
import copy
import itertools
import math
import threading
import time
import types

import kit

exercise = kit.exercise()
TILE = exercise.TILE


# c = a b: m x n, from m x k and k x n.
def matmul_on_cpu(a, b):
    return [
        [math.fsum(x * row_b[j] for x, row_b in zip(row_a, b)) for j in range(len(b[0]))]
        for row_a in a
    ]


def launch(*args):
    """The learner's launch, which must not wait for ever."""
    kit.within(
        5,
        lambda: exercise.launch(*args),
        "launch() does not come back. A barrier waits for more threads than arrive: it takes "
        "as many as the block has, and all of them are started before one is joined.",
    )


def run_to_barriers(kernel, grid, block, shared_size, order, *args):
    """Runs one thread at a time, from barrier to barrier, in this order: what is not ordered by a
    barrier goes wrong every time. Returns the shared memory of the last block."""
    shared = None
    for block_y in range(grid[1]):
        for block_x in range(grid[0]):
            shared = memoryview(array.array("d", [math.nan] * shared_size))
            places = [(x, y) for y in range(block[1]) for x in range(block[0])]
            Turns(kernel, (block_x, block_y), order(places), shared, args).run()
    return shared


class Turns:
    def __init__(self, kernel, block, places, shared, args):
        self.back = threading.Semaphore(0)
        self.errors = []
        self.waiting = {}
        self.go = {place: threading.Semaphore(0) for place in places}
        for place in places:
            me = types.SimpleNamespace(
                block_x=block[0],
                block_y=block[1],
                x=place[0],
                y=place[1],
                shared=shared,
                barrier=None,
            )
            me.syncthreads = lambda place=place: self.stop(place, waiting=True)
            threading.Thread(target=self.one, args=(kernel, place, me, args), daemon=True).start()

    def one(self, kernel, place, me, args):
        self.go[place].acquire()
        try:
            kernel(me, *args)
        except Exception as error:
            self.errors.append(error)
        self.stop(place, waiting=False)

    def stop(self, place, waiting):
        self.waiting[place] = waiting
        self.back.release()
        if waiting:
            self.go[place].acquire()

    def run(self):
        while True:
            for go in self.go.values():
                go.release()
                self.back.acquire()
            if self.errors:
                raise self.errors[0]
            if not any(self.waiting.values()):
                return
            gone = [place for place, waits in self.waiting.items() if not waits]
            kit.expect(
                not gone,
                f"thread {gone[0] if gone else ''} has returned, and others of its "
                "block wait at a barrier: every thread must reach every barrier.",
            )


@kit.todo(1)
def test_runs_every_thread_once():
    seen = []
    launch(
        lambda thread: seen.append((thread.block_x, thread.block_y, thread.x, thread.y)),
        (3, 2),
        (4, 2),
        0,
    )
    wanted = [
        (bx, by, x, y) for by in range(2) for bx in range(3) for y in range(2) for x in range(4)
    ]
    missing = [place for place in wanted if place not in seen]
    kit.expect(
        not missing,
        f"thread {missing and missing[0][2:]} of block {missing and missing[0][:2]} "
        f"never ran: {len(missing)} of {len(wanted)} are missing.",
    )
    kit.expect(
        len(seen) == len(wanted),
        f"{len(seen)} threads ran in a grid of 3 x 2 blocks of 4 x 2: there are {len(wanted)}.",
    )


@kit.todo(1)
def test_threads_of_a_block_meet_at_the_barrier():
    for block in kit.cases("block", [(1, 1), (2, 2), (8, 1), (3, 4)]):
        size = block[0] * block[1]
        read = {}
        passed = threading.Event()

        def kernel(thread):
            own = thread.y * block[0] + thread.x
            if own == size - 1:
                passed.wait(0.05)  # the last one is late: nobody may pass without it
            thread.shared[own] = own
            thread.syncthreads()
            passed.set()
            read[own] = thread.shared[(own + 1) % size]

        launch(kernel, (1, 1), block, size)
        missing = [own for own in range(size) if own not in read]
        kit.expect(
            not missing,
            f"launch() has returned before thread {missing and missing[0]} of {size} was at its "
            "end: start the threads of a block, then join them all.",
        )
        kit.expect_near(
            "what a thread reads behind the barrier, of what its neighbour wrote before: value",
            [read[i] for i in range(size)],
            [float((i + 1) % size) for i in range(size)],
            0,
        )


@kit.todo(1)
def test_every_block_has_shared_memory_of_its_own():
    found = []

    def kernel(thread):
        found.append(thread.shared[0])
        thread.shared[0] = 1.0

    launch(kernel, (2, 3), (1, 1), 1)
    old = [value for value in found if not math.isnan(value)]
    kit.expect(
        not old,
        f"a block found {old and old[0]} in its shared memory before it wrote there: "
        "make the array inside the loop over blocks, filled with math.nan.",
    )


@kit.todo(1)
def test_a_slice_of_shared_memory_is_no_copy():
    found = []

    def kernel(thread):
        part = thread.shared[1:3]
        part[0] = 7.0
        found.append(thread.shared[1])

    launch(kernel, (1, 1), (1, 1), 4)
    kit.expect(
        found == [7.0],
        f"a thread wrote 7.0 to the slice shared[1:3], and shared[1] is {found and found[0]}: a "
        "slice of a list or of an array is a copy, one of a memoryview is the same memory.",
    )


@kit.todo(1)
def test_what_a_thread_raises_reaches_the_caller():
    raised = ArithmeticError("of thread 0")

    def kernel(thread):
        raise raised

    try:
        launch(kernel, (1, 1), (1, 1), 0)
    except ArithmeticError as error:
        kit.expect(
            error is raised,
            f"a thread raised {raised!r}, and launch() raised {error!r}, another object: what the "
            "first one knew beside its text is lost.",
        )
        return
    kit.fail(
        "a thread raised an exception, and launch() did not: let run_thread() call the kernel, "
        "with the list of errors that launch() looks at."
    )


class SlowToWake(threading.Barrier):
    """Whoever wakes the others goes on when they have had the time to raise."""

    def abort(self):
        super().abort()
        time.sleep(0.05)


@kit.todo(1)
def test_what_a_thread_raises_first_reaches_the_caller():
    """The others wait at a barrier then, and are woken with an error of their own."""

    def kernel(thread):
        if thread.x == 2:
            time.sleep(0.02)  # the others are at the barrier
            raise ArithmeticError("of thread 2")
        thread.syncthreads()

    barrier, threading.Barrier = threading.Barrier, SlowToWake
    try:
        launch(kernel, (1, 1), (4, 1), 0)
    except ArithmeticError:
        return
    except threading.BrokenBarrierError:
        kit.fail(
            "thread 2 raised an ArithmeticError while the others waited at a barrier, and launch() "
            "raised their BrokenBarrierError: it says nothing of what went wrong. The first that was "
            "raised is the reason for all others: it is noted before anybody is woken."
        )
    finally:
        threading.Barrier = barrier
    kit.fail("thread 2 raised an exception, and launch() did not.")


# Python ends a thread that calls sys.exit() without a word, and its neighbours wait for ever.
@kit.todo(1)
def test_a_thread_that_exits_wakes_its_neighbours():
    class KernelGivesUp(BaseException):
        pass

    for raised in kit.cases("raises", [SystemExit, KeyboardInterrupt, KernelGivesUp]):

        def kernel(thread):
            if thread.x == 1:
                raise raised("of thread 1")
            thread.syncthreads()

        try:
            kit.within(
                5,
                lambda: exercise.launch(kernel, (1, 1), (3, 1), 0),
                f"thread 1 raises {raised.__name__}, and launch() does not come back: the others "
                f"wait at a barrier. {raised.__name__} is no Exception, but a BaseException.",
            )
        except raised:
            continue
        except threading.BrokenBarrierError:
            kit.fail(
                f"thread 1 raised {raised.__name__} while the others waited at a barrier, and "
                "launch() raised their BrokenBarrierError: the first that was raised is the reason."
            )
        kit.fail(f"a thread raised {raised.__name__}, and launch() did not.")


@kit.todo(1)
def test_raises_when_all_threads_have_ended():
    ended = []

    def kernel(thread):
        if thread.x == 0:
            raise ArithmeticError("of thread 0")
        time.sleep(0.02 * thread.x)
        ended.append(thread.x)

    try:
        launch(kernel, (1, 1), (3, 1), 0)
    except ArithmeticError:
        kit.expect(
            sorted(ended) == [1, 2],
            "thread 0 raised an exception, and launch() raised it to its caller while other "
            "threads of the block were still running: join them all first.",
        )
        return
    kit.fail("thread 0 raised an exception, and launch() did not.")


def test_what_a_thread_of_any_block_raises_reaches_the_caller():
    for raises in kit.cases("block", [(0, 0), (1, 0), (2, 1)]):

        def kernel(thread):
            if (thread.block_x, thread.block_y) == raises:
                raise ArithmeticError("of one block")

        try:
            launch(kernel, (3, 2), (2, 1), 0)
        except ArithmeticError:
            continue
        kit.fail(
            "a thread raised an exception, and launch() did not: blocks that end well say nothing "
            "about the others."
        )


@kit.todo(2)
def test_tiles_are_two_slices_of_shared_memory():
    a, b = kit.matrix(TILE, TILE), kit.matrix(TILE, TILE, salt=1)
    c = [[0.0] * TILE for _ in range(TILE)]
    shared = run_to_barriers(
        exercise.matmul_tiled, (1, 1), (TILE, TILE), 2 * TILE * TILE, list, a, b, c, False
    )
    kit.expect_near(
        "tile of a, then tile of b: shared",
        list(shared),
        kit.flatten(a)[1] + kit.flatten(b)[1],
        0,
    )


@kit.todo(3)
def test_waits_before_reading_and_before_overwriting():
    a, b = kit.matrix(4, 6), kit.matrix(6, 4, salt=1)
    for name, order in {
        "first to last": list,
        "last to first": lambda p: list(reversed(p)),
    }.items():
        c = [[math.nan] * 4 for _ in range(4)]
        run_to_barriers(
            exercise.matmul_tiled, (2, 2), (TILE, TILE), 2 * TILE * TILE, order, a, b, c, False
        )
        try:
            kit.expect_near("c", c, matmul_on_cpu(a, b), 1e-10)
        except kit.Failure as failure:
            kit.fail(
                f"with threads that run in turns from barrier to barrier, {name}: {failure}\nA "
                "tile is read before all have written it, or overwritten before all have read "
                "it."
            )


def multiply(a, b):
    """The learner's product, which must not wait for ever."""
    return kit.within(
        5,
        lambda: exercise.matmul(a, b),
        "matmul() does not come back. A thread that has returned reaches no barrier, and the "
        "others of its block wait there: threads outside of c wait like all others.",
    )


@kit.todo(3)
def test_multiplies_any_sizes():
    sizes = [(4, 4, 4), (1, 1, 1), (2, 2, 6), (3, 5, 4), (5, 3, 7), (2, 7, 1)]
    for m, n, k in kit.cases("m x n x k", sizes):
        a, b = kit.matrix(m, k, salt=m), kit.matrix(k, n, salt=n)
        kept = copy.deepcopy((a, b))
        with kit.captured_output() as text:
            c = multiply(a, b)
        kit.expect_near("c", c, matmul_on_cpu(*kept), 1e-12 * k)
        kit.expect((a, b) == kept, "matmul() has changed a or b: they belong to its caller.")
        kit.expect(
            text.getvalue() == "",
            "matmul() prints, and nobody has asked for it: `show` is False unless it is given.",
        )
    kit.expect(
        exercise.matmul([], kit.matrix(2, 3)) == [], "c = a b for an a without rows has no rows."
    )


@kit.todo(3)
def test_zero_times_infinity_is_not_zero():
    a, b = kit.matrix(3, 3), kit.matrix(3, 3, salt=1)
    a[0][0] = b[2][2] = 0.0
    b[0][:2] = math.inf, math.nan
    a[2][2] = -math.inf
    c = multiply(a, b)
    for row, col in itertools.product(range(3), range(3)):
        wanted = sum(a[row][i] * b[i][col] for i in range(3))
        got = c[row][col]
        kit.expect(
            math.isfinite(got) if math.isfinite(wanted) else repr(got) == repr(wanted),
            f"c[{row}][{col}] is {got}, expected {wanted}: a product of 0 and an infinity is no "
            "number, and belongs to the sum like all others; what lies outside of a and b is 0.0 "
            "in both tiles.",
        )


@kit.todo(3)
def test_prints_the_tiles_of_every_step():
    a = [[float(4 * y + x) for x in range(4)] for y in range(4)]
    with kit.captured_output() as text:
        exercise.matmul(a, a, show=True)
    lines = text.getvalue().splitlines()
    kit.expect(
        len(lines) == 16,
        f"{len(lines)} lines were printed, expected two for each of 2 steps of 4 blocks.",
    )
    wanted = {  # of block (1, 0)
        0: ["a   0.0   1.0   b   2.0   3.0", "a   4.0   5.0   b   6.0   7.0"],
        1: ["a   2.0   3.0   b  10.0  11.0", "a   6.0   7.0   b  14.0  15.0"],
    }
    # Where the thread that prints comes first, the others have not loaded what it does not wait
    # for; where it comes last, they have overwritten it.
    for place, order in {"first": list, "last": lambda places: places[::-1]}.items():
        c = [[math.nan] * 4 for _ in range(4)]
        with kit.captured_output() as text:
            run_to_barriers(exercise.matmul_tiled, (2, 2), (TILE, TILE), 8, order, a, a, c, True)
        lines = text.getvalue().splitlines()
        for step in wanted:
            title = f"block (1, 0) step {step}"
            begin = [i for i, line in enumerate(lines) if line.startswith(title)]
            kit.expect(begin, f'no line begins with "{title}".')
            got = [line[20:] for line in lines[begin[0] : begin[0] + 2]]
            kit.expect(
                got == wanted[step],
                f"the tiles of block (1, 0), step {step}, are printed as\n"
                + "\n".join(got)
                + "\nexpected\n"
                + "\n".join(wanted[step])
                + f"\nwith threads that run in turns, the one that prints {place}. The place for "
                "it is between the two barriers: all have loaded, and nobody writes there.",
            )

"""11/03: types, ownership and layout at the border between Python and C, on the kernel of 02/04."""

import ctypes

import numpy as np

import kit

exercise = kit.exercise()


# a x + y, in double.
def saxpy_on_cpu(a, x, y):
    return np.float64(np.float32(a)) * x.astype(np.float64) + y.astype(np.float64)


# Two roundings of float32.
def tolerance(a, x, y):
    return 2 * 2.0**-24 * (np.abs(a * x) + np.abs(y)) + 1e-30


def inputs(n):
    draw = np.random.default_rng(kit.generator().randrange(1 << 30))
    return (draw.uniform(-1, 1, n).astype(np.float32), draw.uniform(-1, 1, n).astype(np.float32))


class Watched:
    """The library, with a count of the calls of its kernel."""

    def __init__(self, library):
        self._library = library
        self.calls = 0

    def __getattr__(self, name):
        return getattr(self._library, name)

    def saxpy(self, *arguments):
        self.calls += 1
        return self._library.saxpy(*arguments)


class Refusing:
    """A library without a device, in which one function fails, after some calls that succeed."""

    def __init__(self, failing, successes=0):
        self.failing, self.successes = failing, successes
        self.live = 0

    def status(self, name):
        if name != self.failing:
            return 0
        self.successes -= 1
        return 2 if self.successes < 0 else 0

    def device_alloc(self, pointer, size):
        status = self.status("device_alloc")
        if status == 0:
            self.live += 1
            # byref(p), pointer(p), or p itself, as argtypes lets a caller pass it.
            for name in ("_obj", "contents"):
                pointer = getattr(pointer, name, pointer)
            pointer.value = 4096 * self.live
        return status

    def device_free(self, pointer):
        self.live -= getattr(pointer, "value", pointer) is not None  # null: nothing to free
        return self.status("device_free")

    def copy(self, to, source, size):
        return self.status("copy")

    def saxpy(self, a, x, y, n):
        return self.status("saxpy")

    def error_text(self, error):
        return b"out of memory"


def expect_exception(name, call):
    try:
        call()
    except RuntimeError as error:
        kit.expect(
            "out of memory" in str(error),
            f'the exception says "{error}"; check() makes one that holds the text of the error.',
        )
        return
    kit.fail(
        f"{name} returned error 2, out of memory, and nothing was raised: check() what it returns."
    )


def size_of(type):
    """Of a type of ctypes; classes of others, as NumPy's, know themselves what to pass."""
    try:
        return ctypes.sizeof(type)
    except TypeError:
        return None


@kit.todo(1)
def test_functions_have_their_types():
    library = exercise.load(kit.kernels())
    wanted = {"device_alloc": 2, "device_free": 1, "copy": 3, "saxpy": 4, "error_text": 1}
    for name, count in wanted.items():
        types = getattr(library, name).argtypes
        kit.expect(
            types is not None,
            f"{name} has no argtypes: ctypes passes a Python int as 32 bits, "
            "and an address has 64.",
        )
        kit.expect(
            len(types) == count, f"{name} takes {count} arguments; argtypes lists {len(types)}."
        )
    pointers = {"device_alloc": [0], "device_free": [0], "copy": [0, 1], "saxpy": [1, 2]}
    for name, places in pointers.items():
        for at in places:
            kit.expect(
                size_of(getattr(library, name).argtypes[at]) in (8, None),
                f"argtypes[{at}] of {name} is a pointer of 64 bits; argtypes makes it fewer.",
            )
    sizes = {"device_alloc": 1, "copy": 2}
    for name, at in sizes.items():
        kit.expect(
            size_of(getattr(library, name).argtypes[at]) == 8,
            f"the bytes of {name} are a size_t of 64 bits; argtypes makes them fewer.",
        )
    kit.expect(
        library.saxpy.argtypes[0] is ctypes.c_float,
        "saxpy takes a as a float of C: ctypes.c_float.",
    )
    text = library.error_text(1)
    kit.expect(
        isinstance(text, bytes),
        f"error_text(1) gives {text!r}: its restype is a char pointer, ctypes.c_char_p.",
    )


@kit.todo(2)
def test_an_array_goes_to_the_device_and_comes_back():
    library = exercise.load(kit.kernels())
    for n in kit.cases("n", [1, 33, 1000]):
        values, _ = inputs(n)
        array = exercise.DeviceArray(library, values)
        try:
            array.__enter__()
        except RuntimeError as error:
            kit.check_findings()
            kit.expect(
                array.pointer.value,
                f"{error}. device_alloc writes where its first argument points: hand it the "
                "address of self.pointer, ctypes.byref(self.pointer).",
            )
            raise
        kit.expect(array.pointer.value, "the pointer of the array is null: device_alloc sets it.")
        kit.expect_near("what comes back", array.to_host(), values, 0)
        array.__exit__(None, None, None)
        kit.check_findings()
        kit.expect(
            kit.live_allocations() == 0, "the array was not freed when its with statement ended."
        )


@kit.todo(2)
def test_an_error_becomes_an_exception():
    values, _ = inputs(4)
    for name in ("device_alloc", "copy"):
        array = exercise.DeviceArray(Refusing(name), values)
        expect_exception(name, array.__enter__)
    array = exercise.DeviceArray(Refusing("device_free"), values)
    array.__enter__()
    expect_exception("device_free", lambda: array.__exit__(None, None, None))


@kit.todo(2)
def test_a_copy_that_fails_leaves_nothing():
    names = {0: "copy of x to the device", 1: "copy of y to the device", 2: "copy to the host"}
    for successes, name in names.items():
        library = Refusing("copy", successes)
        expect_exception(name, lambda: exercise.saxpy(library, 1.0, *inputs(4)))
        kit.expect(
            library.live <= 0,
            f"{library.live} allocations are left when the {name} has failed. Python calls no "
            "__exit__ if __enter__ raises, so __enter__ gives back what it has allocated.",
        )
        kit.expect(
            library.live == 0,
            f"{-library.live} allocations too many were given back when the {name} has failed.",
        )


@kit.todo(3)
def test_adds_any_length():
    library = Watched(exercise.load(kit.kernels()))
    sizes = [1, 31, 32, 255, 256, 257, 1021] + ([1 << 20] if kit.on_gpu else [])
    for n in kit.cases("n", sizes):
        x, y = inputs(n)
        kept = x.copy(), y.copy()
        z = exercise.saxpy(library, -1.5, x, y)
        kit.check_findings()
        kit.expect(library.calls == 1, f"library.saxpy was called {library.calls} times.")
        library.calls = 0
        kit.expect(
            isinstance(z, np.ndarray) and z.dtype == np.float32,
            f"saxpy() gives a {type(z).__name__} of {getattr(z, 'dtype', 'no type')}, expected a "
            "NumPy array of float32.",
        )
        kit.expect((x == kept[0]).all() and (y == kept[1]).all(), "saxpy() changed its inputs.")
        kit.expect_near("a x + y", z, saxpy_on_cpu(-1.5, x, y), tolerance(-1.5, x, y))
        kit.expect(
            kit.live_allocations() == 0,
            f"{kit.live_allocations()} allocations are left after the call.",
        )


@kit.todo(3)
def test_takes_other_types_and_steps():
    library = exercise.load(kit.kernels())
    x, y = inputs(300)
    made = {
        "float64": (x.astype(np.float64), y.astype(np.float64)),
        "every third": (x[::3], y[::3]),
        "reversed": (x[::-1], y),
        "int32": (np.arange(300, dtype=np.int32), y),
        "a column": (np.stack([x, y], axis=1)[:, 1], y),
        "int16 for y": (x, np.arange(300, dtype=np.int16)),
        "the same number, with steps of 0": (x, np.broadcast_to(y[:1], 300)),
    }
    for name in kit.cases("arrays", made):
        x, y = made[name]
        z = exercise.saxpy(library, 0.5, x, y)
        kit.expect(
            z.dtype == np.float32,
            f"saxpy() gives an array of {z.dtype}; whatever the types of x and y are, the kernel "
            "computes in float32, and that is what comes back.",
        )
        kit.expect_near("a x + y", z, saxpy_on_cpu(0.5, x, y), tolerance(0.5, x, y))


@kit.todo(3)
def test_refuses_different_lengths():
    library = exercise.load(kit.kernels())
    x, y = inputs(64)
    for of_x, of_y in kit.cases("lengths", [(64, 63), (63, 64), (1, 64), (64, 1)]):
        try:
            exercise.saxpy(library, 1.0, x[:of_x], y[:of_y])
        except ValueError:
            kit.expect(kit.live_allocations() == 0, "allocations are left after the ValueError.")
            continue
        kit.fail(
            f"saxpy() of {of_x} and of {of_y} numbers raised no ValueError: C would read past the "
            "end of the shorter one, or leave the rest of the longer one out."
        )


@kit.todo(3)
def test_a_failed_launch_becomes_an_exception():
    library = Refusing("saxpy")
    expect_exception("saxpy", lambda: exercise.saxpy(library, 1.0, *inputs(4)))
    kit.expect(
        library.live == 0,
        f"{library.live} allocations are left when the call of saxpy has failed: a with statement "
        "frees on every way out.",
    )

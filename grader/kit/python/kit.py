"""What the tests of Python exercises are written with: cases, comparison, messages, findings.

A test file says `import kit`, takes the learner's file from kit.exercise() and holds functions
test_a_sentence_with_underscores(); kit.todo(1) ties one to its TODO. Needs only Python itself.
"""

import contextlib
import ctypes
import functools
import io
import itertools
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import traceback
import types

import refused

on_gpu = os.environ.get("GRADE_DEVICE", "sim") == "gpu"

_exercise = None
_label = ""
_draws = 0
_folders = []
_send = lambda event, **fields: None
_simulator = None
finders = []  # functions that return what they found since the last call, or ""


class Failure(AssertionError):
    """A failed check, worded for the learner."""


class Stuck(Failure):
    """What was called still runs: nothing more can be tried in this process."""


# ---- the learner's file --------------------------------------------------------------------------


def load(path):
    """The module in the file: names with a leading digit cannot be imported by name. Compiled anew
    each time: what Python keeps of a file misses an edit within one second that keeps its size."""
    module = types.ModuleType("exercise_" + path.stem)
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module


def set_exercise(path):
    global _exercise
    # A frame of this file in a traceback is the learner's.
    _exercise = path
    found = refused.first(path.read_bytes(), str(path))
    if found:
        raise Failure(
            f"{path.name}:{found[0]}: {found[1]} is refused: a file of yours is graded without what "
            "looks into the grader."
        )
    _exercise = load(path)


def exercise():
    return _exercise


def _exercise_path():
    return str(getattr(_exercise, "__file__", _exercise))


# ---- tests and cases -----------------------------------------------------------------------------


def todo(number):
    def mark(function):
        function.kit_properties = {"todo": number}
        return function

    return mark


def begin_test(send):
    global _send, _label, _draws
    _send, _label, _draws = send, "", 0


def cases(name, items):
    """Yields the items; a failure in the loop's body says which one it was: "n = 33"."""
    global _label
    outer = _label
    for item in items:
        shown = " x ".join(map(str, item)) if isinstance(item, tuple) else str(item)
        _label = f"{name} = {shown}"
        yield item
    _label = outer


def within(seconds, function, message):
    """What function() returns; fails if that takes longer. Its threads are left behind."""
    result = []

    def run():
        try:
            result.append((function(), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not result:
        raise Stuck(message)
    value, error = result[0]
    if error is not None:
        raise error
    return value


def temporary_folder():
    """A folder that is gone when the tests have run."""
    _folders.append(tempfile.mkdtemp(prefix="warplings_"))
    return pathlib.Path(_folders[-1])


def clean_up():
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)


def fail(message):
    raise Failure(message)


def expect(condition, message):
    if not condition:
        fail(message)


@contextlib.contextmanager
def captured_output():
    """What is printed inside, as .getvalue()."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        yield text


def describe(error):
    """(file, line, message) of what a test raised, with the learner's line where there is one."""
    path = _exercise_path()
    name = os.path.basename(path)
    label = _label + ": " if _label else ""
    found = take_findings()  # says more than the error that followed from it
    if found:
        return path, 0, label + found
    if type(error).__name__ == "InterpreterError" and error.__cause__:
        error = error.__cause__  # Triton's interpreter wraps what happened in a kernel
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path]
    where = own[-1] if own else (frames[-1] if frames else None)
    file, line = (where.filename, where.lineno) if where else ("", 0)
    if isinstance(error, Failure):
        return file, line, label + str(error)
    if isinstance(error, SyntaxError):
        text = (error.text or "").rstrip("\n")
        caret = " " * max((error.offset or 1) - 1, 0) + "^"
        return (
            str(error.filename),
            error.lineno or 0,
            f"{name}:{error.lineno}: {error.msg}\n{text}\n{caret}",
        )
    if isinstance(error, AssertionError) and not own:
        return file, line, label + (str(error) or f"assert {where.line}")
    kind = type(error).__name__
    said = str(error) or "it says nothing more"
    if not own:
        return file, line, f"{label}{kind}: {said}"
    return file, line, f"{label}{kind} in {own[-1].name}(), {name}:{line}: {said}\n{own[-1].line}"


def report_speed(**fields):
    _send("speed", **fields)


# ---- numbers -------------------------------------------------------------------------------------


def generator(salt=0):
    """Numbers from a seed; on a GPU from a new one every time (GRADE_SEED repeats one)."""
    seed = os.environ.get("GRADE_SEED") or (random.randrange(1 << 30) if on_gpu else 20260101)
    return random.Random(int(seed) * 1000003 + salt)


def next_seed():
    """A seed that no other call of this test got."""
    global _draws
    _draws += 1
    return generator(_draws).randrange(1 << 60)


def matrix(rows, cols, salt=0):
    """rows x cols numbers in [-1, 1), as lists."""
    draw = generator(salt)
    return [[draw.uniform(-1, 1) for _ in range(cols)] for _ in range(rows)]


def flatten(values):
    """(shape, flat list of floats) of nested lists, tuples or an array."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if not isinstance(values, (list, tuple)):
        return (), [values]
    parts = [flatten(part) for part in values]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        fail("the rows of the result have different lengths.")
    inner = shapes.pop() if shapes else ()
    return (len(parts), *inner), list(itertools.chain.from_iterable(flat for _, flat in parts))


def expect_near(what, got, expected, tolerance):
    """Every element within `tolerance` (a number, or one for each element). A NaN never is."""
    shape, values = flatten(got)
    wanted_shape, wanted = flatten(expected)
    expect(shape == wanted_shape, f"{what} has the shape {shape}, expected {wanted_shape}.")
    allowed = flatten(tolerance)[1] if hasattr(tolerance, "__len__") else [tolerance] * len(wanted)
    wrong = [
        i
        for i, (a, b, t) in enumerate(zip(values, wanted, allowed))
        if a is None or not abs(a - b) <= t
    ]
    if not wrong:
        return
    lines = [
        f"{what}{_position(i, shape)} is {_number(values[i])}, expected {_number(wanted[i])}"
        for i in wrong[:5]
    ]
    more = f"\n{len(wrong)} of {len(wanted)} elements are wrong." if len(wanted) > 1 else "."
    fail("\n".join(lines) + more + _guess(values, wanted, shape))


def _number(value):
    return "None" if value is None else f"{value:.6g}"


def _position(index, shape):
    indices = []
    for extent in reversed(shape):
        indices.append(index % extent)
        index //= extent
    return "".join(f"[{i}]" for i in reversed(indices))


def _guess(values, wanted, shape):
    if all(value == 0 for value in values):
        return " All are zero: nothing was written."
    if all(value is None or math.isnan(value) for value in values):
        return " None was written, or each was made from a value that was not."
    if len(shape) == 2 and shape[0] == shape[1] and shape[0] > 1:
        n = shape[0]
        flipped = [wanted[(i % n) * n + i // n] for i in range(n * n)]
        if all(
            value is not None and abs(value - other) <= 1e-4 * (1 + abs(other))
            for value, other in zip(values, flipped)
        ):
            return " It is the transpose."
    return ""


# ---- the simulator -------------------------------------------------------------------------------


class _Finding(ctypes.Structure):
    """wsim_finding of warplings/sim.h."""

    _fields_ = [
        ("check", ctypes.c_char_p),
        ("kind", ctypes.c_char_p),
        ("message", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int),
        ("other_file", ctypes.c_char_p),
        ("other_line", ctypes.c_int),
        ("kernel", ctypes.c_char_p),
        ("is_note", ctypes.c_int),
        ("count", ctypes.c_uint64),
    ]


@functools.lru_cache
def kernels():
    """Path of the shared object with the exercise's kernels; its simulator is watched."""
    global _simulator
    path = os.environ["GRADE_KERNELS"]
    if not on_gpu:
        _simulator = ctypes.CDLL(path)
        _simulator.wsim_live_allocations.restype = ctypes.c_size_t
        _simulator.wsim_set_fatal_hook(_on_fatal_finding)
    return path


def end_simulator(status):
    """Where kernels ran: ends the process as C does, so that the simulator writes its profile."""
    if _simulator is not None:
        _simulator.exit(status)


def live_allocations():
    """How many allocations of the device nobody has freed; 0 on a GPU."""
    return 0 if _simulator is None else _simulator.wsim_live_allocations(None)


def take_findings():
    """Reports what the simulator and others found; the first of it that is a defect, or ""."""
    first = ""
    for found in [finder() for finder in finders]:
        first = first or found
    if _simulator is None:
        return first
    for i in range(_simulator.wsim_finding_count()):
        finding = _Finding()
        _simulator.wsim_get_finding(i, ctypes.byref(finding))
        text = lambda key: getattr(finding, key).decode(errors="replace")
        _send(
            "finding",
            case=_label,
            check=text("check"),
            kind=text("kind"),
            message=text("message"),
            file=text("file"),
            line=finding.line,
            other_file=text("other_file"),
            other_line=finding.other_line,
            kernel=text("kernel"),
            is_note=bool(finding.is_note),
            count=finding.count,
            expected=False,
        )
        if not finding.is_note and not first:
            first = text("message")
    _simulator.wsim_clear_findings()
    return first


def check_findings():
    found = take_findings()
    if found:
        fail(found)


@ctypes.CFUNCTYPE(None)
def _on_fatal_finding():
    """The simulator is about to end the process: the host has touched memory of the device."""
    message = (_label and _label + ": ") + take_findings()
    _send("failure", file=_exercise_path(), line=0, message=message)

"""Launches of Triton's kernels: what was launched, and what Triton's interpreter lets pass although
a card does not. In the interpreter every load and store is compared with the arrays of the launch,
lanes without a value are NaN, tl.dot rounds to TF32 unless it is told not to, and a block of truth
values decides no branch."""

import contextlib
import os
import sys

import kit

_arrays = []  # (name, first address, address behind the end) of the launch that runs
_found = []
_first_program = _shift = 0  # as_program()


class Launch:
    def __init__(self, grid, arguments, options):
        self.grid, self.arguments, self.options = grid, arguments, options

    def programs(self, meta):
        """How many; `meta` is what Triton has chosen, beside what the caller has passed."""
        known = {**self.arguments, **self.options, **meta}
        grid = self.grid(known) if callable(self.grid) else self.grid
        grid = grid if isinstance(grid, tuple) else (grid,)
        count = 1
        for extent in grid:
            count *= int(extent)
        return count


@contextlib.contextmanager
def watched(module, name, look=lambda launch: None):
    """The launches of the kernel module.NAME inside; look(launch) is called before each."""
    kernel = getattr(module, name)
    launches = []

    class Watched:
        def __getattr__(self, attribute):
            return getattr(kernel, attribute)

        def __getitem__(self, grid):
            def launch(*args, **options):
                launches.append(Launch(grid, dict(zip(kernel.arg_names, args)), options))
                look(launches[-1])
                return kernel[grid](*args, **options)

            return launch

    setattr(module, name, Watched())
    try:
        yield launches
    finally:
        setattr(module, name, kernel)


@contextlib.contextmanager
def as_program(number, behind):
    """In the interpreter, programs count from `number`, and the element that an address names is
    the one `behind` bytes before it: how the programs of a large array compute their addresses is
    seen without the array."""
    global _first_program, _shift
    _first_program, _shift = number, behind
    try:
        yield
    finally:
        _first_program = _shift = 0


# ---- the interpreter -----------------------------------------------------------------------------


def take_finding():
    first = _found[0] if _found else ""
    _found.clear()
    return first


def _line_of_exercise():
    """Where the learner's kernel is: "07_triton_vector_add.py:19"."""
    frame, path = sys._getframe(), kit.exercise().__file__
    while frame and frame.f_code.co_filename != path:
        frame = frame.f_back
    return f"{os.path.basename(path)}:{frame.f_lineno}" if frame else os.path.basename(path)


def _check(what, verb, numpy, pointers, mask, size):
    """The mask without the lanes that lie outside of every array, which are reported."""
    inside = numpy.zeros(pointers.shape, bool)
    for _, begin, end in _arrays:
        inside |= (pointers >= begin) & (pointers + size <= end)
    outside = mask & ~inside
    if outside.any():
        first = int(pointers[outside].min())
        ends = [(first - end, name, "behind the end") for name, _, end in _arrays if first >= end]
        begins = [
            (begin - first, name, "before the beginning")
            for name, begin, _ in _arrays
            if first < begin
        ]
        _, name, side = min(ends or begins or [(0, "an array", "outside")])
        _found.append(
            f"{what} at {_line_of_exercise()} {verb} outside of every array in "
            f"{int(outside.sum())} of {outside.size} lanes, the first {side} of {name}. A mask is "
            "missing there, or it compares with the wrong length."
        )
    return mask & inside


def _decide(tensor):
    if tensor.handle.data.size == 1:
        return bool(tensor.handle.data)
    # Triton's own functions ask, too, where they mean "was one given?".
    if sys._getframe(1).f_code.co_filename == kit.exercise().__file__:
        raise TypeError(
            "a block of truth values decides no `if`, `while` or `and`: give loads and stores a "
            "mask, and join masks with &"
        )
    return True


def _round_to_tf32(numpy, values):
    bits = numpy.ascontiguousarray(values).view(numpy.uint32)
    return ((bits + 0x1000) & 0xFFFFE000).view(numpy.float32)


def _watch_interpreter():
    import numpy
    import triton.language as language
    import triton.runtime.interpreter as interpreter
    from triton._C.libtriton import ir

    builder, executor = interpreter.InterpreterBuilder, interpreter.GridExecutor
    load, store, dot = builder.create_masked_load, builder.create_masked_store, builder.create_dot
    number_of_program = builder.create_get_program_id
    begin_launch, patch_tensor = executor._init_args_hst, interpreter._patch_lang_tensor
    handle = interpreter.TensorHandle

    def checked(what, verb, pointers, mask):
        size = pointers.get_element_ty().primitive_bitwidth // 8
        # Of block pointers, the mask is an array of NumPy's, whose data are bytes.
        asked = numpy.asarray(mask.data).astype(bool)
        return handle(_check(what, verb, numpy, pointers.data, asked, size), language.int1)

    def near(pointers):
        return handle(pointers.data - numpy.uint64(_shift), pointers.dtype) if _shift else pointers

    def program_id(self, axis):
        found = number_of_program(self, axis)
        return handle(found.data + numpy.int32(_first_program), found.dtype) if axis == 0 else found

    def masked_load(self, pointers, mask, other, *rest, **named):
        pointers = near(pointers)
        mask = checked("tl.load", "reads", pointers, mask)
        if other is None:  # what such a lane holds is undefined
            element = pointers.get_element_ty()
            nothing = numpy.zeros(pointers.data.shape, interpreter._get_np_dtype(element))
            nothing.view(numpy.uint8)[...] = 255
            other = handle(nothing, element)
        return load(self, pointers, mask, other, *rest, **named)

    def masked_store(self, pointers, value, mask, *rest, **named):
        pointers = near(pointers)
        mask = checked("tl.store", "writes", pointers, mask)
        return store(self, pointers, value, mask, *rest, **named)

    def rounded_dot(self, a, b, acc, input_precision, *rest):
        if a.data.dtype == numpy.float32 and input_precision == ir.INPUT_PRECISION.TF32:
            a = handle(_round_to_tf32(numpy, a.data), a.dtype)
            b = handle(_round_to_tf32(numpy, b.data), b.dtype)
        return dot(self, a, b, acc, input_precision, *rest)

    def watched_begin(self, args, options):
        made = begin_launch(self, args, options)
        tensors = [*zip(self.arg_names, made[0]), *made[1].items()]
        _arrays[:] = [
            (name, tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size())
            for name, tensor in tensors
            if hasattr(tensor, "data_ptr")
        ]
        return made

    def patched_tensor(tensor, scope):
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__bool__", _decide)

    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
    builder.create_dot, builder.create_get_program_id = rounded_dot, program_id
    executor._init_args_hst, interpreter._patch_lang_tensor = watched_begin, patched_tensor
    kit.finders.append(take_finding)


if not kit.on_gpu:
    _watch_interpreter()

# 11/03 ctypes kernel: your kernel of 02/04, called from NumPy through nothing but a shared object.
#   int device_alloc(void** pointer, size_t bytes)      the C functions of the shared object; the
#   int device_free(void* pointer)                      ints that they return are CUDA errors, 0 is
#   int copy(void* to, const void* from, size_t bytes)  success
#   int saxpy(float a, const float* x, float* y, int n)
#   const char* error_text(int error)
#   TODOs    3
import ctypes

import numpy as np


def load(path):
    """The shared object, with the types of its functions."""
    library = ctypes.CDLL(path)
    # TODO(1): ctypes knows what each of the five functions takes, and what error_text returns; it
    # takes every pointer for a 32-bit int otherwise (about 5 lines).
    return library


def check(library, error):
    if error != 0:
        raise RuntimeError(f"CUDA: {library.error_text(error).decode()}")


class DeviceArray:
    """A copy of a NumPy array of float32 on the device, for the length of a with statement."""

    def __init__(self, library, values):
        self.library, self.values = library, values
        self.pointer = ctypes.c_void_p()

    def __enter__(self):
        # TODO(2): self.pointer is memory of the device that holds self.values, or an exception says
        # why not, and nothing stays allocated (about 7 lines). The address of a NumPy array is
        # values.ctypes.data.
        return self

    def to_host(self):
        return np.zeros_like(self.values)  # TODO(2), too: what the device has now (3 lines).

    def __exit__(self, *error):
        pass  # TODO(2), too: the memory is given back (1 line).


def saxpy(library, a, x, y):
    """a * x + y as a new array of float32. x and y: n numbers each, of any type, with any steps."""
    return np.zeros_like(y)  # TODO(3): By the kernel, which knows no types and no steps. Different
    # lengths are a ValueError (about 6 lines).

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
    #~ # TODO(1): ctypes knows what each of the five functions takes, and what error_text returns; it
    #~ # takes every pointer for a 32-bit int otherwise (about 5 lines).
    #~begin 1
    library.device_alloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
    library.device_free.argtypes = [ctypes.c_void_p]
    library.copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    library.saxpy.argtypes = [ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    library.error_text.argtypes, library.error_text.restype = [ctypes.c_int], ctypes.c_char_p
    #~end
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
        #~ # TODO(2): self.pointer is memory of the device that holds self.values, or an exception says
        #~ # why not, and nothing stays allocated (about 7 lines). The address of a NumPy array is
        #~ # values.ctypes.data.
        #~begin 2
        check(self.library, self.library.device_alloc(self.pointer, self.values.nbytes))
        try:
            check(self.library,
                  self.library.copy(self.pointer, self.values.ctypes.data, self.values.nbytes))
        except RuntimeError:
            self.__exit__()  # the with statement has not begun, so nobody else calls it
            raise
        #~end
        return self

    def to_host(self):
        #~ return np.zeros_like(self.values)  # TODO(2), too: what the device has now (3 lines).
        #~begin 2
        values = np.empty_like(self.values)
        check(self.library, self.library.copy(values.ctypes.data, self.pointer, values.nbytes))
        return values
        #~end

    def __exit__(self, *error):
        #~ pass  # TODO(2), too: the memory is given back (1 line).
        #~begin 2
        check(self.library, self.library.device_free(self.pointer))
        #~end


def saxpy(library, a, x, y):
    """a * x + y as a new array of float32. x and y: n numbers each, of any type, with any steps."""
    #~ return np.zeros_like(y)  # TODO(3): By the kernel, which knows no types and no steps. Different
    #~ # lengths are a ValueError (about 6 lines).
    #~begin 3
    x, y = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(y, np.float32)
    if x.shape != y.shape:
        raise ValueError(f"x has {x.size} numbers, y has {y.size}")
    with DeviceArray(library, x) as d_x, DeviceArray(library, y) as d_y:
        check(library, library.saxpy(a, d_x.pointer, d_y.pointer, x.size))
        return d_y.to_host()
    #~end

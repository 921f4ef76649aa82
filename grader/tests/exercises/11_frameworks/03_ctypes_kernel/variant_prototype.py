# Another correct solution: prototypes in a table, typed float pointers, memory freed in a finally.
import ctypes

import numpy as np

FLOATS = ctypes.POINTER(ctypes.c_float)
ADDRESS = ctypes.c_void_p
TYPES = {
    "device_alloc": (ctypes.c_int, [ctypes.POINTER(ADDRESS), ctypes.c_size_t]),
    "device_free": (ctypes.c_int, [ADDRESS]),
    "copy": (ctypes.c_int, [ADDRESS, ADDRESS, ctypes.c_size_t]),
    "saxpy": (ctypes.c_int, [ctypes.c_float, FLOATS, FLOATS, ctypes.c_int]),
    "error_text": (ctypes.c_char_p, [ctypes.c_int]),
}


def load(path):
    library = ctypes.CDLL(path)
    for name, (result, arguments) in TYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def check(library, error):
    if error:
        raise RuntimeError(library.error_text(error).decode())


class DeviceArray:
    def __init__(self, library, values):
        self.library, self.values, self.pointer = library, values, ADDRESS(0)

    def __enter__(self):
        check(
            self.library, self.library.device_alloc(ctypes.byref(self.pointer), self.values.nbytes)
        )
        address = self.values.ctypes.data_as(ADDRESS)
        error = self.library.copy(self.pointer, address, self.values.nbytes)
        if error:
            self.library.device_free(self.pointer)
        check(self.library, error)
        return self

    def to_host(self):
        values = np.zeros(self.values.shape, np.float32)
        address = values.ctypes.data_as(ADDRESS)
        check(self.library, self.library.copy(address, self.pointer, values.nbytes))
        return values

    def __exit__(self, *error):
        check(self.library, self.library.device_free(self.pointer))


def saxpy(library, a, x, y):
    if len(x) != len(y):
        raise ValueError("different lengths")
    arrays = [DeviceArray(library, np.array(values, np.float32, order="C")) for values in (x, y)]
    opened = []
    try:
        for array in arrays:
            opened.append(array.__enter__())
        floats = [ctypes.cast(array.pointer, FLOATS) for array in opened]
        check(library, library.saxpy(a, *floats, len(x)))
        return opened[1].to_host()
    finally:
        for array in opened:
            array.__exit__()

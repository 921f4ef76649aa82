# 11/10 Seven ways: y = a * x + y of n float32, written, built and timed seven times.
#   n                from 1 to below 2^31; x stays as it is
#   each way is a file; building it gives a function f(a, x, y) that changes y in place
#   python3 10_seven_ways.py FILE.json    writes the table: lines, seconds to build, time to run
#   TODOs  4
import ctypes
import datetime
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# TODO(1): Each of these three is a source, whole, of saxpy(a, x, y) or saxpy(a, x, y, n): a loop
# over lists, a statement for NumPy's arrays, a loop in C++. y changes in place.
PYTHON = NUMPY = "def saxpy(a, x, y):\n    pass\n"
CPP = 'extern "C" void saxpy(float a, const float* x, float* y, long n) {}\n'

# TODO(2): The same function of C, with a kernel of your own behind it. x and y are addresses of
# the device; nothing waits.
CUDA = 'extern "C" void saxpy(float a, const float* x, float* y, long n) {}\n'

# TODO(3): By a call of cuBLAS, whose handle is made once; by a method of PyTorch's tensors, in
# place; by a kernel of Triton with its launch. In Python, x and y are tensors on the device.
LIBRARY = 'extern "C" void saxpy(float a, const float* x, float* y, long n) {}\n'
TORCH = TRITON = "def saxpy(a, x, y):\n    pass\n"

# name: file, source, where its arrays are
WAYS = {
    "Python": ("python_way.py", PYTHON, "list"),
    "NumPy": ("numpy_way.py", NUMPY, "numpy"),
    "C++": ("cpp_way.cpp", CPP, "numpy"),
    "CUDA": ("cuda_way.cu", CUDA, "cuda"),
    "cuBLAS": ("library_way.cu", LIBRARY, "cuda"),
    "PyTorch": ("torch_way.py", TORCH, "cuda"),
    "Triton": ("triton_way.py", TRITON, "cuda"),
}


def build(name, folder):
    """The function f(a, x, y) of this way, from its source."""
    # TODO(1), too: A way is built in `folder`, from a file of its name: Python imports it, g++ or
    # nvcc (GRADE_NVCC, if that is set) makes a shared object of it, which ctypes loads.
    return lambda a, x, y: None


def arrays(kind, n):
    """x and y of n numbers, where the way wants them."""
    import numpy as np
    x, y = np.linspace(-1, 1, n, dtype=np.float32), np.linspace(2, 3, n, dtype=np.float32)
    if kind == "list":
        return x.tolist(), y.tolist()
    if kind == "numpy":
        return x, y
    import torch
    return torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda()


def wait(kind):
    pass  # TODO(4): Returns when all that the card was given has ended, if the way runs on it.


def measure(name, n, folder, runs=11):
    """(lines, seconds to build, seconds to run): lines of source that are not empty; from the
    source to the end of the first run; the median of the later runs, each with its end awaited."""
    return 0, 0.0, 0.0  # TODO(4), too: These three, of arrays that are there before a clock starts;
    # time.perf_counter() is the clock.


# What the page shows. "rows" are texts, in the order of WAYS: name, lines, "0.25 s" to build, "2.0 ms"
# or, up to a millisecond, "60 us" to run, and GB/s of 12 n bytes with one digit.
def table(n):
    return {"rows": []}  # TODO(4), too: "kind" is "table"; n, card, torch, date and columns as well.


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(table(1 << 24), file, indent=1)
        file.write("\n")

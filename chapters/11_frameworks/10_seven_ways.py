# 11/10 Seven ways: y = a * x + y of n float32, written, built and timed seven times.
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

PYTHON = """
def saxpy(a, x, y):
"""
PYTHON += "    pass\n"  # TODO(1): A loop over lists of numbers (2 lines).

NUMPY = """
def saxpy(a, x, y):
"""
NUMPY += "    pass\n"  # TODO(1), too: the same for NumPy's arrays, in place (1 line).

CPP = """
extern "C" void saxpy(float a, const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
"""

CUDA = """
__global__ void saxpy_kernel(float a, const float* x, float* y, long n) {
"""
# TODO(2): The body of the kernel, for one element per thread (2 lines).
CUDA += """\
}
extern "C" void saxpy(float a, const float* x, float* y, long n) {
  saxpy_kernel<<<(n + 255) / 256, 256>>>(a, x, y, n);
}
"""

LIBRARY = """
#include <cublas_v2.h>
extern "C" void saxpy(float a, const float* x, float* y, long n) {
  static cublasHandle_t handle = [] { cublasHandle_t h; cublasCreate(&h); return h; }();
  cublasSaxpy(handle, n, &a, x, 1, y, 1);
}
"""

TORCH = """
def saxpy(a, x, y):
    y.add_(x, alpha=a)
"""

TRITON = """
import triton
import triton.language as tl

@triton.jit
def saxpy_kernel(a, x, y, n, BLOCK: tl.constexpr):
"""
TRITON += "    pass\n"  # TODO(3): The body of the kernel (2 to 4 lines).
TRITON += """
def saxpy(a, x, y):
    saxpy_kernel[(triton.cdiv(y.numel(), 1024),)](a, x, y, y.numel(), 1024)
"""

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


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.saxpy


def load_library(path):
    function = ctypes.CDLL(str(path)).saxpy
    function.argtypes = [ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    address = lambda array: array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data
    return lambda a, x, y: function(a, address(x), address(y), len(y))


def build(name, folder):
    """The function f(a, x, y) of this way, from its source."""
    file, source, _ = WAYS[name]
    path = pathlib.Path(folder) / file
    path.write_text(source)
    if path.suffix == ".py":
        return load_module(path)
    library = path.with_suffix(".so")
    command = ["g++", "-O3", "-march=native"] if path.suffix == ".cpp" else [
        os.environ.get("GRADE_NVCC", "nvcc"), "-O3", "-arch=native", "-lcublas", "-Xcompiler"]
    subprocess.run([*command, "-fPIC", "-shared", str(path), "-o", str(library)], check=True)
    return load_library(library)


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
    if kind == "cuda":
        import torch
        torch.cuda.synchronize()


def measure(name, n, folder, runs=11):
    """(lines, seconds to build, seconds to run): lines of source that are not empty; from the
    source to the end of the first run; the median of the later runs, each with its end awaited."""
    kind = WAYS[name][2]
    x, y = arrays(kind, n)
    wait(kind)
    return 0, 0.0, 0.0  # TODO(4): Three measurements, with time.perf_counter() (about 11 lines).


def table(n):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in WAYS:
            lines, built, run = measure(name, n, folder)
            shown = f"{1e3 * run:.1f} ms" if run > 1e-3 else f"{1e6 * run:.0f} us"
            rows.append([name, str(lines), f"{built:.2f} s", shown, f"{12e-9 * n / run:,.1f}"])
    import torch
    return {"kind": "table", "n": n, "card": torch.cuda.get_device_name(),
            "torch": torch.__version__, "date": datetime.date.today().isoformat(),
            "columns": ["way", "lines", "build", "run", "GB/s"], "rows": rows}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(table(1 << 24), file, indent=1)
        file.write("\n")

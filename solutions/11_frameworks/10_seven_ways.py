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

#~ # TODO(1): Each of these three is a source, whole, of saxpy(a, x, y) or saxpy(a, x, y, n): a loop
#~ # over lists, a statement for NumPy's arrays, a loop in C++. y changes in place.
#~ PYTHON = NUMPY = "def saxpy(a, x, y):\n    pass\n"
#~ CPP = 'extern "C" void saxpy(float a, const float* x, float* y, long n) {}\n'
#~begin 1
PYTHON = """
def saxpy(a, x, y):
    for i in range(len(y)):
        y[i] = a * x[i] + y[i]
"""

NUMPY = """
def saxpy(a, x, y):
    y += a * x
"""

CPP = """
extern "C" void saxpy(float a, const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
"""
#~end

#~ # TODO(2): The same function of C, with a kernel of your own behind it. x and y are addresses of
#~ # the device; nothing waits.
#~ CUDA = 'extern "C" void saxpy(float a, const float* x, float* y, long n) {}\n'
#~begin 2
CUDA = """
__global__ void saxpy_kernel(float a, const float* x, float* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" void saxpy(float a, const float* x, float* y, long n) {
  saxpy_kernel<<<(n + 255) / 256, 256>>>(a, x, y, n);
}
"""
#~end

#~ # TODO(3): By a call of cuBLAS, whose handle is made once; by a method of PyTorch's tensors, in
#~ # place; by a kernel of Triton with its launch. In Python, x and y are tensors on the device.
#~ LIBRARY = 'extern "C" void saxpy(float a, const float* x, float* y, long n) {}\n'
#~ TORCH = TRITON = "def saxpy(a, x, y):\n    pass\n"
#~begin 3
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
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = a * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n)
    tl.store(y + i, value, mask=i < n)

def saxpy(a, x, y):
    saxpy_kernel[(triton.cdiv(y.numel(), 1024),)](a, x, y, y.numel(), 1024)
"""
#~end

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


#~begin 1
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


#~end
def build(name, folder):
    """The function f(a, x, y) of this way, from its source."""
    #~ # TODO(1), too: A way is built in `folder`, from a file of its name: Python imports it, g++ or
    #~ # nvcc (GRADE_NVCC, if that is set) makes a shared object of it, which ctypes loads.
    #~ return lambda a, x, y: None
    #~begin 1
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
    #~end


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
    #~ pass  # TODO(4): Returns when all that the card was given has ended, if the way runs on it.
    #~begin 4
    if kind == "cuda":
        import torch
        torch.cuda.synchronize()
    #~end


def measure(name, n, folder, runs=11):
    """(lines, seconds to build, seconds to run): lines of source that are not empty; from the
    source to the end of the first run; the median of the later runs, each with its end awaited."""
    #~ return 0, 0.0, 0.0  # TODO(4), too: These three, of arrays that are there before a clock starts;
    #~ # time.perf_counter() is the clock.
    #~begin 4
    kind = WAYS[name][2]
    x, y = arrays(kind, n)
    wait(kind)
    lines = sum(1 for line in WAYS[name][1].splitlines() if line.strip())
    begin = time.perf_counter()
    saxpy = build(name, folder)
    saxpy(0.5, x, y)  # Triton compiles here, and cuBLAS makes its handle
    wait(kind)
    built = time.perf_counter() - begin
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        saxpy(0.5, x, y)
        wait(kind)  # the call itself returns before a kernel has run
        times.append(time.perf_counter() - begin)
    return lines, built, statistics.median(times)
    #~end


# What the page shows. "rows" are texts, in the order of WAYS: name, lines, "0.25 s" to build, "2.0 ms"
# or, up to a millisecond, "60 us" to run, and GB/s of 12 n bytes with one digit.
def table(n):
    #~ return {"rows": []}  # TODO(4), too: "kind" is "table"; n, card, torch, date and columns as well.
    #~begin 4
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
    #~end


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(table(1 << 24), file, indent=1)
        file.write("\n")

# 11/05 Torch compare: one activation by three ways, timed alike, in one table.
#   y = x^2 + x + 1 of n float32; time is the median of 100 runs on the device, after 10 of warm-up
#   GRADE_KERNELS names a shared object with a CUDA kernel, behind this function of C:
#     void poly(const float* x, float* y, long n, void* stream)     addresses of the device
#   python3 05_torch_compare.py FILE.json    measures and writes the table
#   TODOs    3
import ctypes
import datetime
import json
import os
import statistics
import sys

import torch


def poly_eager(x):
    return x * x + x + 1


poly_compiled = torch.compile(poly_eager)


LIBRARY = ctypes.CDLL(os.environ["GRADE_KERNELS"])
#~ # TODO(1): What poly takes and returns, for ctypes (2 lines).
#~begin 1
LIBRARY.poly.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p]
LIBRARY.poly.restype = None
#~end


def poly_cuda(x):
    """x is contiguous."""
    #~ return torch.zeros_like(x)  # TODO(1), too: y by LIBRARY.poly, behind whatever PyTorch has given
    #~ # the card to make x, and without a wait of the host (4 lines).
    #~begin 1
    y = torch.empty_like(x)
    stream = torch.cuda.current_stream().cuda_stream
    LIBRARY.poly(x.data_ptr(), y.data_ptr(), x.numel(), stream)
    return y
    #~end


def median_ms(call, warmup=10, runs=100):
    """Milliseconds on the device."""
    #~ return 0.0  # TODO(2): The median of `runs` calls, timed by the card, behind `warmup` that do not
    #~ # count. Nothing waits between the calls (about 8 lines).
    #~begin 2
    for _ in range(warmup):  # compiles, fills caches, wakes the clocks
        call()
    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
    for begin, end in pairs:
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) for begin, end in pairs)
    #~end


WAYS = {"PyTorch, eager": poly_eager, "torch.compile": poly_compiled, "our CUDA kernel": poly_cuda}


def compare(sizes):
    """A row for each way and size: [way, n, ms, GB/s of 8 n bytes, times eager's speed]."""
    #~ return []  # TODO(3): All ways on the same x, for each size; eager, the first, has 1.0 times its
    #~ # own speed (about 9 lines).
    #~begin 3
    rows = []
    for n in sizes:
        x = torch.rand(n, device="cuda") * 2 - 1
        eager = None
        for name, way in WAYS.items():
            ms = median_ms(lambda: way(x))
            eager = eager or ms
            rows.append([name, n, ms, 8 * n / ms / 1e6, eager / ms])
    return rows
    #~end


def table(rows):
    """What the page shows: everything as text."""
    columns = ["way", "n", "median", "GB/s", "times eager"]
    texts = [[name, f"{n:,}", f"{1000 * ms:.1f} us", f"{rate:,.0f}", f"{ratio:.2f}"]
             for name, n, ms, rate, ratio in rows]
    largest = {name: f"{1000 * ms:,.0f} us" for name, _, ms, _, _ in rows[-len(WAYS):]}
    return {"kind": "table", "card": torch.cuda.get_device_name(), "torch": torch.__version__,
            "date": datetime.date.today().isoformat(), "largest": largest, "columns": columns,
            "rows": texts}


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(table(compare([1 << 10, 1 << 20, 1 << 24, 1 << 28])), file, indent=1)
        file.write("\n")

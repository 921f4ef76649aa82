# 11/06 Profile MLP: which kernels a forward pass runs, who wrote them, what limits the largest.
#   model  10 layers, 2048 -> 2048, each with a bias and a ReLU; x  batch x 2048 float32, on the GPU
#   python3 06_profile_mlp.py FILE.json    profiles batches of 16 and 4096 and writes a table
#   TODOs  3
import dataclasses
import datetime
import json
import sys

import torch
from torch.autograd import DeviceType

LAYERS, WIDTH = 10, 2048


def build():
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).cuda()


@dataclasses.dataclass
class Kernel:
    name: str
    calls: int
    us: float  # of all calls together


def kernels_of(model, x):
    """All kernels of one forward pass, added up by name, the longest first."""
    with torch.no_grad():
        model(x)  # libraries choose and load their kernels at the first call
        torch.cuda.synchronize()
        with torch.profiler.profile() as profile:
            model(x)
            torch.cuda.synchronize()
    found = []
    # TODO(1): From profile.key_averages() take what ran on the card, event.device_type ==
    # DeviceType.CUDA: key, count and self_device_time_total in us. Longest first (about 4 lines).
    return found


def author(name):
    """Who wrote a kernel, by its name: "cuBLAS", "cuDNN", "NCCL", "Triton", "PyTorch", "driver" or
    "unknown"."""
    return "unknown"  # TODO(2): at::native:: is PyTorch's own, triton_ what torch.compile made.
    # cublas, cudnn and nccl name themselves. Products of cuBLAS may have gemm, gemv or nvjet in
    # their name instead. Memcpy and Memset are the driver's (about 8 lines).


def limit(flops, moved, us, peak_flops, peak_bytes):
    """(what, share): the peak that a kernel comes nearest to, "arithmetic" or "memory", and the
    share of it. Below 0.3 of both it is "neither". `moved` are bytes; peaks are per second."""
    return "neither", 0.0  # TODO(3): Rates from the time, shares from the peaks (about 5 lines).


def report(batch, peak_flops, peak_bytes):
    """Rows of the table for one batch."""
    x = torch.rand(batch, WIDTH, device="cuda")
    kernels = kernels_of(build(), x)
    whole = sum(kernel.us for kernel in kernels)
    flops = 2 * batch * WIDTH * WIDTH  # of one layer
    moved = 4 * (WIDTH * WIDTH + 2 * batch * WIDTH)  # weights, input and output once
    rows = []
    for kernel in kernels:
        what = ""
        if author(kernel.name) == "cuBLAS":
            limited, share = limit(flops, moved, kernel.us / kernel.calls, peak_flops, peak_bytes)
            what = f"{limited}, {100 * share:.0f} %"
        name = "`" + kernel.name.removeprefix("void ")[:48] + "`"
        rows.append([str(batch), name, author(kernel.name), str(kernel.calls),
                     f"{100 * kernel.us / whole:.1f} %", what])
    return rows


if __name__ == "__main__":
    columns = ["batch", "kernel", "by", "calls", "share", "limited by"]
    # An H200 by its data sheet: fp32 without tensor cores, and memory.
    rows = [row for batch in (16, 4096) for row in report(batch, 67e12, 4.8e12)]
    with open(sys.argv[1], "w") as file:
        json.dump({"kind": "table", "card": torch.cuda.get_device_name(),
                   "torch": torch.__version__, "date": datetime.date.today().isoformat(),
                   "columns": columns, "rows": rows}, file, indent=1)
        file.write("\n")

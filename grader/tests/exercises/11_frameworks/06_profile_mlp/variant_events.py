# Another correct solution: events grouped by itertools; names by patterns.
import itertools
import re
import dataclasses
import datetime
import json
import sys

LAYERS, WIDTH = 10, 2048


def build():
    import torch
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).cuda()


@dataclasses.dataclass
class Event:
    """A line of a profile: a call of the host, or one that ran on the card."""
    name: str
    on_card: bool
    us: float


def events_of(model, x):
    """What a profile of one forward pass has noted, in the order of time."""
    import torch
    with torch.no_grad():
        model(x)  # libraries choose and load their kernels at the first call
        torch.cuda.synchronize()
        with torch.profiler.profile() as profile:
            model(x)
            torch.cuda.synchronize()
    return [Event(event.name, event.device_type == torch.autograd.DeviceType.CUDA,
                  event.time_range.elapsed_us()) for event in profile.events()]


@dataclasses.dataclass
class Kernel:
    name: str
    calls: int
    us: float  # of all calls together


def kernels_of(events):
    """What ran on the card, added up by name, the longest first."""
    on_card = sorted((event for event in events if event.on_card), key=lambda event: event.name)
    found = []
    for name, calls in itertools.groupby(on_card, key=lambda event: event.name):
        times = [event.us for event in calls]
        found.append(Kernel(name, len(times), sum(times)))
    found.sort(key=lambda kernel: kernel.us, reverse=True)
    return found


def author(name):
    """Who wrote a kernel, by its name: "cuBLAS", "cuDNN", "NCCL", "Triton", "PyTorch", "driver" or
    "unknown"."""
    rules = [
        ("PyTorch", "at::native::"),
        ("cuDNN", "cudnn"),
        ("NCCL", "nccl"),
        ("Triton", "triton_"),
        ("cuBLAS", "gem[mv]|nvjet|splitKreduce|cublas"),
        ("driver", "Mem(cpy|set)"),
    ]
    return next((who for who, pattern in rules if re.search(pattern, name)), "unknown")


def work_of_layer(batch):
    """(flops, moved): a layer's multiplications and additions, and the bytes of its weights, input
    and output, each once. The bias and the ReLU do not count."""
    flops = 2 * batch * WIDTH * WIDTH
    moved = 4 * (WIDTH * WIDTH + 2 * batch * WIDTH)
    return flops, moved


def limit(flops, moved, us, peak_flops, peak_bytes):
    """(what, share): the peak that a kernel comes nearest to, "arithmetic" or "memory", and the
    share of it. Below 0.3 of both it is "neither". `moved` are bytes; peaks are per second."""
    arithmetic = flops / (us * 1e-6) / peak_flops
    memory = moved / (us * 1e-6) / peak_bytes
    share = max(arithmetic, memory)
    if share < 0.3:
        return "neither", share
    return ("arithmetic" if arithmetic >= memory else "memory"), share


def report(batch, peak_flops, peak_bytes):
    """Rows of the table for one batch."""
    import torch
    x = torch.rand(batch, WIDTH, device="cuda")
    kernels = kernels_of(events_of(build(), x))
    whole = sum(kernel.us for kernel in kernels)
    flops, moved = work_of_layer(batch)
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
    import torch
    columns = ["batch", "kernel", "by", "calls", "share", "limited by"]
    # An H200 by its data sheet: fp32 without tensor cores, and memory.
    rows = [row for batch in (16, 4096) for row in report(batch, 67e12, 4.8e12)]
    with open(sys.argv[1], "w") as file:
        json.dump({"kind": "table", "card": torch.cuda.get_device_name(),
                   "torch": torch.__version__, "date": datetime.date.today().isoformat(),
                   "columns": columns, "rows": rows}, file, indent=1)
        file.write("\n")

"""One training step of the chapter's network in PyTorch, in every mode that PyTorch has.

  python3 16_faster_than_pytorch_baseline.py [--batch N ...] [--modes MODE ...] [--layouts LAYOUT ...]
                                             [--weights FILE] [--json FILE]
  python3 16_faster_than_pytorch_baseline.py --serve --batch N [--modes MODE ...]

A step is what the CUDA program's step is: the batch is copied from pinned memory (on a stream of its
own, one batch ahead), forward, backward, update, gradients cleared; the types of the copies are the
same but for the labels, which PyTorch wants as 64-bit numbers. fp32 without TF32 unless a row says so.
With --serve the program is a baseline as grader/kit/libraries/script.h describes it: "MODE STEPS" runs
the faster layout of a mode, "fastest STEPS" the fastest of all modes.
"""

import argparse
import json
import statistics
import struct
import sys
import time

WARM_UP, STEPS = 20, 100
RATE = 0.01
MODES = ["eager", "compile", "max-autotune", "graph", "compile+graph", "max-autotune+graph"]
SERVED = ["eager", "graph", "compile+graph"]  # what is ready within a grader's patience
LAYOUTS = ["NCHW", "channels_last"]


def network(torch):
    """The network of the chapter's README; batch norm keeps no running averages."""
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16, track_running_stats=False),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32, track_running_stats=False),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(1568, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def read_weights(torch, path, model):
    """Fills the parameters from a weight file: magic, five sizes, the tensors one after another."""
    with open(path, "rb") as file:
        head = file.read(28)
        if head[:8] != b"WARPNET1" or struct.unpack("<5i", head[8:]) != (28, 16, 32, 128, 10):
            raise SystemExit(f"{path} is no weight file of this network.")
        values = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
    at = 0
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(values[at:at + parameter.numel()].view_as(parameter))
            at += parameter.numel()


class Batches:
    """Two pinned batches, copied in turn into two slots of device memory, one step ahead."""

    def __init__(self, torch, n, channels_last):
        self.torch = torch
        generator = torch.Generator().manual_seed(7)
        self.host = [(torch.randn(n, 1, 28, 28, generator=generator).pin_memory(),
                      torch.randint(0, 10, (n,), generator=generator).pin_memory())
                     for _ in range(2)]
        form = torch.channels_last if channels_last else torch.contiguous_format
        self.slots = [(torch.empty(n, 1, 28, 28, device="cuda").to(memory_format=form),
                       torch.empty(n, dtype=torch.long, device="cuda")) for _ in range(2)]
        self.stream = torch.cuda.Stream()
        self.copied = [torch.cuda.Event() for _ in range(2)]
        self.used = [torch.cuda.Event() for _ in range(2)]
        for event in self.used:
            event.record()
        self.step = 0
        self._prefetch(0)
        self._prefetch(1)
        torch.cuda.synchronize()

    def _prefetch(self, slot):
        with self.torch.cuda.stream(self.stream):
            self.stream.wait_event(self.used[slot])
            for target, source in zip(self.slots[slot], self.host[slot]):
                target.copy_(source, non_blocking=True)
            self.copied[slot].record()

    def run(self, step):
        """One step; afterwards its slot is filled again while the other one is used."""
        slot = self.step % 2
        self.torch.cuda.current_stream().wait_event(self.copied[slot])
        step(slot)
        self.used[slot].record()
        self._prefetch(slot)
        self.step += 1


class Contender:
    """One mode with a network, an optimiser and batches of its own."""

    def __init__(self, torch, n, mode, channels_last=False, weights=None):
        self.torch = torch
        torch.manual_seed(1)
        model = network(torch)
        if weights is not None:
            read_weights(torch, weights, model)
        model = model.cuda()
        if channels_last:
            model = model.to(memory_format=torch.channels_last)
        self.batches = Batches(torch, n, channels_last)
        self.optimiser = torch.optim.SGD(model.parameters(), lr=RATE, fused=True)
        loss_of = torch.nn.CrossEntropyLoss()

        def forward(x, labels):
            return loss_of(model(x), labels)

        # What is compiled is kept with the code, and only for so many networks: this one's own code.
        tf32 = torch.backends.cuda.matmul.allow_tf32
        name = f"{mode.split('+')[0].replace('-', '_')}_{channels_last:d}_{tf32:d}"
        forward.__code__ = forward.__code__.replace(co_name=name)
        if mode.startswith("compile"):
            forward = torch.compile(forward, dynamic=False)
        elif mode.startswith("max-autotune"):
            forward = torch.compile(forward, dynamic=False, mode="max-autotune-no-cudagraphs")
        self.forward = forward
        self.step = self._eager
        self._warm_up()
        if mode.endswith("graph"):
            self.step = self.capture()

    def _eager(self, slot):
        self.forward(*self.batches.slots[slot]).backward()
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)

    def _warm_up(self):
        side = self.torch.cuda.Stream()
        side.wait_stream(self.torch.cuda.current_stream())
        with self.torch.cuda.stream(side):
            for i in range(4):
                self._eager(i % 2)
        self.torch.cuda.current_stream().wait_stream(side)
        self.torch.cuda.synchronize()

    def capture(self):
        """A step as the replay of a graph."""
        # The gradients are None at the start of the recording, so every replay writes them anew.
        # They are never replayed at the same time, so both may use the same memory.
        graphs = [self.torch.cuda.CUDAGraph() for _ in range(2)]
        pool = self.torch.cuda.graph_pool_handle()
        for slot, graph in enumerate(graphs):
            with self.torch.cuda.graph(graph, pool=pool):
                self._eager(slot)
        return lambda slot: graphs[slot].replay()

    def run(self, steps):
        for _ in range(steps):
            self.batches.run(self.step)

    def mean(self):
        """Microseconds per step by the clock, over many."""
        self.run(WARM_UP)
        self.torch.cuda.synchronize()
        begin = time.perf_counter()
        self.run(STEPS)
        self.torch.cuda.synchronize()
        return (time.perf_counter() - begin) / STEPS * 1e6

    def median(self):
        """Microseconds of a single step, by events."""
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(STEPS + 1)]
        events[0].record()
        for event in events[1:]:
            self.run(1)
            event.record()
        self.torch.cuda.synchronize()
        single = [a.elapsed_time(b) * 1e3 for a, b in zip(events, events[1:])]
        return statistics.median(single)


def set_precision(torch, tf32):
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True


def table(torch, arguments):
    """Times of all modes; TF32 beside the two that are fastest."""
    rows = []
    begin = time.perf_counter()
    for n in arguments.batch:
        for tf32 in (False, True):
            for mode in arguments.modes or MODES:
                if tf32 and mode not in ("graph", "compile+graph"):
                    continue
                for layout in arguments.layouts:
                    set_precision(torch, tf32)
                    torch._dynamo.reset()
                    contender = Contender(torch, n, mode, layout != "NCHW", arguments.weights)
                    mean, median = contender.mean(), contender.median()
                    rows.append({"batch": n, "mode": mode, "layout": layout,
                                 "precision": "TF32" if tf32 else "fp32",
                                 "mean_us": round(mean, 1), "median_us": round(median, 1)})
                    print(*rows[-1].values(), f"({time.perf_counter() - begin:.0f} s)", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "device": torch.cuda.get_device_name(),
                       "steps": STEPS, "warm_up": WARM_UP, "rows": rows}, file, indent=1)


def serve(torch, arguments):
    """Answers requests; see grader/kit/libraries/script.h."""
    set_precision(torch, False)
    ready = {}  # mode: (microseconds, contender) of its faster layout
    for mode in arguments.modes or SERVED:
        for layout in arguments.layouts:
            torch._dynamo.reset()
            contender = Contender(torch, arguments.batch[0], mode, layout != "NCHW",
                                  arguments.weights)
            mean = contender.mean()
            print(f"# {mode}, {layout}: {mean:.0f} us per step", flush=True)
            if mode not in ready or mean < ready[mode][0]:
                ready[mode] = (mean, contender)
    ready["fastest"] = min(ready.values(), key=lambda entry: entry[0])
    print("ready", flush=True)
    for line in sys.stdin:
        mode, steps = line.split()
        ready[mode][1].run(int(steps))
        torch.cuda.synchronize()
        print("done", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", help="a weight file of the chapter; else PyTorch's own")
    parser.add_argument("--batch", type=int, nargs="+", default=[64, 256, 1024, 4096])
    parser.add_argument("--modes", nargs="+", choices=MODES)
    parser.add_argument("--layouts", nargs="+", default=LAYOUTS, choices=LAYOUTS)
    parser.add_argument("--json")
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("missing PyTorch is not installed here", flush=True)
        return
    if not torch.cuda.is_available():
        print("missing PyTorch finds no GPU here", flush=True)
        return
    (serve if arguments.serve else table)(torch, arguments)


if __name__ == "__main__":
    main()

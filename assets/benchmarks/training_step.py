#!/usr/bin/env python3
"""The training step of 12/16 beside PyTorch and the libraries of 12/15, on a GPU.

    training_step.py measure [--warm SECONDS] [BATCH ...]
                                           writes training_step_CARD.json, on a machine with PyTorch
    training_step.py                       brings the "shown" of all cards and the H200's figure up to date
    training_step.py --check               fails if they are not

For each batch size all contenders are built: the program of 12/16, the one of 12/15, and PyTorch in
its six modes and two layouts. Then they take turns, three rounds of 20 steps of warm-up and 100
timed ones each; what counts is the median of the rounds. Before, PyTorch's compilers run for all
sizes side by side and leave what they find in their caches; what is not ready after SECONDS is left
out. A size that is not measured again keeps its rows. Gradients, and ten steps from the same
parameters and batches, are compared with PyTorch in double.
"""

import argparse
import gc
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CARDS = ("h200", "h100")  # the figure is the first one's
FIGURE = HERE.parent / "figures" / "12_mnist_cnn" / "training_step.svg"
CHAPTER = ROOT / "chapters" / "12_mnist_cnn"
SOLUTIONS = ROOT / "solutions" / "12_mnist_cnn"
NAME = "16_faster_than_pytorch"
BATCHES = [64, 4096, 1024, 256]
ROUNDS = 3

# Operations per image: a multiply-add is two. Bytes per image that cross device memory at least,
# each array once, and bytes per step besides: the weights of linear1, for the update all parameters
# with their gradients.
FLOPS = {
    "input_moments": 2 * 54 * 784,
    "convolutions": 2 * 9 * (784 * 16 + 196 * 16 * 32),
    "linear_pooled": 2 * 1568 * 128,
    "head": 6 * 128 * 10,
    "linear_input_gradient": 2 * 1568 * 128,
    "linear_weight_gradient": 2 * 1568 * 128,
    "conv_input_gradient": 2 * 9 * (196 * 16 * 32 + 196 * 16),
    "conv_weight_gradient": 2 * 9 * 196 * 16 * 32,
}
PARAMETERS, LINEAR1 = 206970, 200704
IMAGE, POOL1, CONV2, POOL2, HIDDEN = 4 * 784, 4 * 196 * 16, 4 * 196 * 32, 4 * 1568, 4 * 128
FROM1, FROM2 = POOL1 // 4, POOL2 // 4  # a byte says which of the four was the greatest
BYTES = {
    "copy": (IMAGE + 1, 0),
    "input_moments": (IMAGE, 0),
    "convolutions": (IMAGE + POOL1 + FROM1 + CONV2, 0),
    "linear_pooled": (CONV2 + POOL2 + FROM2 + HIDDEN, 4 * LINEAR1),
    "head": (HIDDEN + 1 + HIDDEN, 0),
    "linear_input_gradient": (HIDDEN + CONV2 + FROM2 + POOL2, 4 * LINEAR1),
    "linear_weight_gradient": (HIDDEN + POOL2, 4 * LINEAR1),
    "conv_input_gradient": (CONV2 + POOL2 + FROM2 + FROM1 + IMAGE, 0),
    "conv_weight_gradient": (POOL1 + CONV2 + POOL2 + FROM2, 0),
    "update": (0, 3 * 4 * PARAMETERS),
}
TENSORS = [
    ("conv1.weight", 144), ("bn1.weight", 16), ("bn1.bias", 16), ("conv2.weight", 4608),
    ("bn2.weight", 32), ("bn2.bias", 32), ("linear1.weight", 200704), ("linear1.bias", 128),
    ("linear2.weight", 1280), ("linear2.bias", 10),
]


def build(folder):
    """{exercise: program}; the one of 12/15 is left out where cuDNN is not installed."""
    fused = [HERE / "training_step.cu", SOLUTIONS / f"{NAME}.cu", CHAPTER / f"{NAME}_forward.cu",
             CHAPTER / f"{NAME}_backward.cu"]
    library = [HERE / "training_step_library.cu"] + [SOLUTIONS / f"{name}.cu" for name in (
        "03_cross_entropy", "06_conv_forward", "07_conv_backward", "09_batch_norm",
        "15_library_step")]
    jobs = {}
    for source in fused + library:
        jobs[source] = subprocess.Popen(
            ["nvcc", "-std=c++17", "-O3", "-lineinfo", f"-I{CHAPTER}", "-gencode",
             "arch=compute_80,code=sm_90", "-c", source, "-o", f"{folder}/{source.stem}.o"])
    failed = {source for source, job in jobs.items() if job.wait()}
    programs = {}
    for who, sources, libraries in (("12/16", fused, []),
                                    ("12/15", library, ["-lcublas", "-lcudnn"])):
        program = f"{folder}/{sources[0].stem}"
        objects = [f"{folder}/{source.stem}.o" for source in sources]
        if not failed.intersection(sources) and subprocess.run(
                ["nvcc", "-arch=sm_90", *objects, *libraries, "-o", program]).returncode == 0:
            programs[who] = program
    if "12/16" not in programs:
        raise SystemExit("nvcc failed")
    return programs


def baseline():
    sys.path.insert(0, str(CHAPTER))
    return __import__(f"{NAME}_baseline")


def trained(torch, script, start, images, labels, kind, rate):
    """Parameters after a step on each batch, by PyTorch without TF32."""
    model = script.network(torch)
    at = 0
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(start[at:at + p.numel()].view_as(p))
            at += p.numel()
    model = model.to("cuda", kind)
    optimiser = torch.optim.SGD(model.parameters(), lr=rate)
    for x, wanted in zip(images, labels):
        optimiser.zero_grad()
        out = model(x.to("cuda", kind))
        torch.nn.functional.cross_entropy(out, wanted.cuda()).backward()
        optimiser.step()
    return torch.cat([p.detach().flatten() for p in model.parameters()]).cpu().double()


def relative_errors(found, wanted):
    """|| found - wanted || / || wanted ||, by tensor and of all."""
    at, row = 0, {}
    for tensor, size in TENSORS:
        part = wanted[at:at + size]
        row[tensor] = float((found[at:at + size] - part).norm() / part.norm())
        at += size
    row["all"] = float((found - wanted).norm() / wanted.norm())
    return row


def agreement(program, folder, batch=64, steps=10):
    """Changes of the parameters after some steps, ours and PyTorch's, against those in double and
    against each other; and the gradients of the first batch: a step of such a rate that the
    parameters before it are lost in rounding."""
    import numpy
    import torch
    script = baseline()
    script.set_precision(torch, False)
    torch.manual_seed(3)
    images = torch.randn(steps, batch, 1, 28, 28) * 0.5 + 0.3
    labels = torch.randint(0, 10, (steps, batch))
    start = torch.cat([p.detach().flatten() for p in script.network(torch).parameters()])
    with open(f"{folder}/in", "wb") as file:
        file.write(start.numpy().tobytes())
        for i in range(steps):
            file.write(images[i].numpy().tobytes())
            file.write(labels[i].to(torch.uint8).numpy().tobytes())
    result = {"batch": batch, "steps": steps, "rate": script.RATE}
    for what, count, rate in (("update", steps, script.RATE), ("gradient", 1, 2.0**20)):
        subprocess.run([program, "train", str(batch), f"{folder}/in", f"{folder}/out", str(count),
                        str(rate)], check=True)
        ours = torch.from_numpy(numpy.fromfile(f"{folder}/out", numpy.float32)).double() - start
        theirs, exact = (trained(torch, script, start, images[:count], labels[:count], kind, rate)
                         - start for kind in (torch.float32, torch.float64))
        result[what] = {"ours, double": relative_errors(ours, exact),
                        "PyTorch, double": relative_errors(theirs, exact),
                        "ours, PyTorch": relative_errors(ours, theirs)}
    return result


def start_compilers(batches):
    """PyTorch's compilers for all sizes, side by side: {(batch, mode, first layout): process}."""
    environment = dict(os.environ)
    environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "3")
    jobs = {}
    for batch in batches:
        for mode, layouts in (("max-autotune", ["NCHW"]), ("max-autotune", ["channels_last"]),
                              ("compile+graph", ["NCHW", "channels_last"])):
            jobs[batch, mode, layouts[0]] = subprocess.Popen(
                [sys.executable, CHAPTER / f"{NAME}_baseline.py", "--batch", str(batch), "--modes",
                 mode, "--layouts", *layouts], env=environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
    return jobs


def wait_for_compilers(jobs, end):
    """Ends what is not ready then, and returns it."""
    late = set()
    for what, job in jobs.items():
        try:
            job.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
            late.add(what)
            print("not ready:", *what, flush=True)
    return late


class Served:
    """A program that answers each line with the mean and the median of a step."""

    def __init__(self, program, batch):
        self.process = subprocess.Popen([program, "serve", str(batch)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.ready = self.process.stdout.readline() == "ready\n"

    def times(self, last):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        mean, median = self.process.stdout.readline().split()
        return float(mean), float(median) if last else None

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Mode:
    """A way of PyTorch to take a step; a graph and its launches one by one share a contender."""

    def __init__(self, contender, step):
        self.contender, self.step = contender, step

    def times(self, last):
        self.contender.step = self.step
        return self.contender.mean(), self.contender.median() if last else None

    def close(self):
        pass


def contenders(torch, script, programs, batch, late):
    """Everything that takes turns at a batch size: {(who, mode, layout, precision): contender}."""
    found = {}
    for who, program in programs.items():
        served = Served(program, batch)
        if served.ready:
            found[who, "", "", "fp32"] = served
    torch._dynamo.reset()
    for tf32, modes in ((False, ("eager", "compile", "max-autotune")),
                        (True, ("eager", "compile"))):
        script.set_precision(torch, tf32)
        precision = "TF32" if tf32 else "fp32"
        for mode in modes:
            for layout in script.LAYOUTS:
                if (batch, mode, layout) in late:
                    continue
                try:
                    contender = script.Contender(torch, batch, mode, layout != "NCHW")
                except Exception as error:  # whatever its compilers raise
                    print(f"# {batch} {mode} {layout} {precision}: {error}", flush=True)
                    continue
                if not tf32:
                    found["PyTorch", mode, layout, precision] = Mode(contender, contender.step)
                graph = "graph" if mode == "eager" else f"{mode}+graph"
                found["PyTorch", graph, layout, precision] = Mode(contender, contender.capture())
    script.set_precision(torch, False)
    return found


def measure_batch(torch, script, programs, batch, late):
    """Rows of a batch size, in the order of contenders()."""
    begin = time.monotonic()
    who = contenders(torch, script, programs, batch, late)
    print(f"# {batch}: built in {time.monotonic() - begin:.0f} s", flush=True)
    means = {key: [] for key in who}
    medians = {}
    for turn in range(ROUNDS):
        for key, contender in who.items():
            mean, medians[key] = contender.times(turn + 1 == ROUNDS)
            means[key].append(mean)
            print(f"# {batch}", *key, f"{mean:.1f}", flush=True)
    rows = []
    for key, contender in who.items():
        contender.close()
        row = dict(zip(("who", "mode", "layout", "precision"), key), batch=batch)
        row["mean_us"] = round(statistics.median(means[key]), 1)
        row["median_us"] = round(medians[key], 1)
        row["rounds_us"] = [round(mean, 1) for mean in means[key]]
        rows.append({name: value for name, value in row.items() if value != ""})
        print(json.dumps(rows[-1]), flush=True)
    print(f"# {batch}: {time.monotonic() - begin:.0f} s", flush=True)
    return rows


def data_of(card):
    """The file of a card, by its short name."""
    return HERE / f"training_step_{card}.json"


def measure(batches, seconds):
    import torch
    script = baseline()
    card = next((card for card in CARDS if card in torch.cuda.get_device_name().lower()), None)
    if card is None:
        sys.exit(f"no file for a card called {torch.cuda.get_device_name()}")
    old = json.loads(data_of(card).read_text()) if data_of(card).exists() else {}
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        compilers = start_compilers(batches)
        programs = build(folder)
        fused = programs["12/16"]
        data = {"format": 2, "kind": "training-step", "date": time.strftime("%Y-%m-%d"),
                "what": "microseconds of a training step: the median of three means over 100 steps "
                        "by the clock, all contenders of a batch size in turn; the median of "
                        "single steps by events; kernels alone, ten in a row",
                "card": torch.cuda.get_device_name(), "torch": torch.__version__.split("+")[0],
                "agreement": agreement(fused, folder)}
        late = wait_for_compilers(compilers, end)
        data["left_out"] = sorted(late)
        data["limits"] = json.loads(subprocess.check_output([fused, "limits"]))
        print(json.dumps(data), flush=True)
        kernels = {}
        for line in subprocess.check_output([fused, "kernels", *map(str, batches)],
                                            text=True).splitlines():
            print(line, flush=True)
            kernels[json.loads(line)["batch"]] = json.loads(line)["kernels_us"]
        rows = [row for row in old.get("rows", []) if row["batch"] not in batches]
        for batch in batches:
            rows += measure_batch(torch, script, programs, batch, late)
            gc.collect()  # the contenders' graphs and their memory
            torch.cuda.empty_cache()
    data["kernels_us"] = {str(batch): kernels.get(batch) or old["kernels_us"][str(batch)]
                          for batch in sorted({row["batch"] for row in rows})}
    data["rows"] = sorted(rows, key=lambda row: row["batch"])
    data_of(card).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def best(data, batch, precision="fp32", who="PyTorch", modes=None, layout=None, run=None):
    """The fastest row; of a certain run or of any. A row without a run is of the first one."""
    rows = [row for row in data["rows"] if row["batch"] == batch and row["who"] == who
            and row["precision"] == precision and (modes is None or row["mode"] in modes)
            and layout in (None, row.get("layout")) and run in (None, row.get("run", 1))]
    return min(rows, key=lambda row: row["mean_us"]) if rows else None


def times_ours(data, batch, who="PyTorch", modes=None):
    """The fastest row as a multiple of the step of 12/16 in the same run; the least of all runs."""
    ratios = []
    for run in {row.get("run", 1) for row in data["rows"]}:
        ours = best(data, batch, who="12/16", run=run)
        other = best(data, batch, who=who, modes=modes, run=run)
        if ours and other:
            ratios.append(other["mean_us"] / ours["mean_us"])
    return min(ratios, default=None)


def batches_of(data):
    return sorted({row["batch"] for row in data["rows"]})


COLUMNS = {
    "eager": "eager", "compile": "compile", "autotune": "max-autotune", "graph": "graph",
    "compile_graph": "compile+graph", "autotune_graph": "max-autotune+graph",
}


def digits(microseconds):
    return f"{microseconds:.4g}" if microseconds < 1000 else f"{microseconds:.0f}"


def shown(data):
    """What pages quote, as text, by batch size."""
    text = {}
    for batch in batches_of(data):
        mean = best(data, batch, who="12/16", run=1)["mean_us"]
        library, fastest = best(data, batch, who="12/15"), best(data, batch)
        tf32 = best(data, batch, precision="TF32")
        entry = {"us": digits(mean), "tflops": f"{sum(FLOPS.values()) * batch / mean * 1e-6:.3g}",
                 "library": digits(library["mean_us"]) if library else "–"}
        for name, mode in COLUMNS.items():
            found = best(data, batch, modes=[mode])
            entry[name] = digits(found["mean_us"]) if found else "–"
        entry.update(best=digits(fastest["mean_us"]),
                     times_best=f"{times_ours(data, batch):.2f}",
                     times_eager=f"{times_ours(data, batch, modes=['eager']):.1f}",
                     tf32=digits(tf32["mean_us"]) if tf32 else "–")
        for layout in ("NCHW", "channels_last"):
            found = best(data, batch, modes=["graph"], layout=layout)
            entry[f"graph_{layout}"] = digits(found["mean_us"]) if found else "–"
        entry["kernels"] = {
            name: {"us": f"{us:.3g}", "percent": f"{share(data, name, batch, us):.0f} %"}
            for name, us in data["kernels_us"][str(batch)].items()}
        text[str(batch)] = entry
    limits = data["limits"]
    text["limits"] = {"tflops": f"{limits['flops_per_second'] * 1e-12:.3g}",
                      "terabytes": f"{limits['bytes_per_second'] * 1e-12:.3g}",
                      "pinned_gigabytes": f"{limits['pinned_bytes_per_second'] * 1e-9:.3g}"}
    errors = data["agreement"]
    for what in ("update", "gradient"):
        text[what] = {
            pair: {"all": f"{row['all']:.1e}",
                   "worst": f"{max(row[tensor] for tensor, _ in TENSORS):.1e}"}
            for pair, row in errors[what].items()}
    return text


def share(data, name, batch, microseconds):
    """Percent of the speed of light: the time that the card's measured limits allow at best, by the
    operations or by the bytes, whichever takes longer, over the kernel's."""
    per_image, besides = BYTES[name]
    rate = data["limits"]["pinned_bytes_per_second" if name == "copy" else "bytes_per_second"]
    needed = max(FLOPS.get(name, 0) * batch / data["limits"]["flops_per_second"],
                 (per_image * batch + besides) / rate)
    return 100 * needed / (microseconds * 1e-6)


def figure(data):
    """For each batch size, times of PyTorch's modes and of the libraries as multiples of ours."""
    kinds = [("eager", "PyTorch", ["eager"], "#9aa5b1"),
             ("compile", "PyTorch", ["compile", "max-autotune"], "#8898aa"),
             ("CUDA graph", "PyTorch", ["graph"], "#6f8fae"),
             ("compile + graph", "PyTorch", ["compile+graph", "max-autotune+graph"], "#3b6ea5"),
             ("cuDNN and cuBLAS, 12/15", "12/15", None, "#c9a227")]
    left, top, bar, gap, scale = 150, 40, 16, 22, 11.0
    height = top + len(batches_of(data)) * (bar * len(kinds) + gap) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" '
        f'height="{height}" role="img" aria-labelledby="title" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        '<title id="title">PyTorch\'s training step as a multiple of the one of 12/16</title>',
        f'<rect width="720" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="22">PyTorch {data["torch"]} and the libraries, fp32, times the step of '
        f'12/16, {data["card"]}, {data["date"]}</text>',
    ]
    y = top
    for batch in batches_of(data):
        mean = best(data, batch, who="12/16", run=1)["mean_us"]
        out.append(f'<text x="16" y="{y + 14}">batch {batch}</text>'
                   f'<text x="16" y="{y + 31}" fill="#555555">ours {mean:.4g} µs</text>')
        for title, who, modes, colour in kinds:
            ratio = times_ours(data, batch, who, modes)
            if ratio is None:
                continue
            width = min(ratio * scale, 480)
            out.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="{bar - 3}" '
                       f'fill="{colour}"/><text x="{left + width + 6:.1f}" y="{y + 11}">'
                       f'{ratio:.1f} {title}</text>')
            y += bar
        y += gap
    x = left + 3 * scale
    out += [f'<line x1="{x}" y1="{top - 6}" x2="{x}" y2="{height - 30}" stroke="#b03a2e"/>',
            f'<text x="{x}" y="{height - 12}" fill="#b03a2e" text-anchor="middle">3</text>',
            "</svg>"]
    return "\n".join(out) + "\n"


def main():
    if sys.argv[1:2] == ["measure"]:
        parser = argparse.ArgumentParser()
        parser.add_argument("batch", type=int, nargs="*", default=BATCHES)
        parser.add_argument("--warm", type=float, default=600, metavar="SECONDS")
        arguments = parser.parse_args(sys.argv[2:])
        measure(arguments.batch, arguments.warm)
        return 0
    wanted = {}
    for card in CARDS:
        data = json.loads(data_of(card).read_text())
        data["shown"] = shown(data)
        wanted[data_of(card)] = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        wanted.setdefault(FIGURE, figure(data))
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path} is not what the measured times give: run {sys.argv[0]}")
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

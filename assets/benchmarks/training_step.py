#!/usr/bin/env python3
"""The training step of 12/15 beside PyTorch, on a GPU.

    training_step.py measure [BATCH ...]   writes training_step_h200.json, on a machine with PyTorch
    training_step.py                       brings its "shown" and the figure up to date
    training_step.py --check               fails if they are not

For each batch size the program of 12/15 and all modes of PyTorch run one after the other, the former
once more at the end; the slower of its two times counts. Ten steps from the same parameters and
batches are compared with PyTorch in double.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DATA = HERE / "training_step_h200.json"
FIGURE = HERE.parent / "figures" / "12_mnist_cnn" / "training_step.svg"
CHAPTER = ROOT / "chapters" / "12_mnist_cnn"
NAME = "15_faster_than_pytorch"
BATCHES = [64, 256, 1024, 4096]

# Operations per image: a multiply-add is two. Bytes per image that cross device memory at least.
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
FLOPS_PER_SECOND = 2 * 128 * 132 * 1.98e9  # data sheet: 128 multiply-adds a cycle and multiprocessor
TENSORS = [
    ("conv1.weight", 144), ("bn1.weight", 16), ("bn1.bias", 16), ("conv2.weight", 4608),
    ("bn2.weight", 32), ("bn2.bias", 32), ("linear1.weight", 200704), ("linear1.bias", 128),
    ("linear2.weight", 1280), ("linear2.bias", 10),
]


def build(folder):
    sources = [CHAPTER / f"{NAME}_forward.cu", CHAPTER / f"{NAME}_backward.cu",
               ROOT / "solutions" / "12_mnist_cnn" / f"{NAME}.cu", HERE / "training_step.cu"]
    jobs = [subprocess.Popen(["nvcc", "-std=c++17", "-O3", "-lineinfo", f"-I{CHAPTER}", "-gencode",
                              "arch=compute_80,code=sm_90", "-c", source, "-o",
                              f"{folder}/{i}.o"]) for i, source in enumerate(sources)]
    if any(job.wait() for job in jobs):
        raise SystemExit("nvcc failed")
    program = f"{folder}/training_step"
    objects = [f"{folder}/{i}.o" for i in range(len(sources))]
    subprocess.run(["nvcc", "-arch=sm_90", *objects, "-o", program], check=True)
    return program


def ours(program, batch):
    return json.loads(subprocess.check_output([program, str(batch)]))


def agreement(program, folder, batch=64, steps=10):
    """|| change - change in double || / || change in double || after some steps, by tensor."""
    import numpy
    import torch
    sys.path.insert(0, str(CHAPTER))
    script = __import__(f"{NAME}_baseline")
    torch.manual_seed(3)
    images = torch.randn(steps, batch, 1, 28, 28) * 0.5 + 0.3
    labels = torch.randint(0, 10, (steps, batch))
    start = torch.cat([p.detach().flatten() for p in script.network(torch).parameters()])
    with open(f"{folder}/in", "wb") as file:
        file.write(start.numpy().tobytes())
        for i in range(steps):
            file.write(images[i].numpy().tobytes())
            file.write(labels[i].to(torch.uint8).numpy().tobytes())
    subprocess.run([program, "train", str(batch), f"{folder}/in", f"{folder}/out", str(steps)],
                   check=True)
    ends = {"ours": torch.from_numpy(numpy.fromfile(f"{folder}/out", numpy.float32))}
    script.set_precision(torch, False)
    for name, kind in (("PyTorch", torch.float32), ("double", torch.float64)):
        model = script.network(torch)
        at = 0
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(start[at:at + p.numel()].view_as(p))
                at += p.numel()
        model = model.to("cuda", kind)
        optimiser = torch.optim.SGD(model.parameters(), lr=script.RATE)
        for i in range(steps):
            optimiser.zero_grad()
            out = model(images[i].to("cuda", kind))
            torch.nn.functional.cross_entropy(out, labels[i].cuda()).backward()
            optimiser.step()
        ends[name] = torch.cat([p.detach().flatten() for p in model.parameters()]).cpu()
    change = {name: end.double() - start.double() for name, end in ends.items()}
    rows = {}
    for name in ("ours", "PyTorch"):
        at, row = 0, {}
        for tensor, size in TENSORS:
            wanted = change["double"][at:at + size]
            row[tensor] = float((change[name][at:at + size] - wanted).norm() / wanted.norm())
            at += size
        row["all"] = float((change[name] - change["double"]).norm() / change["double"].norm())
        rows[name] = row
    return {"batch": batch, "steps": steps, "rate": script.RATE, "relative_error": rows}


def measure(batches):
    data = {"format": 1, "kind": "training-step", "date": time.strftime("%Y-%m-%d"),
            "what": "microseconds of a training step: mean over 100 steps by the clock, median of "
                    "single ones by events, after 20 of warm-up; kernels alone, ten in a row",
            "ours": [], "pytorch": []}
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        data["agreement"] = agreement(program, folder)
        print(json.dumps(data["agreement"]), flush=True)
        for batch in batches:
            first = ours(program, batch)
            table = f"{folder}/{batch}.json"
            subprocess.run([sys.executable, CHAPTER / f"{NAME}_baseline.py", "--batch", str(batch),
                            "--modes", *MODES, "--json", table], check=True)
            found = json.loads(pathlib.Path(table).read_text())
            second = ours(program, batch)
            data["ours"].append(max(first, second, key=lambda row: row["mean_us"]))
            print(json.dumps(data["ours"][-1]), flush=True)
            data["pytorch"] += found["rows"]
            data["card"], data["torch"] = found["device"], found["torch"]
    for rows in (data["ours"], data["pytorch"]):
        rows.sort(key=lambda row: row["batch"])
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


# Without a graph a compiled step is no faster than with one, and the autotuner takes minutes.
MODES = ["eager", "graph", "compile+graph"]


def best(data, batch, precision="fp32", modes=None):
    """The fastest row of PyTorch."""
    rows = [row for row in data["pytorch"] if row["batch"] == batch
            and row["precision"] == precision and (modes is None or row["mode"] in modes)]
    return min(rows, key=lambda row: row["mean_us"]) if rows else None


def shown(data):
    """What pages quote, as text, by batch size."""
    text = {}
    for row in data["ours"]:
        batch, mean = row["batch"], row["mean_us"]
        entry = {"us": f"{mean:.4g}", "tflops": f"{sum(FLOPS.values()) * batch / mean * 1e-6:.3g}"}
        for name, modes in (("eager", ["eager"]), ("compile", ["compile"]), ("graph", ["graph"]),
                            ("compile_graph", ["compile+graph", "max-autotune+graph"])):
            found = best(data, batch, modes=modes)
            entry[name] = f"{found['mean_us']:.4g}" if found else "–"
        fastest = best(data, batch)
        entry["best"] = f"{fastest['mean_us']:.4g}"
        entry["times_best"] = f"{fastest['mean_us'] / mean:.2f}"
        entry["times_eager"] = f"{best(data, batch, modes=['eager'])['mean_us'] / mean:.1f}"
        tf32 = best(data, batch, precision="TF32")
        entry["tf32"] = f"{tf32['mean_us']:.4g}" if tf32 else "–"
        entry["kernels"] = {
            name: {"us": f"{us:.3g}", "percent_of_fma": f"{share(name, batch, us):.0f} %"}
            for name, us in row["kernels_us"].items()}
        text[str(batch)] = entry
    return text


def share(name, batch, microseconds):
    """Percent of the operations that the data sheet allows in this time."""
    return 100 * FLOPS.get(name, 0) * batch / (microseconds * 1e-6) / FLOPS_PER_SECOND


def figure(data):
    """For each batch size, times of PyTorch's modes as multiples of ours."""
    kinds = [("eager", ["eager"], "#9aa5b1"), ("CUDA graph", ["graph"], "#6f8fae"),
             ("compile + graph", ["compile+graph", "max-autotune+graph"], "#3b6ea5")]
    left, top, bar, gap, scale = 150, 40, 16, 22, 13.0
    groups = [row["batch"] for row in data["ours"]]
    height = top + len(groups) * (bar * len(kinds) + gap) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" '
        f'height="{height}" role="img" aria-labelledby="title" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        '<title id="title">PyTorch\'s training step as a multiple of the one of 12/15</title>',
        f'<rect width="720" height="{height}" fill="#ffffff"/>',
        f'<text x="16" y="22">PyTorch {data["torch"]}, fp32, times the step of 12/15, '
        f'{data["card"]}, {data["date"]}</text>',
    ]
    y = top
    for row in data["ours"]:
        out.append(f'<text x="16" y="{y + 14}">batch {row["batch"]}</text>'
                   f'<text x="16" y="{y + 31}" fill="#555555">ours {row["mean_us"]:.4g} µs</text>')
        for title, modes, colour in kinds:
            ratio = best(data, row["batch"], modes=modes)["mean_us"] / row["mean_us"]
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
        measure([int(batch) for batch in sys.argv[2:]] or BATCHES)
        return 0
    data = json.loads(DATA.read_text())
    data["shown"] = shown(data)
    wanted = {DATA: json.dumps(data, indent=1, ensure_ascii=False) + "\n", FIGURE: figure(data)}
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

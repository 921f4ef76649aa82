#!/usr/bin/env python3
"""The ladder of chapter 07 on a GPU, and what the chapter shows of it.

    matmul_ladder.py measure FILE.json   on a machine with a GPU: times every rung and cuBLAS
    matmul_ladder.py                     brings "shown" of both files and the figure up to date
    matmul_ladder.py --check             fails if they are not

The files hold milliseconds of a call, medians of event-timed calls of the solutions in one run, by
size (m = n = k) and rung, and of cuBLAS beside them. "shown" is what the chapter quotes.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The figure shows the first.
DATA = [HERE / "matmul_ladder_h100.json", HERE / "matmul_ladder_h200.json"]
FIGURE = HERE.parent / "figures" / "07_tiled_matmul" / "ladder.svg"
RUNGS = [
    ("naive", "02 naive"),
    ("coalesced", "03 coalesced"),
    ("shared", "04 shared tiles"),
    ("dynamic_tile", "05 dynamic tile"),
    ("1d_tile", "06 1-D tile"),
    ("2d_tile", "07 2-D tile"),
    ("vectorized", "08 vectorised"),
    ("double_buffer", "09 double buffer"),
    ("async_copy", "10 async copy"),
    ("warp_shape", "11 warp shape"),
    ("warp_tiled", "12 warp tiled"),
    ("5120", "14 small last wave"),
]
SIZE = 4096


def output(command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def measure(path):
    """Builds the solutions with matmul_ladder.cu, runs it, and writes what it printed."""
    chapter, solutions = ROOT / "chapters/07_tiled_matmul", ROOT / "solutions/07_tiled_matmul"
    sources = [source for source in sorted(solutions.glob("*.cu")) if source.stem[:2] <= "14"
               and source.stem[:2] not in ("01", "13")]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "matmul_ladder"
        output(["nvcc", "-std=c++17", "-O3", "-gencode", "arch=compute_80,code=sm_90",
                "--threads", "0", "-I", chapter, "-o", program, HERE / "matmul_ladder.cu", *sources,
                chapter / "14_matmul_5120_baseline.cu", "-lcublas"])
        times = json.loads(output([program]))
    data = {
        "format": 1, "kind": "matmul-ladder", "date": datetime.date.today().isoformat(),
        "card": output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]).split("\n")[0],
        "toolkit": re.search(r"V([\d.]+)", output(["nvcc", "--version"]))[1],
        "commit": os.environ.get("COMMIT") or output(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT).strip(),
        "what": "milliseconds of a call of the solutions of chapter 07, medians of 5 to 51 event-timed "
                "calls after one more, one run; code for compute_80 assembled for sm_90; cuBLAS with "
                "CUBLAS_PEDANTIC_MATH",
        "milliseconds": times["milliseconds"],
        "lecture": {
            "what": "m = n = 5120, k = 256: the lecture's kernels by width of block and tile, an empty "
                    "launch, the solution of 07/14 and cuBLAS",
            "milliseconds": times["lecture"]},
    }
    pathlib.Path(path).write_text(json.dumps(data, indent=1) + "\n")


def rate(n, milliseconds):
    """TFLOP/s of a product of n x n matrices."""
    return 2 * n**3 / milliseconds * 1e-9


def shown(data):
    """What the chapter quotes, as text; the lecture's times without those of an empty launch."""
    times = data["milliseconds"][str(SIZE)]
    text = {
        rung: {
            "ms": f"{times[rung]:.3g}",
            "tflops": f"{rate(SIZE, times[rung]):.3g}",
            "percent": f"{100 * times['cublas'] / times[rung]:.3g} %",
        }
        for rung in [rung for rung, _ in RUNGS] + ["cublas"] if rung in times
    }
    lecture = data["lecture"]["milliseconds"]
    text["lecture"] = {key: f"{value - lecture['empty']:.3f}" for key, value in lecture.items()}
    text["lecture"]["empty"] = f"{lecture['empty']:.4f}"
    text["lecture"]["share"] = f"{100 * lecture['cublas'] / lecture['5120']:.3g} %"
    return text


def figure(data):
    """A bar for every rung, TFLOP/s to the right, cuBLAS as a line across all of them."""
    left, top, height, scale = 150, 34, 26, 9  # pixels; of a TFLOP/s
    times = data["milliseconds"][str(SIZE)]
    library = rate(SIZE, times["cublas"])
    rungs = [(rung, title) for rung, title in RUNGS if rung in times]
    bottom = top + height * len(rungs)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {bottom + 44}" width="720" '
        f'height="{bottom + 44}" role="img" aria-labelledby="title" '
        'font-family="Helvetica, Arial, sans-serif" font-size="13">',
        f'<title id="title">TFLOP/s of every rung, m = n = k = {SIZE}</title>',
        f'<rect width="720" height="{bottom + 44}" fill="#ffffff"/>',
        f'<text x="{left}" y="20">TFLOP/s, m = n = k = {SIZE}, {data["card"]}, {data["date"]}</text>',
    ]
    for i, (rung, title) in enumerate(rungs):
        value = rate(SIZE, times[rung])
        y = top + height * i
        text = f"{value:.3g} ({100 * times['cublas'] / times[rung]:.3g} %)"
        inside = value > 0.6 * library
        x = left + value * scale + (-6 if inside else 6)
        out += [
            f'<text x="{left - 8}" y="{y + 17}" text-anchor="end">{title}</text>',
            f'<rect x="{left}" y="{y + 3}" width="{value * scale:.1f}" height="{height - 6}" '
            'fill="#3b6ea5"/>',
            f'<text x="{x:.1f}" y="{y + 17}" text-anchor="{"end" if inside else "start"}" '
            f'fill="{"#ffffff" if inside else "#000000"}">{text}</text>',
        ]
    x = left + library * scale
    out += [
        f'<line x1="{x:.1f}" y1="{top - 4}" x2="{x:.1f}" y2="{bottom + 6}" stroke="#b03a2e" '
        'stroke-width="2"/>',
        f'<text x="{x + 6:.1f}" y="{bottom + 24}" text-anchor="end" fill="#b03a2e">'
        f"cuBLAS, single precision throughout: {library:.3g}</text>",
        "</svg>",
    ]
    return "\n".join(out) + "\n"


def main():
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2])
        return 0
    wanted = {}
    for path in DATA:
        data = json.loads(path.read_text())
        data["shown"] = shown(data)
        wanted[path] = json.dumps(data, indent=1) + "\n"
        if path == DATA[0]:
            wanted[FIGURE] = figure(data)
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path} is not what the measured times give: run {sys.argv[0]}")
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

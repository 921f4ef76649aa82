#!/usr/bin/env python3
"""Does the modelled speed agree with this GPU? Writes every pair and the summary as JSON.

    python3 grader/tests/gpu/agreement.py FILE.json

Population: every kernel of every speed exercise that is right (solution, accepted variants, slow
mutants, and the stages that they are compared with), times every bar that the simulator grades. Each is run
in the simulator and on the GPU from the same objects. A kernel whose answer is wrong, on either, does
not count. A pair agrees if both sides say pass or both say fail.

Targets: 95 % of all pairs; 80 % of contested ones (measured within 1.5 times of the bar); no
disagreement further than 1.5 times from its bar; 95 % of the pairs of kernels of one exercise whose
measured times differ by 10 % or more in the same order.

Builds build/sim and build/gpu with CMake; Python 3, standard library only.
"""

import argparse
import concurrent.futures
import datetime
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CMAKE = os.environ.get("GRADE_CMAKE", "cmake")
GUARD = 0.97  # as in kit/speed/judge.h
NEAR = 1.5
LONGEST = 12  # seconds of one run; a kernel that takes longer does not count, and is named


def speed_exercises():
    with open(os.path.join(ROOT, "chapters/course.json")) as file:
        return [e["id"] for e in json.load(file)["exercises"] if e["speed"]]


def build(device, exercises):
    targets = [exercise.replace("/", ".") + kind
               for exercise in exercises for kind in (".solution", ".derived")]
    result = subprocess.run(
        [CMAKE, "--build", os.path.join(ROOT, "build", device), "--parallel", str(os.cpu_count()),
         "--target", *targets], capture_output=True, text=True)
    return "" if result.returncode == 0 else (result.stdout + result.stderr)[-2000:]


def variants(device, exercise):
    """The accepted variants, and those mutants that are right but slow: all that others are is wrong."""
    with open(os.path.join(ROOT, "build", device, "derived", exercise, "dispatch.cpp")) as file:
        names = re.findall(r'strcmp\(name, "(\w+)"\)', file.read())
    with open(os.path.join(ROOT, "grader/tests/exercises", exercise, "mutants.txt")) as file:
        expected = re.findall(r"^expect: *(.*)$", file.read(), re.MULTILINE)
    slow = {f"mutant_{i + 1}" for i, what in enumerate(expected)
            if what.startswith("budget:") or "Fast" in what}
    return [name for name in names if name.startswith("variant_") or name in slow]


def measure(device, exercise, variant):
    """The speed events of one program, a list for every test; {} if it is wrong or crashed."""
    program = os.path.join(ROOT, "build", device, "course", exercise.replace("/", "."))
    command = [program + (".derived" if variant else ".solution"), "--gtest_filter=*Fast*"]
    if variant:
        command.append("--variant=" + variant)
    read, write = os.pipe()
    environment = dict(os.environ, GRADE_CHANNEL=f"{write}:1")
    child = subprocess.Popen(command, env=environment, pass_fds=[write],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    watchdog = threading.Timer(LONGEST, child.kill)
    watchdog.start()
    with os.fdopen(read) as channel:
        lines = channel.read().splitlines()
    watchdog.cancel()
    if child.wait() < 0:
        print(f"{exercise} {variant or 'solution'}, {device}: ended after {LONGEST} s or crashed")
    events = {}
    for line in lines:
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        if event["event"] == "speed" and event["verdict"] in ("pass", "fail"):
            events.setdefault(event["test"], []).append(event)
    return events


def ratios(event):
    return {ratio["name"]: ratio for ratio in event["ratios"]}


def bars_of(kernel, modelled, measured):
    """A row for every bar that both sides have."""
    rows = []
    for name, ours in ratios(modelled).items():
        theirs = ratios(measured).get(name)
        if theirs is None:
            continue
        for level in ("pass", "gold", "reference"):
            bar = ours[level]
            if bar <= 0:
                continue
            distance = theirs["ratio"] / bar
            rows.append({
                "kernel": kernel, "against": name, "level": level, "bar": bar,
                "modelled": ours["ratio"], "measured": theirs["ratio"],
                "agree": (ours["ratio"] >= bar * GUARD) == (theirs["ratio"] >= bar * GUARD),
                "modelled_passes": ours["ratio"] >= bar * GUARD,
                "contested": 1 / NEAR <= distance <= NEAR,
            })
    return rows


def times_of(kernel, modelled, measured, times):
    """Seconds on both sides of the kernel and of the stages beside it."""
    times[kernel] = (modelled["seconds"], measured["seconds"])
    for name, ours in ratios(modelled).items():
        theirs = ratios(measured).get(name)
        if ours["kind"] == "stage" and theirs is not None:
            times["stage: " + name] = (ours["seconds"], theirs["seconds"])


def orders_of(times):
    """Pairs of kernels of one test whose measured times differ by 10 % or more."""
    rows = []
    for (a, (model_a, real_a)), (b, (model_b, real_b)) in itertools.combinations(times.items(), 2):
        if max(real_a, real_b) < 1.1 * min(real_a, real_b):
            continue
        rows.append({"kernels": [a, b], "alike": (model_a < model_b) == (real_a < real_b)})
    return rows


def compare(kernels, modelled, measured):
    """All rows of bars, and of pairs in order, of (exercise, variant) pairs run on both sides."""
    bars, times = [], {}
    for (exercise, variant), simulated, real in zip(kernels, modelled, measured):
        for test in simulated.keys() & real.keys():
            # A test may measure several shapes.
            for shape, (ours, theirs) in enumerate(zip(simulated[test], real[test])):
                kernel = f"{exercise} {variant or 'solution'}" + (f" #{shape + 1}" if shape else "")
                bars += bars_of(kernel, ours, theirs)
                times_of(kernel, ours, theirs, times.setdefault((exercise, test, shape), {}))
    orders = [dict(row, exercise=key[0]) for key, of_test in times.items()
              for row in orders_of(of_test)]
    return bars, orders


def share(rows, key):
    return sum(row[key] for row in rows) / len(rows) if rows else None


def summary(bars, orders):
    contested = [row for row in bars if row["contested"]]
    wrong = [row for row in bars if not row["agree"]]
    return {
        "pairs": len(bars), "agreement": share(bars, "agree"),
        "contested_pairs": len(contested), "contested_agreement": share(contested, "agree"),
        "false_passes": sum(row["modelled_passes"] for row in wrong),
        "false_fails": sum(not row["modelled_passes"] for row in wrong),
        "far_disagreements": sum(not row["contested"] for row in wrong),
        "ordered_pairs": len(orders), "order_agreement": share(orders, "alike"),
    }


def percent(value):
    return "none" if value is None else f"{100 * value:.1f} %"


def markdown(bars, orders, figures, card, covered):
    """The page: what agrees for each exercise, and every pair that does not."""
    lines = ["# Modelled speed against measured speed", "",
             f"Written by `grader/tests/gpu/agreement.py` on {datetime.date.today().isoformat()}, "
             f"{card}. A pair is a kernel whose answer is right and a bar that the simulator grades; it "
             "agrees if both say pass or both say fail. Contested: measured within 1.5 times of the "
             "bar. Order: pairs of kernels of one test whose measured times differ by 10 % or more. "
             f"Measured: {covered}.", "",
             "| exercise | pairs | agree | contested | agree | ordered alike |",
             "| --- | --- | --- | --- | --- | --- |"]
    names = sorted({row["kernel"].split()[0] for row in bars})
    for name in names:
        own = [row for row in bars if row["kernel"].startswith(name + " ")]
        close = [row for row in own if row["contested"]]
        order = [row for row in orders if row["exercise"] == name]
        lines.append(f"| {name} | {len(own)} | {percent(share(own, 'agree'))} | {len(close)} | "
                     f"{percent(share(close, 'agree'))} | {sum(r['alike'] for r in order)} of {len(order)} |")
    lines.append(f"| **all** | {figures['pairs']} | {percent(figures['agreement'])} | "
                 f"{figures['contested_pairs']} | {percent(figures['contested_agreement'])} | "
                 f"{percent(figures['order_agreement'])} of {figures['ordered_pairs']} |")
    lines += ["", f"False passes: {figures['false_passes']}, false fails: {figures['false_fails']}, "
              f"further than 1.5 times from the bar: {figures['far_disagreements']}.", "",
              "| kernel that differs | against | level | bar | modelled | measured |",
              "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {r['kernel']} | {r['against']} | {r['level']} | {r['bar']} | {r['modelled']:.3f} | "
              f"{r['measured']:.3f} |" for r in bars if not r["agree"]]
    return "\n".join(lines) + "\n"


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--markdown", help="write the table here as well")
    parser.add_argument("--seconds", type=float, default=0, help="stop measuring after so long")
    options = parser.parse_args()
    exercises = speed_exercises()
    problem = build("sim", exercises) or build("gpu", exercises)
    if problem:
        print(problem, file=sys.stderr)
        return 2
    kernels = [(exercise, variant) for exercise in exercises
               for variant in [""] + variants("sim", exercise)]
    kernels.sort(key=lambda kernel: kernel[1].startswith("mutant_"))  # what must agree comes first
    # The simulator on all cores but two, the GPU alone.
    with concurrent.futures.ThreadPoolExecutor(max(1, os.cpu_count() - 2)) as pool:
        modelled = [pool.submit(measure, "sim", *kernel) for kernel in kernels]
        begin = time.monotonic()
        measured = []
        for kernel in kernels:
            if options.seconds and time.monotonic() - begin > options.seconds:
                print(f"{len(kernels) - len(measured)} of {len(kernels)} kernels are left out: "
                      f"{options.seconds} s are over")
                break
            measured.append(measure("gpu", *kernel))
        bars, orders = compare(kernels, [run.result() for run in modelled], measured)
    for row in bars:
        mark = "" if row["agree"] else "  DIFFERS"
        print(f"{row['kernel']:52} {row['against']:14} {row['level']:9} bar {row['bar']:6.2f} "
              f"modelled {row['modelled']:8.3f} measured {row['measured']:8.3f}{mark}")
    for row in orders:
        if not row["alike"]:
            print("order differs: " + " and ".join(row["kernels"]))
    figures = summary(bars, orders)
    print(f"{figures['pairs']} pairs, {percent(figures['agreement'])} agree; "
          f"{figures['contested_pairs']} contested, {percent(figures['contested_agreement'])} agree; "
          f"{figures['false_passes']} false passes, {figures['false_fails']} false fails, "
          f"{figures['far_disagreements']} far from the bar; order: {figures['ordered_pairs']} pairs, "
          f"{percent(figures['order_agreement'])} alike")
    card = first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    if options.markdown:
        with open(options.markdown, "w") as file:
            covered = f"{len(measured)} of {len(kernels)} kernels"
            file.write(markdown(bars, orders, figures, card, covered))
    with open(options.out, "w") as file:
        json.dump({
            "format": 1, "kind": "agreement", "date": datetime.date.today().isoformat(),
            "card": card,
            "driver": first_line(
                ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
            "commit": os.environ.get("COMMIT", "")
            or first_line(["git", "rev-parse", "--short", "HEAD"]),
            "model": "h200", "summary": figures, "bars": bars, "orders": orders,
        }, file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Does the modelled speed agree with a GPU? Every pair and the summary, kept in one JSON file.

    agreement.py measure FILE.json [--independent] [EXERCISE...]   on a machine with a GPU: times the kernels
    agreement.py compare FILE.json [--markdown FILE.md]   anywhere: models them and compares

Population: every kernel of every speed exercise that is right (solution, accepted variants, slow
mutants, and the stages that they are compared with), times every bar that the simulator grades. With
--independent: the kernels of grader/tests/independent, by writers who had seen lesson and starter alone.
Both sides run the same sources. A kernel whose answer is wrong, on either, does not count. A pair agrees if both
sides say pass or both say fail.

Targets: 95 % of all pairs; 80 % of contested ones (measured within 1.5 times of the bar); no
disagreement further than 1.5 times from its bar; 95 % of the pairs of kernels of one exercise whose
measured times differ by 10 % or more in the same order.

`measure` replaces what the file holds about the exercises that it times and keeps the rest, so a new
chapter is added by its name (a prefix is enough: 07). `compare` needs no GPU: a change of the model is
judged against the times in the file. An exercise that was changed after it was timed is left out and
named. Builds build/gpu or build/sim with CMake; Python 3, standard library only.
"""

import argparse
import concurrent.futures
import datetime
import glob
import hashlib
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CMAKE = os.environ.get("GRADE_CMAKE", "cmake")
# What may change without another time on a card: bars, and the sizes of the simulator.
BARS = re.compile(r"kit::Bars\([^)]*\)(\.gold_on_gpu_only\(\)|\.modelled\([^)]*\))*")
SIMULATED = re.compile(r"(?<=work_scale\()[^,()]*(?=,)")
INDEPENDENT = "independent."
GUARD = 0.97  # as in kit/speed/judge.h
NEAR = 1.5
# Seconds of one run; a kernel that takes longer does not count, and is named.
LONGEST = {"gpu": 12, "sim": 60}
KEPT = ("name", "kind", "ratio", "seconds", "pass", "pass_on_card", "gold", "reference")


def speed_exercises():
    """Those that both sides run on one GPU."""
    with open(os.path.join(ROOT, "chapters/course.json")) as file:
        return [e["id"] for e in json.load(file)["exercises"]
                if e["speed"] and e["kind"] != "python" and e.get("device") != "gpu" and e.get("gpus", 1) == 1]


def independent(exercise):
    """The kernels that others wrote for an exercise, by name: their texts. NAME.diff is NAME.cu by its
    difference from another one, without context (diff -U0)."""
    folder = os.path.join(ROOT, "grader/tests/independent", exercise)
    texts = {}
    for name in sorted(glob.glob(os.path.join(folder, "*.cu"))):
        with open(name) as file:
            texts[os.path.basename(name)] = file.read()
    for name in sorted(glob.glob(os.path.join(folder, "*.diff"))):
        with open(name) as file:
            first, _, *lines = file.read().splitlines(keepends=True)
        old, new, at = texts[first.split()[1]].splitlines(keepends=True), [], 0
        for line in lines:
            hunk = re.match(r"@@ -(\d+)(?:,(\d+))? ", line)
            if hunk:
                start, count = int(hunk[1]), int(hunk[2] or 1)
                until = start if count == 0 else start - 1
                new += old[at:until]
                at = until + count
            elif line[0] == "+":
                new.append(line[1:])
        texts[os.path.basename(name)[:-len("diff")] + "cu"] = "".join(new + old[at:])
    return {INDEPENDENT + name[:-len(".cu")]: text for name, text in texts.items()}


def program(device, exercise, variant):
    """The program of a kernel, and how it is told which."""
    stem = os.path.join(ROOT, "build", device, "course", exercise.replace("/", "."))
    if variant.startswith(INDEPENDENT):
        return [f"{stem}.{variant}"]
    return [stem + ".derived", "--variant=" + variant] if variant else [stem + ".solution"]


def build(device, kernels):
    """Builds the programs of kernels, (exercise, variant); what could not be built, in CMake's words."""
    folder = os.path.join(ROOT, "build", device)
    others = any(variant.startswith(INDEPENDENT) for _, variant in kernels)
    for exercise in {exercise for exercise, variant in kernels if variant.startswith(INDEPENDENT)}:
        sources = os.path.join(folder, "independent", exercise)
        os.makedirs(sources, exist_ok=True)
        for variant, text in independent(exercise).items():
            with open(os.path.join(sources, variant.removeprefix(INDEPENDENT) + ".cu"), "w") as file:
                file.write(text)
    targets = {os.path.basename(program(device, *kernel)[0]) for kernel in kernels}
    for command in (["-S", ROOT, "-B", folder, "-DWARPLINGS_DEV=ON",
                     f"-DWARPLINGS_INDEPENDENT={'ON' if others else 'OFF'}"],
                    ["--build", folder, "--parallel", str(os.cpu_count()),
                     "--target", *sorted(targets), "--", "-k", "0"]):
        result = subprocess.run([CMAKE, *command], capture_output=True, text=True)
    return "" if result.returncode == 0 else (result.stdout + result.stderr)[-4000:]


def variants(device, exercise):
    """The accepted variants, and those mutants that are right but slow: all that others are is wrong."""
    with open(os.path.join(ROOT, "build", device, "derived", exercise, "dispatch.cpp")) as file:
        names = re.findall(r'strcmp\(name, "(\w+)"\)', file.read())
    with open(os.path.join(ROOT, "grader/tests/exercises", exercise, "mutants.txt")) as file:
        expected = re.findall(r"^expect: *(.*)$", file.read(), re.MULTILINE)
    slow = {f"mutant_{i + 1}" for i, what in enumerate(expected)
            if what.startswith("budget:") or "Fast" in what}
    return [name for name in names if name.startswith("variant_") or name in slow]


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def code(text):
    """Text without comments, white space, bars and the numbers of exercises."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    text = "".join(re.sub(r"\b\d\d_(?=[a-z])|(?<=_)\d\d_(?=[A-Z])", "", text).split())
    return SIMULATED.sub("", BARS.sub("", text))


def code_of_variant(exercise, variant):
    """What a variant or a mutant puts in place of the solution."""
    folder = os.path.join(ROOT, "grader/tests/exercises", exercise)
    if variant.startswith("variant_"):
        return [code(read(name)) for name in glob.glob(os.path.join(folder, variant + ".*"))]
    mutants = re.split("^mutant:", read(os.path.join(folder, "mutants.txt")), flags=re.M)
    lines = mutants[int(variant.removeprefix("mutant_"))].split("find:", 1)[1].split("\n")
    return [code("\n".join(line for line in lines if line.startswith(("|", "put:"))))]


def fingerprint(exercise, variant=""):
    """Of what decides the times of a kernel: its code, what it is compared with, and the tests of
    speed. Bars, comments and numbers of exercises may change afterwards."""
    stem = os.path.join(ROOT, "chapters", exercise)
    names = [*glob.glob(stem + "*.h"), *glob.glob(stem + "_baseline.cu")]
    if variant.startswith(INDEPENDENT):
        texts = [code(independent(exercise)[variant])]
    else:
        names += glob.glob(os.path.join(ROOT, "solutions", exercise + ".cu"))
        texts = code_of_variant(exercise, variant) if variant else []
    texts += [code(read(name)) for name in sorted(names)]
    texts += map(code, re.findall(r"^TEST\(\w+, \w*Fast\w*\) \{.*?^\}", read(stem + "_test.cpp"),
                                  re.M | re.S))
    text = "\0".join(texts)
    for name in sorted(glob.glob(os.path.join(os.path.dirname(stem), "[!0-9]*.h"))):
        if f'"{os.path.basename(name)}"' in text:
            text += "\0" + code(read(name))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def model_of(card):
    """The simulator's model of the card that was measured."""
    return "h100" if "H100" in card else "h200"


def run(device, exercise, variant, model="h200"):
    """The speed events of one program, a list for every test; {} if it is wrong or crashed."""
    command = [*program(device, exercise, variant), "--gtest_filter=*Fast*"]
    if not os.path.exists(command[0]):
        return {}  # it does not compile
    ours, its = socket.socketpair()
    ours.sendall(b"0" * 32)  # the key of the seals
    environment = dict(os.environ, GRADE_CHANNEL=str(its.fileno()), GRADE_SIM_MODEL=model)
    child = subprocess.Popen(command, env=environment, pass_fds=[its.fileno()],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    its.close()
    watchdog = threading.Timer(LONGEST[device], child.kill)
    watchdog.start()
    with ours.makefile() as channel:
        lines = channel.read().splitlines()
    watchdog.cancel()
    if child.wait() < 0:
        print(f"{exercise} {variant or 'solution'}, {device}: ended after {LONGEST[device]} s "
              "or crashed")
    events = {}
    for line in lines:
        try:
            event = json.loads(line.partition(" ")[2])  # behind its seal
        except json.JSONDecodeError:
            continue
        if event["event"] == "speed" and event["verdict"] in ("pass", "fail"):
            events.setdefault(event["test"], []).append(
                {"case": event["case"], "seconds": event["seconds"],
                 "ratios": [{key: ratio[key] for key in KEPT if key in ratio} for ratio in event["ratios"]]})
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
            # Where the model is off by more than noise, the simulator has a bar of its own.
            real = ours.get("pass_on_card", bar) if level == "pass" else bar
            distance = theirs["ratio"] / real
            rows.append({
                "kernel": kernel, "against": name, "level": level, "bar": bar,
                "modelled": ours["ratio"], "measured": theirs["ratio"],
                "agree": (ours["ratio"] >= bar * GUARD) == (theirs["ratio"] >= real * GUARD),
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


def same_case(shape, ours, theirs):
    """Of a test's events on the card, that of the shape which was modelled: by name, else by place
    (the simulator may have fewer shapes, and smaller ones)."""
    for event in theirs:
        if event.get("case") and event["case"] == ours[shape].get("case"):
            return event
    return theirs[shape] if len(ours) == len(theirs) else None


def pair_up(timed, modelled):
    """All rows of bars, and of pairs in order, of the kernels of a file and their modelled events."""
    bars, times = [], {}
    for kernel, simulated in zip(timed, modelled):
        exercise, real = kernel["exercise"], kernel["tests"]
        for test in simulated.keys() & real.keys():
            # A test may measure several shapes.
            for shape, ours in enumerate(simulated[test]):
                theirs = same_case(shape, simulated[test], real[test])
                if theirs is None:
                    continue
                name = (f"{exercise} {kernel['variant'] or 'solution'}"
                        + (f" #{shape + 1}" if shape else ""))
                bars += bars_of(name, ours, theirs)
                times_of(name, ours, theirs, times.setdefault((exercise, test, shape), {}))
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
        "percent": {name: percent(value) for name, value in (
            ("agreement", share(bars, "agree")), ("contested", share(contested, "agree")),
            ("order", share(orders, "alike")))},
    }


def percent(value):
    return "none" if value is None else f"{100 * value:.1f} %"


def markdown(document, left_out):
    """The page: what agrees for each exercise, and every pair that does not."""
    bars, orders, figures = document["bars"], document["orders"], document["summary"]
    dates = sorted({kernel["date"] for kernel in document["measured"]})
    counted = sum(bool(kernel["tests"]) for kernel in document["measured"])
    others = all(kernel["variant"].startswith(INDEPENDENT) for kernel in document["measured"])
    kinds = ("answers of others (`independent/`)" if others else "solutions, accepted variants, mutants "
             "that are right but slow (those of `exercises/`, by number)")
    lines = ["# Modelled speed against measured speed", "",
             f"Written by `grader/tests/gpu/agreement.py`; measured on an {document['card']}, "
             f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}, and modelled as one "
             f"(`GRADE_SIM_MODEL={document['model']}`). A pair is a kernel whose answer is "
             "right and a bar that the simulator grades; it agrees if both say pass or both say "
             "fail. A value passes from 97 % of its bar on, here as in every verdict. Contested: "
             "measured within 1.5 times of the bar. Order: pairs of kernels of one "
             f"test whose measured times differ by 10 % or more. {counted} kernels of "
             f"{len({kernel['exercise'] for kernel in document['measured']})} exercises were timed: "
             f"{kinds}, and what speeds are compared with (`stage`).", "",
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
    lines += ["", f"False passes (modelled, not measured): {figures['false_passes']}, false fails: "
              f"{figures['false_fails']}, "
              f"further than 1.5 times from the bar: {figures['far_disagreements']}.", ""]
    if left_out:
        lines += ["Left out, because they were changed after they were timed: "
                  + ", ".join(left_out) + ".", ""]
    lines += ["| kernel that differs | against | level | bar | modelled | measured |",
              "| --- | --- | --- | --- | --- | --- |"]
    lines += [f"| {r['kernel']} | {r['against']} | {r['level']} | {r['bar']} | {r['modelled']:.3f} | "
              f"{r['measured']:.3f} |" for r in bars if not r["agree"]]
    swapped = ["; ".join(row["kernels"]) for row in orders if not row["alike"]]
    if swapped:
        lines += ["", "Ordered otherwise than measured:", "", *(f"- {pair}" for pair in swapped)]
    return "\n".join(lines) + "\n"


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def load(path):
    if not os.path.exists(path):
        return {"format": 2, "kind": "agreement", "model": "h200", "measured": []}
    with open(path) as file:
        return json.load(file)


def save(path, document):
    with open(path + ".new", "w") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def measure(path, exercises, others):
    """Times every kernel of the exercises, or those that others wrote; the file is written after each, so
    nothing is lost."""
    document = load(path)
    document["card"] = first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    document["driver"] = first_line(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    commit = os.environ.get("COMMIT", "") or first_line(["git", "rev-parse", "--short", "HEAD"])
    for exercise in exercises:
        kernels = [{"exercise": exercise, "variant": variant,
                    "date": datetime.date.today().isoformat(), "commit": commit,
                    "fingerprint": fingerprint(exercise, variant),
                    "tests": run("gpu", exercise, variant)}
                   for variant in (independent(exercise) if others
                                   else ["", *variants("gpu", exercise)])]
        for kernel in kernels:
            if not kernel["tests"]:
                print(f"{exercise} {kernel['variant'] or 'solution'}: does not count")
        document["measured"] = sorted(
            [kernel for kernel in document["measured"] if kernel["exercise"] != exercise] + kernels,
            key=lambda kernel: (kernel["exercise"], kernel["variant"]))
        save(path, document)
    print(f"{len(exercises)} exercises timed")


def compare(path, page):
    """Models every kernel of the file, rewrites its tables, and prints what differs."""
    document = load(path)
    left_out = sorted({k["exercise"] for k in document["measured"]
                       if k["fingerprint"] != fingerprint(k["exercise"], k["variant"])})
    both = speed_exercises()
    document["measured"] = [k for k in document["measured"] if k["exercise"] in both]
    left_out = [name for name in left_out if name in both]
    timed = [k for k in document["measured"] if k["tests"] and k["exercise"] not in left_out]
    problem = build("sim", [(k["exercise"], k["variant"]) for k in timed])
    if problem:
        sys.exit(problem)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        document["model"] = model_of(document["card"])
        modelled = list(pool.map(
            lambda k: run("sim", k["exercise"], k["variant"], document["model"]), timed))
    document["bars"], document["orders"] = pair_up(timed, modelled)
    document["summary"] = summary(document["bars"], document["orders"])
    save(path, document)
    text = markdown(document, left_out)
    print(text)
    if page:
        with open(page, "w") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("measure", "compare"))
    parser.add_argument("file")
    parser.add_argument("exercises", nargs="*", help="measure these only (prefixes)")
    parser.add_argument("--independent", action="store_true",
                        help="measure: the kernels of grader/tests/independent")
    parser.add_argument("--markdown", help="compare: write the page here")
    options = parser.parse_args()
    if options.what == "compare":
        compare(options.file, options.markdown)
        return 0
    exercises = [name for name in speed_exercises()
                 if (not options.exercises or name.startswith(tuple(options.exercises)))
                 and (not options.independent or independent(name))]
    problem = build("gpu", [(name, variant) for name in exercises for variant in
                            (independent(name) if options.independent else ("", "derived"))])
    if problem and not options.independent:
        sys.exit(problem)
    print(problem)  # an answer of others that does not compile does not count
    measure(options.file, exercises, options.independent)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Shows on this GPU that verdicts on speed can be trusted, and writes what it saw as JSON.

    python3 grader/tests/gpu/speed_proof.py FILE.json [--runs 50]

Needs build/gpu with the targets gpu_planted and 02_vector_add.05_vectorized_add.solution. A kernel
planted at 0.90 times its bar must fail and one at 1.10 times must pass, in every run; the solution of
02/05 must get the same verdict every time; on an idle card and with a second process loading it,
where "inconclusive" is allowed and a wrong verdict is not. Exit status 1 if that is not so.
"""

import argparse
import collections
import datetime
import json
import os
import socket
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
PLANTED = os.path.join(ROOT, "build/gpu/bin/gpu_planted")
SOLUTION = os.path.join(ROOT, "build/gpu/course/02_vector_add.05_vectorized_add.solution")

CASES = [
    ("planted at 0.90 of the bar", PLANTED, "Planted.Fast90", "fail"),
    ("planted at 1.10 of the bar", PLANTED, "Planted.Fast110", "pass"),
    ("solution of 02/05", SOLUTION, "*Fast*", "pass"),
]


def measure(program, test):
    """The speed event of one run, or what happened instead."""
    ours, its = socket.socketpair()
    ours.sendall(b"0" * 32)  # the key of the seals
    environment = dict(os.environ, GRADE_CHANNEL=str(its.fileno()))
    child = subprocess.Popen(
        [program, f"--gtest_filter={test}"], env=environment, pass_fds=[its.fileno()],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    its.close()
    with ours.makefile() as channel:
        events = [json.loads(line.partition(" ")[2]) for line in channel]  # behind its seal
    child.wait()
    for event in events:
        if event["event"] == "speed":
            return event
    failures = [e["message"] for e in events if e["event"] == "failure"]
    return {"verdict": "broken", "reason": "; ".join(failures), "ratios": []}


def middle(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else None


def run_case(name, program, test, expected, runs, loaded):
    verdicts = collections.Counter()
    widths, ratios, levels, reasons = [], [], collections.Counter(), set()
    for _ in range(runs):
        event = measure(program, test)
        verdicts[event["verdict"]] += 1
        levels[event.get("level", "none")] += 1
        if event["verdict"] in ("broken", "inconclusive", "impossible"):
            reasons.add(event["reason"])
        for ratio in event["ratios"][:1]:
            ratios.append(ratio["ratio"])
            widths.append((ratio["high"] - ratio["low"]) / 2 / ratio["ratio"])
    allowed = {expected, "inconclusive"} if loaded else {expected}
    wrong = sum(n for verdict, n in verdicts.items() if verdict not in allowed)
    row = {
        "case": name, "card": "loaded" if loaded else "idle", "runs": runs,
        "expected": expected, "verdicts": dict(verdicts), "levels": dict(levels), "wrong": wrong,
        "ratio_median": middle(ratios), "ratio_min": min(ratios, default=None),
        "ratio_max": max(ratios, default=None),
        "half_width_median": middle(widths), "half_width_max": max(widths, default=None),
        "reasons": sorted(reasons),
    }
    print(f"{name:30} {row['card']:7} {dict(verdicts)}  ratio "
          f"{row['ratio_min']:.4f}..{row['ratio_max']:.4f}  half width of the 98 % interval: median "
          f"{100 * row['half_width_median']:.2f} %, most {100 * row['half_width_max']:.2f} %"
          if ratios else f"{name:30} {row['card']:7} {dict(verdicts)} {sorted(reasons)}", flush=True)
    return row


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    rows = [run_case(*case, options.runs, False) for case in CASES]
    load = subprocess.Popen([PLANTED, "--gtest_filter=Load.*"], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    time.sleep(2)
    try:
        rows += [run_case(*case, options.runs, True) for case in CASES]
    finally:
        load.kill()
        load.wait()
    wrong = sum(row["wrong"] for row in rows)
    result = {
        "format": 1, "kind": "speed-proof", "date": datetime.date.today().isoformat(),
        "card": first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]),
        "driver": first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]),
        "commit": os.environ.get("COMMIT", "") or first_line(["git", "rev-parse", "--short", "HEAD"]),
        "wrong": wrong, "rows": rows,
    }
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(f"{sum(row['runs'] for row in rows) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Builds, checks and times the course on the GPU of this machine, and writes what it saw as JSON.

    python3 grader/tests/gpu/run.py FILE.json [--only ID ...] [--exercises-only [--library-calls]]
                                             [--into OLD.json]

For every exercise: the starter, which must fail unless the exercise is judged by the simulator alone,
and the solution, which must pass; of speed exercises every ratio is kept. Both are the objects that
the simulator also runs, linked with the CUDA runtime. Then the library calls that speeds are compared
with, the PTX fixtures on the simulator and on the driver, and 1,000 random kernels on both
(FILE.random.json gets the hashes of their results). Solutions run one by one. With --into, what was
not run is taken from an older file; every row names the commit and the day it was run at.

Python exercises run in GRADE_PYTHON, or in what setup/python_env.sh --gpu made.

Ends with "N passed, M failed"; exit status 1 if anything failed. COMMIT names the commit where there
is no git. Python 3, standard library only.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CMAKE = os.environ.get("GRADE_CMAKE", "cmake")
LONGEST = 120  # seconds of one verdict
OPEN = 3  # exit status: right, but its speed could not be judged


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def exercises(only):
    with open(os.path.join(ROOT, "chapters/course.json")) as file:
        listed = json.load(file)["exercises"]
    chosen = [e for e in listed if not only or e["id"].startswith(tuple(only))]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    gpus = len(visible.split(",") if visible else
               subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
               .stdout.strip().splitlines())
    for exercise in chosen:
        if exercise.get("gpus", 1) > gpus:
            print(f"skipped: {exercise['id']} needs {exercise['gpus']} GPUs, there are {gpus}")
    return [e for e in chosen if e.get("gpus", 1) <= gpus]


def is_built(exercise):
    """A Python exercise is not, but for the kernels that it calls."""
    return exercise["kind"] != "python" or os.path.exists(
        os.path.join(ROOT, "chapters", exercise["id"] + "_support.cu"))


def build(device, targets):
    """Builds what it can of the targets, on all cores; what fails shows when it is run."""
    command = [CMAKE, "--build", os.path.join(ROOT, "build", device), "--parallel", str(os.cpu_count()),
               "--target", *targets, "--", "-k", "0"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def grade(exercise, graded):
    """One verdict of ./grade run."""
    command = ["./grade", "run", exercise["id"], "--device", "gpu", "--json"]
    if graded == "solution":
        command.append("--solution")
    begin = time.monotonic()
    try:
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
        status, text = result.returncode, result.stdout
    except subprocess.TimeoutExpired:
        status, text = 124, ""
    try:
        verdict = json.loads(text)
    except json.JSONDecodeError:
        verdict = {}
    expected = 0 if graded == "solution" else 1
    free = graded == "starter" and exercise.get("judge") == "simulator"
    return {"exercise": exercise["id"], "graded": graded, "exit": status,
            "seconds": round(time.monotonic() - begin, 1),
            "as_expected": status == expected or (free and status in (0, 1, OPEN)),
            "speeds": [dict(speed, test=test["name"]) for test in tests_of(verdict)
                       for speed in test.get("speeds", [])], "verdict": verdict}


def tests_of(verdict):
    return [test for run in verdict.get("devices", []) for test in run.get("tests", [])]


def show(row):
    mark = "ok" if row["as_expected"] else "UNEXPECTED"
    print(f"{row['exercise']:44} {row['graded']:8} exit {row['exit']} {row['seconds']:6.1f} s  {mark}",
          flush=True)
    for speed in row["speeds"] if row["graded"] == "solution" else []:
        print(f"    {speed['test']}: {speed['seconds'] * 1e6:.1f} us, {speed['verdict']}, "
              f"{speed['level']}")
        for ratio in speed["ratios"]:
            print(f"      {ratio['ratio']:7.3f} of {ratio['name']} (bars {ratio['pass']}, "
                  f"{ratio['gold']}, {ratio['reference']})")
    if not row["as_expected"]:
        print_problem(row["verdict"])


def print_problem(verdict):
    for test in tests_of(verdict):
        for failure in test.get("failures", [])[:2]:
            print(f"    | {test['name']}: {failure['message'][:600]}")
    if not tests_of(verdict):
        print("    | " + json.dumps(verdict)[:1500])


def lacks(exercise):
    """Why CMake could not make its program: a library that is not here. "" if it could."""
    file = os.path.join(ROOT, "build/gpu/course", exercise["id"].replace("/", ".") + ".missing")
    if not os.path.exists(file):
        return ""
    with open(file) as reason:
        return reason.read().strip()


def grade_all(chosen):
    # One build first: the launcher sets up build/gpu.
    grade(next((e for e in chosen if is_built(e)), chosen[0]), "solution")
    for exercise in [e for e in chosen if lacks(e)]:
        print(f"skipped: {exercise['id']} {lacks(exercise)}")
        chosen.remove(exercise)
    names = [e["id"].replace("/", ".") for e in chosen if is_built(e)]
    log = build("gpu", names + [name + ".solution" for name in names])
    if log.returncode != 0:
        print(log.stdout[-4000:])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda e: grade(e, "starter"), chosen))
    # A starter that is only too slow is timed too, and four at a time are too noisy to judge.
    rows = [grade(e, "starter") if row["exit"] == OPEN else row for e, row in zip(chosen, rows)]
    for row in rows:
        show(row)
    # Alone on the card: some measure time, some the memory that is free.
    try:
        for exercise in chosen:
            rows.append(grade(exercise, "solution"))
            show(rows[-1])
    except KeyboardInterrupt:
        print("stopped; the file gets what there is")
    for row in rows:
        del row["verdict"]
        if row["graded"] == "starter":
            del row["speeds"]
    return rows


def last_line(command):
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = result.stdout.strip().splitlines()
    return result.returncode, lines[-1] if lines else "", result.stdout


def library_calls():
    build("gpu", ["gpu_libraries"])
    status, _, text = last_line(["build/gpu/course/gpu_libraries"])
    if status != 0:
        print(text)
    counts = re.findall(r"\[  (?:PASSED|FAILED)  \] \d+ tests?", text)
    return {"libraries": ", ".join(counts)}, int(status != 0)


def proofs(out, card, driver):
    """PTX fixtures on both, random kernels on both: texts and failures."""
    found, failed = {}, 0
    # A learner's build folder has no tests of the grader; the first command of dev adds them.
    subprocess.run(["./grade", "dev", "help"], cwd=ROOT, capture_output=True)
    build("sim", ["ptx_run", "ptx_random", "wgmma_fixtures"])
    fixtures = {}
    for device, key in (("sim", "simulator"), ("gpu", "gpu")):
        _, fixtures[key], _ = last_line(
            ["build/sim/bin/ptx_run", "--device", device, "grader/tests/fixtures",
             "build/sim/wgmma_fixtures"])
    found["ptx_fixtures"] = fixtures
    if fixtures["simulator"] != fixtures["gpu"] or not fixtures["gpu"].endswith(" 0 failed"):
        failed += 1
    status, last, text = last_line(
        ["build/sim/bin/ptx_random", "--against", "gpu", "--seed", "1", "--count", "1000", "--record",
         re.sub(r"\.json$", "", out) + ".random.json", "--machine", f"{card}, driver {driver}"])
    found["random_kernels"] = last
    if status != 0:
        failed += 1
        print(text)
    return found, failed


def earlier(path, rows):
    """What an older file says of exercises that did not run now, and its proofs."""
    if not path:
        return [], {}
    with open(path) as file:
        old = json.load(file)
    with open(os.path.join(ROOT, "chapters/course.json")) as file:
        still = {e["id"] for e in json.load(file)["exercises"]} - {row["exercise"] for row in rows}
    kept = [{"commit": old["commit"], "date": old["date"], **row} for row in old["runs"]
            if row["exercise"] in still]
    return kept, {key: old[key] for key in ("libraries", "ptx_fixtures", "random_kernels")
                  if key in old}


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, interrupt)  # timeout(1) stops it as Ctrl-C does
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--only", nargs="*", default=[], help="exercises whose id begins with one of these")
    parser.add_argument("--exercises-only", action="store_true")
    parser.add_argument("--library-calls", action="store_true", help="these too, with --exercises-only")
    parser.add_argument("--into", help="an older file; what is not run now is taken from it")
    options = parser.parse_args()
    chosen = exercises(options.only)
    if not chosen:
        print("no exercise is called that", file=sys.stderr)
        return 2
    card = first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    driver = first_line(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"])
    commit = os.environ.get("COMMIT", "") or first_line(["git", "rev-parse", "--short", "HEAD"])
    stamp = {"commit": commit, "date": datetime.date.today().isoformat()}
    rows = [{**row, **stamp} for row in grade_all(chosen)]
    kept, old_proofs = earlier(options.into, rows)
    rows = sorted(kept + rows, key=lambda row: (row["exercise"], row["graded"]))
    failed = sum(not row["as_expected"] for row in rows)
    found, failed_proofs = {}, 0
    if options.library_calls or not options.exercises_only:
        found, failed_proofs = library_calls()
    if not options.exercises_only:
        more, more_failed = proofs(options.out, card, driver)
        found, failed_proofs = {**found, **more}, failed_proofs + more_failed
    for key, value in found.items():
        print(f"{key}: {value}")
    toolkit = re.search(r"V([\d.]+)", subprocess.run(
        ["nvcc", "--version"], capture_output=True, text=True).stdout)
    with open(options.out, "w") as file:
        json.dump({
            "format": 2, "kind": "gpu-run", **stamp, "card": card,
            "driver": driver, "toolkit": toolkit.group(1) if toolkit else "",
            "passed": len(rows) - failed, "failed": failed + failed_proofs, **old_proofs, **found,
            "runs": rows,
        }, file, indent=1)
        file.write("\n")
    print(f"{len(rows) - failed} passed, {failed + failed_proofs} failed")
    return 1 if failed + failed_proofs else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs NVIDIA's CUDA samples, unmodified, in the simulator.

    grader/tests/samples/run.py CHECKOUT [--only TEXT ...] [--timeout SECONDS] [--markdown FILE]

CHECKOUT has Samples/ and Common/, as a clone of github.com/NVIDIA/cuda-samples (12.x, 13.x) or the
folder examples/ of Debian's nvidia-cuda-toolkit-doc. Nothing is written there. samples.txt lists
what is built and run; a sample passes if it compiles, ends with its own status of success within
the time limit and no check has a finding (notes do not count). Where samples.txt names a defect of
the sample, findings are expected, and the sample must succeed without checks. Sources that do not
compile with this toolkit (CUDA 13 has removed fields of cudaDeviceProp that samples of 12.x print)
and samples that waive themselves count neither as passed nor as failed. GRADE and NVCC name other
programs than ./grade and nvcc.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WAIVED = 2  # EXIT_WAIVED of the samples: the device lacks something


def read_list(path):
    """Rows (folder, arguments, flags, defect) of samples.txt."""
    rows = []
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        parts = [part.strip() for part in line.split("|")] + ["", "", ""]
        rows.append((parts[0], parts[1].split(), parts[2].split(), parts[3]))
    return rows


def files_of(folder, *suffixes):
    """Files with these endings in the folder, and in src/ and inc/ below it."""
    places = [folder, folder / "src", folder / "inc"]
    return sorted(p for place in places if place.is_dir() for p in place.iterdir()
                  if p.suffix in suffixes)


def sources_of(folder):
    """Every source, but not those that another one includes."""
    texts = [p.read_text(errors="replace") for p in files_of(folder, ".cu", ".cpp", ".cuh", ".h")]
    included = {name for text in texts for name in re.findall(r'#\s*include\s*[<"]([^>"]+)', text)}
    return [p for p in files_of(folder, ".cu", ".cpp") if p.name not in included]


def build(checkout, folder, flags, program):
    """The compiler's output where it fails, else an empty string."""
    command = [os.environ.get("NVCC", "nvcc"), "-std=c++17", "-arch=compute_80",
               "-code=compute_80", "-cudart", "shared", "--no-compress", "-lineinfo", "-w",
               "-Xcompiler", "-g1", "-I", str(checkout / "Common"), "-I", str(folder),
               "-I", str(folder / "inc"),
               *flags, *map(str, sources_of(folder)), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return "" if done.returncode == 0 else done.stdout + done.stderr


def run(program, arguments, work, limit, checks=True):
    """(status, output): the status is None where the time limit ended it."""
    environment = os.environ if checks else {**os.environ, "GRADE_SIM_CHECKS": "0"}
    grade = os.environ.get("GRADE", str(ROOT / "grade"))
    try:
        done = subprocess.run([grade, "exec", "--", str(program), *arguments], cwd=work,
                              capture_output=True, text=True, errors="replace", timeout=limit,
                              stdin=subprocess.DEVNULL, env=environment)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        return None, ((error.stdout or b"") + (error.stderr or b"")).decode(errors="replace")


def one(checkout, row, scratch, limit):
    """(verdict, remark, log) of one sample."""
    name, arguments, flags, defect = row
    folder = checkout / "Samples" / name
    if not folder.is_dir():
        return "absent", "", ""
    work = scratch / folder.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    # Samples look for their inputs here or in ./data, and some write their pictures there.
    if (folder / "data").is_dir():
        shutil.copytree(folder / "data", work / "data")
    for text in folder.glob("*.txt"):
        shutil.copy(text, work)
    log = build(checkout, folder, flags, work / folder.name)
    if log:
        first = next((l for l in log.splitlines() if "error" in l), log.splitlines()[0])
        return "no build", first.replace(str(folder) + "/", ""), log
    status, log = run(work / folder.name, arguments, work, limit)
    found = [l for l in log.splitlines() if l.startswith("grade exec:")]
    findings = [l for l in found if " (note): " not in l]
    notes = len(found) - len(findings)
    remark = findings[0][len("grade exec: "):] if findings else ""
    if status is None:
        return "FAIL", f"still running after {limit} s. {remark}".strip(), log
    if findings and defect:
        status, unchecked = run(work / folder.name, arguments, work, limit, checks=False)
        if status == 0:
            return "pass", f"has a defect: {defect}", log + unchecked
    if findings or status not in (0, WAIVED):
        last = next((l for l in reversed(log.splitlines()) if l.strip()), "")
        return "FAIL", f"status {status}: {remark or last}", log
    if status == WAIVED:
        return "waived", "by the sample itself", log
    return "pass", f"{notes} note{'s' if notes != 1 else ''}" if notes else "", log


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=[], help="samples whose name has this text")
    parser.add_argument("--timeout", type=int, default=120, help="seconds per sample")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here as well")
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if not (checkout / "Samples").is_dir() or not (checkout / "Common").is_dir():
        parser.error(f"{checkout} has no Samples/ and Common/")
    rows = [row for row in read_list(HERE / "samples.txt")
            if not options.only or any(text in row[0] for text in options.only)]
    scratch = ROOT / "build" / "samples"
    table, failed, passed = [], 0, 0
    for row in rows:
        begin = time.monotonic()
        verdict, remark, log = one(checkout, row, scratch, options.timeout)
        seconds = time.monotonic() - begin
        passed += verdict == "pass"
        failed += verdict == "FAIL"
        if log:
            (scratch / pathlib.Path(row[0]).name / "log.txt").write_text(log)
        print(f"{row[0]:<52} {verdict:<9} {seconds:5.0f} s  {remark[:200]}", flush=True)
        table.append(f"| {row[0]} | {' '.join(row[1])} | {verdict} | {remark[:200]} |")
    if options.markdown:
        head = ["| sample | arguments | result | remark |", "| --- | --- | --- | --- |"]
        options.markdown.write_text("\n".join(head + table) + "\n")
    others = len(rows) - passed - failed
    print(f"{passed} passed, {failed} failed, {others} not run")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

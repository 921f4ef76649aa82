#!/usr/bin/env python3
"""NVIDIA's compute-sanitizer on the planted defects of grader/tests/corpus, and on their clean twins.

    python3 grader/tests/gpu/sanitizer.py FILE.json [--side planted|clean] [--checks racecheck ...]
                                              [--files corpus_bulk.cu ...] [--jobs N] [--table]

Builds the corpus for the GPU of this machine, runs every case under the tool that looks for defects
of its kind (streamcheck has none: racecheck is asked), and writes what the tool said. With --side,
--checks or --files only a part is run; the rest is kept from FILE.json. The corpus is built for
compute capability 9.0, as clusters, bulk copies and wgmma need it. --table prints FILE.json as a table
and runs nothing. What the simulator finds is what its test demands: every planted defect on its
line, and no clean twin accused (grader/tests/corpus/corpus_test.cpp).

Python 3, standard library only.
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
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
CORPUS = os.path.join(ROOT, "grader/tests/corpus")
TOOLS = {"memcheck": "memcheck", "initcheck": "initcheck", "racecheck": "racecheck",
         "synccheck": "synccheck", "streamcheck": "racecheck"}
# cudaMalloc puts small arrays side by side: without padding a step past the end is inside the next.
OPTIONS = {"memcheck": ["--padding", "256"]}
SUBJECTS = ["memory", "unwritten values", "races in shared memory", "races in global memory",
            "barriers and warps", "order between streams and host"]
NOT_ITS_SUBJECT = {"races in global memory", "order between streams and host"}
LONGEST = 10  # seconds of one case; what a defect blocks for ever is stopped


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0].strip()
    except (OSError, IndexError):
        return ""


def planted_findings(files=None):
    """{case: "racecheck/shared-race"}, from the markers in the sources."""
    found = {}
    for name in sorted(os.listdir(CORPUS)):
        if name.endswith(".cu") and (not files or name in files):
            with open(os.path.join(CORPUS, name)) as file:
                for case, finding in re.findall(r"// planted: (\w+) (\S+)", file.read()):
                    found.setdefault(case, finding)
    return found


def build(folder):
    """The corpus with the CUDA runtime instead of the simulator; all files at once."""
    capability = first_line(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"])
    if not capability.startswith("9."):
        sys.exit("a card of compute capability 9.0 is needed, and this one has " + (capability or "none"))
    arch = "-gencode=arch=compute_90a,code=sm_90a"
    includes = ["-I" + CORPUS, "-I" + os.path.join(ROOT, "grader/simulator/include")]
    sources = [os.path.join(CORPUS, f) for f in sorted(os.listdir(CORPUS))
               if f.endswith(".cu") or f == "corpus_main.cpp"]
    sources.append(os.path.join(ROOT, "grader/kit/sim_absent.cpp"))
    objects = [os.path.join(folder, os.path.basename(s) + ".o") for s in sources]
    running = [subprocess.Popen(["nvcc", "-std=c++17", "-O2", "-lineinfo", "-DCORPUS_FOR_A_CARD", arch, *includes,
                                 "-c", s, "-o", o])
               for s, o in zip(sources, objects)]
    if any(process.wait() != 0 for process in running):
        sys.exit("the corpus does not build")
    program = os.path.join(folder, "corpus")
    subprocess.run(["nvcc", arch, "-o", program, *objects], check=True)
    return program


def verdict(program, tool, case, side):
    """What the tool says of one case: "reported", "silent", or "stopped" after LONGEST seconds."""
    command = ["compute-sanitizer", "--tool", tool, *OPTIONS.get(tool, []), program, case, side]
    # A group of its own: the tool starts the program, and a kernel that spins holds the card until
    # the program is gone as well.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", start_new_session=True)
    try:
        text, _ = process.communicate(timeout=LONGEST)
        ended = "silent"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
        ended = "stopped"
    numbers = re.findall(r"(\d+) (?:errors?|hazards? displayed)", text)
    told = re.search(r"^========= (Error|Warning|Invalid|Barrier|Uninitialized|Program hit)", text, re.M)
    return "reported" if told or any(int(n) > 0 for n in numbers) else ended


def run_cases(program, sides, jobs, findings):
    """{case: {"finding": ..., "tool": ..., side: what the tool said}}"""
    rows = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = {}
        for case, finding in findings.items():
            tool = TOOLS[finding.split("/")[0]]
            rows[case] = {"finding": finding, "tool": tool}
            for side in sides:
                waiting[case, side] = pool.submit(verdict, program, tool, case, side)
        for (case, side), future in waiting.items():
            rows[case][side] = future.result()
    return rows


def subject(finding):
    """One of SUBJECTS: "racecheck/global-race" is a race in global memory."""
    check = finding.split("/")[0]
    if check == "racecheck":
        return SUBJECTS[3 if finding.startswith("racecheck/global") else 2]
    return {"memcheck": SUBJECTS[0], "initcheck": SUBJECTS[1], "synccheck": SUBJECTS[4],
            "streamcheck": SUBJECTS[5]}[check]


def summary(cases):
    """{subject: {"defects": n, "reported": of them, "accused": clean twins}}, and "all"."""
    sums = {name: {"defects": 0, "reported": 0, "accused": 0} for name in [*SUBJECTS, "all"]}
    for row in cases.values():
        for name in (subject(row["finding"]), "all"):
            sums[name]["defects"] += 1
            sums[name]["reported"] += row.get("planted") == "reported"
            sums[name]["accused"] += row.get("clean") == "reported"
    return sums


def table(cases):
    text = "| subject | planted defects | reported by compute-sanitizer | clean twins accused |\n"
    text += "| --- | --- | --- | --- |\n"
    for name, counts in summary(cases).items():
        note = " (no tool of it claims these)" if name in NOT_ITS_SUBJECT else ""
        text += f"| {name}{note} | {counts['defects']} | {counts['reported']} | {counts['accused']} |\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--side", choices=["planted", "clean"])
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--checks", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--files", nargs="+", help="of the corpus; left out: all")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    data = {"cases": {}}
    if os.path.exists(arguments.file):
        with open(arguments.file) as file:
            data = json.load(file)
    if not arguments.table:
        data.update({
            "format": 1, "kind": "sanitizer",
            "date": datetime.date.today().isoformat(),
            "card": first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]),
            "sanitizer": " ".join(re.findall(r"Version \S+", subprocess.run(
                ["compute-sanitizer", "--version"], capture_output=True, text=True).stdout)),
        })
        findings = {case: finding for case, finding in planted_findings(arguments.files).items()
                    if finding.split("/")[0] in arguments.checks}
        sides = [arguments.side] if arguments.side else ["planted", "clean"]
        with tempfile.TemporaryDirectory() as folder:
            for case, row in run_cases(build(folder), sides, arguments.jobs, findings).items():
                data["cases"].setdefault(case, {}).update(row)
        data["summary"] = summary(data["cases"])
        with open(arguments.file, "w") as file:
            json.dump(data, file, indent=1)
            file.write("\n")
    print(table(data["cases"]), end="")


if __name__ == "__main__":
    main()

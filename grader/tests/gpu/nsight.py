#!/usr/bin/env python3
"""Holds the simulator's counters against those of the hardware.

Builds grader/tests/counters for this machine's GPU, runs every case once under Nsight Compute and
once in the simulator (the same binary, another libcudart.so.13), and writes both as JSON and as a
table: per case and counter "=" where they agree, else the deviation.

    grader/tests/gpu/nsight.py --simulator build/sim/lib --out nsight.json

Exit status: 0 compared, 1 a counter that must agree does not, 2 usage or set-up, 3 no permission to
read hardware counters. Needs nvcc, ncu and a GPU; Python's standard library only.
"""
import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "..", "counters")

# Short name, metrics that are added up ("-": taken away), counters of the simulator that are added
# up, must agree. Instructions are those of the PTX in the simulator, so they differ from the
# machine's.
# Shared wavefronts are compared with those that follow from the addresses. The counters of the data
# pipe (l1tex__data_pipe...) hold, as wavefronts and as bank conflicts, also the cycles in which the
# pipe was busy with data that came back from global memory, and differ from run to run.
COMPARED = [
    ("ld requests", ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
     ["global_load_requests"], True),
    ("ld sectors", ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
     ["global_load_sectors"], True),
    ("st requests", ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
     ["global_store_requests"], True),
    ("st sectors", ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
     ["global_store_sectors"], True),
    ("shared ld waves", ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
     ["shared_load_wavefronts"], True),
    ("shared st waves", ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
     ["shared_store_wavefronts"], True),
    ("conflicts", ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                   "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                   "-l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                   "-l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
     ["shared_bank_conflicts"], True),
    ("atomic requests", ["l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
                         "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"],
     ["atomic_global_requests"], True),
    ("local ld sectors", ["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"],
     ["local_load_sectors"], False),
    ("local st sectors", ["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"],
     ["local_store_sectors"], False),
    ("instructions", ["smsp__inst_executed.sum"], ["warp_instructions"], False),
    # Not compared with anything: kept for whoever looks into a deviation.
    ("L2 red sectors", ["lts__t_sectors_srcunit_tex_op_red.sum"], [], False),
    ("L2 atom sectors", ["lts__t_sectors_srcunit_tex_op_atom.sum"], [], False),
    ("microseconds", ["gpu__time_duration.sum"], [], False),
]


def fail(status, message):
    print("nsight.py: " + message, file=sys.stderr)
    sys.exit(status)


def tool(name, *places):
    for place in places:
        if os.access(place, os.X_OK):
            return place
    found = shutil.which(name)
    if found is None:
        fail(2, "%s is not installed" % name)
    return found


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def build(folder):
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = tool("nvcc", os.path.join(home, "bin", "nvcc"))
    capability = run(["nvidia-smi", "--query-gpu=compute_cap,name", "--format=csv,noheader"])
    if capability.returncode != 0:
        fail(2, "nvidia-smi failed: " + capability.stdout.strip())
    number, name = [part.strip() for part in capability.stdout.splitlines()[0].split(",", 1)]
    program = os.path.join(folder, "counters")
    architecture = "arch=compute_80,code=[compute_80,sm_%s]" % number.replace(".", "")
    built = run([nvcc, "-std=c++17", "-gencode", architecture, "-cudart", "shared",
                 "--no-compress", "-lineinfo", "-o", program,
                 os.path.join(CASES, "counter_cases.cu"), os.path.join(CASES, "counters_main.cpp")])
    if built.returncode != 0:
        fail(2, "nvcc failed:\n" + built.stdout)
    return program, name, os.path.join(home, "lib64")


def hardware(program, libraries, names):
    ncu = tool("ncu", "/usr/local/cuda/bin/ncu")
    wanted = sorted({metric.lstrip("-") for row in COMPARED for metric in row[1]})
    environment = dict(os.environ, LD_LIBRARY_PATH=libraries)
    done = run([ncu, "--csv", "--print-units", "base", "--metrics", ",".join(wanted), program,
                "--all"], env=environment)
    if "ERR_NVGPUCTRPERM" in done.stdout:
        fail(3, "no permission to read hardware counters (ERR_NVGPUCTRPERM)")
    begin = done.stdout.find('"ID"')
    if begin < 0:
        fail(2, "ncu gave no table:\n" + done.stdout[-2000:])
    kernels = {}
    for row in csv.DictReader(io.StringIO(done.stdout[begin:])):
        if not (row["ID"] or "").isdigit():
            continue
        kernel = kernels.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"], "metrics": {}})
        try:
            kernel["metrics"][row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
        except ValueError:
            pass  # n/a: this card does not have the metric
    if len(kernels) != len(names):
        fail(2, "%d cases, but ncu saw %d kernels" % (len(names), len(kernels)))
    return {name: kernels[number] for name, number in zip(names, sorted(kernels))}


def simulated(program, libraries, name, folder):
    profile = os.path.join(folder, "profile.json")
    environment = dict(os.environ, LD_LIBRARY_PATH=libraries, GRADE_SIM_PROFILE=profile,
                       GRADE_SIM_CACHE=folder)
    if os.path.exists(profile):
        os.unlink(profile)
    done = run([program, name], env=environment)
    if done.returncode != 0 or not os.path.exists(profile):
        fail(2, "%s failed in the simulator:\n%s" % (name, done.stdout[-2000:]))
    with open(profile) as file:
        kernel = json.load(file)["kernels"][0]
    return {"counters": kernel["totals"], "modelled_seconds": kernel["cost"]["seconds"]}


def compare(machine, model):
    rows = []
    for title, metrics, counters, must_agree in COMPARED:
        known = machine["metrics"]
        if not counters or any(metric.lstrip("-") not in known for metric in metrics):
            continue
        measured = sum(-known[m[1:]] if m[0] == "-" else known[m] for m in metrics)
        counted = sum(model["counters"].get(c, 0) for c in counters)
        if measured == 0 and counted == 0:
            continue
        deviation = None if measured == 0 else counted / measured - 1
        rows.append({"counter": title, "hardware": measured, "simulator": counted,
                     "deviation": deviation, "must_agree": must_agree})
    return rows


def describe(row):
    if row["hardware"] == row["simulator"]:
        return "="
    if row["deviation"] is None:
        return "%d, hardware 0" % row["simulator"]
    return "%+.1f %% (%d, hardware %d)" % (100 * row["deviation"], row["simulator"],
                                            row["hardware"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulator", required=True, help="folder with the simulator's libcudart")
    parser.add_argument("--out", default="nsight.json")
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.simulator, "libcudart.so.13")):
        fail(2, "there is no libcudart.so.13 in %s: ninja -C build/sim warplings.cudart"
             % options.simulator)
    with tempfile.TemporaryDirectory() as folder:
        program, card, libraries = build(folder)
        names = run([program, "--list"],
                    env=dict(os.environ, LD_LIBRARY_PATH=libraries)).stdout.split()
        machine = hardware(program, libraries, names)
        model = {name: simulated(program, os.path.abspath(options.simulator), name, folder)
                 for name in names}
    result = {"format": 1, "kind": "nsight", "card": card, "cases": []}
    exact = differ = 0
    for name in names:
        rows = compare(machine[name], model[name])
        result["cases"].append({"name": name, "hardware": machine[name]["metrics"],
                                "simulator": model[name], "compared": rows})
        bound = [row for row in rows if row["must_agree"]]
        wrong = [row for row in bound if row["hardware"] != row["simulator"]]
        exact += len(bound) - len(wrong)
        differ += len(wrong)
        print("%-24s %2d of %2d counters exact" % (name, len(bound) - len(wrong), len(bound)))
        for row in rows:
            if row["hardware"] != row["simulator"]:
                note = "" if row["must_agree"] else "  (not compared strictly)"
                print("    %-18s %s%s" % (row["counter"], describe(row), note))
    result["exact"], result["different"] = exact, differ
    with open(options.out, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print("%d cases on %s: %d counters exact, %d different; %s" %
          (len(names), card, exact, differ, options.out))
    sys.exit(0 if differ == 0 else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Holds the simulator's counters against those of the hardware.

Builds grader/tests/counters for this machine's GPU, runs every case once under Nsight Compute and
once in the simulator (the same binary, another libcudart.so.13), and writes both as JSON and as a
table: per case and counter "=" where they agree, else the deviation.

    grader/tests/gpu/nsight.py --simulator build/sim/lib --out nsight.json

--hopper takes the kernels of compute capability 9.0 instead. A machine with the GPU alone records,
and any other compares later, with the program as the simulator's build links it:

    grader/tests/gpu/nsight.py --hopper --record recorded.json [--look-around SECONDS]
    grader/tests/gpu/nsight.py --hopper --recorded recorded.json --program build/sim/bin/NAME

--look-around also keeps, in the time given, every counter of the card whose name speaks of these
units, and the names of all that it has.

Exit status: 0 compared, 1 a counter that must agree does not, 2 usage or set-up, 3 no permission to
read hardware counters. Recording needs nvcc, ncu and a GPU; Python's standard library only.
"""
import argparse
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

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

# With copies of the asynchronous proxy and memory of other blocks. A number before a metric multiplies
# it: a request of a multicast is 128 bytes, whoever gets them. What an instruction does to the memory
# of another block the simulator counts as shared memory, and the card apart.
SMSP = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_"
TMA_LOAD = "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld_dest_self.sum"
TMA_SHARED = "l1tex__m_l1tex2xbar_read_requests_mem_global_op_tma_ld_dest_multicast_size_128B.sum"
ASYNC = {
    "ld requests": ["smsp__inst_executed_op_tma_ld.sum"],
    "ld sectors": [TMA_LOAD, "4*" + TMA_SHARED],
    "st requests": ["smsp__inst_executed_op_tma_st.sum",
                    "-smsp__sass_inst_executed_op_dshared_tma_st.sum"],
    "st sectors": ["l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
                   "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red.sum"],
    "shared ld waves": [SMSP + "ldsm.sum", "smsp__sass_inst_executed_op_dshared_ld.sum"],
    "shared st waves": [SMSP + "stsm.sum", "smsp__sass_inst_executed_op_dshared_st.sum"],
    "conflicts": [SMSP + "ldsm.sum", SMSP + "stsm.sum"],
}
# Of the type that a case multiplies. mma of 8-bit floats is not compared: this card has none, and the
# assembler makes other instructions of it.
TENSOR = {
    "f16": "fp16", "bf16": "bf16_dst_fp32", "tf32": "tf32_dst_fp32", "s8": "int8",
    "e4m3": "fp8",
}
HOPPER = ([(title, metrics + ASYNC.get(title, []), counters, must)
           for title, metrics, counters, must in COMPARED]
          + [("remote atomics", ["smsp__sass_inst_executed_op_dshared_atom.sum"],
              ["atomic_shared_requests"], True)]
          + [("operations of " + name, ["sm__ops_path_tensor_src_%s.sum" % metric],
              ["tensor_operations"], True) for name, metric in TENSOR.items()])

# What --look-around keeps, the most telling first.
AROUND = [r"tma|dshared|gmma", r"tensor|ldsm|stsm|stas|redas",
          r"^(smsp__sass_l1tex|smsp__(sass_)?inst_executed_(op|pipe)|sm__inst_executed_pipe)",
          r"^(l1tex__(data|m)_|(l1tex|lts)__t_(requests|sectors)_(pipe|srcunit_tex))"]
CHUNK = 40  # metrics of one run


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


def build(folder, hopper):
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = tool("nvcc", os.path.join(home, "bin", "nvcc"))
    capability = run(["nvidia-smi", "--query-gpu=compute_cap,name", "--format=csv,noheader"])
    if capability.returncode != 0:
        fail(2, "nvidia-smi failed: " + capability.stdout.strip())
    number, name = [part.strip() for part in capability.stdout.splitlines()[0].split(",", 1)]
    program = os.path.join(folder, "counters")
    architecture = ("arch=compute_90a,code=[compute_90a,sm_90a]" if hopper else
                    "arch=compute_80,code=[compute_80,sm_%s]" % number.replace(".", ""))
    cases = "hopper_cases.cu" if hopper else "counter_cases.cu"
    built = run([nvcc, "-std=c++17", "-gencode", architecture, "-cudart", "shared",
                 "--no-compress", "-lineinfo", "-o", program,
                 os.path.join(CASES, cases), os.path.join(CASES, "counters_main.cpp")])
    if built.returncode != 0:
        fail(2, "nvcc failed:\n" + built.stdout)
    return program, name, dict(os.environ, LD_LIBRARY_PATH=os.path.join(home, "lib64"))


def find_ncu():
    return tool("ncu", "/usr/local/cuda/bin/ncu")


def read_metrics(program, environment, names, wanted, unknown):
    """What the card counts of every case; metrics that it does not have go to `unknown`."""
    while True:
        done = run([find_ncu(), "--csv", "--print-units", "base", "--metrics", ",".join(wanted),
                    program, "--all"], env=environment)
        if "ERR_NVGPUCTRPERM" in done.stdout:
            fail(3, "no permission to read hardware counters (ERR_NVGPUCTRPERM)")
        begin = done.stdout.find('"ID"')
        if begin >= 0:
            break
        said = re.findall(r"^==(?:ERROR|WARNING)==.*$", done.stdout, re.MULTILINE)
        refused = [m for m in wanted if any(re.search(r"\b%s\b" % re.escape(m.split(".")[0]), line)
                                            for line in said)]
        if not refused:
            fail(2, "ncu gave no table:\n" + done.stdout[-2000:])
        unknown += refused
        wanted = [m for m in wanted if m not in refused]
    kernels = {}
    for row in csv.DictReader(io.StringIO(done.stdout[begin:])):
        if not (row["ID"] or "").isdigit():
            continue
        kernel = kernels.setdefault(int(row["ID"]), {})
        try:
            kernel[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
        except ValueError:
            pass  # n/a: this card does not have the metric
    if len(kernels) != len(names):
        fail(2, "%d cases, but ncu saw %d kernels:\n%s" %
             (len(names), len(kernels), done.stdout[:begin][-2000:]))
    return {name: kernels[number] for name, number in zip(names, sorted(kernels))}


def look_around(program, environment, names, seconds, machine, unknown):
    """Adds what AROUND names to `machine`, as far as the time goes; all names that the card has."""
    listed = run([find_ncu(), "--query-metrics"], env=environment).stdout
    known = sorted(set(re.findall(r"^([a-z0-9]+__\w+)", listed, re.MULTILINE)))
    end = time.monotonic() + seconds
    taken = {metric.split(".")[0] for metric in next(iter(machine.values()))}
    for pattern in AROUND:
        chosen = [name for name in known if re.search(pattern, name) and name not in taken
                  and not re.search(r"pct|ratio|throughput|average|cycles", name)]
        taken.update(chosen)
        for first in range(0, len(chosen), CHUNK):
            if time.monotonic() > end:
                print("no time left at " + chosen[first])
                return known
            part = [name + ".sum" for name in chosen[first:first + CHUNK]]
            for name, metrics in read_metrics(program, environment, names, part, unknown).items():
                machine[name].update(metrics)
    return known


def record(options, rows, folder):
    program, card, environment = build(folder, options.hopper)
    names = run([program, "--list"], env=environment).stdout.split()
    for name in names:
        alone = run([program, name], env=environment)
        if alone.returncode != 0:
            fail(2, "%s failed: %s" % (name, alone.stdout.strip()))
    wanted = sorted({factor_of(metric)[1] for row in rows for metric in row[1]})
    unknown = []
    machine = read_metrics(program, environment, names, wanted, unknown)
    result = {"format": 1, "kind": "nsight", "card": card, "unknown": unknown,
              "cases": [{"name": name, "hardware": machine[name]} for name in names]}
    if options.look_around:
        write(result, options.record)  # whatever happens later
        result["known"] = look_around(program, environment, names, options.look_around, machine,
                                      unknown)
    return program, result


def write(result, path):
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def simulated(program, environment, name, folder):
    profile = os.path.join(folder, "profile.json")
    environment = dict(environment, GRADE_SIM_PROFILE=profile, GRADE_SIM_CACHE=folder)
    if os.path.exists(profile):
        os.unlink(profile)
    done = run([program, name], env=environment)
    if done.returncode != 0 or not os.path.exists(profile):
        fail(2, "%s failed in the simulator:\n%s" % (name, done.stdout[-2000:]))
    with open(profile) as file:
        kernel = json.load(file)["kernels"][0]
    return {"counters": kernel["totals"], "modelled_seconds": kernel["cost"]["seconds"]}


def factor_of(metric):
    if metric[0] == "-":
        return -1, metric[1:]
    number, star, name = metric.partition("*")
    return (int(number), name) if star else (1, metric)


def belongs(title, name):
    """Whether a row about a type is about this case, whose second word is its type."""
    return not title.startswith("operations of ") or (
        name.startswith(("wgmma_", "mma_")) and name != "mma_e4m3"
        and title.endswith(" " + name.split("_")[1]))


def compare(table, name, known, model):
    rows = []
    for title, metrics, counters, must_agree in table:
        parts = [factor_of(metric) for metric in metrics]
        if not counters or not belongs(title, name) or any(m not in known for _, m in parts):
            continue
        measured = sum(factor * known[m] for factor, m in parts)
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


def compare_all(result, rows, program, environment, folder):
    """Runs every case in the simulator; True if all that must agree does."""
    exact = differ = 0
    for case in result["cases"]:
        case["simulator"] = simulated(program, environment, case["name"], folder)
        case["compared"] = compare(rows, case["name"], case["hardware"], case["simulator"])
        bound = [row for row in case["compared"] if row["must_agree"]]
        wrong = [row for row in bound if row["hardware"] != row["simulator"]]
        exact += len(bound) - len(wrong)
        differ += len(wrong)
        print("%-24s %2d of %2d counters exact" %
              (case["name"], len(bound) - len(wrong), len(bound)))
        for row in case["compared"]:
            if row["hardware"] != row["simulator"]:
                note = "" if row["must_agree"] else "  (not compared strictly)"
                print("    %-18s %s%s" % (row["counter"], describe(row), note))
    result["exact"], result["different"] = exact, differ
    print("%d cases on %s: %d counters exact, %d different" %
          (len(result["cases"]), result["card"], exact, differ))
    return exact > 0 and differ == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hopper", action="store_true", help="kernels of compute capability 9.0")
    parser.add_argument("--simulator", help="folder with the simulator's libcudart")
    parser.add_argument("--record", metavar="FILE", help="what the card counts, without comparing")
    parser.add_argument("--look-around", metavar="SECONDS", type=float)
    parser.add_argument("--recorded", metavar="FILE", help="compare with what --record wrote")
    parser.add_argument("--program", help="the cases, linked with the simulator")
    parser.add_argument("--out", help="what was compared, as JSON")
    options = parser.parse_args()
    rows = HOPPER if options.hopper else COMPARED
    agrees = True
    with tempfile.TemporaryDirectory() as folder:
        if options.recorded:
            if not options.program:
                parser.error("--recorded needs --program")
            with open(options.recorded) as file:
                result = json.load(file)
            recorded = {case["name"] for case in result["cases"]}
            names = set(run([options.program, "--list"]).stdout.split())
            if recorded - names:
                fail(2, "the program lacks cases of %s: record it again" % options.recorded)
            if names - recorded:
                print("never recorded: " + " ".join(sorted(names - recorded)))
            agrees = compare_all(result, rows, options.program, os.environ, folder)
        elif options.record:
            write(record(options, rows, folder)[1], options.record)
        elif options.simulator:
            if not os.path.exists(os.path.join(options.simulator, "libcudart.so.13")):
                fail(2, "there is no libcudart.so.13 in %s: ninja -C build/sim warplings.cudart"
                     % options.simulator)
            program, result = record(options, rows, folder)
            environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(options.simulator))
            agrees = compare_all(result, rows, program, environment, folder)
        else:
            parser.error("one of --simulator, --record, --recorded is needed")
    if options.out:
        write(result, options.out)
    sys.exit(0 if agrees else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""clang-tidy, with the checks of .clang-tidy, on what the grader's programs are made of. Standard library only.

    python3 grader/tests/style/tidy.py [--build build/sim]   # status 1 and the places, 77 without the tool

It reads what the build folder compiles, so files that are compiled together are read once. What was said of
files that have not changed since is kept in the build folder. clang-tidy differs from version to version, so
the version is fixed: that of Debian 12.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

from style import ROOT, SKIPPED, VERSION, program_of_version

# What g++ alone knows; clang's own warnings are not asked for.
FOREIGN = re.compile(r"-fno-gnu-unique|--param=.*|-W.*|-include|.*/cmake_pch\.hxx")
PLACE = re.compile(r"^(/\S+?:\d+):\d+: (?:warning|error): (.*)$")


def units(build):
    """Path and arguments of each file that is compiled for the grader's programs, tests aside."""
    with open(os.path.join(build, "compile_commands.json")) as file:
        entries = json.load(file)
    for entry in entries:
        path = entry["file"]
        inside = os.path.relpath(path, build if path.startswith(build + os.sep) else ROOT)
        if inside.startswith("grader/") and not inside.startswith("grader/tests/") and path.endswith(
                (".cpp", ".cxx")):
            words = [word for word in shlex.split(entry["command"]) if not FOREIGN.fullmatch(word)]
            yield {**entry, "command": shlex.join(words)}


def digest(paths):
    whole = hashlib.sha256()
    for path in sorted(paths):
        with open(path, "rb") as file:
            whole.update(path.encode() + b"\0" + file.read())
    return whole.hexdigest()


def headers():
    found = [os.path.join(ROOT, ".clang-tidy")]
    for folder, _, names in os.walk(os.path.join(ROOT, "grader")):
        found += [os.path.join(folder, name) for name in names if name.endswith((".h", ".def"))]
    return found


def sources(unit):
    """The file, and what it includes where it is a group."""
    with open(unit["file"]) as file:
        return [unit["file"], *re.findall(r'#include "(/[^"]+\.cpp)"', file.read())]


def once(found):
    """Of several builds of the same files (for other processors, for other libraries) the first."""
    distinct = {}
    for unit in found:
        distinct.setdefault(tuple(sources(unit)[1:]) or unit["file"], unit)
    return list(distinct.values())


def tidy(program, folder, unit, common):
    key = hashlib.sha256((common + unit["command"] + digest(sources(unit))).encode()).hexdigest()
    kept = os.path.join(folder, key + ".txt")
    if os.path.exists(kept):
        with open(kept) as file:
            return file.read()
    ran = subprocess.run([program, "-p", folder, "--quiet", unit["file"]], cwd=ROOT, check=False,
                         capture_output=True, text=True)
    if ran.returncode < 0:
        raise RuntimeError(f"{unit['file']}: clang-tidy ended with signal {-ran.returncode}")
    with open(kept + ".part", "w") as file:
        file.write(ran.stdout)
    os.replace(kept + ".part", kept)
    return ran.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build/sim"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    program = program_of_version("clang-tidy")
    if program is None:
        print(f"clang-tidy {VERSION} is not installed")
        return SKIPPED
    build = os.path.realpath(arguments.build)
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    found = once(units(build))
    with open(os.path.join(folder, "compile_commands.json"), "w") as file:
        json.dump(found, file)
    common = digest(headers())
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        texts = pool.map(lambda unit: tidy(program, folder, unit, common), found)
        places = {f"{os.path.relpath(m[1], ROOT)}: {m[2]}"
                  for text in texts for m in map(PLACE.match, text.splitlines()) if m}
    print("\n".join([*sorted(places), f"{len(found)} files or groups, {len(places)} places"]))
    return 1 if places or not found else 0


if __name__ == "__main__":
    sys.exit(main())
